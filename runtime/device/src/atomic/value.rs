//! Which types are atomic, and what can be done with them.

use self::sealed::{Kind, Value};
pub(crate) use self::sealed::{Kind as BitsKind, Value as Bits};

/// A type that an [`Atomic`](super::Atomic) can hold.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be atomic",
    label = "no GPU accesses this type in one piece",
    note = "integers of 8 to 128 bits, `f32`, `f64`, `bool` and raw pointers can"
)]
pub trait AtomicValue: Value {}

/// A type with atomic addition and subtraction.
pub trait AtomicNumber: AtomicValue {}

/// A type with atomic operations on bits.
pub trait AtomicBits: AtomicValue {}

/// An integer, with all atomic operations.
pub trait AtomicInteger: AtomicBits + AtomicNumber {}

mod sealed {
    use crate::atomic::word::Word;

    /// How values add and compare.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub enum Kind {
        /// As integers without a sign, or not at all.
        Unsigned,
        /// As integers with a sign.
        Signed,
        /// As floats.
        Float,
    }

    /// A value as bits.
    pub trait Value: Copy + 'static {
        /// An unsigned integer of the same size.
        type Word: Word;
        /// How values of the type add and compare.
        const KIND: Kind;
        /// The value's bits.
        fn to_bits(self) -> Self::Word;
        /// The value with these bits.
        fn from_bits(bits: Self::Word) -> Self;
    }
}

macro_rules! values {
    ($($ty:ty as $word:ty, $kind:ident, |$value:ident| $to:expr, |$bits:ident| $from:expr, [$($has:ident)*];)*) => {$(
        impl Value for $ty {
            type Word = $word;
            const KIND: Kind = Kind::$kind;
            #[inline(always)]
            fn to_bits(self) -> $word {
                let $value = self;
                $to
            }
            #[inline(always)]
            fn from_bits($bits: $word) -> Self {
                $from
            }
        }
        impl AtomicValue for $ty {}
        $(impl $has for $ty {})*
    )*};
}

macro_rules! integers {
    ($($unsigned:ident $signed:ident;)*) => {
        values! {$(
            $unsigned as $unsigned, Unsigned, |value| value, |bits| bits, [AtomicNumber AtomicBits AtomicInteger];
            $signed as $unsigned, Signed, |value| value.cast_unsigned(), |bits| bits.cast_signed(),
                [AtomicNumber AtomicBits AtomicInteger];
        )*}
    };
}

integers! {
    u8 i8;
    u16 i16;
    u32 i32;
    u64 i64;
    u128 i128;
}

values! {
    usize as u64, Unsigned, |value| value as u64, |bits| bits as usize, [AtomicNumber AtomicBits AtomicInteger];
    isize as u64, Signed, |value| value as u64, |bits| bits as isize, [AtomicNumber AtomicBits AtomicInteger];
    f32 as u32, Float, |value| f32::to_bits(value), |bits| f32::from_bits(bits), [AtomicNumber];
    f64 as u64, Float, |value| f64::to_bits(value), |bits| f64::from_bits(bits), [AtomicNumber];
    bool as u8, Unsigned, |value| u8::from(value), |bits| bits != 0, [AtomicBits];
}

macro_rules! pointers {
    ($($pointer:ty, $from:ident;)*) => {$(
        impl<T: 'static> Value for $pointer {
            type Word = u64;
            const KIND: Kind = Kind::Unsigned;
            #[inline(always)]
            fn to_bits(self) -> u64 {
                self.expose_provenance() as u64
            }
            #[inline(always)]
            fn from_bits(bits: u64) -> Self {
                core::ptr::$from(bits as usize)
            }
        }
        impl<T: 'static> AtomicValue for $pointer {}
    )*};
}

pointers! {
    *mut T, with_exposed_provenance_mut;
    *const T, with_exposed_provenance;
}

const _: () = assert!(size_of::<usize>() == 8, "both sides have 64-bit addresses");
