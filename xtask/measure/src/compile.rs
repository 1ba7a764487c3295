//! `cargo xtask bench compile`: how long compiling takes, as ratios to nvcc in the same run.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use ptx_project::sysroot::{self, Rustc};
use ptx_project::tools;
use xtask::shell;

/// The least of so many runs counts.
const RUNS: usize = 7;

/// One figure beside its target.
struct Row {
    what: &'static str,
    figure: String,
    target: &'static str,
    holds: bool,
}

/// Measures and prints a table; fails if a target is missed.
pub fn run() -> Result<ExitCode> {
    shell::run(shell::cargo().args(["build", "--release", "--quiet", "--package", "cargo-ptx", "--bins"]))?;
    let bench = Compile::prepare()?;
    let mut rows = bench.against_nvcc()?;
    rows.extend(bench.many_kernels()?);
    rows.push(first_sysroot()?);
    println!("\n{:44} {:>26}   target", "", "measured");
    for row in &rows {
        println!("{:44} {:>26}   {:22} {}", row.what, row.figure, row.target, if row.holds { "" } else { "MISSED" });
    }
    Ok(if rows.iter().all(|row| row.holds) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A scratch folder, and the programs that are measured.
struct Compile {
    scratch: tempfile::TempDir,
    linker: PathBuf,
    cargo_ptx: PathBuf,
    sysroot: PathBuf,
}

impl Compile {
    fn prepare() -> Result<Self> {
        let programs = shell::target_dir()?.join("release");
        let rustc = Rustc::query(Path::new("rustc"))?;
        Ok(Self {
            scratch: tempfile::tempdir()?,
            linker: programs.join("ptx-linker"),
            cargo_ptx: programs.join("cargo-ptx"),
            sysroot: sysroot::ensure(&rustc, None, &ptx_project::progress::Progress::new())?.path,
        })
    }

    /// saxpy: the linker step, a rebuild after a change, and a rebuild after none, against nvcc.
    fn against_nvcc(&self) -> Result<Vec<Row>> {
        let tools = tools::find();
        let nvcc = tools.nvcc().context("nvcc is needed to compare with: `cargo xtask setup` installs it")?;
        let source = std::env::current_dir()?.join("xtask/src/saxpy.cu");
        let nvcc = least(|| {
            let mut command = Command::new(&nvcc.path);
            timed(
                command.args(["-ptx", "-arch=sm_90", "-O3", "-o"]).arg(self.scratch.path().join("cu.ptx")).arg(&source),
            )
        })?;

        let package = self.package("bench-saxpy", SAXPY)?;
        let step = self.linker_step(&package)?;
        let linker = least(|| timed(&mut step.command()))?;

        let source = package.join("src/lib.rs");
        let mut build = Command::new(&self.cargo_ptx);
        build
            .args(["ptx", "build", "--release", "--arch", "sm_90", "--ptxas", "off", "--out", "out"])
            .current_dir(&package)
            .stdout(Stdio::null());
        build.stderr(Stdio::null());
        timed(&mut build)?;
        let mut change = 0;
        let touched = least(|| {
            change += 1;
            std::fs::write(&source, SAXPY.replace("a * x[i]", &format!("(a + {change}.0) * x[i]")))?;
            timed(&mut build)
        })?;
        // The linker writes it last, whatever it links.
        let written = || -> Result<_> { Ok(package.join("out/report.json").metadata()?.modified()?) };
        let before = written()?;
        let idle = least(|| timed(&mut build))?;
        let untouched = before == written()?;
        let ratio = |time: Duration| time.as_secs_f64() / nvcc.as_secs_f64();
        let figure = |time: Duration| format!("{:.2} × nvcc ({:.0} ms)", ratio(time), millis(time));
        Ok(vec![
            Row { what: "nvcc -ptx of saxpy", figure: format!("{:.0} ms", millis(nvcc)), target: "", holds: true },
            Row {
                what: "linker step of saxpy",
                figure: figure(linker),
                target: "at most 0.5 ×",
                holds: ratio(linker) <= 0.5,
            },
            Row {
                what: "rebuild after a change to saxpy",
                figure: figure(touched),
                target: "at most 3 ×",
                holds: ratio(touched) <= 3.0,
            },
            Row {
                what: "rebuild after no change",
                figure: format!(
                    "{:.0} ms, {}",
                    millis(idle),
                    if untouched { "no device work" } else { "PTX rewritten" }
                ),
                target: "no device work",
                holds: untouched,
            },
        ])
    }

    /// How time and memory grow with the number of kernels in one crate.
    fn many_kernels(&self) -> Result<Vec<Row>> {
        let mut measured = Vec::new();
        for count in [100_u32, 1_000] {
            let package = self.package(&format!("bench-{count}"), &small_kernels(count))?;
            let step = self.linker_step(&package)?;
            let time = least(|| timed(&mut step.command()))?;
            measured.push((time / count, peak_memory(&mut step.command())?));
        }
        let [(few, _), (many, memory)] = measured[..] else { unreachable!("two sizes") };
        let growth = many.as_secs_f64() / few.as_secs_f64();
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        Ok(vec![
            Row {
                what: "time a kernel, 1,000 against 100 in a crate",
                figure: format!("{growth:.2} × ({:.0}/{:.0} µs)", micros(many), micros(few)),
                target: "at most 1.5 ×",
                holds: growth <= 1.5,
            },
            Row {
                what: "peak memory of linking 1,000 kernels",
                figure: format!("{:.0} MiB", memory as f64 / 1024.0),
                target: "under 1024 MiB",
                holds: memory < 1024 * 1024,
            },
        ])
    }

    /// A package of kernels with that source.
    fn package(&self, name: &str, source: &str) -> Result<PathBuf> {
        let folder = self.scratch.path().join(name);
        std::fs::create_dir_all(folder.join("src"))?;
        let ptx = std::env::current_dir()?.join("runtime/ptx");
        std::fs::write(
            folder.join("Cargo.toml"),
            format!(
                "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nptx = {{ path = {ptx:?} }}\n\n[workspace]\n"
            ),
        )?;
        std::fs::copy("Cargo.lock", folder.join("Cargo.lock"))?;
        std::fs::write(folder.join("src/lib.rs"), source)?;
        Ok(folder)
    }

    /// Compiles the package with a linker that notes its arguments, and keeps the objects, so that the linker step
    /// can be run again and again.
    fn linker_step(&self, package: &Path) -> Result<LinkerStep> {
        let arguments = package.join("arguments");
        let script = package.join("linker");
        // Arguments with spaces or backslashes would need escapes; temporary folders have none.
        std::fs::write(
            &script,
            format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > {arguments:?}\nexec {:?} \"$@\"\n", self.linker),
        )?;
        shell::make_executable(&script)?;
        shell::run(
            shell::cargo()
                .args([
                    "rustc",
                    "--quiet",
                    "--release",
                    "--lib",
                    "--crate-type",
                    "cdylib",
                    "--target",
                    "nvptx64-nvidia-cuda",
                ])
                .args(["--", "-C", "save-temps", "-C", "link-arg=--ptxas=off", "-C", "link-arg=--arch=sm_90", "-C"])
                .arg(format!("linker={}", script.display()))
                .env("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_RUSTFLAGS", format!("--sysroot {}", self.sysroot.display()))
                .env("CARGO_TARGET_DIR", package.join("target"))
                .current_dir(package),
        )?;
        Ok(LinkerStep { linker: self.linker.clone(), arguments, folder: package.into() })
    }
}

/// A linker command line that can be run again.
struct LinkerStep {
    linker: PathBuf,
    arguments: PathBuf,
    folder: PathBuf,
}

impl LinkerStep {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.linker);
        command.arg(format!("@{}", self.arguments.display())).current_dir(&self.folder);
        command
    }
}

