//! `cargo ptx profile`: builds the host program, runs it under NVIDIA's Nsight Compute, and prints by source line what matters.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::request::DebugLevel;
use ptx_project::options::arch;

use super::arguments::ProfileArgs;
use super::debug::Built;
use super::environment::{current_dir, of_toolkit};
use super::output::{self, Format};
use super::script::with_lines;
use crate::profile::{self, Kernel};

const NAME: &str = "ncu";

/// Where NVIDIA's own packages put it, a folder a version.
const INSTALLED: &str = "/opt/nvidia/nsight-compute";

/// Builds, runs and prints; the exit code is ncu's, which is the program's.
pub fn run(mut args: ProfileArgs) -> Result<u8> {
    // Before the build, which may take long.
    let ncu = find(args.ncu.as_deref())?;
    let program = build(&mut args)?;
    let folder = tempfile::tempdir().map_err(|e| failed(format!("cannot make a temporary folder: {e}")))?;
    let (report, log) = (args.report.clone(), folder.path().join("log"));
    let report = report.unwrap_or_else(|| folder.path().join("profile.ncu-rep"));
    let mut command = Command::new(&ncu);
    command.args(["--force-overwrite", "--export"]).arg(&report).arg("--log-file").arg(&log);
    command.args(measured(&args)).arg(&program).args(&args.program);
    let status = command.status().map_err(|e| unstartable(&ncu, &e))?;
    let said = std::fs::read_to_string(&log).unwrap_or_default();
    if let Some(refused) = refusal(&said) {
        return Err(refused.into());
    }
    // A program ended by a signal has no code.
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(101);
    if !report.is_file() {
        return Err(failed(format!("`{}` left no report ({status})", ncu.display())).note(said.trim()).into());
    }
    let kernels = read(&ncu, &report)?;
    if kernels.iter().all(|kernel| kernel.lines.is_empty()) {
        output::diagnostics(&[without_lines()], Format::Human, &current_dir());
    }
    print!("{}", profile::text(&kernels, args.lines, short));
    if args.report.is_some() {
        println!("\nncu's report, for its window too: {}", output::path(&report));
    }
    Ok(code)
}

/// Optimised, with line tables, and for this machine's GPU, unless the command line or a variable says otherwise: the driver
/// makes no lines where it compiles PTX for another.
fn build(args: &mut ProfileArgs) -> Result<PathBuf> {
    let cargo = &mut args.build.cargo;
    cargo.release |= cargo.profile.is_none();
    let mut native = ["native".to_string()];
    if args.build.device.arch.is_empty() && arch::check(&mut native, arch::From::Argument).is_ok() {
        args.build.device.arch = native.into();
    }
    let built = Built::by_cargo_with(&args.build, with_lines())?;
    if built.debug_levels().any(|level| level == DebugLevel::None) {
        output::diagnostics(&[without_lines()], Format::Human, &current_dir());
    }
    built.program(&args.build)
}

/// ncu's options, before the program.
fn measured(args: &ProfileArgs) -> Vec<String> {
    let mut options: Vec<String> = profile::measured().into_iter().map(String::from).collect();
    options.extend(["--launch-skip".into(), args.skip.to_string(), "--launch-count".into(), args.launches.to_string()]);
    options.extend(args.kernel.iter().flat_map(|kernel| ["--kernel-name".into(), kernel.clone()]));
    // The slash says that the range is one of a thread's stack of them, of the default domain.
    let range = |range: &String| ["--nvtx".into(), "--nvtx-include".into(), format!("{range}/")];
    options.extend(args.range.iter().flat_map(range));
    options.extend(args.flags.iter().cloned());
    options
}

/// What ncu wrote of a machine or a program that cannot be measured.
fn refusal(said: &str) -> Option<Diagnostic> {
    if said.contains(profile::NO_PERMISSION) {
        return Some(
            failed("this user may not read the GPU's performance counters (ERR_NVGPUCTRPERM)".into())
                .help("run the command as root, or have the driver's option NVreg_RestrictProfilingToAdminUsers=0 set: https://developer.nvidia.com/ERR_NVGPUCTRPERM"),
        );
    }
    said.contains("No kernels were profiled").then(|| {
        failed("ncu saw no launch that it was to profile".into())
            .help("look at the program's output above, and at `--kernel`, `--skip` and `--range`")
    })
}

