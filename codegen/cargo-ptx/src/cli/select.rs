//! Finds the package with the kernels and the target folder, from what `cargo metadata` says.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::files::{absolute, normalized};
use ptx_project::options::suggest;

use super::arguments::{CargoArgs, CommonArgs, PackageArgs};

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
    targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Target {
    kind: Vec<String>,
}

impl Package {
    fn uses_ptx(&self) -> bool {
        self.dependencies.iter().any(|dependency| dependency.name == "ptx" && dependency.kind.is_none())
    }

    /// Whether it has a library that can be compiled for the device.
    fn has_library(&self) -> bool {
        const LIBRARIES: [&str; 5] = ["lib", "rlib", "cdylib", "dylib", "staticlib"];
        self.targets.iter().any(|target| target.kind.iter().any(|kind| LIBRARIES.contains(&kind.as_str())))
    }
}

/// The packages that the arguments name, the one in this folder, or the only one in the workspace that uses `ptx`.
pub fn select(packages: &PackageArgs, cargo: &CargoArgs) -> Result<Vec<Selected>> {
    let manifest = match &cargo.common.manifest_path {
        Some(path) if path.is_dir() => Some(path.join("Cargo.toml")),
        path => path.clone(),
    };
    let metadata: Metadata = ask(manifest.as_deref(), &cargo.common)?;
    let here = match &manifest {
        Some(path) => normalized(&absolute(path)?),
        None => nearest(),
    };
    let target_dir = cargo.target_dir.clone().unwrap_or_else(|| metadata.target_directory.clone());
    let selected = |package: &Package| Selected {
        manifest: package.manifest_path.clone(),
        name: package.name.clone(),
        target_dir: target_dir.clone(),
        build_dir: match &cargo.target_dir {
            // It is cargo's default for the other.
            Some(dir) if metadata.build_directory == metadata.target_directory => dir.clone(),
            _ => metadata.build_directory.clone(),
        },
    };
    Ok(choose(&metadata.packages, packages, &here)?.into_iter().map(selected).collect())
}

/// The same where there can be only one.
pub fn one(packages: &PackageArgs, cargo: &CargoArgs) -> Result<Selected> {
    let mut selected = select(packages, cargo)?;
    match selected.pop() {
        Some(package) if selected.is_empty() => Ok(package),
        _ => Err(Diagnostic::error(Code::Usage, "this takes one package, and several were named")
            .help("name one by `-p`")
            .into()),
    }
}

/// The workspace's target folder.
pub fn target_dir(args: &CommonArgs) -> Result<PathBuf> {
    Ok(ask(args.manifest_path.as_deref(), args)?.target_directory)
}

/// The same, and where cargo compiles what goes there, if that is another folder.
pub fn target_dirs(args: &CommonArgs) -> Result<Vec<PathBuf>> {
    let Metadata { target_directory, build_directory, .. } = ask(args.manifest_path.as_deref(), args)?;
    let other = (build_directory != target_directory).then_some(build_directory);
    Ok(std::iter::once(target_directory).chain(other).collect())
}

/// Ids of packages with the programs that `default-run` names.
pub fn default_runs(args: &CommonArgs) -> Result<Vec<(String, String)>> {
    let packages = ask(args.manifest_path.as_deref(), args)?.packages;
    Ok(packages.into_iter().filter_map(|package| Some((package.id, package.default_run?))).collect())
}

fn choose<'a>(packages: &'a [Package], args: &PackageArgs, here: &Path) -> Result<Vec<&'a Package>> {
    let named = |name: &String| {
        packages.iter().find(|package| package.name == *name).ok_or_else(|| {
            let names: Vec<&str> = packages.iter().map(|package| package.name.as_str()).collect();
            let error = Diagnostic::error(Code::Usage, format!("the workspace has no package `{name}`"));
            suggest::among(error, name, &names)
        })
    };
    if !args.package.is_empty() {
        return Ok(args.package.iter().map(named).collect::<Result<_, _>>()?);
    }
    let excluded: Vec<&Package> = args.exclude.iter().map(named).collect::<Result<_, _>>()?;
    if !args.workspace
        && let Some(package) = packages.iter().find(|package| package.manifest_path == here)
    {
        return Ok(vec![package]);
    }
    let is_left = |package: &&Package| !excluded.iter().any(|excluded| excluded.id == package.id);
    let candidates: Vec<&Package> = packages.iter().filter(|package| package.uses_ptx()).filter(is_left).collect();
    if args.workspace {
        let with_kernels: Vec<&Package> = candidates.into_iter().filter(|package| package.has_library()).collect();
        if with_kernels.is_empty() {
            return Err(Diagnostic::error(Code::NoKernels, "no package is left with a library that depends on `ptx`")
                .help("run `cargo ptx new NAME` for a package with a kernel, or exclude less")
                .into());
        }
        return Ok(with_kernels);
    }
    match candidates[..] {
        [package] => Ok(vec![package]),
        [] => Err(Diagnostic::error(Code::NoKernels, "no package of the workspace depends on `ptx`")
            .help("run `cargo ptx new NAME` for a package with a kernel, or name a package by `-p`")
            .into()),
        _ => {
            let names: Vec<&str> = candidates.iter().map(|package| package.name.as_str()).collect();
            Err(Diagnostic::error(Code::Usage, "several packages of the workspace depend on `ptx`")
                .help(format!("name one by `-p`: {}; or all by `--workspace`", suggest::list(&names)))
                .into())
        }
    }
}

