//! What to build for the device, and where.

use std::path::PathBuf;

use crate::options::Settings;

/// Which of the package's features the device build has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features {
    /// By name.
    pub names: Vec<String>,
    /// Whether `default` is on.
    pub default: bool,
    /// Whether all are on.
    pub all: bool,
}

impl Default for Features {
    fn default() -> Self {
        Self { names: vec![], default: true, all: false }
    }
}

/// How rustc's messages are shown while cargo runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Show {
    /// As rustc renders them, on standard error.
    #[default]
    Rendered,
    /// For cargo, from a build script: warnings as `cargo::warning=`, errors on standard error.
    BuildScript,
    /// As cargo's JSON lines, on standard output.
    Json,
}

/// cargo's own options that say how it works, not what it builds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CargoFlags {
    /// As cargo takes them: `--offline`, `--jobs 4`.
    pub args: Vec<String>,
    /// Whether the workspace's lock file must do as it is.
    pub locked: bool,
    /// Whether all that cargo says is shown.
    pub verbose: bool,
}

impl CargoFlags {
    /// Those that commands take which compile nothing.
    pub fn args_of_all(&self) -> Vec<String> {
        let mut of_all = Vec::new();
        let mut args = self.args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--jobs" => drop(args.next()),
                "--keep-going" | "--ignore-rust-version" => {}
                _ => of_all.push(arg.clone()),
            }
        }
        of_all
    }
}

/// What to build, and where.
#[derive(Clone, Debug)]
pub struct DeviceBuild {
    /// `Cargo.toml` of the package with the kernels.
    pub manifest: PathBuf,
    /// Options of the linker; they win over `[package.metadata.ptx]`.
    pub settings: Settings,
    /// `dev`, `release` or a profile of the workspace's own.
    pub profile: String,
    /// The package's features.
    pub features: Features,
    /// Whether the package's tests are built, with its dev-dependencies, in place of its kernels.
    pub tests: bool,
    /// Stem of the files, and name of the image; the package's name by default.
    pub name: Option<String>,
    /// Where PTX and the report go.
    pub out_dir: PathBuf,
    /// Where cargo keeps what it compiles for the device. Not a folder in which cargo builds something else at the
    /// same time: cargo would wait for itself.
    pub target_dir: PathBuf,
    /// The `cargo` that builds for the device.
    pub cargo: PathBuf,
    /// The `rustc` that this cargo calls.
    pub rustc: PathBuf,
    /// A ready device sysroot, or Rust's `library` folder; found or built otherwise.
    pub sysroot: Option<PathBuf>,
    /// Where the linker writes the IR after every stage.
    pub dump_dir: Option<PathBuf>,
    /// How rustc's messages are shown.
    pub show: Show,
    /// Whether rustc renders in colour.
    pub color: bool,
    /// Whether rustc renders a message in one line.
    pub short: bool,
    /// How cargo works.
    pub flags: CargoFlags,
}
