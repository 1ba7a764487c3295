//! `cargo ptx debug`: builds the host program and its kernels, and starts cuda-gdb with printers and sources.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::debugger;
use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::report::{FILE_NAME, Report};
use ptx_codegen::request::DebugLevel;
use ptx_project::progress::Progress;
use ptx_project::sysroot::{self, Rustc};

use super::arguments::{DebugArgs, ProgramArgs};
use super::output::Format;
use super::{output, run, select};

/// Builds and starts; the debugger takes this process's place.
pub fn run(args: &DebugArgs, progress: &Progress) -> Result<u8> {
    if args.setup {
        println!("{}", setup(args, progress)?.display());
        return Ok(0);
    }
    // Before the build, which may take long.
    let cuda_gdb = debugger::find(args.cuda_gdb.as_deref())?;
    let built = Built::by_cargo(&args.build)?;
    warn(built.poor().as_slice());
    let program = built.program(&args.build)?;
    let script = setup(args, progress)?;
    let arguments = debugger::arguments(&script, &args.execute, args.batch, &program, &args.program);
    if args.print_command {
        println!("{}", debugger::shell(&cuda_gdb, &arguments));
        return Ok(0);
    }
    start(Command::new(&cuda_gdb).args(arguments), &cuda_gdb)
}

fn warn(diagnostics: &[Diagnostic]) {
    output::diagnostics(diagnostics, Format::Human, &super::environment::current_dir());
}

/// Writes what cuda-gdb loads into the target folder.
fn setup(args: &DebugArgs, progress: &Progress) -> Result<PathBuf> {
    let target = match &args.build.cargo.target_dir {
        Some(path) => path.clone(),
        None => select::target_dir(&args.build.cargo.common)?,
    };
    let sources = library_sources(&sysroot::rustc(&super::environment::rustc())?, progress)?;
    let sources: Vec<_> = sources.map_err(|missing| warn(&[missing])).into_iter().collect();
    let folder = std::path::absolute(target.join("ptx/debugger"))
        .map_err(|e| Diagnostic::error(Code::OutputFailed, format!("cannot use `{}`: {e}", target.display())))?;
    debugger::write_setup(&folder, &sources)
}

/// What the sources of `core` and `alloc` are called, and where they are; a warning where they are not.
fn library_sources(rustc: &Rustc, progress: &Progress) -> Result<std::result::Result<(String, PathBuf), Diagnostic>> {
    let sources = sysroot::sources(rustc, progress)?.map(|path| (rustc.library(), path));
    Ok(sources.ok_or_else(|| {
        Diagnostic::warning(Code::NoLibrarySources, "cuda-gdb will show no lines of `core` and `alloc`")
            .note(format!("rustc {} has neither rust-src nor rust-docs", rustc.release))
            .help("run `rustup component add rust-src`")
    }))
}

/// What cargo printed.
#[derive(Debug, Default)]
pub struct Built {
    programs: Vec<Program>,
    reports: Vec<Report>,
}

#[derive(Debug)]
struct Program {
    package: String,
    name: String,
    file: PathBuf,
}

