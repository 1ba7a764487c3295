//! `cargo xtask bench kernels`: kernels in Rust, in CUDA C++, and in Rust with other ways to panic, compared on this machine's
//! GPU, packed for another machine, or compared by their code alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use super::code;
use crate::{bundle, setup, shell};

/// The package that launches the kernels.
const PROGRAM: &str = "ptx-bench";

/// Where the kernels' code is compared if nothing else is said.
const ARCHS: &str = "sm_75,sm_80,sm_90,sm_120";

/// What to compare, and how.
#[derive(clap::Args)]
pub struct Request {
    /// Pack everything into target/bench-bundle, for a machine with nothing but NVIDIA's driver.
    #[arg(long)]
    pack: bool,
    /// Compare registers, stack, spills and numbers of instructions; needs no GPU.
    #[arg(long = "static", conflicts_with = "pack")]
    code: bool,
    /// The archs for `--static`, as in `sm_80,sm_90`.
    #[arg(long, default_value = ARCHS, value_delimiter = ',')]
    arch: Vec<String>,
    /// Where the record goes; into target/bench by default.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Only kernels whose names contain one of these.
    filters: Vec<String>,
}

/// What starts the measurements on the other machine.
const RUN: &str = r#"#!/bin/sh
# Measures kernels in Rust, with three ways to panic, and in CUDA C++ on this machine's GPU. Needs NVIDIA's driver,
# tar and xz. Writes bench.json into $OUT, or into results/ beside this file, and ends after $LIMIT seconds if that is set. Arguments are
# parts of the names of the kernels that shall run.
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/results}
mkdir -p "$out" || exit 1
content=$(mktemp -d) || exit 1
trap 'rm -rf "$content"' EXIT
tar -xJf "$here/content.tar.xz" -C "$content" || exit 1
"$content/bench" --code "$content/code.json" --commit "$(cat "$content/commit")" --date "$(date -u +%F)" --json "$out/bench.json" ${LIMIT:+--limit "$LIMIT"} "$@"
"#;

/// Does what is asked.
pub fn run(request: &Request) -> Result<ExitCode> {
    setup::run()?;
    let folder = shell::target_dir()?.join("bench");
    fs::create_dir_all(&folder)?;
    if request.code {
        let path = request.json.clone().unwrap_or(folder.join("code.json"));
        let code = code::read(&request.arch, &folder)?;
        fs::write(&path, format!("{code:#}\n")).with_context(|| format!("cannot write {}", path.display()))?;
        print!("{}", code::table(&code, &request.filters));
        println!("{}", path.display());
        return Ok(ExitCode::SUCCESS);
    }
    if request.pack {
        return pack(&folder).map(|()| ExitCode::SUCCESS);
    }
    let arch = device_arch();
    let program = build(arch.as_deref())?;
    let path = request.json.clone().unwrap_or(folder.join("bench.json"));
    let mut measure = Command::new(program);
    measure.arg("--json").arg(&path).arg("--commit").arg(bundle::commit()?).args(&request.filters);
    measure.arg("--date").arg(shell::output(Command::new("date").args(["-u", "+%F"]))?.trim());
    if let Some(arch) = arch {
        let file = folder.join("code.json");
        fs::write(&file, code::read(&[arch], &folder)?.to_string())?;
        measure.arg("--code").arg(file);
    }
    let status = measure.status().with_context(|| format!("cannot run {measure:?}"))?;
    if !status.success() {
        eprintln!("without a GPU, `--static` compares the kernels' code, and `--pack` packs them for another machine");
        return Ok(ExitCode::FAILURE);
    }
    println!("{}", path.display());
    Ok(ExitCode::SUCCESS)
}

/// Measures launches alone.
pub fn launches() -> Result<ExitCode> {
    setup::run()?;
    let status = Command::new(build(device_arch().as_deref())?).arg("--launches").status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The program, with kernels for this arch or for several; its table fits the kernels.
fn build(arch: Option<&str>) -> Result<PathBuf> {
    let mut build = shell::cargo();
    build.args(["build", "--release", "--package", PROGRAM]);
    if let Some(arch) = arch {
        build.env("RUST_PTX_ARCH", arch);
    }
    shell::run(&mut build)?;
    let program = shell::target_dir()?.join("release").join(PROGRAM);
    shell::run(Command::new(&program).arg("--check"))?;
    Ok(program)
}

/// The arch of this machine's GPU, if there is one and nothing else was asked for.
fn device_arch() -> Option<String> {
    if std::env::var_os("RUST_PTX_ARCH").is_some() {
        return None;
    }
    let query = Command::new("nvidia-smi").args(["--query-gpu=compute_cap", "--format=csv,noheader"]).output().ok()?;
    arch_of(&String::from_utf8_lossy(&query.stdout))
}

/// `9.0` is sm_90.
fn arch_of(capability: &str) -> Option<String> {
    let (major, minor) = capability.lines().next()?.trim().split_once('.')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(major) && is_number(minor)).then(|| format!("sm_{major}{minor}"))
}

fn pack(folder: &Path) -> Result<()> {
    let program = build(Some(bundle::ARCH))?;
    let code = code::read(&[bundle::ARCH.to_string()], folder)?;
    let content = tempfile::tempdir_in(shell::target_dir()?)?;
    let content = content.path();
    fs::copy(program, content.join("bench"))?;
    fs::write(content.join("code.json"), code.to_string())?;
    bundle::strip(content, ["bench".to_string()].into_iter())?;
    bundle::pack("bench-bundle", content, RUN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arch_of_a_device_is_read() {
        assert_eq!(arch_of("9.0\n9.0\n").as_deref(), Some("sm_90"));
        assert_eq!(arch_of("12.0").as_deref(), Some("sm_120"));
        assert_eq!((arch_of(""), arch_of("No devices were found"), arch_of("[N/A].x")), (None, None, None));
    }
}
