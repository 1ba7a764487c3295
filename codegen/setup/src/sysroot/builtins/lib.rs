//! The functions that compiled device code calls without naming them: it stands for `compiler_builtins` in the device
//! sysroot.
//!
//! The sysroot's build compiles these files by themselves, under the name `compiler_builtins`; the package here lets
//! the host test them. LLVM calls none of them of its own accord: its NVPTX backend has no library calls. `core` calls
//! the memory functions by name, and our compiler replaces by the others what the backend lacks (conversions between
//! floats and 128-bit integers) or does badly (128-bit division bit by bit, inexact remainders of floats).
//!
//! Nothing here may panic or divide by `/` with a divisor that may be zero: rustc does not let this crate call `core`.
//! `no_builtins` keeps LLVM from making the loop of `memcpy` a call of `memcpy`.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(compiler_builtins), compiler_builtins, no_builtins)]

pub mod float;
pub mod int;
pub mod mem;