fn without_lines() -> Diagnostic {
    Diagnostic::warning(Code::PoorDebugInfo, "the kernels have no source lines: ncu can only name instructions")
        .help("name the GPU's arch by `--arch`, and leave RUST_PTX_DEBUG_LEVEL away")
}

/// The kernels of ncu's report.
fn read(ncu: &Path, report: &Path) -> Result<Vec<Kernel>> {
    let page = |page: &[&str]| -> Result<String> {
        let mut command = Command::new(ncu);
        command.arg("--import").arg(report).args(profile::TABLE).args(page);
        let Output { status, stdout, stderr } = command.output().map_err(|e| unstartable(ncu, &e))?;
        let [stdout, stderr] = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        match status.success() {
            true => Ok(stdout),
            false => Err(failed(format!("`{}` cannot read its own report ({status})", ncu.display()))
                .note(format!("{stdout}{stderr}").trim())
                .into()),
        }
    };
    let mut kernels = profile::lines(&page(&profile::SOURCE)?);
    profile::details(&page(&profile::DETAILS)?, &mut kernels);
    Ok(kernels)
}

/// A file as one knows it: below this folder, or from `library` or the crate on.
fn short(file: &str) -> String {
    let below = |folder: &str| file.rsplit_once(folder).map(|(_, rest)| rest);
    let crates = || below("/registry/src/").and_then(|rest| rest.split_once('/')).map(|(_, rest)| rest);
    below("/library/").or_else(crates).map_or_else(|| output::path(Path::new(file)), str::to_string)
}

fn failed(message: String) -> Diagnostic {
    Diagnostic::error(Code::ToolFailed, message)
}

fn unstartable(ncu: &Path, error: &std::io::Error) -> Diagnostic {
    failed(format!("cannot start `{}`: {error}", ncu.display())).help("name one that works by `--ncu`")
}

fn find(named: Option<&Path>) -> Result<PathBuf> {
    let missing = |message: String| {
        failed(message).help(
            "install Nsight Compute (https://developer.nvidia.com/nsight-compute; the CUDA toolkit has it, too), or name its \
             file by `--ncu`",
        )
    };
    match named {
        Some(path) if path.is_file() => Ok(path.into()),
        Some(path) => Err(missing(format!("`{}`, which --ncu names, is not there", path.display())).into()),
        None => Ok(of_toolkit(NAME, &["bin"]).or_else(|| newest(Path::new(INSTALLED))).ok_or_else(|| {
            missing("Nsight Compute (ncu) was not found".into()).note(format!(
                "looked in the folder bin below CUDA_HOME, CUDA_PATH and /usr/local/cuda, in PATH and in {INSTALLED}"
            ))
        })?),
    }
}

/// Of the versions in that folder, whose names are years and quarters.
fn newest(folder: &Path) -> Option<PathBuf> {
    let programs = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path().join(NAME));
    programs.filter(|program| program.is_file()).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_as_one_knows_them() {
        for (file, expected) in [
            ("/rustc/0123/library/core/src/num/mod.rs", "core/src/num/mod.rs"),
            ("/c/registry/src/index.crates.io-0123/libm-0.2.16/src/lib.rs", "libm-0.2.16/src/lib.rs"),
            ("src/lib.rs", "src/lib.rs"),
        ] {
            assert_eq!(short(file), expected);
        }
    }

    #[test]
    fn what_ncu_refuses_is_said_in_our_words() {
        let counters = refusal("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission").expect("an error");
        assert!(counters.to_string().contains("NVreg_RestrictProfilingToAdminUsers=0"));
        let none = refusal("==WARNING== No kernels were profiled.\n").expect("an error");
        assert!(none.to_string().contains("`--kernel`"));
        assert!(refusal("==PROF== Profiling \"saxpy\" - 0: 0%....100% - 8 passes\n").is_none());
    }

    #[test]
    fn the_newest_version_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(newest(folder.path()), None);
        for version in ["2024.1.0", "2025.3.1", "2022.4.0"] {
            std::fs::create_dir(folder.path().join(version)).unwrap();
            std::fs::write(folder.path().join(version).join(NAME), "").unwrap();
        }
        assert_eq!(newest(folder.path()), Some(folder.path().join("2025.3.1/ncu")));
    }
}
