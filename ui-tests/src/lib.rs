//! The part of the user-interface tests that has unit tests of its own; the runner is `runner/main.rs`.

pub mod filecheck;
