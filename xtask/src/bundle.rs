//! `cargo xtask device-bundle`: packs the device tests and the examples for a machine with NVIDIA's driver alone.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
pub use xtask::ARCH;

use crate::{abi, cases, core, curand, debugger, examples, reference, setup, shell};

/// The package that runs the device tests, and the examples beside it.
const TESTS: &str = "ptx-device-tests";

/// The most that a bundle may weigh, in MiB.
const MAX_MIB: f64 = 60.0;

/// What starts everything on the other machine.
const RUN: &str = r#"#!/bin/sh
# Runs every device test and every example on this machine's GPU. Needs NVIDIA's driver, tar and xz.
# Writes device.jsonl into $OUT, or into results/ beside this file. The last line says how it went. Arguments are parts of the
# names of the tests that shall run, all by default, in several processes, which end after $LIMIT seconds if that is set.
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/results}
mkdir -p "$out" || exit 1
content=$(mktemp -d) || exit 1
trap 'rm -rf "$content"' EXIT
tar -xJf "$here/content.tar.xz" -C "$content" || exit 1
for name; do
  shift
  set -- "$@" --only "$name"
done
"$content/device-tests" --abi "$content/abi" --cases "$content/cases" --core "$content/core" --tested "$content/tested" --examples "$content/examples" --debugger "$content/debugger" --examples-at-o0 "$content/examples-at-o0" --commit "$(cat "$content/commit")" --date "$(date -u +%F)" --json "$out/device.jsonl" --at-once ${LIMIT:+--limit "$LIMIT"} "$@"
"#;

/// What `run.sh` unpacks, beside it.
const CONTENT: &str = "content.tar.xz";

/// Builds and packs.
pub fn run(library: Option<&Path>) -> Result<()> {
    setup::run()?;
    let programs = examples::names()?;
    let mut build = shell::cargo();
    build.args(["build", "--release", "--package", TESTS, "--package", debugger::PROGRAM]).env("RUST_PTX_ARCH", ARCH);
    let mut unoptimised = shell::cargo();
    unoptimised.arg("build").env("RUST_PTX_ARCH", ARCH);
    for program in &programs {
        build.args(["--package", program]);
        unoptimised.args(["--package", program]);
    }
    if let Some(reason) = reference::add_features(&mut build, &[TESTS]) {
        eprintln!("the bundle's tests of rounding and accuracy will be skipped: {reason}");
    }
    match curand::headers() {
        Ok(include) => _ = build.env("CURAND_INCLUDE", include),
        Err(error) => eprintln!("the bundle's tests of random numbers will lack CURAND's: {error:#}"),
    }
    shell::run(&mut build)?;
    shell::run(&mut unoptimised)?;

    let content = tempfile::tempdir_in(shell::target_dir()?)?;
    let content = content.path();
    let built = shell::target_dir()?.join("release");
    fs::copy(built.join(TESTS), content.join("device-tests"))?;
    let mut stripped = vec!["device-tests".to_string()];
    for (folder, built) in [("examples", &built), ("examples-at-o0", &shell::target_dir()?.join("debug"))] {
        fs::create_dir_all(content.join(folder))?;
        for program in &programs {
            fs::copy(built.join(program), content.join(folder).join(program))?;
            stripped.push(format!("{folder}/{program}"));
        }
    }
    strip(content, stripped.into_iter())?;
    debugger::pack(&content.join("debugger"), &built)?;
    abi::round_trips(&content.join("abi"))?;
    cases::pack(&content.join("cases"))?;
    tested(&content.join("tested"))?;
    match core::sources(library) {
        Ok(sources) => core::pack(&sources, ARCH, &content.join("core"))?,
        Err(reason) => eprintln!("the bundle lacks {reason}"),
    }
    pack("device-bundle", content, RUN)
}

/// Compiles the tests of the crate `ptx-tested`, as they are and optimised.
fn tested(folder: &Path) -> Result<()> {
    for profile in ["dev", "release"] {
        let mut command = shell::cargo();
        command.args(["run", "--quiet", "--bin", "cargo-ptx", "--", "ptx", "test", "--no-run", "--profile", profile]);
        command.args(["--arch", ARCH, "--manifest-path", "tests/kernels/tested/Cargo.toml"]);
        shell::run(command.arg("--out").arg(folder.join(profile)))?;
    }
    Ok(())
}

/// Packs the content and what was built into a bundle of that name, with the script that starts it.
pub fn pack(name: &str, content: &Path, script: &str) -> Result<()> {
    fs::write(content.join("commit"), commit()?)?;
    let bundle = shell::target_dir()?.join(name);
    if bundle.exists() {
        fs::remove_dir_all(&bundle)?;
    }
    fs::create_dir_all(&bundle)?;
    // A low level of xz packs better than the highest of gzip, and as fast.
    shell::run(
        Command::new("tar")
            .env("XZ_OPT", "-3 -T0")
            .arg("-cJf")
            .arg(bundle.join(CONTENT))
            .arg("-C")
            .arg(content)
            .arg("."),
    )?;
    let run = bundle.join("run.sh");
    fs::write(&run, script)?;
    shell::make_executable(&run)?;

    let size = size(&bundle)? as f64 / 1024.0 / 1024.0;
    ensure!(size <= MAX_MIB, "the bundle is {size:.1} MiB, more than {MAX_MIB} MiB");
    println!("{}: {size:.1} MiB; start run.sh there", bundle.display());
    Ok(())
}

/// Takes the symbols out of programs. Without `strip` they only stay larger.
pub fn strip(content: &Path, programs: impl Iterator<Item = String>) -> Result<()> {
    let mut strip = Command::new("strip");
    strip.args(programs.map(|program| content.join(program)));
    match strip.status() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        status => {
            ensure!(status?.success(), "`strip` failed");
            Ok(())
        }
    }
}

/// What the bundle was built from.
pub fn commit() -> Result<String> {
    let commit = shell::output(Command::new("git").args(["rev-parse", "HEAD"]))?;
    let changes = shell::output(Command::new("git").args(["status", "--porcelain", "--untracked-files=no"]))?;
    Ok(format!("{}{}", commit.trim(), if changes.trim().is_empty() { "" } else { " with changes" }))
}

fn size(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        sum += if entry.file_type()?.is_dir() { size(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(sum)
}
