//! The types of texels: in an array, and as a fetch gives them.

use crate::vec;

/// What a number is to the texture unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An integer from 0 on.
    Unsigned,
    /// An integer below 0 as well.
    Signed,
    /// `f32` or `f16`.
    Float,
}

/// One number of a texel: `u8` to `u32`, `i8` to `i32`, `f32`, and `f16` with the feature `half`.
pub trait Channel: Copy + 'static + sealed::Sealed {
    /// What it is.
    const KIND: Kind;
    /// From the low bits, as a fetch or a load gives them.
    #[doc(hidden)]
    fn from_bits(bits: u32) -> Self;
    /// In the low bits.
    #[doc(hidden)]
    fn to_bits(self) -> u32;
}

/// What an array can hold: a [`Channel`], or two or four of one, as an array or a vector, such as
/// [`Float4`](crate::vec::Float4). One instruction loads or stores a vector, which is aligned as a whole.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of a texture or surface",
    label = "not a number that the texture unit knows, or not one, two or four of it",
    note = "it is `u8`, `u16`, `u32`, `i8`, `i16`, `i32`, `f32`, with the feature `half` `f16`, or an array or vector of 2 or \
            4 of these"
)]
pub trait Element: Copy + 'static + sealed::Sealed {
    /// The type of its numbers.
    type Channel: Channel;
    /// What a fetch gives that changes nothing: the same, or of `f16` `f32`.
    type Read: Texel;
    /// How many numbers.
    const CHANNELS: usize;
    /// From its numbers, of which there are as many as `CHANNELS`.
    #[doc(hidden)]
    fn from_channels(words: [u32; 4]) -> Self;
    /// Its numbers, then zeros.
    #[doc(hidden)]
    fn to_channels(self) -> [u32; 4];
}

/// What a fetch can give: an [`Element`] that is its own [`Element::Read`].
#[diagnostic::on_unimplemented(
    message = "a texture does not give `{Self}`",
    label = "no fetch has this type",
    note = "of an array of `f16` a fetch gives `f32`, as CUDA's does"
)]
pub trait Texel: Element {}

/// Elements of 8 or 16 bits that can be read as floats: from 0 to 1, or −1 to 1 of signed ones. CUDA:
/// `cudaReadModeNormalizedFloat`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read as numbers from 0 to 1",
    label = "only integers of 8 and 16 bits can",
    note = "`.texture(…)` reads it as it is"
)]
pub trait Normalized: Element {
    /// What a fetch then gives: as many `f32`.
    type Float: Texel;
}

mod sealed {
    /// Keeps the traits to this file's types.
    pub trait Sealed {}
}

macro_rules! channels {
    ($($channel:ty, $kind:ident, $read:ty, $bits:ident => $from:expr, $value:ident => $to:expr;)*) => {$(
        impl sealed::Sealed for $channel {}
        impl sealed::Sealed for [$channel; 2] {}
        impl sealed::Sealed for [$channel; 4] {}

        impl Channel for $channel {
            const KIND: Kind = Kind::$kind;
            #[inline(always)]
            fn from_bits($bits: u32) -> Self {
                $from
            }
            #[inline(always)]
            fn to_bits(self) -> u32 {
                let $value = self;
                $to
            }
        }

        impl Element for $channel {
            type Channel = Self;
            type Read = $read;
            const CHANNELS: usize = 1;
            #[inline(always)]
            fn from_channels([a, ..]: [u32; 4]) -> Self {
                Channel::from_bits(a)
            }
            #[inline(always)]
            fn to_channels(self) -> [u32; 4] {
                [Channel::to_bits(self), 0, 0, 0]
            }
        }

        #[diagnostic::do_not_recommend]
        impl Element for [$channel; 2] {
            type Channel = $channel;
            type Read = [$read; 2];
            const CHANNELS: usize = 2;
            #[inline(always)]
            fn from_channels([a, b, ..]: [u32; 4]) -> Self {
                [a, b].map(Channel::from_bits)
            }
            #[inline(always)]
            fn to_channels(self) -> [u32; 4] {
                let [a, b] = self.map(Channel::to_bits);
                [a, b, 0, 0]
            }
        }

        #[diagnostic::do_not_recommend]
        impl Element for [$channel; 4] {
            type Channel = $channel;
            type Read = [$read; 4];
            const CHANNELS: usize = 4;
            #[inline(always)]
            fn from_channels(words: [u32; 4]) -> Self {
                words.map(Channel::from_bits)
            }
            #[inline(always)]
            fn to_channels(self) -> [u32; 4] {
                self.map(Channel::to_bits)
            }
        }
    )*};
}
channels! {
    u8, Unsigned, u8, bits => bits as u8, value => u32::from(value);
    u16, Unsigned, u16, bits => bits as u16, value => u32::from(value);
    u32, Unsigned, u32, bits => bits, value => value;
    i8, Signed, i8, bits => bits as i8, value => u32::from(value as u8);
    i16, Signed, i16, bits => bits as i16, value => u32::from(value as u16);
    i32, Signed, i32, bits => bits as i32, value => value as u32;
    f32, Float, f32, bits => Self::from_bits(bits), value => value.to_bits();
}
#[cfg(feature = "half")]
channels! {
    half::f16, Float, f32, bits => Self::from_bits(bits as u16), value => u32::from(value.to_bits());
}

