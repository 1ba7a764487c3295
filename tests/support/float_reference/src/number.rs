//! Numbers of MPFR, as the functions are computed with.

use ptx_host::compare::Exact;
use rug::Float;

/// Their bits.
pub(crate) const PRECISION: u32 = 110;

/// As one of them.
pub(crate) fn number(x: f64) -> Float {
    Float::with_val(PRECISION, x)
}

/// The nearest `f64`, and what it lacks.
pub(crate) fn exact(value: &Float) -> Exact {
    let high = value.to_f64();
    if high.is_infinite() && value.is_finite() {
        // What is beyond the largest number, however little.
        let high = f64::MAX.copysign(high);
        return Exact { high, low: Float::with_val(PRECISION, value - high).to_f64() };
    }
    let low = if high.is_finite() { Float::with_val(PRECISION, value - high).to_f64() } else { 0.0 };
    Exact { high, low }
}
