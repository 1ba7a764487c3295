//! Checks: of the module before code is generated, of the PTX against the ABI table, and of the PTX by ptxas.

mod callers;
mod complaints;
mod cxx_rules;
mod module;
pub mod ptxas;
mod resources;
mod signatures;

pub use callers::{Place, Users, place, users};
pub use module::{Import, Imports, demangled, supported, undefined_symbols};
pub use resources::{Calls, kernel_of_unknown_stack, parse as parse_resources};
pub use signatures::{check as signatures, parse as parse_signatures};
