//! The types that block algorithms are tested with.

use ptx::block::Number;

/// A number of a test.
pub trait Tested: Number + Default {
    /// One of few enough that sums are exact, and that some come twice.
    fn of(bits: u64) -> Self;
    /// What sorts look at.
    fn ordered(self) -> u64;
    /// `self - other`, wrapping.
    fn minus(self, other: Self) -> Self;
}

macro_rules! tested {
    ($($ty:ident |$bits:ident| $of:expr, |$value:ident| $ordered:expr, |$other:ident| $minus:expr;)*) => {$(
        impl Tested for $ty {
            fn of($bits: u64) -> Self {
                $of
            }
            fn ordered(self) -> u64 {
                let $value = self;
                $ordered
            }
            fn minus(self, other: Self) -> Self {
                let $other = other;
                let $value = self;
                $minus
            }
        }
    )*};
}
tested! {
    u8 |bits| bits as u8, |value| value.into(), |other| value.wrapping_sub(other);
    i16 |bits| bits as i16, |value| (i64::from(value) + (1 << 15)) as u64, |other| value.wrapping_sub(other);
    u32 |bits| if bits & 1 << 40 == 0 { bits as u32 } else { bits as u32 % 50 }, |value| value.into(), |other| value.wrapping_sub(other);
    i32 |bits| if bits & 1 << 40 == 0 { bits as i32 } else { bits as i32 % 50 }, |value| (i64::from(value) + (1 << 31)) as u64, |other| value.wrapping_sub(other);
    u64 |bits| if bits & 1 << 40 == 0 { bits } else { bits % 50 }, |value| value, |other| value.wrapping_sub(other);
    f32 |bits| (bits % 1024) as f32 - 512.0, |value| {
        let bits = value.to_bits();
        u64::from(if value.is_sign_negative() { !bits } else { bits | 1 << 31 })
    }, |other| value - other;
    f64 |bits| (bits % (1 << 30)) as f64 - 512.0, |value| {
        let bits = value.to_bits();
        if value.is_sign_negative() { !bits } else { bits | 1 << 63 }
    }, |other| value - other;
}
