//! The project that `cargo ptx new demo` makes, outside the repository.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, OnceLock};

use ptx_tests::folders::{root, target_dir};

/// The variable that names the program which build scripts compile with.
pub const COMPILER: &str = "RUST_PTX_COMPILER";

/// A made project.
pub struct Demo {
    scratch: tempfile::TempDir,
    name: &'static str,
}

/// How a program ended.
pub struct Run {
    /// Whether well.
    pub success: bool,
    /// What it printed.
    pub stdout: String,
    /// What it complained of.
    pub stderr: String,
}

/// The project, for one test at a time; made by the first.
pub fn demo() -> MutexGuard<'static, Demo> {
    static DEMO: OnceLock<Mutex<Demo>> = OnceLock::new();
    let demo = DEMO.get_or_init(|| Mutex::new(Demo::new("demo")));
    // A test that failed leaves sources that the next one writes anew.
    let guard = demo.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    guard.reset();
    guard
}

impl Demo {
    /// Makes one of this name, for a test that changes more of it than sources.
    pub fn new(name: &'static str) -> Self {
        let demo = Self { scratch: tempfile::tempdir().expect("a temporary folder"), name };
        demo.cargo_ptx(demo.scratch.path(), &[], &["new", name]).expect_success();
        // Not the folder of all packages of whoever runs the tests.
        let config = demo.path().join(".cargo/config.toml");
        let text = fs::read_to_string(&config).expect("the project has a configuration");
        let here = demo.target_dir().display().to_string();
        let changed = text.replace("{cargo-cache-home}/rust-ptx-build", &here);
        assert_ne!(text, changed, "the project shares no build folder");
        fs::write(config, changed).expect("our own file");
        // What the tests change, they put back from here.
        fs::create_dir(demo.scratch.path().join("sources")).expect("a fresh folder");
        for name in ["lib.rs", "main.rs"] {
            fs::copy(demo.path().join("src").join(name), demo.scratch.path().join("sources").join(name))
                .unwrap_or_else(|error| panic!("the project has no src/{name}: {error}"));
        }
        demo
    }

    /// Makes a library of this text alone, without dependencies: nothing else has to be compiled.
    pub fn plain(name: &'static str, library: &str) -> Self {
        let demo = Self::new(name);
        let manifest = format!("[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        for (file, text) in [("Cargo.toml", &*manifest), ("src/lib.rs", library)] {
            fs::write(demo.path().join(file), text).expect("our own file");
        }
        for file in ["build.rs", "src/main.rs"] {
            fs::remove_file(demo.path().join(file)).expect("our own file");
        }
        demo
    }

    fn reset(&self) {
        for name in ["lib.rs", "main.rs"] {
            let text = fs::read_to_string(self.scratch.path().join("sources").join(name)).expect("our copy");
            let path = self.path().join("src").join(name);
            if fs::read_to_string(&path).is_ok_and(|now| now != text) {
                fs::write(path, text).expect("our own file");
            }
        }
    }

    /// The project's folder.
    pub fn path(&self) -> PathBuf {
        self.scratch.path().join(self.name)
    }

    /// Where cargo builds it: not the folder in which the cargo above us builds. It stays between runs.
    pub fn target_dir(&self) -> PathBuf {
        target_dir().join("project")
    }

    /// Changes a source file.
    pub fn edit(&self, name: &str, change: impl FnOnce(String) -> String) {
        let path = self.path().join("src").join(name);
        let text = fs::read_to_string(&path).expect("the project has it");
        let changed = change(text.clone());
        assert_ne!(text, changed, "the change to {name} changes nothing");
        fs::write(path, changed).expect("our own file");
    }

    /// Runs `body` with another manifest, made from this one without its part for the device.
    pub fn with_manifest(&self, change: impl FnOnce(String) -> String, body: impl FnOnce()) {
        let manifest = self.path().join("Cargo.toml");
        let before = fs::read_to_string(&manifest).expect("the project has a manifest");
        let without = before.split("\n[package.metadata.ptx]").next().unwrap_or_default().to_string();
        fs::write(&manifest, change(without)).expect("our own file");
        let outcome = catch_unwind(AssertUnwindSafe(body));
        fs::write(&manifest, before).expect("our own file");
        outcome.unwrap_or_else(|panic| resume_unwind(panic));
    }

    /// The package's name.
    pub fn name(&self) -> &str {
        self.name
    }

    /// Runs cargo in the project.
    pub fn cargo(&self, args: &[&str]) -> Run {
        self.cargo_with(&[], args)
    }

    /// Runs cargo in the project, with these environment variables.
    pub fn cargo_with(&self, variables: &[(&str, &str)], args: &[&str]) -> Run {
        self.run(cargo().envs(variables.iter().copied()).args(args).current_dir(self.path()))
    }

    /// Runs `cargo ptx` in the project.
    pub fn ptx(&self, args: &[&str]) -> Run {
        self.cargo_ptx(&self.path(), &[], args)
    }

    /// Runs `cargo ptx` in the project, with these environment variables.
    pub fn ptx_with(&self, variables: &[(&str, &str)], args: &[&str]) -> Run {
        self.cargo_ptx(&self.path(), variables, args)
    }

    fn cargo_ptx(&self, folder: &Path, variables: &[(&str, &str)], args: &[&str]) -> Run {
        let mut command = Command::new(program());
        command.envs(variables.iter().copied());
        self.run(command.arg("ptx").args(args).current_dir(folder))
    }

    fn run(&self, command: &mut Command) -> Run {
        for (name, path) in [("CARGO_TARGET_DIR", self.target_dir()), (COMPILER, program().to_path_buf())] {
            if command.get_envs().all(|(given, _)| given != name) {
                command.env(name, path);
            }
        }
        let Output { status, stdout, stderr } = command.output().expect("cargo starts");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Run { success: status.success(), stdout: text(stdout), stderr: text(stderr) }
    }
}

impl Run {
    /// It ended well.
    #[track_caller]
    pub fn expect_success(self) -> Self {
        assert!(self.success, "{}\n{}", self.stdout, self.stderr);
        self
    }

    /// Whether cargo (with `-v`) ran the project's build script, which is what compiles for the device.
    pub fn compiled_for_the_device(&self) -> bool {
        self.stderr
            .lines()
            .any(|line| line.contains("Running `") && line.contains("/demo-") && line.contains("build-script-build`"))
    }

    /// Whether cargo (with `-v`) compiled the project's program.
    pub fn compiled_for_the_host(&self) -> bool {
        self.stderr.lines().any(|line| line.contains("--crate-name demo") && line.contains("--crate-type bin"))
    }
}

/// `cargo-ptx`, built by the first who asks, and not in a project's folder: its configuration would have cargo build it
/// elsewhere.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let mut command = cargo();
        // Where the compiler is built anyway, for all default members: the runner depends on it.
        command.args(["build", "--quiet", "--bin", "cargo-ptx"]).arg("--target-dir").arg(target_dir());
        assert!(command.current_dir(root()).status().expect("cargo starts").success(), "cargo-ptx does not compile");
        target_dir().join("debug/cargo-ptx")
    })
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}
