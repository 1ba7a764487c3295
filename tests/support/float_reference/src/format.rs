//! The formats of the tests: `f32` and `f64`, by their bits.

use ptx_host::compare::Float;

/// A format that inputs can be made of.
pub trait Format: Float + Send + Sync + Default + PartialOrd {
    /// Bits of the exponent's field.
    const EXPONENT_BITS: u32;

    /// The number with that encoding.
    fn of_bits(bits: u64) -> Self;

    /// The bits of the fraction.
    fn fraction_bits() -> u32 {
        Self::PRECISION as u32 - 1
    }

    /// The same encoding, any NaN counting as one.
    fn same(self, other: Self) -> bool {
        self.bits() == other.bits() || (self.to_f64().is_nan() && other.to_f64().is_nan())
    }
}

impl Format for f32 {
    const EXPONENT_BITS: u32 = 8;

    fn of_bits(bits: u64) -> Self {
        Self::from_bits(bits as u32)
    }
}

impl Format for f64 {
    const EXPONENT_BITS: u32 = 11;

    fn of_bits(bits: u64) -> Self {
        Self::from_bits(bits)
    }
}
