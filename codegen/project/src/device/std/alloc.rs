//! `std::alloc`

pub use alloc_crate::alloc::*;
