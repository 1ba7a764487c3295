//! Runs cargo for the device and gathers what it says.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::linker::LINKER_VARIABLE;
use crate::progress::Step;
use crate::sysroot::{NO_COPIES, Rustc};
use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::request::TARGET;

use super::aim::Aim;
use super::manifest::OnDisk;
use super::messages::Messages;
use super::package::Package;
use super::request::DeviceBuild;
use crate::{timings, wrapper};

/// What one run of cargo did.
#[derive(Debug)]
pub struct Outcome {
    /// Whether cargo succeeded.
    pub success: bool,
    /// What rustc and the linker said, and what was built.
    pub messages: Messages,
    /// Cargo's own words.
    pub stderr: String,
    /// When the last crate was there that the package depends on.
    pub dependencies: Option<Instant>,
}

/// The command line for the device manifest's library; also what tells one build from another. `link_args` are for a build.
pub fn arguments(
    build: &DeviceBuild,
    aim: &Aim,
    package: &Package,
    OnDisk { manifest, shares_root, dropped }: &OnDisk,
    sysroot: &Path,
    rustc: &Rustc,
    link_args: &[String],
) -> Result<Vec<String>> {
    let text = |path: &Path| match path.to_str() {
        Some(text) => Ok(text.to_string()),
        None => Err(Diagnostic::error(Code::Usage, format!("the path `{}` is not UTF-8", path.display()))),
    };
    let linker = std::env::current_exe()
        .map_err(|e| Diagnostic::error(Code::CargoFailed, format!("cannot find the running program's file: {e}")))?;
    let mut args: Vec<String> = Vec::new();
    let mut add = |items: &[&str]| args.extend(items.iter().map(ToString::to_string));
    add(&[aim.verb(), "--lib", "--target", TARGET, "--color", "never"]);
    if aim.links() && !build.tests {
        // rustc makes a program of tests, whatever the crate is.
        add(&["--crate-type", "cdylib"]);
    }
    if let Aim::Doc { args, .. } = aim {
        args.iter().for_each(|arg| add(&[arg]));
    }
    add(&["--manifest-path", &text(manifest)?, "--target-dir", &text(&build.target_dir)?]);
    // The old name of a check's rustc, as for `cargo check`.
    add(&["--profile", if matches!(aim, Aim::Expand { .. }) { "check" } else { profile(build) }]);
    add(&["--message-format", format(build)]);
    if !build.features.default {
        add(&["--no-default-features"]);
    }
    if build.features.all {
        add(&["--all-features"]);
    }
    let features: Vec<String> = build.features.names.iter().filter(|name| !dropped.contains(*name)).cloned().collect();
    if !features.is_empty() {
        add(&["--features", &features.join(",")]);
    }
    // Paths of the workspace as cargo shows them: in rustc's messages and in `file!()`. Debug information keeps them
    // absolute, because a debugger does not know the workspace.
    let [prefix, scope] = wrapper::remap(&text(package.root())?);
    let sysroot = text(sysroot)?;
    let remap = [&*prefix, &*scope];
    let mut flags = vec!["--sysroot", &sysroot, FOR_THE_LINKER];
    flags.extend(rustc.is_nightly().then_some(NO_COPIES));
    if *shares_root {
        flags.extend(remap);
    }
    let list = |flags: &[&str]| toml::Value::Array(flags.iter().map(|flag| toml::Value::from(*flag)).collect());
    add(&["--config", &format!("target.{TARGET}.rustflags={}", list(&flags))]);
    if let Aim::Doc { .. } = aim {
        add(&["--config", &format!("target.{TARGET}.rustdocflags={}", list(&["--sysroot", &sysroot]))]);
    }
    if let Aim::Expand { to } = aim {
        add(&["--", "-Zunpretty=expanded", "-o", &text(to)?]);
    }
    if !aim.links() {
        return Ok(args);
    }
    // The linker only here, not in cargo's configuration: dependencies must not depend on which program links.
    add(&["--", "-C", &format!("linker={}", text(&linker)?)]);
    // Nor on the folder of the package that uses them, where none of them is in it: others use them, too.
    if !*shares_root {
        add(&remap);
    }
    for arg in link_args {
        add(&["-C", &format!("link-arg={arg}")]);
    }
    Ok(args)
}

/// How cargo hands on rustc's messages.
fn format(build: &DeviceBuild) -> &'static str {
    match (build.short, build.color) {
        (false, false) => "json",
        (false, true) => "json-diagnostic-rendered-ansi",
        (true, false) => "json-diagnostic-short",
        (true, true) => "json-diagnostic-short,json-diagnostic-rendered-ansi",
    }
}

