//! The crate `ptx` compiled for the device, for tests that call rustc themselves.

use std::path::{Path, PathBuf};
use std::process::Command;

use ptx_codegen::request::TARGET;
use ptx_project::progress::Progress;
use ptx_project::sysroot::{self, Rustc};

/// What rustc needs to know of it; `folder` is where it is kept.
pub fn build(folder: &Path) -> Result<Vec<String>, String> {
    let rustc = Rustc::query(Path::new("rustc")).map_err(text)?;
    let sysroot = sysroot::ensure(&rustc, None, &Progress::quiet()).map_err(text)?.path.display().to_string();
    let target_dir = folder.join("crates");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests lies in the repository");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "--package", "ptx", "--message-format=json-render-diagnostics"]);
    cargo.args(["--target", TARGET, "--target-dir"]).arg(&target_dir).current_dir(root);
    let variable = format!("CARGO_TARGET_{}_RUSTFLAGS", TARGET.to_uppercase().replace('-', "_"));
    let output = cargo.env(variable, format!("--sysroot {sysroot}")).output().map_err(text)?;
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
    Ok(vec![
        "--sysroot".into(),
        sysroot,
        "--extern".into(),
        format!("ptx={rlib}"),
        deps(target_dir.clone()),
        deps(target_dir.join(TARGET)),
    ])
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
