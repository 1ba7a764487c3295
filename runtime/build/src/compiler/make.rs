//! Builds the compiler, by `cargo install`.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use ptx_setup::Rustc;

use super::sources::Checkout;

/// LLVM's major versions for which the program has a feature, `llvm-22` and so on.
const LLVMS: [&str; 3] = ["21", "22", "23"];

/// How it is compiled. What takes long in a device build is LLVM, which is compiled already: the compiler's own part is small
/// enough that optimising it would take longer than it saves. Macros in cargo's own 256 parts take a fifth longer.
const PROFILE: [&str; 4] = ["opt-level=0", "debug=false", "strip=\"debuginfo\"", "build-override.codegen-units=16"];

/// Installs the program into `to`, from the clone or, where there is none, from the registry; `scratch` is for cargo.
pub fn make(cargo: &Path, rustc: &Rustc, checkout: Option<&Checkout>, to: &Path, scratch: &Path) -> Result<(), String> {
    let mut command = Command::new(cargo);
    command.args(arguments(rustc.llvm_major(), checkout, to, scratch)?);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_of_outer_build) {
            command.env_remove(name);
        }
    }
    // Not the folder of the package, whose configuration is for what is compiled there.
    command.env("RUSTC", &rustc.path).current_dir(to).stdin(Stdio::null()).stdout(Stdio::null());
    let output = command.output().map_err(|e| format!("cannot run `{}`: {e}", cargo.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let errors = text.find("error").map_or(&*text, |from| &text[from..]);
    Err(format!("`cargo install` ended with {}:\n{}", output.status, errors.trim()))
}

fn arguments(llvm: &str, checkout: Option<&Checkout>, to: &Path, scratch: &Path) -> Result<Vec<OsString>, String> {
    if !LLVMS.contains(&llvm) {
        return Err(format!(
            "rustc has LLVM {llvm}, and rust-ptx {} is for LLVM {}: use a rustc with one of these",
            env!("CARGO_PKG_VERSION"),
            LLVMS.join(", "),
        ));
    }
    let mut args: Vec<OsString> = vec!["install".into()];
    match checkout {
        Some(checkout) => args.extend(["--path".into(), checkout.package().into()]),
        None => args.extend(["cargo-ptx".into(), "--version".into(), concat!("=", env!("CARGO_PKG_VERSION")).into()]),
    }
    // The versions of dependencies that were tested.
    args.extend(
        ["--locked", "--no-track", "--bin", "cargo-ptx", "--no-default-features", "--features"].map(Into::into),
    );
    args.push(format!("llvm-{llvm}").into());
    args.extend(["--root".into(), to.into(), "--target-dir".into(), scratch.into()]);
    for setting in PROFILE {
        args.extend(["--config".into(), format!("profile.release.{setting}").into()]);
    }
    Ok(args)
}

/// Variables that cargo sets for a build script, or that are meant for what is compiled with it. What steers cargo itself and
/// the job server stay.
fn is_of_outer_build(name: &str) -> bool {
    const NAMES: [&str; 18] = [
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_INCREMENTAL",
        "CARGO_TARGET_DIR",
        "CARGO_PRIMARY_PACKAGE",
        "CARGO_UNSTABLE_BUILD_STD",
        "CLIPPY_ARGS",
        "DEBUG",
        "HOST",
        "NUM_JOBS",
        "OPT_LEVEL",
        "OUT_DIR",
        "PROFILE",
        "RUSTC_LINKER",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTDOC",
        "RUSTDOCFLAGS",
        "RUSTFLAGS",
        "TARGET",
    ];
    const PREFIXES: [&str; 7] =
        ["CARGO_BUILD_", "CARGO_CFG_", "CARGO_FEATURE_", "CARGO_MANIFEST_", "CARGO_PKG_", "CARGO_PROFILE_", "DEP_"];
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(checkout: Option<&Checkout>) -> String {
        let args = arguments("22", checkout, Path::new("/cache/a"), Path::new("/cache/b")).unwrap();
        args.iter().map(|arg| arg.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn it_comes_from_the_clone_or_the_registry() {
        let rest = "--locked --no-track --bin cargo-ptx --no-default-features --features llvm-22 --root /cache/a \
                    --target-dir /cache/b --config profile.release.opt-level=";
        let version = env!("CARGO_PKG_VERSION");
        let registry = line(None);
        assert!(registry.starts_with(&format!("install cargo-ptx --version ={version} {rest}")), "{registry}");
        let checkout = Checkout { root: "/clone".into(), digest: String::new() };
        let clone = line(Some(&checkout));
        assert!(clone.starts_with(&format!("install --path /clone/codegen/cargo-ptx {rest}")), "{clone}");
    }

    #[test]
    fn every_llvm_has_a_feature() {
        let checkout = Checkout::find().unwrap().unwrap();
        let manifest = std::fs::read_to_string(checkout.package().join("Cargo.toml")).unwrap();
        let features = manifest.lines().filter_map(|line| line.strip_prefix("llvm-")?.split(' ').next());
        assert_eq!(features.collect::<Vec<_>>(), LLVMS);
        let error = arguments("20", None, Path::new("a"), Path::new("b")).unwrap_err();
        assert!(error.contains("LLVM 20") && error.contains("21, 22, 23"), "{error}");
    }

    #[test]
    fn the_users_choices_for_cargo_stay() {
        for name in ["CARGO_HOME", "CARGO_NET_OFFLINE", "CARGO_MAKEFLAGS", "RUSTUP_TOOLCHAIN", "PATH", "RUSTC_WRAPPER"]
        {
            assert!(!is_of_outer_build(name), "{name}");
        }
        for name in ["RUSTFLAGS", "CARGO_PROFILE_RELEASE_LTO", "CARGO_BUILD_TARGET", "CARGO_FEATURE_A", "OUT_DIR"] {
            assert!(is_of_outer_build(name), "{name}");
        }
    }
}
