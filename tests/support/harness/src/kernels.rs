//! Packages with kernels, compiled for the device by this process.

use std::path::Path;

use ptx_codegen::report::Report;
use ptx_project::build::{self, DeviceBuild, Features, Show};
use ptx_project::options::Settings;
use ptx_project::progress::Progress;

use crate::folders::{root, target_dir};

/// Compiles the package in `folder`, which is relative to the repository, in release with these features.
pub fn build(folder: &str, out_dir: &Path, settings: Settings, features: &[&str]) -> Result<Report, String> {
    let names = features.iter().map(ToString::to_string).collect();
    let build = DeviceBuild {
        manifest: root().join(folder).join("Cargo.toml"),
        settings,
        profile: "release".into(),
        features: Features { names, default: true, all: false },
        name: None,
        out_dir: out_dir.into(),
        // One for all, so that what kernels use is compiled once.
        target_dir: target_dir().join("pipeline/cargo"),
        cargo: std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()).into(),
        rustc: "rustc".into(),
        sysroot: None,
        dump_dir: None,
        show: Show::Rendered,
        color: false,
    };
    build::report(&build, &Progress::quiet()).map_err(|failure| failure.to_string())
}
