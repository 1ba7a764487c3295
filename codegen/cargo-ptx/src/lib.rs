//! `cargo ptx`: what it does for its user.

pub mod cli;
pub mod debugger;
