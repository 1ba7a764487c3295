//! Floating point: modes of functions and blocks.

#[doc(hidden)]
pub mod scope;
