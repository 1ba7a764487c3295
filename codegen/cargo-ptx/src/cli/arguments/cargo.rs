//! cargo's own options, by cargo's names, wherever `cargo ptx` calls cargo.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args};

use ptx_project::build::{CargoFlags, Features};

use crate::cli::environment::terminal;

/// Which of the workspace's packages.
#[derive(Args, Debug, Default)]
pub struct PackageArgs {
    /// The package with the kernels; the one in this folder, or the only one that uses `ptx`, by default.
    #[arg(short, long, value_name = "NAME")]
    pub package: Vec<String>,
    /// Every package of the workspace with a library that uses `ptx`.
    #[arg(long, alias = "all", conflicts_with = "package")]
    pub workspace: bool,
    /// All but this one.
    #[arg(long, value_name = "NAME", requires = "workspace")]
    pub exclude: Vec<String>,
}

/// What cargo builds, and how.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "cargo's options")]
pub struct CargoArgs {
    /// Compile with the profile `release`.
    #[arg(short, long, conflicts_with = "profile")]
    pub release: bool,
    /// Compile with this profile.
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Features of the package, separated by commas or spaces.
    #[arg(short = 'F', long, value_delimiter = ',')]
    pub features: Vec<String>,
    /// Leave the feature `default` off.
    #[arg(long)]
    pub no_default_features: bool,
    /// Every feature.
    #[arg(long)]
    pub all_features: bool,
    /// Where cargo keeps what it compiles.
    #[arg(long, value_name = "DIR")]
    pub target_dir: Option<PathBuf>,
    /// How many jobs run at a time.
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    pub jobs: Option<String>,
    /// Compile as much as can be after an error.
    #[arg(long)]
    pub keep_going: bool,
    /// Do not look at `rust-version` of packages.
    #[arg(long)]
    pub ignore_rust_version: bool,
    /// What every command of cargo's takes.
    #[command(flatten)]
    pub common: CommonArgs,
}

/// What every command of cargo's takes; `--quiet`, `--verbose` and `--color` stand in [`super::CommandLine`].
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "cargo's options")]
pub struct CommonArgs {
    /// A package's manifest instead of the one in this folder.
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// Use no network.
    #[arg(long)]
    pub offline: bool,
    /// Fail if Cargo.lock would have to change.
    #[arg(long)]
    pub locked: bool,
    /// Both `--locked` and `--offline`.
    #[arg(long)]
    pub frozen: bool,
    /// A value of cargo's configuration, or a file with some.
    #[arg(long, value_name = "KEY=VALUE|PATH", action = ArgAction::Append)]
    pub config: Vec<String>,
    /// An unstable option of cargo's.
    #[arg(short = 'Z', value_name = "FLAG", action = ArgAction::Append)]
    pub unstable: Vec<String>,
}

impl CommonArgs {
    /// Whether cargo must do without the network.
    pub fn is_offline(&self) -> bool {
        self.offline || self.frozen
    }

    /// What holds for `cargo metadata` as well, wherever it runs: paths are absolute.
    pub fn shared(&self) -> Vec<String> {
        let mut args: Vec<String> = self.is_offline().then(|| "--offline".into()).into_iter().collect();
        for config in &self.config {
            let path = std::path::absolute(config).ok().filter(|path| path.is_file());
            let config = path.map_or_else(|| config.clone(), |path| path.to_string_lossy().into_owned());
            args.extend(["--config".into(), config]);
        }
        args.extend(self.unstable.iter().flat_map(|flag| ["-Z".into(), flag.clone()]));
        args
    }
}

impl CargoArgs {
    /// cargo's name of the profile.
    pub fn profile(&self) -> &str {
        match &self.profile {
            _ if self.release => "release",
            Some(name) if name == "debug" => "dev",
            Some(name) => name,
            None => "dev",
        }
    }

    /// As the device build takes them.
    pub fn features(&self) -> Features {
        let names = self.features.iter().flat_map(|names| names.split_whitespace()).map(str::to_string).collect();
        Features { names, default: !self.no_default_features, all: self.all_features }
    }

    /// For the cargo of a device build: what says how it works, not what it builds.
    pub fn flags(&self) -> CargoFlags {
        let mut args = self.common.shared();
        args.extend(self.jobs.iter().flat_map(|jobs| ["--jobs".into(), jobs.clone()]));
        args.extend(switches([("--keep-going", self.keep_going), ("--ignore-rust-version", self.ignore_rust_version)]));
        let verbose = terminal().verbose;
        args.extend((0..verbose).map(|_| "--verbose".into()));
        CargoFlags { args, locked: self.common.locked || self.common.frozen, verbose: verbose > 0 }
    }

    /// For a command of cargo's that builds for the host.
    pub fn to_cargo(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = self.common.shared().into_iter().map(Into::into).collect();
        args.extend(terminal().to_cargo().into_iter().map(Into::into));
        for (option, path) in [("--manifest-path", &self.common.manifest_path), ("--target-dir", &self.target_dir)] {
            args.extend(path.iter().flat_map(|path| [option.into(), path.into()]));
        }
        for (option, value) in [("--profile", &self.profile), ("--jobs", &self.jobs)] {
            args.extend(value.iter().flat_map(|value| [option.into(), value.into()]));
        }
        let switches = switches([
            ("--release", self.release),
            ("--no-default-features", self.no_default_features),
            ("--all-features", self.all_features),
            ("--locked", self.common.locked || self.common.frozen),
            ("--keep-going", self.keep_going),
            ("--ignore-rust-version", self.ignore_rust_version),
        ]);
        args.extend(switches.map(OsString::from));
        if !self.features.is_empty() {
            args.extend(["--features".into(), self.features.join(",").into()]);
        }
        args
    }
}

fn switches<const N: usize>(all: [(&'static str, bool); N]) -> impl Iterator<Item = String> {
    all.into_iter().filter(|(_, set)| *set).map(|(switch, _)| switch.to_string())
}
