//! What `cargo xtask` and the programs behind it share.

pub mod shell;

/// What is compiled for a GPU on another machine: machine code for this one, and PTX for those that came later.
pub const ARCH: &str = "sm_90";
