//! Packages with kernels, compiled for the device by this process.

use std::path::{Path, PathBuf};

use ptx_codegen::report::Report;
use ptx_project::build::{self, CargoFlags, DeviceBuild, Features, Show};
use ptx_project::options::Settings;
use ptx_project::progress::Progress;

use crate::folders::{root, target_dir};

/// How the package of a manifest is compiled in release, with default features; a caller changes what it wants otherwise.
pub fn device_build(manifest: PathBuf, settings: Settings, out_dir: PathBuf, target_dir: PathBuf) -> DeviceBuild {
    DeviceBuild {
        manifest,
        settings,
        profile: "release".into(),
        features: Features::default(),
        tests: false,
        name: None,
        out_dir,
        target_dir,
        cargo: std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()).into(),
        rustc: "rustc".into(),
        sysroot: None,
        dump_dir: None,
        show: Show::Rendered,
        color: false,
        short: false,
        flags: CargoFlags::default(),
    }
}

/// Compiles the package in `folder`, which is relative to the repository, in release with these features.
pub fn build(folder: &str, out_dir: &Path, settings: Settings, features: &[&str]) -> Result<Report, String> {
    let manifest = root().join(folder).join("Cargo.toml");
    // One for all, so that what kernels use is compiled once.
    let mut build = device_build(manifest, settings, out_dir.into(), target_dir().join("pipeline/cargo"));
    build.features.names = features.iter().map(ToString::to_string).collect();
    build::report(&build, &Progress::quiet()).map_err(|failure| failure.to_string())
}
