//! The host's side of a kernel finds a parameter without layout, too.
use ptx::prelude::*;

#[kernel]
pub fn run(names: Vec<String>) {} //~ ERROR: cannot be a kernel parameter
