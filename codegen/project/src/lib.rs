//! What surrounds the compiler: options and manifests, the device's sysroot, NVIDIA's tools, the cache, the device build of
//! a package by cargo, and being rustc's linker.

mod above;
pub mod bug;
pub mod build;
pub mod cache;
pub mod linker;
mod native;
mod notes;
pub mod options;
pub mod progress;
pub mod ready;
mod signals;
pub mod sysroot;
pub mod timings;
pub mod tools;
pub mod wrapper;
