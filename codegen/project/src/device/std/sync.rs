//! `std::sync`, but for locks and channels.

pub use alloc_crate::sync::*;
pub use core::sync::*;
