//! Running other programs, and where the repository lies.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// The cargo that runs us, so that every build uses one toolchain.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
}

/// Makes the repository's root the current folder, so that every path below is relative to it.
pub fn enter_root() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask has no parent folder")?;
    std::env::set_current_dir(root).with_context(|| format!("cannot enter {}", root.display()))
}

/// The integration tests of the packages that cargo takes where none is named.
pub fn default_tests() -> Result<Vec<String>> {
    let text = output(cargo().args(["metadata", "--format-version=1", "--no-deps"]))?;
    let metadata: Value = serde_json::from_str(&text)?;
    let default = metadata["workspace_default_members"].as_array().context("cargo names no default members")?;
    let packages = metadata["packages"].as_array().context("cargo names no packages")?;
    let targets = packages.iter().filter(|package| default.contains(&package["id"]));
    let targets = targets.flat_map(|package| package["targets"].as_array().into_iter().flatten());
    let tests = targets.filter(|target| target["kind"][0] == "test");
    Ok(tests.filter_map(|target| Some(target["name"].as_str()?.to_string())).collect())
}

/// Where cargo puts what it builds.
pub fn target_dir() -> Result<PathBuf> {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => Ok(dir.into()),
        None => Ok(std::env::current_dir()?.join("target")),
    }
}

/// Runs it with its output on ours; an error if it fails.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}

/// Runs it and returns what it prints on standard output; an error if it fails.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs it, shows its standard output and also returns it.
pub fn tee(command: &mut Command) -> Result<(ExitStatus, String)> {
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot run {command:?}"))?;
    let stdout = child.stdout.take().context("no standard output")?;
    let mut text = String::new();
    for line in BufReader::new(stdout).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        writeln!(std::io::stdout(), "{line}")?;
        text += &line;
        text.push('\n');
    }
    Ok((child.wait()?, text))
}

/// Lets everyone run the file.
pub fn make_executable(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?)
}
