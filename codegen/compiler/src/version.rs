//! Which LLVM and which rustc this crate is bound to.

/// The LLVM version, as `rustc -vV` prints it.
pub const LLVM_VERSION: &str = env!("PTX_LLVM_VERSION");

/// The release of the rustc whose LLVM it is.
pub const RUSTC_RELEASE: &str = env!("PTX_RUSTC_RELEASE");
