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
#[cfg(not(target_arch = "nvptx64"))]
mod exact;
mod operations;
mod rounding;
#[doc(hidden)]
pub mod scope;

pub use approx::{Approx, DoubleApprox};
pub use convert::{FlushingToInteger, ToFloat, ToInteger, ToIntegral, ToSingle};
pub use rounding::{Rounding, SingleRounding};

#[cfg(test)]
mod tests;