/// cargo builds tests where it is asked for this profile; the device manifest gives it the settings of the one that was
/// asked for.
fn profile(build: &DeviceBuild) -> &str {
    if build.tests { "test" } else { &build.profile }
}

/// rustc leaves to the linker what is done best when everything is known: it would unroll loops as for a CPU.
const FOR_THE_LINKER: &str = "-Clinker-plugin-lto";

/// Changes whenever the program that links does.
pub fn linker_id() -> String {
    let file = std::env::current_exe().and_then(std::fs::metadata);
    let modified = file.as_ref().ok().and_then(|file| file.modified().ok());
    let nanos = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok()).map_or(0, |t| t.as_nanos());
    format!("{}-{:x}-{nanos:x}", env!("CARGO_PKG_VERSION"), file.map_or(0, |file| file.len()))
}

/// The folder, in the device build's own, in which rustc keeps what it knows of the package's crate.
const INCREMENTAL: &str = "incremental";

/// Runs cargo with those arguments, in the package's folder, so that its configuration files count. If rustc `keeps` what it
/// knows of the package's crate, it compiles only what has changed; a nightly can.
pub fn run(
    build: &DeviceBuild,
    aim: &Aim,
    package: &Package,
    args: &[String],
    keeps: bool,
    measured: Option<&Path>,
    step: &Step,
) -> Result<Outcome> {
    let failed = |e: std::io::Error| {
        Diagnostic::error(Code::CargoFailed, format!("cannot run `{}`: {e}", build.cargo.display()))
            .help("install Rust by rustup, or set `CARGO` to a cargo that works")
    };
    let mut command = command(build, package);
    command.envs(measured.map(|file| (timings::VARIABLE, file)));
    if aim.links() {
        command.envs(keeps.then(|| (wrapper::INCREMENTAL_VARIABLE, build.target_dir.join(INCREMENTAL))));
    } else {
        // cargo has no flags for the last crate of a check alone.
        command.env(wrapper::ROOT_VARIABLE, package.root());
    }
    if let Aim::Clippy { driver, args } = aim {
        // As `cargo clippy` hands them to its driver.
        let args: String = args.iter().map(|arg| format!("{arg}__CLIPPY_HACKERY__")).collect();
        command.env(wrapper::CLIPPY_VARIABLE, driver).env("CLIPPY_ARGS", args);
    }
    let (verb, rest) = args.split_at(1);
    command.args(verb).args(&build.flags.args).args(build.flags.locked.then_some("--locked")).args(rest);
    let mut child = command.spawn().map_err(failed)?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let mut messages = Messages::default();
    // When each crate was there; the package's own comes last.
    let mut times = Vec::new();
    let stderr = std::thread::scope(|scope| {
        let follow = |stderr| follow(stderr, &package.name, build.flags.verbose, step);
        let stderr = scope.spawn(move || stderr.map(follow).unwrap_or_default());
        if let Some(stdout) = stdout {
            BufReader::new(stdout).lines().map_while(Result::ok).for_each(|line| {
                messages.add(&line);
                times.resize_with(messages.artifacts.len(), Instant::now);
            });
        }
        stderr.join().unwrap_or_default()
    });
    let status = child.wait().map_err(failed)?;
    let dependencies = times.iter().rev().nth(1).copied();
    Ok(Outcome { success: status.success(), messages, stderr, dependencies })
}

/// What marks a folder of things that can be made again (bford.info/cachedir).
const CACHE_TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n# Written by rust-ptx, in cargo's stead.\n";

/// Forgets the library that was built, so that the next run links it.
pub fn forget(build: &DeviceBuild, package: &Package, manifest: &Path) -> Result<()> {
    // cargo cleans no folder without this file, and does not write it into one that was there, as ours is for the lock.
    let tag = build.target_dir.join("CACHEDIR.TAG");
    if !tag.is_file() {
        std::fs::write(&tag, CACHE_TAG).map_err(|e| super::lock::failure(&tag, "write", &e))?;
    }
    let mut command = command(build, package);
    command.arg("clean").args(build.flags.args_of_all());
    command.args(["--package", &package.name, "--target", TARGET, "--profile", profile(build)]);
    command.arg("--manifest-path").arg(manifest).arg("--target-dir").arg(&build.target_dir);
    let output = command
        .output()
        .map_err(|e| Diagnostic::error(Code::CargoFailed, format!("cannot run `{}`: {e}", build.cargo.display())))?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr).trim().to_string();
        return Err(Diagnostic::error(Code::CargoFailed, "cargo could not clean the device build").note(reason).into());
    }
    Ok(())
}

