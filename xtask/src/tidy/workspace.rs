//! What cargo knows of the workspace that matters to the rules about imports.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::arrows::{self, Arrows};
use super::modules::{Files, Modules};
use super::tables::NO_LOOPS_IN;
use crate::shell;

/// Its first files and its packages.
pub struct Workspace {
    /// The first file of every library, program, test and build script.
    pub roots: BTreeSet<PathBuf>,
    /// Which package names which, also for tests and build scripts alone.
    pub packages: Arrows,
}

impl Workspace {
    /// Asks cargo.
    pub fn read() -> Result<Self> {
        let text = shell::output(shell::cargo().args(["metadata", "--no-deps", "--offline", "--format-version=1"]))?;
        let metadata: serde_json::Value = serde_json::from_str(&text)?;
        let here = std::env::current_dir()?;
        let relative = |path: &serde_json::Value| {
            let path = path.as_str().map(Path::new)?;
            path.strip_prefix(&here).ok().map(Path::to_path_buf)
        };
        let list = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
        let mut workspace = Self { roots: BTreeSet::new(), packages: Arrows::new() };
        for package in list(&metadata["packages"]) {
            let targets = list(&package["targets"]);
            let roots = targets.iter().filter_map(|target| relative(&target["src_path"]));
            workspace.roots.extend(roots.filter(|root| NO_LOOPS_IN.iter().any(|folder| root.starts_with(folder))));
            let name = package["name"].as_str().context("a package without a name")?;
            for dependency in list(&package["dependencies"]) {
                if let (Some(path), Some(other)) = (relative(&dependency["path"]), dependency["name"].as_str()) {
                    let kind = dependency["kind"].as_str().map_or_else(String::new, |kind| format!("{kind}-"));
                    let what = format!("{} as a {kind}dependency", path.display());
                    workspace.packages.entry((name.into(), other.into())).or_default().insert(what);
                }
            }
        }
        Ok(workspace)
    }

    /// Every arrow between files.
    pub fn arrows(&self, files: &Files<'_>) -> Result<Arrows> {
        let mut arrows = Arrows::new();
        let ours = |root: &&PathBuf| files.contains_key(root.as_path());
        for root in self.roots.iter().filter(ours) {
            arrows::add(&Modules::read(root, files)?, &mut arrows);
        }
        Ok(arrows)
    }
}
