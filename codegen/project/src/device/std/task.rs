//! `std::task`

pub use alloc_crate::task::*;
pub use core::task::*;
