//! The compiler behind rust-ptx: rustc's LLVM bitcode in; PTX, cubins and fatbins out.
//!
//! [`driver`] holds the pipeline; every stage is a folder or file of its own. From the ground up: plain data
//! ([`arch`], [`request`], [`codes`], [`diagnostic`], [`files`]), `llvm`, the stages, what runs NVIDIA's tools ([`ptxas`],
//! [`device_link`]), the driver. Options, NVIDIA's tools and cargo are the crate `ptx-project`'s.

pub mod abi;
mod addresses;
pub mod arch;
mod artifact;
mod barriers;
mod cache;
mod callers;
mod checks;
pub mod codes;
mod cold;
mod conditions;
mod copies;
pub mod debuginfo;
mod device_link;
pub mod diagnostic;
mod differences;
mod divisions;
pub mod driver;
mod dump;
mod emit;
pub mod files;
mod float;
mod graph;
mod groups;
pub mod harness;
pub mod hash;
mod header;
mod hints;
mod indices;
mod input;
mod interface;
pub mod intrinsics;
pub mod layers;
pub mod libdevice;
mod limits;
mod llvm;
mod loops;
mod marks;
mod memory;
mod multiples;
mod offsets;
mod optimize;
mod output;
mod panics;
mod parities;
mod phases;
mod portions;
mod products;
pub mod ptx_text;
pub mod ptxas;
#[cfg(test)]
mod random;
mod registers;
mod remainders;
pub mod report;
pub mod request;
pub mod scratch;
mod settled;
pub mod stacks;
pub mod timings;
pub mod tool;
mod verify;
mod version;
mod windows;
pub mod workarounds;

pub use diagnostic::{Diagnostic, Failure, Level, Span};
pub use driver::link;
pub use report::Report;
pub use request::Options;
pub use version::{LLVM_VERSION, RUSTC_RELEASE};
