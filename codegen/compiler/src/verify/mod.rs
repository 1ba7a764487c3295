//! Checks: of the module before code is generated, and of the PTX against the ABI table.

mod cxx_rules;
mod module;
mod signatures;

pub use module::{Imports, supported, undefined_symbols};
pub use signatures::check as signatures;
