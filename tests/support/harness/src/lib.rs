//! What the runners share: scratch folders, the linker as a process, samples, and tests that say why they did not run.

use std::ffi::OsStr;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use ptx_project::linker::LINKER_VARIABLE;

pub mod dwarf;
pub mod folders;
pub mod kernels;
pub mod library;
mod sample;
mod watch;

pub use sample::{Sample, VARIABLE};
pub use watch::Running;

/// What a test says in the end: nothing, or why it did not run. It fails by panicking.
pub type Skip = Option<String>;

/// A test that runs `body`.
pub fn trial(name: impl Into<String>, body: impl FnOnce() -> Skip + Send + 'static) -> Trial {
    let name = name.into();
    Trial::ignorable_test(name.clone(), move || {
        let _running = Running::new(&name);
        outcome(catch_unwind(AssertUnwindSafe(body)))
    })
}

fn outcome(result: std::thread::Result<Skip>) -> Result<Completion, Failed> {
    match result {
        Ok(None) => Ok(Completion::Completed),
        Ok(Some(reason)) => Ok(Completion::ignored_with(reason)),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
            Err(Failed::from(text.unwrap_or_else(|| "it panicked".into())))
        }
    }
}

/// A test that needs nothing, and so always runs.
pub fn test(name: impl Into<String>, body: impl FnOnce() + Send + 'static) -> Trial {
    trial(name, || {
        body();
        None
    })
}

/// The `main` of a runner: acts as the linker if it was started as one, else runs the tests.
pub fn run(trials: impl FnOnce() -> Vec<Trial>) -> ExitCode {
    ptx_project::linker::become_linker_if_asked();
    let args = Arguments::from_args();
    Sample::begin(args.filter.is_some());
    // Failures are reported at the end with their text; the panic's own message would only say it twice.
    std::panic::set_hook(Box::new(|_| ()));
    libtest_mimic::run(&args, trials()).exit_code()
}

/// A scratch folder with a linker in it.
pub struct Scratch {
    dir: tempfile::TempDir,
}

/// How a run of the linker ended.
#[derive(Debug)]
pub struct Linked {
    /// The exit status; none if it was killed.
    pub code: Option<i32>,
    /// What it said.
    pub stderr: String,
}

impl Default for Scratch {
    fn default() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(dir.path().join("out")).expect("a fresh folder");
        Self { dir }
    }
}

impl Scratch {
    /// The temporary folder, which is removed with `self`.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Where the linker is told to put the PTX.
    pub fn output(&self) -> PathBuf {
        self.path().join("out/k.ptx")
    }

    /// Writes a file.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, contents).expect("a fresh file");
        path
    }

    /// Writes a program.
    pub fn write_program(&self, name: &str, script: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.write(name, script);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("our own file");
        path
    }

    /// The linker, as rustc would start it for a kernel `k`, before any arguments of the test's own.
    pub fn linker(&self) -> Command {
        self.linker_to(&self.output())
    }

    /// The same with another output.
    pub fn linker_to(&self, output: &Path) -> Command {
        let mut command = self.bare_linker();
        command.args(["--target", "nvptx64-nvidia-cuda", "--export-symbol", "k", "-o"]).arg(output);
        command
    }

    /// The linker without any arguments.
    pub fn bare_linker(&self) -> Command {
        let program = std::env::current_exe().expect("a running program has a path");
        let mut command = Command::new(&program);
        command.env(LINKER_VARIABLE, program).current_dir(self.path());
        command
    }

    /// Runs the linker for sm_80 without ptxas.
    pub fn link<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Linked {
        Linked::of(self.linker().args(["--arch=sm_80", "--ptxas=off"]).args(args))
    }

    /// What lies in the output folder.
    pub fn outputs(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path().join("out")).expect("the output folder");
        let mut names: Vec<_> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The linker refused: a message with these parts, no panic, nothing left behind.
    #[track_caller]
    pub fn refused(&self, linked: &Linked, parts: &[&str]) {
        assert_eq!(linked.code, Some(1), "exit status; it said:\n{}", linked.stderr);
        for part in parts {
            assert!(linked.stderr.contains(part), "`{part}` is not in:\n{}", linked.stderr);
        }
        assert!(!linked.stderr.contains("panicked at"), "{}", linked.stderr);
        assert!(linked.stderr.contains("error[PTX"), "no code in:\n{}", linked.stderr);
        assert!(linked.stderr.contains("help:"), "no remedy in:\n{}", linked.stderr);
        assert!(self.outputs().is_empty(), "left behind: {:?}", self.outputs());
    }
}

impl Linked {
    /// Runs the command.
    pub fn of(command: &mut Command) -> Self {
        let output = command.output().expect("the linker starts");
        Self { code: output.status.code(), stderr: String::from_utf8_lossy(&output.stderr).into_owned() }
    }

    /// It worked.
    #[track_caller]
    pub fn accepted(&self) {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
    }
}
