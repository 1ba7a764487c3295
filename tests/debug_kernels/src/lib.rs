//! Kernels to be looked at in a debugger.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![expect(missing_docs, reason = "the names say it")]

pub mod shapes;
pub mod twin;
