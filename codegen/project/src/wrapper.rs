//! Stands between cargo and rustc in the device build, to tell the kernels where their package really is.
//!
//! cargo sets `CARGO_MANIFEST_DIR` to the folder of the manifest that it builds, which is a generated one, and lets no
//! configuration change it. `include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/table.bin"))` must work in kernels
//! too, so this program is also cargo's `RUSTC_WORKSPACE_WRAPPER`: it sets the variable and becomes rustc.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

/// The environment variable with the package's real folder.
pub const VARIABLE: &str = "RUST_PTX_MANIFEST_DIR";

/// The environment variable with Clippy's driver, where that is to check in rustc's place.
pub const CLIPPY_VARIABLE: &str = "RUST_PTX_CLIPPY";

/// The environment variable with the workspace's root, where rustc is to show paths from there: in a check, whose rustc cargo
/// gives no flags of its own.
pub const ROOT_VARIABLE: &str = "RUST_PTX_ROOT";

/// Has rustc show paths below a folder as seen from there, in messages and in `file!()`.
pub fn remap(root: &str) -> [String; 2] {
    [format!("--remap-path-prefix={root}/="), "--remap-path-scope=macro,diagnostics".into()]
}

/// If cargo calls this program as the wrapper, so with rustc as the first argument, runs rustc and ends the process.
pub fn become_rustc_if_asked(args: &[OsString]) {
    let Some(dir) = std::env::var_os(VARIABLE) else { return };
    let Some((rustc, args)) = args.split_first().filter(|(first, _)| is_rustc(first)) else { return };
    let clippy = std::env::var_os(CLIPPY_VARIABLE).filter(|_| std::env::var_os("CARGO_PRIMARY_PACKAGE").is_some());
    let mut command = Command::new(clippy.as_ref().unwrap_or(rustc));
    // Clippy's driver is a wrapper of rustc itself.
    command.args(clippy.is_some().then_some(rustc)).args(args);
    // Only where cargo describes a package: it also asks rustc for its version.
    if std::env::var_os("CARGO_MANIFEST_DIR").is_some() {
        command.env("CARGO_MANIFEST_DIR", dir);
        let root = std::env::var(ROOT_VARIABLE);
        command.args(root.iter().flat_map(|root| remap(root)));
    }
    let code = match command.status() {
        Ok(status) => status.code().unwrap_or(101),
        Err(error) => {
            eprintln!("error: cannot run `{}`: {error}", rustc.display());
            101
        }
    };
    std::process::exit(code);
}

/// rustc gives its linker options and objects, never a program called rustc.
fn is_rustc(first: &OsStr) -> bool {
    Path::new(first).file_stem().is_some_and(|stem| stem == "rustc")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rustc_is_rustc() {
        for (first, expected) in [
            ("/t/bin/rustc", true),
            ("rustc", true),
            ("rustc.exe", true),
            ("--export-symbol", false),
            ("/t/rustc-x.o", false),
        ] {
            assert_eq!(is_rustc(OsStr::new(first)), expected, "{first}");
        }
    }
}
