//! The crate `ptx`, compiled for tests that call rustc themselves.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use ptx_codegen::request::TARGET;
use ptx_project::progress::Progress;
use ptx_project::sysroot::{self, Rustc};

use crate::folders::{root, target_dir};

/// A compiled `ptx`.
pub struct Library {
    /// What rustc needs to use it.
    pub args: Vec<String>,
    /// That of the device.
    pub sysroot: Option<PathBuf>,
}

/// For the device, compiled once a process.
pub fn device() -> Result<&'static Library, String> {
    static BUILT: OnceLock<Result<Library, String>> = OnceLock::new();
    let build = || {
        let rustc = Rustc::query(Path::new("rustc")).map_err(text)?;
        let sysroot = sysroot::ensure(&rustc, None, &Progress::quiet()).map_err(text)?.path;
        let args = build(Some(TARGET), vec!["--sysroot".into(), sysroot.display().to_string()])?;
        Ok(Library { args, sysroot: Some(sysroot) })
    };
    BUILT.get_or_init(build).as_ref().map_err(Clone::clone)
}

/// For the host.
pub fn host() -> Result<Library, String> {
    Ok(Library { args: build(None, Vec::new())?, sysroot: None })
}

fn build(target: Option<&str>, rustflags: Vec<String>) -> Result<Vec<String>, String> {
    // A folder of its own: other flags than the user's would compile everything again and again.
    let folder = target_dir().join("library");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "--package", "ptx", "--message-format=json-render-diagnostics"]);
    // The cases use 16-bit floats; what bytemuck gives concerns hosts alone.
    cargo.args(["--features", if target.is_none() { "half,bytemuck" } else { "half" }]);
    cargo.arg("--target-dir").arg(&folder).current_dir(root());
    if let Some(target) = target {
        cargo.args(["--target", target]);
        let variable = format!("CARGO_TARGET_{}_RUSTFLAGS", target.to_uppercase().replace('-', "_"));
        cargo.env(variable, rustflags.join(" "));
    }
    eprintln!("compiling the crate `ptx` for {}", target.unwrap_or("the host"));
    let output = cargo.output().map_err(text)?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let rlib = String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-artifact" && message["target"]["name"] == "ptx")
        .find_map(|message| Some(message["filenames"].as_array()?.first()?.as_str()?.to_string()))
        .ok_or("cargo does not say where it put the crate `ptx`")?;
    let deps = |folder: PathBuf| format!("-Ldependency={}", folder.join("release/deps").display());
    let mut args = rustflags;
    args.extend(["--extern".into(), format!("ptx={rlib}"), deps(folder.clone())]);
    args.extend(target.map(|target| deps(folder.join(target))));
    Ok(args)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
