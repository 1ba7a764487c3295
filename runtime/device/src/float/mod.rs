//! Floating point: modes of functions and blocks, and operations that no mode changes.

mod approx;
mod conversions;
mod convert;
#[cfg(feature = "half")]
mod eight;
#[cfg(not(target_arch = "nvptx64"))]
mod exact;
#[cfg(feature = "half")]
mod half;
#[cfg(feature = "half")]
mod half_operations;
mod operations;
#[cfg(feature = "half")]
mod packed;
mod rounding;
#[doc(hidden)]
pub mod scope;
mod sealed;
mod tensor;

pub use approx::{Approx, DoubleApprox};
pub use convert::{FlushingToInteger, ToFloat, ToInteger, ToIntegral, ToSingle};
#[cfg(feature = "half")]
pub use eight::{F8E4M3, F8E4M3x2, F8E5M2, F8E5M2x2};
#[cfg(feature = "half")]
pub use half::{HalfArithmetic, HalfForms, ToHalf, ToHalfForms, Widen};
#[cfg(feature = "half")]
pub use packed::{Bf16x2, F16x2};
pub use rounding::{Rounding, SingleRounding};
pub use tensor::TensorRounding;

#[cfg(test)]
mod tests;
