//! The crate `ptx` that the cases use, compiled once for the device and once for the host.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ptx_codegen::request::TARGET;
use ptx_project::progress::Progress;
use ptx_project::sysroot::{self, Rustc};
use ui_test::color_eyre::eyre::{Result, ensure, eyre};

use crate::self_test;

/// A compiled `ptx`.
pub struct Built {
    /// The target, if it is not the host.
    pub target: Option<&'static str>,
    /// What rustc needs to use it.
    pub args: Vec<String>,
    /// Folders of this machine, and what stands for them in messages.
    pub paths: Vec<(PathBuf, &'static str)>,
}

/// Where cases are compiled to.
pub fn out_dir() -> PathBuf {
    let folder = target_dir().join("ui");
    if std::env::var_os(self_test::CASES).is_some() { folder.join("self-test") } else { folder }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("ui-tests lies in the repository")
}

fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// For the device.
pub fn device() -> Result<Built> {
    let rustc = Rustc::query(Path::new("rustc")).map_err(|failure| eyre!("{failure}"))?;
    let sysroot = sysroot::ensure(&rustc, None, &Progress::new()).map_err(|failure| eyre!("{failure}"))?.path;
    let mut built = build(Some(TARGET), &["--sysroot".into(), sysroot.display().to_string()])?;
    built.paths.push((sysroot, "$SYSROOT"));
    Ok(built)
}

/// For the host.
pub fn host() -> Result<Built> {
    build(None, &[])
}

fn build(target: Option<&'static str>, rustflags: &[String]) -> Result<Built> {
    // A folder of its own: other flags than the user's would compile everything again and again.
    let folder = target_dir().join("ui/crates");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--release", "--package", "ptx", "--message-format=json-render-diagnostics"]);
    cargo.arg("--target-dir").arg(&folder).current_dir(root()).stderr(Stdio::inherit());
    if let Some(target) = target {
        cargo.args(["--target", target]);
        let variable = format!("CARGO_TARGET_{}_RUSTFLAGS", target.to_uppercase().replace('-', "_"));
        cargo.env(variable, rustflags.join(" "));
    }
    let output = cargo.output()?;
    ensure!(output.status.success(), "the crate `ptx` does not compile for {}", target.unwrap_or("the host"));
    let rlib = String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-artifact" && message["target"]["name"] == "ptx")
        .find_map(|message| Some(message["filenames"].as_array()?.first()?.as_str()?.to_string()))
        .ok_or_else(|| eyre!("cargo does not say where it put the crate `ptx`"))?;
    let deps = |folder: PathBuf| format!("-Ldependency={}", folder.join("release/deps").display());
    let mut args = rustflags.to_vec();
    args.extend(["--extern".into(), format!("ptx={rlib}"), deps(folder.clone())]);
    args.extend(target.map(|target| deps(folder.join(target))));
    Ok(Built { target, args, paths: vec![(out_dir(), "$OUT"), (root().into(), "$ROOT")] })
}
