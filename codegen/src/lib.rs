//! The compiler behind rust-ptx: rustc's LLVM bitcode in; PTX, cubins and fatbins out.
//!
//! [`driver`] holds the pipeline; every stage is a folder or file of its own. Around the pipeline stand what it
//! needs on a machine ([`sysroot`], [`tools`]) and what drives cargo ([`project`], [`cli`]).

pub mod abi;
pub mod arch;
pub mod bug;
pub mod cache;
pub mod cli;
pub mod codes;
pub mod copies;
pub mod debugger;
pub mod debuginfo;
pub mod device_link;
pub mod diagnostic;
pub mod driver;
pub mod emit;
pub mod float;
pub mod hash;
pub mod header;
pub mod input;
pub mod interface;
pub mod intrinsics;
pub mod libdevice;
mod llvm;
pub mod memory;
pub mod optimize;
pub mod options;
pub mod output;
pub mod panics;
pub mod progress;
pub mod project;
pub mod ptx_text;
pub mod report;
mod signals;
pub mod sysroot;
pub mod tool;
pub mod tools;
pub mod verify;
pub mod workarounds;

pub use diagnostic::{Diagnostic, Failure, Level, Span};
pub use driver::{become_linker_if_asked, link, linker_main};
pub use options::Options;
pub use report::Report;

/// The LLVM version this crate is bound to, as `rustc -vV` prints it.
pub const LLVM_VERSION: &str = env!("PTX_LLVM_VERSION");

/// The release of the rustc whose LLVM this crate is bound to.
pub const RUSTC_RELEASE: &str = env!("PTX_RUSTC_RELEASE");
