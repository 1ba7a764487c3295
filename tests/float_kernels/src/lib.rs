//! Kernels of floating point that the device tests judge: functions, roundings, modes, and what CPU and GPU share.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![expect(missing_docs, reason = "the names say it")]

#[macro_use]
pub mod list;

pub mod equality;
pub mod explicit;
#[cfg(feature = "functions")]
pub mod functions;
