//! `cargo xtask semver`: whether the published crates keep what they offered, by cargo-semver-checks.
//!
//! It compares documentation of the working tree, as JSON, with that of a commit, whose sources it takes from git.

use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use toml::Table;

use crate::shell;

/// Checks every published library. It fails where a version would have to be another one.
pub fn run(baseline: Option<String>) -> Result<ExitCode> {
    let installed =
        shell::cargo().args(["semver-checks", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !installed.is_ok_and(|status| status.success()) {
        bail!("cargo-semver-checks is not on this machine: `cargo install --locked cargo-semver-checks` installs it");
    }
    let baseline = match baseline {
        Some(baseline) => baseline,
        None => recorded(&std::fs::read_to_string("Cargo.toml")?)?,
    };
    let commit =
        Command::new("git").args(["rev-parse", "--verify", "--quiet", &format!("{baseline}^{{commit}}")]).output()?;
    if !commit.status.success() {
        bail!("this clone has no commit `{baseline}`: if it is a shallow one, run `git fetch --unshallow`");
    }
    let commit = String::from_utf8(commit.stdout)?;
    let text = shell::output(shell::cargo().args(["metadata", "--format-version=1", "--no-deps"]))?;
    let metadata: Value = serde_json::from_str(&text)?;
    let mut is_kept = true;
    for (packages, features) in groups(&metadata)? {
        let mut command = shell::cargo();
        command.args(["semver-checks", "--baseline-rev", commit.trim()]).args(features);
        command.args(packages.iter().flat_map(|package| ["--package", package]));
        is_kept &= command.status().with_context(|| format!("cannot run {command:?}"))?.success();
    }
    if !is_kept {
        println!(
            "\nIf the commit is a release, raise the version in Cargo.toml; see \"Releases\" in docs/src/contributing.md."
        );
    }
    Ok(if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The commit of the last release.
fn recorded(manifest: &str) -> Result<String> {
    let manifest: Table = manifest.parse()?;
    let baseline = manifest["workspace"].get("metadata").and_then(|metadata| metadata.get("semver")?.get("baseline"));
    let baseline =
        baseline.and_then(toml::Value::as_str).context("Cargo.toml has no `workspace.metadata.semver.baseline`")?;
    Ok(baseline.to_string())
}

/// Published libraries, with what says which of their features are looked at: all, but where only one LLVM can be asked for.
fn groups(metadata: &Value) -> Result<[(Vec<&str>, Option<&'static str>); 2]> {
    let mut groups = [(Vec::new(), None), (Vec::new(), Some("--default-features"))];
    for package in metadata["packages"].as_array().context("cargo names no packages")? {
        let targets = package["targets"].as_array().into_iter().flatten();
        let is_library = targets.into_iter().any(|target| target["kind"][0] == "lib");
        if !package["publish"].is_null() || !is_library {
            continue;
        }
        let features = package["features"].as_object().context("cargo names no features")?;
        let of_compiler = features.keys().any(|feature| feature.starts_with("llvm-"));
        groups[usize::from(of_compiler)].0.push(package["name"].as_str().context("a package has no name")?);
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_commit_is_one() {
        let baseline = recorded(include_str!("../../Cargo.toml")).expect("the workspace names one");
        assert!(baseline.len() == 40 && baseline.bytes().all(|byte| byte.is_ascii_hexdigit()), "{baseline}");
        assert!(recorded("[workspace]").is_err());
    }

    #[test]
    fn libraries_that_are_published_are_looked_at() {
        let package = |name: &str, publish: Value, kind: &str, feature: &str| serde_json::json!({"name": name, "publish": publish, "targets": [{"kind": [kind]}], "features": {feature: []}});
        let packages = [
            package("ptx", Value::Null, "lib", "cpu"),
            package("macros", Value::Null, "proc-macro", "cpu"),
            package("codegen", Value::Null, "lib", "llvm-22"),
            package("tests", serde_json::json!([]), "lib", "cpu"),
        ];
        let metadata = serde_json::json!({ "packages": packages });
        let [all, default] = groups(&metadata).expect("as cargo names them");
        assert_eq!((all.0, default.0), (vec!["ptx"], vec!["codegen"]));
    }
}
