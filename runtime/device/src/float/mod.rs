//! Floating point: modes of functions and blocks, and operations that no mode changes.

/// An instruction's value on the GPU, by its symbol, and the last argument's on the host.
macro_rules! instruction {
    ($symbol:literal, ($($operand:ident: $from:ty),*) -> $to:ty, $host:expr) => {{
        #[cfg(target_arch = "nvptx64")]
        {
            unsafe extern "C" {
                #[link_name = $symbol]
                safe fn instruction($(_: $from),*) -> $to;
            }
            instruction($($operand),*)
        }
        #[cfg(not(target_arch = "nvptx64"))]
        $host
    }};
}

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

/// Only the types here have the traits here.
mod sealed {
    pub trait Sealed {}

    macro_rules! seal {
        ($($ty:ty),*) => { $(impl Sealed for $ty {})* };
    }
    seal!(f32, f64, i32, u32, i64, u64);
    #[cfg(feature = "half")]
    seal!(::half::f16, ::half::bf16);
}

#[cfg(test)]
mod tests;
