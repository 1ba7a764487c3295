//! One file with code for several archs, by NVIDIA's `fatbinary`.

use std::path::PathBuf;
use std::process::Command;

use crate::artifact::Artifact;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::files::no_scratch;
use crate::request::{Emit, Linking, Options};
use crate::scratch;
use crate::tool::Tools;

/// Packs every cubin, and the PTX of the highest arch for GPUs that come later; not if it is only a part of linked code.
pub fn pack(options: &Options, artifacts: &[Artifact]) -> Result<Vec<u8>> {
    let fatbinary = &fatbinary(&options.tools)?;
    let linking = options.linking();
    let temp = scratch::Folder::new().map_err(|e| no_scratch(&std::env::temp_dir(), &e))?;
    let output = temp.path().join("kernels.fatbin");
    let mut command = Command::new(fatbinary);
    command.arg("-64").arg(format!("--create={}", output.display()));
    if linking == Linking::AtLoad {
        command.arg("--device-c");
    }
    let last_ptx = artifacts.iter().rposition(|artifact| artifact.kind == Emit::Ptx && linking != Linking::AtBuild);
    for (index, artifact) in artifacts.iter().enumerate() {
        let kind = match artifact.kind {
            Emit::Cubin => "elf",
            Emit::Ptx if Some(index) == last_ptx => "ptx",
            _ => continue,
        };
        let Some(arch) = artifact.arch else { continue };
        let path = temp.path().join(artifact.file_name("kernels"));
        std::fs::write(&path, &artifact.bytes).map_err(|e| no_scratch(&path, &e))?;
        let sm = arch.name().trim_start_matches("sm_");
        command.arg(format!("--image3=kind={kind},sm={sm},file={}", path.display()));
    }
    let broken = |reason: String| {
        Diagnostic::error(Code::ToolFailed, format!("{} failed: {reason}", fatbinary.display()))
            .help("`cargo ptx doctor` shows which tools were found and whether their versions agree")
    };
    temp.confine(&mut command);
    let run = command.output().map_err(|e| broken(e.to_string()))?;
    if !run.status.success() {
        return Err(broken(String::from_utf8_lossy(&run.stderr).trim().to_string()).into());
    }
    Ok(std::fs::read(&output).map_err(|e| broken(e.to_string()))?)
}

/// The path of NVIDIA's `fatbinary`, or an error that says how to install it.
fn fatbinary(tools: &Tools) -> Result<PathBuf> {
    let missing = || {
        Diagnostic::error(Code::ToolFailed, "fatbins need NVIDIA's fatbinary, which was not found")
            .help("install it with `cargo ptx setup`")
    };
    Ok(tools.fatbinary().map(|tool| tool.path.clone()).ok_or_else(missing)?)
}
