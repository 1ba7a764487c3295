//! Kernels that the device tests launch; what they compute stands in functions that the CPU runs, too.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![expect(missing_docs, reason = "the names say it")]

pub mod atomics;
pub mod block_tiles;
pub mod failures;
pub mod generic;
pub mod indices;
pub mod language;
pub mod layouts;
pub mod memory;
pub mod scalars;
pub mod shared;
pub mod threads;
pub mod types;
pub mod warp;
#[cfg(not(target_arch = "nvptx64"))]
pub mod warp_model;
