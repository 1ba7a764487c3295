//! Finds the package with the kernels and the target folder, from what `cargo metadata` says.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::files::{absolute, normalized};

use super::arguments::BuildArgs;

/// What a build is about.
#[derive(Debug, PartialEq, Eq)]
pub struct Selected {
    /// The package's manifest.
    pub manifest: PathBuf,
    /// As in the package's manifest: `my-app`.
    pub name: String,
    /// The workspace's target folder.
    pub target_dir: PathBuf,
    /// The folder for what is compiled on the way: cargo's `build.build-dir`, which is the target folder by default.
    pub build_dir: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    target_directory: PathBuf,
    build_directory: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Package {
    id: String,
    name: String,
    default_run: Option<String>,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
}

/// The package that the arguments name, the one in this folder, or the only one in the workspace that uses `ptx`.
pub fn select(args: &BuildArgs) -> Result<Selected> {
    let manifest = match &args.cargo.manifest_path {
        Some(path) if path.is_dir() => Some(path.join("Cargo.toml")),
        path => path.clone(),
    };
    let metadata: Metadata = ask(manifest.as_deref())?;
    let here = match &manifest {
        Some(path) => normalized(&absolute(path)?),
        None => nearest(),
    };
    let package = choose(&metadata.packages, args.package.as_deref(), &here)?;
    Ok(Selected {
        manifest: package.manifest_path.clone(),
        name: package.name.clone(),
        target_dir: args.cargo.target_dir.clone().unwrap_or_else(|| metadata.target_directory.clone()),
        build_dir: match &args.cargo.target_dir {
            // It is cargo's default for the other.
            Some(dir) if metadata.build_directory == metadata.target_directory => dir.clone(),
            _ => metadata.build_directory,
        },
    })
}

/// The workspace's target folder.
pub fn target_dir(manifest: Option<&Path>) -> Result<PathBuf> {
    Ok(ask(manifest)?.target_directory)
}

/// Ids of packages with the programs that `default-run` names.
pub fn default_runs(manifest: Option<&Path>) -> Result<Vec<(String, String)>> {
    Ok(ask(manifest)?.packages.into_iter().filter_map(|package| Some((package.id, package.default_run?))).collect())
}

fn choose<'a>(packages: &'a [Package], name: Option<&str>, here: &Path) -> Result<&'a Package> {
    let names = |packages: &[&Package]| {
        packages.iter().map(|package| format!("`{}`", package.name)).collect::<Vec<_>>().join(", ")
    };
    if let Some(name) = name {
        return packages.iter().find(|package| package.name == name).ok_or_else(|| {
            Diagnostic::error(Code::Usage, format!("the workspace has no package `{name}`"))
                .note(format!("it has {}", names(&packages.iter().collect::<Vec<_>>())))
                .into()
        });
    }
    if let Some(package) = packages.iter().find(|package| package.manifest_path == here) {
        return Ok(package);
    }
    let uses_ptx = |package: &&Package| {
        package.dependencies.iter().any(|dependency| dependency.name == "ptx" && dependency.kind.is_none())
    };
    let candidates: Vec<&Package> = packages.iter().filter(uses_ptx).collect();
    match candidates[..] {
        [package] => Ok(package),
        [] => Err(Diagnostic::error(Code::NoKernels, "no package of the workspace depends on `ptx`")
            .help("run `cargo ptx new NAME` for a package with a kernel, or name a package by `-p`")
            .into()),
        _ => Err(Diagnostic::error(Code::Usage, "several packages of the workspace depend on `ptx`")
            .help(format!("name one by `-p`: {}", names(&candidates)))
            .into()),
    }
}

fn ask(manifest: Option<&Path>) -> Result<Metadata> {
    let mut args = vec!["metadata", "--no-deps", "--format-version", "1", "--color", "never"];
    let manifest = manifest.map(|path| path.display().to_string());
    args.extend(manifest.iter().flat_map(|path| ["--manifest-path", path]));
    let text = cargo(&args)?;
    Ok(serde_json::from_str(&text)
        .map_err(|e| Diagnostic::error(Code::CargoFailed, format!("cannot read what `cargo metadata` printed: {e}")))?)
}

/// The manifest that cargo takes, which has found one by now: the next one upwards.
fn nearest() -> PathBuf {
    let here = super::environment::current_dir();
    here.ancestors().map(|folder| folder.join("Cargo.toml")).find(|manifest| manifest.exists()).unwrap_or(here)
}

fn cargo(args: &[&str]) -> Result<String> {
    let cargo = super::environment::cargo();
    let failed = |why: String| Diagnostic::error(Code::CargoFailed, format!("`cargo {}` failed", args[0])).note(why);
    let output = Command::new(&cargo)
        .args(args)
        .output()
        .map_err(|e| failed(format!("cannot run `{}`: {e}", cargo.display())))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).trim().trim_start_matches("error: ").to_string();
        return Err(failed(why)
            .help("run the command in a package's folder, name its manifest by `--manifest-path`, or make one by `cargo ptx new NAME`")
            .into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependency: Option<(&str, Option<&str>)>) -> Package {
        Package {
            id: name.into(),
            name: name.into(),
            default_run: None,
            manifest_path: format!("/ws/{name}/Cargo.toml").into(),
            dependencies: dependency
                .map(|(name, kind)| Dependency { name: name.into(), kind: kind.map(Into::into) })
                .into_iter()
                .collect(),
        }
    }

    #[test]
    fn the_package_is_found_or_asked_for() {
        let one = [
            package("host", Some(("ptx", Some("dev")))),
            package("kernels", Some(("ptx", None))),
            package("util", None),
        ];
        let root = Path::new("/ws/Cargo.toml");
        let name = |result: Result<&Package>| result.map(|package| package.name.clone());
        assert_eq!(name(choose(&one, None, root)).unwrap(), "kernels");
        assert_eq!(name(choose(&one, None, Path::new("/ws/util/Cargo.toml"))).unwrap(), "util");
        assert_eq!(name(choose(&one, Some("host"), root)).unwrap(), "host");
        let error = choose(&one, Some("no"), root).unwrap_err().to_string();
        assert!(error.contains("no package `no`") && error.contains("`host`, `kernels`, `util`"), "{error}");
        let error = choose(&one[2..], None, root).unwrap_err().to_string();
        assert!(error.contains("depends on `ptx`") && error.contains("cargo ptx new"), "{error}");
        let two = [package("a", Some(("ptx", None))), package("b", Some(("ptx", None)))];
        let error = choose(&two, None, root).unwrap_err().to_string();
        assert!(error.contains("several packages") && error.contains("`a`, `b`"), "{error}");
    }
}
