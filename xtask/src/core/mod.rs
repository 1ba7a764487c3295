//! `cargo xtask test core`: the tests of Rust's own `core` and `alloc`, compiled by `cargo ptx test`.
//!
//! Their sources are Rust's, not ours: `coretests` and `alloctests` in `library` of the component rust-src or of a folder that
//! is named. They are copied into the target folder and changed there as the tables in `tests/suites/core` say.

mod package;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;

use anyhow::{Context, Result, ensure};

use crate::counts::Counts;
use crate::shell;

use package::Package;
use table::Table;

/// What is changed, a package each.
const TABLES: [&str; 2] = ["tests/suites/core/core.toml", "tests/suites/core/alloc.toml"];

/// The profiles, with the optimisation level that each stands for.
const LEVELS: [(&str, &str); 2] = [("dev", "O0"), ("release", "O3")];

/// Rust's `library` folder with the tests: the one that was named, or the one of rust-src; an error says how to get it.
pub fn sources(library: Option<&Path>) -> Result<PathBuf, String> {
    let given = library.map(Path::to_path_buf);
    let library = given.unwrap_or_else(|| {
        let sysroot = shell::output(Command::new("rustc").args(["--print", "sysroot"]));
        Path::new(sysroot.unwrap_or_default().trim()).join("lib/rustlib/src/rust/library")
    });
    let mut tests = ["coretests", "alloctests"].map(|package| library.join(package).join("tests/lib.rs")).into_iter();
    let Some(missing) = tests.find(|tests| !tests.is_file()) else { return Ok(library) };
    Err(format!(
        "core's tests: `{}` is not there; install them by `rustup component add rust-src`, or name Rust's `library` \
         folder by `--library`",
        missing.display()
    ))
}

/// Compiles every group whose name contains the filter, at both levels, to PTX; prints a line each.
pub fn run(library: Option<&Path>, arch: &str, filter: &[String]) -> Result<Counts> {
    let library = match sources(library) {
        Ok(library) => library,
        Err(reason) => return Ok(Counts::skip(reason)),
    };
    let mut counts = Counts::default();
    build(&library, arch, filter, |image, tests| {
        match tests {
            Ok(tests) => {
                println!("test {image} ... ok: {tests} tests compiled");
                counts += Counts::pass();
            }
            Err(error) => {
                println!("test {image} ... FAILED\n{error:#}");
                counts += Counts { failures: vec![image.to_string()], ..Counts::fail() };
            }
        }
        Ok(())
    })?;
    counts += Counts::skip("core's tests on a GPU: `cargo xtask device-bundle --library FOLDER`".into());
    Ok(counts)
}

/// Compiles every group at both levels into the folder, a folder each: what `device-tests --core` runs.
pub fn pack(library: &Path, arch: &str, folder: &Path) -> Result<()> {
    build(library, arch, &[], |image, tests| {
        println!("{image}: {} tests", tests?);
        let target = folder.join(image.replace(' ', "-"));
        fs::create_dir_all(&target)?;
        for entry in fs::read_dir(output(image)?)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default();
            if name == "report.json" || path.extension().is_some_and(|extension| extension == "ptx") {
                fs::copy(&path, target.join(name))?;
            }
        }
        Ok(())
    })
}

/// Where the image of that name goes, as in `O0 slice`.
fn output(image: &str) -> Result<PathBuf> {
    Ok(shell::target_dir()?.join("core-tests/out").join(image.replace(' ', "-")))
}

/// Compiles, both levels beside each other, and calls back with each image's name and its number of tests, or what went
/// wrong.
fn build(
    library: &Path,
    arch: &str,
    filter: &[String],
    mut each: impl FnMut(&str, Result<usize>) -> Result<()>,
) -> Result<()> {
    let target = shell::target_dir()?.join("core-tests");
    let packages = TABLES
        .iter()
        .map(|path| {
            let table = Table::read(Path::new(path))?;
            let package =
                Package::write(&table, library, &target.join(&table.package)).with_context(|| path.to_string())?;
            Ok((table, package))
        })
        .collect::<Result<Vec<_>>>()?;
    // Optimised, as users install it: much of the compiling is ours.
    shell::run(shell::cargo().args(["build", "--quiet", "--release", "--package", "cargo-ptx"]))?;
    let program = shell::target_dir()?.join("release/cargo-ptx");
    let (sender, results) = mpsc::channel();
    std::thread::scope(|scope| {
        for (profile, level) in LEVELS {
            let groups = packages.iter().flat_map(|(table, package)| {
                let groups = package.groups(table, profile == "release").into_iter();
                groups.map(|(name, features)| (name, features, package.manifest()))
            });
            let (sender, groups) = (sender.clone(), groups.collect::<Vec<_>>());
            // A folder each: cargo locks it.
            let (program, target) = (&program, target.join(level));
            scope.spawn(move || {
                for (group, features, manifest) in groups {
                    let image = format!("{level} {group}");
                    if !filter.is_empty() && !filter.iter().any(|part| image.contains(part)) {
                        continue;
                    }
                    let mut command = Command::new(program);
                    command.args(["ptx", "test", "--no-run", "--quiet", "--message-format=json"]);
                    // The driver assembles where the tests run: that machine has more cores, and PTX is smaller.
                    command.args(["--ptxas=off", "--debug-level=none", "--arch", arch, "--profile", profile]);
                    command.args(["--features", &features.join(",")]);
                    command.arg("--manifest-path").arg(&manifest).arg("--target-dir").arg(&target);
                    let result = compile(&image, &mut command);
                    // Nobody listens any more after an error.
                    if sender.send((image, result)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        results.iter().try_for_each(|(image, result)| each(&image, result))
    })
}

/// Runs the command with the image's folder as its output; how many tests there are.
fn compile(image: &str, command: &mut Command) -> Result<usize> {
    let out = output(image)?;
    let ran = command.arg("--out").arg(&out).output().with_context(|| format!("cannot run {command:?}"))?;
    if ran.status.success() { tests(&out) } else { Err(failure(&ran.stdout, &ran.stderr)) }
}

/// How many tests an image has.
fn tests(out: &Path) -> Result<usize> {
    let text = fs::read_to_string(out.join("report.json"))?;
    let report: serde_json::Value = serde_json::from_str(&text)?;
    let tests = report["tests"].as_array().map_or(0, Vec::len);
    ensure!(tests > 0, "it has no tests");
    Ok(tests)
}

/// The messages of rustc and of ours, from cargo's JSON.
fn failure(stdout: &[u8], stderr: &[u8]) -> anyhow::Error {
    let lines = String::from_utf8_lossy(stdout);
    let messages = lines.lines().filter_map(|line| {
        let json: serde_json::Value = serde_json::from_str(line).ok()?;
        let rendered = json["message"]["rendered"].as_str().filter(|_| json["message"]["level"] == "error");
        let own = json["diagnostic"]["message"].as_str();
        Some(rendered.or(own)?.to_string())
    });
    anyhow::anyhow!("{}\n{}", messages.collect::<Vec<_>>().join("\n"), String::from_utf8_lossy(stderr))
}
