//! `cargo ptx`: what it does for its user.

pub mod cli;
pub mod debugger;
mod extract;
mod page;
#[cfg(feature = "profile")]
mod profile;
