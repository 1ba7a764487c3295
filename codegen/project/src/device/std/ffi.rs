//! `std::ffi`, but for `OsStr` and `OsString`.

pub use alloc_crate::ffi::{CString, FromVecWithNulError, IntoStringError, NulError};
pub use core::ffi::*;
