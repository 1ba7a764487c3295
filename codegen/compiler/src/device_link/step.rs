//! What the parts of one link step share: its files, and the tools.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::input::Input;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::ptxas::Job;
use crate::scratch::Folder;
use crate::tool::{Name, Tools};

/// Files of one link step, as nvlink gets them, and whose they are.
pub struct Step<'a> {
    /// For what is made on the way.
    pub folder: &'a Folder,
    /// The Rust code.
    pub job: Job<'a>,
    /// In nvlink's order; the Rust code first.
    pub files: Vec<PathBuf>,
    /// By the path that nvlink prints; the Rust code is not in it.
    pub owners: BTreeMap<PathBuf, PathBuf>,
    /// Inputs that have no code for this arch.
    pub left_out: Vec<&'a Input>,
    /// Whether there is LTO-IR among them.
    pub lto: bool,
}

/// The file of a tool, or the error that it is missing.
pub fn tool(tools: &Tools, name: Name, wanted_for: &str) -> Result<PathBuf> {
    let found = tools.get(name).map(|tool| tool.path.clone());
    Ok(found.ok_or_else(|| {
        Diagnostic::error(Code::LinkTool, format!("{wanted_for} needs NVIDIA's {name}, which was not found"))
            .help("install it with `cargo ptx setup`, or set CUDA_HOME to a CUDA toolkit; `cargo ptx doctor` says what was found")
    })?)
}
