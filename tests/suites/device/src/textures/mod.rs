//! Textures and surfaces against a model on the CPU.

mod elements;
mod fetches;
mod misuse;
mod model;
mod module;
mod surfaces;

use std::process::ExitCode;

use crate::record::Test;

pub fn tests() -> Vec<Test> {
    [fetches::tests(), elements::tests(), surfaces::tests(), misuse::tests()].concat()
}

/// The test that loses its context, if that is its name.
pub fn child(name: &str) -> Option<ExitCode> {
    (name == misuse::TRAPPED).then(misuse::child)
}
