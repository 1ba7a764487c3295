//! Kernels as users write them, in default settings; `cuda/` has the same kernels as CUDA C++ programmers write them.
//!
//! `cargo xtask bench kernels` compares their speed. A kernel has the same name, parameters and algorithm in both
//! languages, and is launched alike; `tests/support/bench` has the table. Those of `raw` take pointers, and have the twin
//! of the safe kernel, and those of `shared` that of the kernel that is unsafe. Where a kernel is `unsafe`, shared memory or its way of indexing needs it.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![expect(missing_docs, reason = "the names say it")]

pub mod blocks;
pub mod dense;
pub mod finance;
pub mod fractals;
pub mod graphs;
pub mod hashes;
pub mod images;
pub mod numbers;
pub mod particles;
pub mod raw;
pub mod reductions;
pub mod sequences;
pub mod shared;
pub mod signals;
pub mod sorting;
pub mod stencils;
pub mod streams;
pub mod tensors;