fn ask(manifest: Option<&Path>, args: &CommonArgs) -> Result<Metadata> {
    let mut line: Vec<String> =
        ["metadata", "--no-deps", "--format-version", "1", "--color", "never"].map(Into::into).to_vec();
    line.extend(manifest.iter().flat_map(|path| ["--manifest-path".into(), path.display().to_string()]));
    line.extend(args.shared());
    let text = cargo(&line)?;
    Ok(serde_json::from_str(&text)
        .map_err(|e| Diagnostic::error(Code::CargoFailed, format!("cannot read what `cargo metadata` printed: {e}")))?)
}

/// The manifest that cargo takes, which has found one by now: the next one upwards.
fn nearest() -> PathBuf {
    let here = super::environment::current_dir();
    here.ancestors().map(|folder| folder.join("Cargo.toml")).find(|manifest| manifest.exists()).unwrap_or(here)
}

fn cargo(args: &[String]) -> Result<String> {
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
            targets: vec![Target { kind: vec![if name == "program" { "bin" } else { "lib" }.into()] }],
        }
    }

    fn names(packages: &[Package], args: &PackageArgs, here: &str) -> std::result::Result<Vec<String>, String> {
        let chosen = choose(packages, args, Path::new(here)).map_err(|failure| failure.to_string())?;
        Ok(chosen.into_iter().map(|package| package.name.clone()).collect())
    }

    fn named(name: &str) -> PackageArgs {
        PackageArgs { package: vec![name.into()], ..PackageArgs::default() }
    }

    const ROOT: &str = "/ws/Cargo.toml";

    #[test]
    fn the_package_is_found_or_asked_for() {
        let one = [
            package("host", Some(("ptx", Some("dev")))),
            package("kernels", Some(("ptx", None))),
            package("util", None),
        ];
        let nothing = PackageArgs::default();
        assert_eq!(names(&one, &nothing, ROOT).unwrap(), ["kernels"]);
        assert_eq!(names(&one, &nothing, "/ws/util/Cargo.toml").unwrap(), ["util"]);
        assert_eq!(names(&one, &named("host"), ROOT).unwrap(), ["host"]);
        let error = names(&one, &named("kernel"), ROOT).unwrap_err();
        assert!(error.contains("no package `kernel`") && error.contains("did you mean `kernels`"), "{error}");
        let error = names(&one, &named("no"), ROOT).unwrap_err();
        assert!(error.contains("`host`, `kernels`, `util`"), "{error}");
        let error = names(&one[2..], &nothing, ROOT).unwrap_err();
        assert!(error.contains("depends on `ptx`") && error.contains("cargo ptx new"), "{error}");
        let two = [package("a", Some(("ptx", None))), package("b", Some(("ptx", None)))];
        let error = names(&two, &nothing, ROOT).unwrap_err();
        assert!(error.contains("several packages") && error.contains("`a`, `b`; or all by `--workspace`"), "{error}");
    }

    #[test]
    fn a_workspace_is_what_has_kernels_but_for_what_is_excluded() {
        let uses = Some(("ptx", None));
        let all = [package("a", uses), package("b", uses), package("program", uses), package("util", None)];
        let workspace = |exclude: &[&str]| PackageArgs {
            workspace: true,
            exclude: exclude.iter().map(ToString::to_string).collect(),
            ..PackageArgs::default()
        };
        assert_eq!(names(&all, &workspace(&[]), "/ws/a/Cargo.toml").unwrap(), ["a", "b"]);
        assert_eq!(names(&all, &workspace(&["a"]), ROOT).unwrap(), ["b"]);
        assert!(names(&all, &workspace(&["a", "b"]), ROOT).unwrap_err().contains("exclude less"));
        assert!(names(&all, &workspace(&["x"]), ROOT).unwrap_err().contains("no package `x`"));
    }
}
