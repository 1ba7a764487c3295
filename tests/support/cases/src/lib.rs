//! The parts of the user-interface tests that have unit tests of their own, or that other runners use too.

pub mod checks;
pub mod debugger;
pub mod directives;
pub mod filecheck;
