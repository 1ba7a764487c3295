//! `--locked` for a device build: its lock file is made of the workspace's, and must say the same.
//!
//! The device's manifest has not all of the package's dependencies, so cargo has to shorten the copy of the lock file that
//! stands beside it. That is no change of versions, which is what the user forbids.

use std::collections::BTreeSet;
use std::path::Path;

use toml::{Table, Value};

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};

use super::package::Package;
use super::request::DeviceBuild;
use super::{cargo, lock};

/// Makes the device's lock file ready for a cargo with `--locked`, or says why the workspace's does not do.
pub fn check(build: &DeviceBuild, package: &Package, device_manifest: &Path) -> Result<()> {
    update(build, package, &package.root_manifest, true)?;
    update(build, package, device_manifest, false)?;
    let read = |manifest: &Path| {
        let path = manifest.with_file_name("Cargo.lock");
        let text = std::fs::read_to_string(&path).map_err(|e| lock::failure(&path, "read", &e))?;
        Ok::<_, Diagnostic>(versions(&text))
    };
    let (known, needed) = (read(&package.root_manifest)?, read(device_manifest)?);
    match needed.difference(&known).next() {
        None => Ok(()),
        Some(stray) => Err(stale(package).note(format!("the kernels need {stray}, which it has not")).into()),
    }
}

/// Has cargo write the lock file of that manifest anew with the versions that it has, or see that it need not.
fn update(build: &DeviceBuild, package: &Package, manifest: &Path, locked: bool) -> Result<()> {
    let mut command = cargo::command(build, package);
    command.arg("update").args(build.flags.args_of_all()).args(locked.then_some("--locked"));
    command.args(["--workspace", "--color", "never", "--manifest-path"]).arg(manifest);
    let output = command
        .output()
        .map_err(|e| Diagnostic::error(Code::CargoFailed, format!("cannot run `{}`: {e}", build.cargo.display())))?;
    if output.status.success() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&output.stderr).trim().to_string();
    Err(stale(package).note(format!("cargo said: {reason}")).into())
}

fn stale(package: &Package) -> Diagnostic {
    let lock = package.root_manifest.with_file_name("Cargo.lock");
    Diagnostic::error(
        Code::CargoFailed,
        format!("`{}` would have to change, and `--locked` forbids it", lock.display()),
    )
    .help("run the command once without `--locked` and `--frozen`, and commit the file")
}

/// Packages of a lock file that come from elsewhere, with their versions.
fn versions(lock: &str) -> BTreeSet<String> {
    let table: Table = lock.parse().unwrap_or_default();
    let packages = table.get("package").and_then(Value::as_array).into_iter().flatten();
    let text = |package: &Value, key: &str| Some(package.get(key)?.as_str()?.to_string());
    packages
        .filter_map(|of| text(of, "source").and(Some(format!("{} {}", text(of, "name")?, text(of, "version")?))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_other_peoples_packages() {
        let lock = "version = 4\n[[package]]\nname = \"own\"\nversion = \"0.1.0\"\n\
                    [[package]]\nname = \"libm\"\nversion = \"0.2.16\"\nsource = \"registry+https://x\"\n";
        assert_eq!(versions(lock).into_iter().collect::<Vec<_>>(), ["libm 0.2.16"]);
    }
}
