//! The crate `std` of tests on a GPU: what of it `core`, `alloc` and rust-ptx have, under its own names.
//!
//! Crates that are `no_std` for users often have `std` in their tests (`#![cfg_attr(not(test), no_std)]`,
//! `#[cfg(test)] extern crate std`). There are no threads, files, clocks and locks here; what needs one does not compile.
#![no_std]
#![cfg(target_arch = "nvptx64")]
#![feature(core_intrinsics, hashmap_internals, rustc_attrs)]
#![expect(internal_features, reason = "it stands in for a library that has them")]

extern crate alloc as alloc_crate;

pub mod alloc;
pub mod collections;
pub mod error;
pub mod ffi;
mod float;
pub mod hash;
mod macros;
pub mod prelude;
#[doc(hidden)]
pub mod printing;
pub mod sync;
pub mod task;
pub mod thread;

pub use alloc_crate::{borrow, boxed, fmt, format, rc, slice, str, string, vec};
pub use core::*;
