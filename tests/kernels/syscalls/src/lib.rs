//! Kernels that use the driver's `vprintf`, `malloc` and `free`, apart from the other test kernels: what they reach of
//! `core::fmt` would keep ptxas busy for each of those.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![expect(missing_docs, reason = "the names say it")]

extern crate alloc;

#[macro_use]
mod rows;

#[cfg(not(target_arch = "nvptx64"))]
pub mod capture;
pub mod conditions;
pub mod heap;
pub mod print;
