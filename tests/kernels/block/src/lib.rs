//! Kernels that call block algorithms, in blocks of several sizes; and for the host, models of what they must give.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![expect(missing_docs, reason = "the names say it")]

#[macro_use]
mod table;

#[cfg(not(target_arch = "nvptx64"))]
pub mod checks;
pub mod exchanges;
#[cfg(not(target_arch = "nvptx64"))]
mod models;
pub mod orders;
pub mod sorts;
pub mod sums;
#[cfg(not(target_arch = "nvptx64"))]
mod tested;
