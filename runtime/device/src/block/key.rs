//! Keys of a radix sort.

use core::ops::Range;

use super::memory::Value;

mod sealed {
    /// A supertrait that other crates cannot implement.
    pub trait Sealed {}
}

/// A key that is sorted by its bits: integers of 8 to 64 bits, `f32` and `f64`.
///
/// Floats are sorted by `total_cmp`: -0 comes before 0, and NaNs, by their signs, before and after all numbers. CUB takes
/// -0 and 0 for equal; all else is as there.
pub trait RadixKey: Value + sealed::Sealed {
    /// How many bits it has.
    const BITS: u32 = 8 * size_of::<Self>() as u32;

    /// An unsigned integer of its size.
    #[doc(hidden)]
    type Bits: Value + Ord;

    /// Bits that are in the order of the keys.
    #[doc(hidden)]
    fn to_ordered(self) -> Self::Bits;

    /// The key with these.
    #[doc(hidden)]
    fn from_ordered(bits: Self::Bits) -> Self;

    /// All bits flipped, which turns the order round.
    #[doc(hidden)]
    fn flipped(bits: Self::Bits) -> Self::Bits;

    /// The bits from `first` on that are set in `mask`.
    #[doc(hidden)]
    fn digit(bits: Self::Bits, first: u32, mask: u32) -> u32;
}

/// Bits of a key that a sort looks at: `0..32`, the lowest being bit 0 of what is in the keys' order. Of a float or a signed
/// integer that is not its own lowest bit if it is negative.
pub(super) fn checked<K: RadixKey>(bits: Range<u32>) -> Range<u32> {
    assert!(bits.start <= bits.end && bits.end <= K::BITS, "a key does not have these bits");
    bits
}

macro_rules! keys {
    ($($ty:ident $bits:ident: |$key:ident| $to:expr, |$ordered:ident| $from:expr;)*) => {$(
        impl sealed::Sealed for $ty {}
        impl RadixKey for $ty {
            type Bits = $bits;
            #[inline(always)]
            fn to_ordered(self) -> $bits {
                let $key = self;
                $to
            }
            #[inline(always)]
            fn from_ordered($ordered: $bits) -> Self {
                $from
            }
            #[inline(always)]
            fn flipped(bits: $bits) -> $bits {
                !bits
            }
            #[inline(always)]
            fn digit(bits: $bits, first: u32, mask: u32) -> u32 {
                (bits >> first) as u32 & mask
            }
        }
    )*};
}

/// The bit of the sign.
macro_rules! sign {
    ($bits:ident) => {
        (1 as $bits) << ($bits::BITS - 1)
    };
}

/// Of floats: negative ones have all bits flipped, others the sign's.
macro_rules! twiddle {
    ($bits:ident, $raw:expr) => {{
        let raw = $raw;
        raw ^ ((raw.cast_signed() >> ($bits::BITS - 1)).cast_unsigned() | sign!($bits))
    }};
}

/// The way back, where the sign's bit says the opposite.
macro_rules! untwiddle {
    ($bits:ident, $ordered:expr) => {{
        let ordered = $ordered;
        ordered ^ ((!ordered.cast_signed() >> ($bits::BITS - 1)).cast_unsigned() | sign!($bits))
    }};
}

keys! {
    u8 u8: |key| key, |bits| bits;
    u16 u16: |key| key, |bits| bits;
    u32 u32: |key| key, |bits| bits;
    u64 u64: |key| key, |bits| bits;
    i8 u8: |key| key.cast_unsigned() ^ sign!(u8), |bits| (bits ^ sign!(u8)).cast_signed();
    i16 u16: |key| key.cast_unsigned() ^ sign!(u16), |bits| (bits ^ sign!(u16)).cast_signed();
    i32 u32: |key| key.cast_unsigned() ^ sign!(u32), |bits| (bits ^ sign!(u32)).cast_signed();
    i64 u64: |key| key.cast_unsigned() ^ sign!(u64), |bits| (bits ^ sign!(u64)).cast_signed();
    f32 u32: |key| twiddle!(u32, key.to_bits()), |bits| f32::from_bits(untwiddle!(u32, bits));
    f64 u64: |key| twiddle!(u64, key.to_bits()), |bits| f64::from_bits(untwiddle!(u64, bits));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordered_bits_are_in_the_keys_order_and_lead_back() {
        fn check<K: RadixKey + core::fmt::Debug>(keys: &[K], same: impl Fn(K, K) -> bool) {
            for pair in keys.windows(2) {
                assert!(pair[0].to_ordered() < pair[1].to_ordered(), "{pair:?}");
            }
            for key in keys {
                assert!(same(*key, K::from_ordered(key.to_ordered())), "{key:?}");
            }
        }
        check(&[i8::MIN, -1, 0, 1, i8::MAX], |a, b| a == b);
        check(&[i16::MIN, -1, 0, 1, i16::MAX], |a, b| a == b);
        check(&[i32::MIN, -1, 0, 1, i32::MAX], |a, b| a == b);
        check(&[i64::MIN, -1, 0, 1, i64::MAX], |a, b| a == b);
        check(&[u8::MIN, 1, u8::MAX], |a, b| a == b);
        check(&[u64::MIN, 1, u64::MAX], |a, b| a == b);
        let floats = [-f32::NAN, f32::NEG_INFINITY, -1.0, -1e-45, -0.0, 0.0, 1e-45, 1.0, f32::INFINITY, f32::NAN];
        check(&floats, |a, b| a.to_bits() == b.to_bits());
        check(&floats.map(f64::from), |a, b| a.to_bits() == b.to_bits());
    }
}
