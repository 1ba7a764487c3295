//! What kernels call: thread indices, disjoint slices, atomics, shared memory, barriers, printing, the allocator and
//! the panic handler.
//!
//! On `nvptx64` these are the real functions. On the host the same items exist, so that a crate that is compiled for
//! both sides type-checks. They work where the CPU runs a kernel; elsewhere those that need a kernel panic.
#![no_std]

#[cfg(any(test, not(target_arch = "nvptx64")))]
extern crate std;

#[macro_use]
mod instruction;

#[cfg(all(target_arch = "nvptx64", feature = "allocator"))]
mod allocator;
mod arch;
pub mod atomic;
pub mod bits;
pub mod block;
pub mod children;
pub mod cluster;
pub mod control;
pub mod cooperative;
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
pub mod cpu;
mod dim;
pub mod disjoint;
pub mod ffi;
pub mod float;
mod function;
pub mod graph;
pub mod hint;
#[doc(hidden)]
pub mod index;
mod intrinsics;
pub mod math;
pub mod mbarrier;
pub mod memory;
#[cfg(target_arch = "nvptx64")]
mod panic;
#[doc(hidden)]
pub mod print;
pub mod shared;
#[doc(hidden)]
pub mod statics;
#[doc(hidden)]
pub mod symbols;
pub mod sync;
#[cfg(target_arch = "nvptx64")]
mod syscalls;
#[doc(hidden)]
pub mod text;
pub mod texture;
pub mod thread;
pub mod vec;
pub mod warp;

pub use arch::arch;
pub use dim::Dim3;
pub use disjoint::{
    Disjoint2d, Disjoint3d, DisjointParts, DisjointRows, DisjointSlice, DisjointStrided, DisjointTiles, InPlace,
    PerBlock, PerThread, PerWarp, RowsPerBlock, RowsPerThread, RowsPerWarp, Transposed,
};
pub use function::DeviceFn;
pub use statics::{Shared, SharedAtomics};
pub use symbols::{Constant, DeviceStatic, Global};
pub use sync::sync_threads;