/// cargo in the package's folder, without what a cargo above us set.
pub fn command(build: &DeviceBuild, package: &Package) -> Command {
    let mut command = Command::new(&build.cargo);
    command.current_dir(package.dir()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_of_outer_cargo) {
            command.env_remove(name);
        }
    }
    for variable in [timings::VARIABLE, wrapper::CLIPPY_VARIABLE, wrapper::ROOT_VARIABLE, wrapper::INCREMENTAL_VARIABLE]
    {
        command.env_remove(variable);
    }
    if std::env::var_os(wrapper::NOTES_VARIABLE).is_some() {
        // The host's cargo was given this program as a wrapper, which is not for device code.
        command.env_remove(wrapper::NOTES_VARIABLE).env_remove(wrapper::WRAPPER_VARIABLE);
    }
    // As the target folder, which this cargo is given: the package's configuration may put the other cargo's elsewhere.
    command.env("CARGO_BUILD_BUILD_DIR", &build.target_dir);
    command.env("RUSTC", &build.rustc).env(wrapper::VARIABLE, package.dir());
    if let Ok(program) = std::env::current_exe() {
        command.env(LINKER_VARIABLE, &program).env("RUSTC_WORKSPACE_WRAPPER", program);
    }
    command
}

/// Collects cargo's own lines and shows what it does.
fn follow(stderr: impl Read, package: &str, verbose: bool, step: &Step) -> String {
    const VERBS: [&str; 5] = ["Compiling", "Checking", "Documenting", "Downloading", "Blocking"];
    let mut text = String::new();
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        if verbose {
            step.line(&line);
        } else if let Some((verb, what)) = line.trim_start().split_once(' ').filter(|(verb, _)| VERBS.contains(verb)) {
            // `Compiling glam v0.30.1 (/path)`: the path is noise here.
            let what = what.split(" (").next().unwrap_or(what);
            // Every crate on a terminal; elsewhere one line for the package.
            match what.split_once(' ').filter(|(name, _)| *name == package) {
                Some((name, _)) => step.announce(&format!("{verb} {name} for the GPU")),
                None => step.message(&format!("{verb} {what} for the GPU")),
            }
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// Variables that cargo sets for what it runs, or that are meant for the host's build: the device build must not see
/// them. What a user sets to steer cargo itself (`CARGO_HOME`, `CARGO_NET_OFFLINE`, `CARGO_PROFILE_…`,
/// `CARGO_BUILD_JOBS`, registries) and the job server (`CARGO_MAKEFLAGS`) stay.
fn is_of_outer_cargo(name: &str) -> bool {
    const NAMES: [&str; 26] = [
        "CARGO",
        "CARGO_BIN_NAME",
        "CARGO_BUILD_TARGET",
        "CARGO_BUILD_TARGET_DIR",
        "CARGO_BUILD_BUILD_DIR",
        "CARGO_BUILD_RUSTC",
        "CARGO_BUILD_RUSTFLAGS",
        "CARGO_CRATE_NAME",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_PRIMARY_PACKAGE",
        "CARGO_TARGET_DIR",
        "CARGO_TARGET_TMPDIR",
        "DEBUG",
        "HOST",
        "NUM_JOBS",
        "OPT_LEVEL",
        "OUT_DIR",
        "PROFILE",
        "RUSTC",
        "RUSTC_LINKER",
        "RUSTC_WORKSPACE_WRAPPER",
        "CLIPPY_ARGS",
        "RUSTDOC",
        "RUSTDOCFLAGS",
        "RUSTFLAGS",
        "TARGET",
    ];
    const PREFIXES: [&str; 6] =
        ["CARGO_CFG_", "CARGO_FEATURE_", "CARGO_MANIFEST_", "CARGO_PKG_", "CARGO_TARGET_NVPTX64_", "DEP_"];
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outer_build_is_not_seen() {
        for name in [
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_BUILD_RUSTFLAGS",
            "CARGO_TARGET_NVPTX64_NVIDIA_CUDA_RUSTFLAGS",
            "OUT_DIR",
            "CARGO_FEATURE_STD",
            "CARGO_TARGET_DIR",
            "DEP_Z_ROOT",
        ] {
            assert!(is_of_outer_cargo(name), "{name}");
        }
        for name in [
            "CARGO_HOME",
            "CARGO_NET_OFFLINE",
            "CARGO_MAKEFLAGS",
            "CARGO_PROFILE_RELEASE_OPT_LEVEL",
            "CARGO_REGISTRIES_OWN_TOKEN",
            "RUSTUP_TOOLCHAIN",
            "RUSTC_WRAPPER",
            "PATH",
            "LD_LIBRARY_PATH",
        ] {
            assert!(!is_of_outer_cargo(name), "{name}");
        }
    }
}
