//! What compiling for the device needs on a machine, made once for a user: `core` and `alloc` for the device, NVIDIA's tools;
//! and the user's cache folder, in which they are kept.
//!
//! A crate of its own, with next to no dependencies: `ptx-build` makes them while the compiler itself is being built.

pub mod cache;
mod failure;
pub mod hash;
mod rustc;
pub mod sysroot;
pub mod tools;

pub use failure::{Failure, Text};
pub use rustc::Rustc;
