//! `cargo ptx sanitize`: builds the host program and its kernels, and runs it under NVIDIA's compute-sanitizer.

use std::path::PathBuf;
use std::process::Command;

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};

use super::arguments::SanitizeArgs;
use super::debug::Built;
use super::environment;

const NAME: &str = "compute-sanitizer";

/// Builds and runs; the exit code is the program's, or 1 where something was found.
pub fn run(args: &SanitizeArgs) -> Result<u8> {
    // Before the build, which may take long.
    let sanitizer = find(args)?;
    let program = Built::by_cargo(&args.build)?.program(&args.build)?;
    let mut command = Command::new(&sanitizer);
    command.arg("--tool").arg(args.tool.name()).args(["--error-exitcode", "1"]).args(&args.flags);
    let status = command.arg(&program).args(&args.program).status().map_err(|e| {
        Diagnostic::error(Code::ToolFailed, format!("cannot start `{}`: {e}", sanitizer.display()))
            .help("name one that works by `--compute-sanitizer`")
    })?;
    // A program ended by a signal has no code.
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(101))
}

fn find(args: &SanitizeArgs) -> Result<PathBuf> {
    let missing = |message: String| {
        Diagnostic::error(Code::ToolFailed, message).help(
            "install it with the CUDA toolkit (https://developer.nvidia.com/cuda-downloads, package \
             cuda-sanitizer-13-0), or name its file by `--compute-sanitizer`",
        )
    };
    match &args.compute_sanitizer {
        Some(path) if path.is_file() => Ok(path.clone()),
        Some(path) => {
            Err(missing(format!("`{}`, which --compute-sanitizer names, is not there", path.display())).into())
        }
        None => Ok(environment::of_toolkit(NAME, &["bin", NAME]).ok_or_else(|| {
            missing(format!("{NAME} was not found")).note(format!(
                "looked in the folders bin and {NAME} below CUDA_HOME, CUDA_PATH and /usr/local/cuda, and in PATH"
            ))
        })?),
    }
}
