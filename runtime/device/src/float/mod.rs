//! Floating point: modes of functions and blocks, and operations that no mode changes.

#[cfg(not(target_arch = "nvptx64"))]
mod exact;
mod operations;
mod rounding;
#[doc(hidden)]
pub mod scope;

pub use rounding::{Rounding, SingleRounding};

#[cfg(test)]
mod tests;
