//! Kernels of floating point that the device tests judge: functions, roundings, modes, and what CPU and GPU share.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![expect(missing_docs, reason = "the names say it")]

#[macro_use]
pub mod list;

// The functions are compiled for many modes, and the rest need not be.
#[cfg(not(feature = "functions"))]
pub mod equality;
#[cfg(not(feature = "functions"))]
#[macro_use]
pub mod explicit;
#[cfg(feature = "functions")]
pub mod functions;
#[cfg(not(feature = "functions"))]
pub mod modes;
#[cfg(not(feature = "functions"))]
pub mod narrow;
