//! Both compilers. A crate goes through rustc once; our linker then runs again for every set of modes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ptx_codegen::request::TARGET;
use ptx_project::linker::LINKER_VARIABLE;
use ptx_project::tools;
use ptx_tests::folders::target_dir;
use ptx_tests::library;

/// The GPU that both compilers compile for.
pub const ARCH: &str = "sm_90";

/// A crate as rustc hands it to the linker.
pub struct Crate {
    folder: PathBuf,
    /// The linker's arguments.
    args: Vec<String>,
}

/// Where everything is kept, to be looked at.
pub fn folder() -> PathBuf {
    target_dir().join("float")
}

impl Crate {
    /// Compiles a source.
    pub fn new(name: &str, source: &str) -> Result<Self, String> {
        let folder = folder().join(name);
        // What rustc keeps has other names after every change.
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(text)?;
        }
        fs::create_dir_all(&folder).map_err(text)?;
        fs::write(folder.join("kernels.rs"), source).map_err(text)?;
        let recorded = folder.join("arguments");
        let recorder = folder.join("recorder");
        fs::write(&recorder, format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > {recorded:?}\n")).map_err(text)?;
        executable(&recorder)?;
        let mut rustc = Command::new("rustc");
        rustc.args(["--crate-type=cdylib", "--edition=2024", "--crate-name=kernels", "--target", TARGET]);
        rustc.args(["-Copt-level=3", "-Csave-temps=yes", "-Cdebuginfo=0", "--cap-lints=allow"]);
        rustc
            .arg(format!("-Clinker={}", recorder.display()))
            .args(&library::device()?.args)
            .arg("--out-dir")
            .arg(&folder);
        // Files for the linker alone stand in a temporary folder, which is kept, too.
        rustc.arg(folder.join("kernels.rs")).env("TMPDIR", &folder);
        let run = rustc.output().map_err(text)?;
        if !recorded.exists() {
            return Err(String::from_utf8_lossy(&run.stderr).into_owned());
        }
        let mut args: Vec<_> = fs::read_to_string(&recorded).map_err(text)?.lines().map(ToString::to_string).collect();
        // Each run of the linker has an output of its own.
        if let Some(output) = args.iter().position(|arg| arg == "-o") {
            args.drain(output..(output + 2).min(args.len()));
        }
        Ok(Self { folder, args })
    }

    /// The PTX under these options.
    pub fn link(&self, name: &str, options: &[&str]) -> Result<String, String> {
        let output = self.folder.join(format!("{name}.ptx"));
        let program = std::env::current_exe().map_err(text)?;
        let mut linker = Command::new(&program);
        linker.env(LINKER_VARIABLE, program).args(&self.args).args(["-o", &output.display().to_string()]);
        linker.args([&format!("--arch={ARCH}"), "--ptxas=off", "--debug-level=none"]).args(options);
        let run = linker.output().map_err(text)?;
        if !run.status.success() {
            return Err(String::from_utf8_lossy(&run.stderr).into_owned());
        }
        fs::read_to_string(&output).map_err(text)
    }
}

/// nvcc's PTX under these options.
pub fn nvcc(name: &str, source: &str, options: &[&str]) -> Result<String, String> {
    let folder = folder().join("nvcc");
    fs::create_dir_all(&folder).map_err(text)?;
    let (input, output) = (folder.join(format!("{name}.cu")), folder.join(format!("{name}.ptx")));
    fs::write(&input, source).map_err(text)?;
    let tools = tools::find();
    let nvcc = tools.nvcc().ok_or("nvcc was not found")?;
    let mut command = Command::new(&nvcc.path);
    command.args(["-ptx", "-w", &format!("-arch={ARCH}"), "-o"]).arg(&output).arg(&input).args(options);
    let run = command.output().map_err(text)?;
    if !run.status.success() {
        return Err(String::from_utf8_lossy(&run.stderr).into_owned());
    }
    fs::read_to_string(&output).map_err(text)
}

fn executable(program: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).map_err(text)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
