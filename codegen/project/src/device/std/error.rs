//! `std::error`

pub use core::error::*;