macro_rules! texels {
    ($($channel:ty),*) => {$(
        impl Texel for $channel {}
        #[diagnostic::do_not_recommend]
        impl Texel for [$channel; 2] {}
        #[diagnostic::do_not_recommend]
        impl Texel for [$channel; 4] {}
    )*};
}
texels!(u8, u16, u32, i8, i16, i32, f32);

macro_rules! normalized {
    ($($channel:ty),*) => {$(
        impl Normalized for $channel {
            type Float = f32;
        }
        impl Normalized for [$channel; 2] {
            type Float = [f32; 2];
        }
        impl Normalized for [$channel; 4] {
            type Float = [f32; 4];
        }
    )*};
}
normalized!(u8, u16, i8, i16);

macro_rules! vectors {
    ($($vector:ident = [$channel:ty; $lanes:literal] $(, $float:ident)?;)*) => {$(
        impl sealed::Sealed for vec::$vector {}
        #[diagnostic::do_not_recommend]
        impl Element for vec::$vector {
            type Channel = $channel;
            type Read = Self;
            const CHANNELS: usize = $lanes;
            #[inline(always)]
            fn from_channels(words: [u32; 4]) -> Self {
                <[$channel; $lanes]>::from_channels(words).into()
            }
            #[inline(always)]
            fn to_channels(self) -> [u32; 4] {
                self.to_array().to_channels()
            }
        }
        #[diagnostic::do_not_recommend]
        impl Texel for vec::$vector {}
        $(impl Normalized for vec::$vector {
            type Float = vec::$float;
        })?
    )*};
}
vectors! {
    UChar2 = [u8; 2], Float2;
    UChar4 = [u8; 4], Float4;
    UShort2 = [u16; 2], Float2;
    UShort4 = [u16; 4], Float4;
    UInt2 = [u32; 2];
    UInt4 = [u32; 4];
    Char2 = [i8; 2], Float2;
    Char4 = [i8; 4], Float4;
    Short2 = [i16; 2], Float2;
    Short4 = [i16; 4], Float4;
    Int2 = [i32; 2];
    Int4 = [i32; 4];
    Float2 = [f32; 2];
    Float4 = [f32; 4];
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round<T: Element + PartialEq + core::fmt::Debug>(value: T) {
        assert_eq!(T::from_channels(value.to_channels()), value);
        assert_eq!(size_of::<T>(), T::CHANNELS * size_of::<T::Channel>());
    }

    #[test]
    fn elements_are_their_channels() {
        round(0xFE_u8);
        round([-1_i8, 127]);
        round([0x8000_u16, 1, 2, 0xFFFF]);
        round(-2_i16);
        round([u32::MAX, 7]);
        round(i32::MIN);
        round(vec::UChar4::new(1, 2, 3, 255));
        round(vec::Float2::new(-1.0, 2.5));
        round([1.5_f32, -0.0, f32::INFINITY, 3.0]);
        assert_eq!([-1_i8, 2].to_channels(), [0xFF, 2, 0, 0]);
        #[cfg(feature = "half")]
        round([half::f16::ONE, half::f16::MAX]);
    }
}
