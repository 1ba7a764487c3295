//! The parts of the user-interface tests that have unit tests of their own; the runner is `runner/main.rs`.

pub mod checks;
pub mod directives;
pub mod filecheck;