fn first_sysroot() -> Result<Row> {
    let cache = tempfile::tempdir()?;
    let mut command = Command::new(std::env::current_exe()?);
    let time = timed(command.args(["setup", "--sysroot-only"]).env("RUST_PTX_CACHE", cache.path()))?;
    Ok(Row {
        what: "first device sysroot",
        figure: format!("{:.1} s", time.as_secs_f64()),
        target: "under 60 s on 2 cores",
        holds: time < Duration::from_secs(60),
    })
}

fn timed(command: &mut Command) -> Result<Duration> {
    let start = Instant::now();
    shell::run(command)?;
    Ok(start.elapsed())
}

/// The least of a few runs, after one that fills the caches.
fn least(mut run: impl FnMut() -> Result<Duration>) -> Result<Duration> {
    run()?;
    let times = (0..RUNS).map(|_| run()).collect::<Result<Vec<_>>>()?;
    times.into_iter().min().context("no runs")
}

/// The most memory that the program had at once, in KiB, as the kernel counts it.
fn peak_memory(command: &mut Command) -> Result<u64> {
    let mut child = command.spawn()?;
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut peak = 0;
    let exit = loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        if let Some(kib) = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()) {
            peak = kib;
        }
        if let Some(exit) = child.try_wait()? {
            break exit;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    ensure!(exit.success() && peak > 0, "{command:?}: {exit}");
    Ok(peak)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The kernel of xtask/src/saxpy.cu.
const SAXPY: &str = "//! saxpy.\n#![cfg_attr(target_arch = \"nvptx64\", no_std)]\nuse ptx::prelude::*;\n\n\
    #[kernel]\npub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {\n    let i = thread::index_1d();\n    \
    if let (Some(out), Some(x)) = (y.get_mut(i), x.get(i.get())) {\n        *out += a * x;\n    }\n}\n";

/// So many kernels that differ.
fn small_kernels(count: u32) -> String {
    let mut text =
        "//! Many kernels.\n#![cfg_attr(target_arch = \"nvptx64\", no_std)]\nuse ptx::prelude::*;\n".to_string();
    for n in 0..count {
        let _ = write!(
            text,
            "\n#[kernel]\npub fn small_{n}(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {{\n    let i = thread::index_1d();\n    \
             if let (Some(out), Some(x)) = (y.get_mut(i), x.get(i.get())) {{\n        *out = a * x + {n}.0;\n    }}\n}}\n"
        );
    }
    text
}