#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Line {
    CompilerArtifact {
        package_id: String,
        target: Target,
        executable: Option<PathBuf>,
    },
    BuildScriptExecuted {
        out_dir: PathBuf,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

impl Built {
    /// Has cargo build the program, without running it.
    pub fn by_cargo(args: &ProgramArgs) -> Result<Self> {
        Self::by_cargo_with(args, [])
    }

    /// The same, with these environment variables.
    pub fn by_cargo_with(
        args: &ProgramArgs,
        variables: impl IntoIterator<Item = (&'static str, &'static str)>,
    ) -> Result<Self> {
        let cargo = super::environment::cargo();
        let mut command = Command::new(&cargo);
        command.envs(variables);
        command.args(["build", "--message-format", "json-render-diagnostics"]);
        run::set(&mut command, args)?;
        let failed = |what: String| Diagnostic::error(Code::CargoFailed, what);
        let output = command
            .stderr(Stdio::inherit())
            .output()
            .map_err(|e| failed(format!("cannot run `{}`: {e}", cargo.display())))?;
        if !output.status.success() {
            return Err(failed("the program could not be built".into()).note("cargo's messages stand above").into());
        }
        Ok(Self::of(&String::from_utf8_lossy(&output.stdout)))
    }

    fn of(messages: &str) -> Self {
        let mut built = Self::default();
        for line in messages.lines() {
            match serde_json::from_str(line) {
                Ok(Line::CompilerArtifact { package_id, target, executable: Some(file) }) => {
                    built.programs.push(Program { package: package_id, name: target.name, file });
                }
                Ok(Line::BuildScriptExecuted { out_dir }) => built.reports.extend(reports(&out_dir)),
                _ => {}
            }
        }
        built
    }

    /// The program that was asked for, the only one, or the one that `default-run` names.
    pub fn program(&self, args: &ProgramArgs) -> Result<PathBuf> {
        if let [program] = &self.programs[..] {
            return Ok(program.file.clone());
        }
        let defaults = select::default_runs(&args.cargo.common)?;
        let is_default = |program: &&Program| {
            defaults.iter().any(|(package, name)| *package == program.package && *name == program.name)
        };
        let chosen: Vec<&Program> = self.programs.iter().filter(is_default).collect();
        if let [program] = chosen[..] {
            return Ok(program.file.clone());
        }
        let names: Vec<String> = self.programs.iter().map(|program| format!("`{}`", program.name)).collect();
        Err(match names[..] {
            [] => Diagnostic::error(Code::Usage, "the package has no program")
                .help("add src/main.rs, or name a package by `-p` or an example by `--example`"),
            _ => Diagnostic::error(Code::Usage, "the build made several programs")
                .help(format!("name one by `--bin`: {}", names.join(", "))),
        }
        .into())
    }

    /// How much debug information each image has that was compiled for the program.
    #[cfg(feature = "profile")]
    pub fn debug_levels(&self) -> impl Iterator<Item = DebugLevel> {
        self.reports.iter().map(|report| report.debug)
    }

    /// What is missing for a debugger in the kernels that were compiled.
    fn poor(&self) -> Option<Diagnostic> {
        let poorest = self.reports.iter().min_by_key(|report| report.debug)?;
        let message = match poorest.debug {
            DebugLevel::Full => return None,
            DebugLevel::LineTables => "the kernels have line tables alone: cuda-gdb will show none of their variables",
            DebugLevel::None => "the kernels have no debug information: cuda-gdb will not stop at their lines",
        };
        let warning = Diagnostic::warning(Code::PoorDebugInfo, message)
            .note(format!("package `{}`; optimised kernels have line tables at most", poorest.name));
        Some(warning.help("leave `--release` away, or give the profile `debug = \"full\"` and `opt-level = 0`; `debug-level` in `[package.metadata.ptx]` and `profile` in the build script count more"))
    }
}

/// Of the images that a build script of `ptx_build` left.
fn reports(out_dir: &Path) -> Vec<Report> {
    let entries = std::fs::read_dir(out_dir).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
    folders
        .filter_map(|folder| serde_json::from_str(&std::fs::read_to_string(folder.join(FILE_NAME)).ok()?).ok())
        .collect()
}

/// In this process's place, so that Ctrl-C and the terminal are the debugger's.
#[cfg(unix)]
fn start(command: &mut Command, cuda_gdb: &Path) -> Result<u8> {
    use std::os::unix::process::CommandExt;
    Err(unstartable(cuda_gdb, &command.exec()).into())
}

#[cfg(not(unix))]
fn start(command: &mut Command, cuda_gdb: &Path) -> Result<u8> {
    let status = command.status().map_err(|e| unstartable(cuda_gdb, &e))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

fn unstartable(cuda_gdb: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error(Code::DebuggerMissing, format!("cannot start `{}`: {error}", cuda_gdb.display()))
        .help("name a cuda-gdb that works by `--cuda-gdb`, or install the CUDA toolkit again")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact(name: &str, executable: &str) -> String {
        format!(
            r#"{{"reason":"compiler-artifact","package_id":"path+file:///p#0.1.0","target":{{"kind":["bin"],"name":"{name}"}},"executable":{executable}}}"#
        )
    }

    fn level(debug: &str) -> Built {
        let out = tempfile::tempdir().unwrap();
        let folder = out.path().join("ptx");
        std::fs::create_dir(&folder).unwrap();
        let report = format!(
            r#"{{"name":"k","version":"","llvm":"","ptxas":null,"debug":"{debug}","kernels":[],"outputs":[],"diagnostics":[],"linking":"none","linked":[]}}"#
        );
        std::fs::write(folder.join(FILE_NAME), report).unwrap();
        let line = serde_json::json!({ "reason": "build-script-executed", "out_dir": out.path() });
        Built::of(&format!("{line}\n"))
    }

    #[test]
    fn the_program_is_among_cargos_messages() {
        let messages = [artifact("lib", "null"), artifact("x", r#""/t/x""#), "text".into()].join("\n");
        let built = Built::of(&messages);
        assert_eq!((built.programs.len(), &*built.programs[0].name), (1, "x"));
        assert_eq!(built.programs[0].file, Path::new("/t/x"));
    }

    #[test]
    fn the_librarys_sources_are_found_or_missed() {
        let temp = tempfile::tempdir().unwrap();
        let rustc = Rustc {
            path: "rustc".into(),
            release: "1.97.0".into(),
            commit_hash: Some("c0ffee".into()),
            host: "x86_64-unknown-linux-gnu".into(),
            llvm: "22.1.4".into(),
            sysroot: temp.path().into(),
        };
        let found = || library_sources(&rustc, &Progress::quiet()).unwrap();
        let text = found().unwrap_err().to_string();
        assert!(text.contains("PTX0052") && text.contains("rustup component add rust-src"), "{text}");
        let library = temp.path().join("lib/rustlib/src/rust/library");
        for name in ["core", "alloc"] {
            std::fs::create_dir_all(library.join(name).join("src")).unwrap();
            std::fs::write(library.join(name).join("src/lib.rs"), "").unwrap();
        }
        assert_eq!(found().unwrap(), ("/rustc/c0ffee/library".to_string(), library));
    }

    #[test]
    fn kernels_must_be_compiled_for_debugging() {
        assert!(level("full").poor().is_none());
        let text = level("line-tables").poor().unwrap().to_string();
        assert!(text.contains("PTX0051") && text.contains("`k`") && text.contains("--release"), "{text}");
        assert!(level("none").poor().unwrap().to_string().contains("will not stop"));
    }
}
