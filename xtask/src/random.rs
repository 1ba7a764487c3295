//! `cargo xtask random`: random programs, shown, checked, made small, and packed for a machine with NVIDIA's driver alone.

use std::fs;
use std::process::ExitCode;

use anyhow::Result;

use crate::{bundle, setup, shell};

/// The program that does it all but the packing.
const PROGRAM: &str = "random-programs";

/// The program that runs there.
const RUNNER: &str = "ptx-random-device";

/// What starts everything on the other machine.
const RUN: &str = r#"#!/bin/sh
# Runs every random program on this machine's GPU. Needs NVIDIA's driver, tar and xz. Writes random.jsonl into $OUT, or
# into results/ beside this file; ends after $LIMIT seconds if that is set.
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/results}
mkdir -p "$out" || exit 1
content=$(mktemp -d) || exit 1
trap 'rm -rf "$content"' EXIT
tar -xJf "$here/content.tar.xz" -C "$content" || exit 1
"$content/random-device" "$content"/packs/* --commit "$(cat "$content/commit")" --date "$(date -u +%F)" --json "$out/random.jsonl" ${LIMIT:+--limit "$LIMIT"}
"#;

/// Passes the arguments on; what `pack` makes becomes a bundle.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    setup::run()?;
    let asks = arguments.iter().any(|argument| matches!(argument.as_str(), "-h" | "--help"));
    let packs = !asks && arguments.first().is_some_and(|verb| verb == "pack");
    let mut command = shell::cargo();
    command.args(["run", "--quiet", "--bin", PROGRAM]);
    if packs {
        // This is also the linker.
        command.arg("--release");
    }
    command.arg("--").args(arguments);
    if !packs {
        return Ok(if command.status()?.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let content = shell::target_dir()?.join("random/pack");
    shell::run(command.arg("--out").arg(content.join("packs")))?;
    shell::run(shell::cargo().args(["build", "--release", "--package", RUNNER]))?;
    fs::copy(shell::target_dir()?.join("release").join(RUNNER), content.join("random-device"))?;
    bundle::strip(&content, ["random-device".to_string()].into_iter())?;
    bundle::pack("random-bundle", &content, RUN)?;
    Ok(ExitCode::SUCCESS)
}
