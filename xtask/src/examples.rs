//! Every example, run as a user runs it.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::counts::Counts;
use crate::shell;

/// What an example prints where it finds no GPU; the launch then counts as skipped.
const NO_DEVICE: &str = "no CUDA device";

/// Names of the packages in `examples/` that have a program.
pub fn names() -> Result<Vec<String>> {
    let text = shell::output(shell::cargo().args(["metadata", "--format-version=1", "--no-deps"]))?;
    let metadata: Value = serde_json::from_str(&text)?;
    let packages = metadata["packages"].as_array().context("`cargo metadata` prints no packages")?;
    let mut names: Vec<String> = packages.iter().filter(|p| is_example_program(p)).filter_map(name).collect();
    names.sort();
    Ok(names)
}

fn name(package: &Value) -> Option<String> {
    package["name"].as_str().map(str::to_string)
}

fn is_example_program(package: &Value) -> bool {
    let root = std::env::current_dir().unwrap_or_default().join("examples");
    let is_program =
        |target: &Value| target["kind"].as_array().is_some_and(|kinds| kinds.contains(&Value::from("bin")));
    package["manifest_path"].as_str().is_some_and(|path| Path::new(path).starts_with(root))
        && package["targets"].as_array().is_some_and(|targets| targets.iter().any(is_program))
}

/// Two counts for each example that the filter names: it builds and ends well, and its kernels ran.
pub fn run(filter: &[String]) -> Result<Counts> {
    let mut counts = Counts::default();
    let named = |name: &String| filter.iter().all(|part| part.starts_with("--") || name.contains(part));
    for name in names()?.into_iter().filter(named) {
        println!("-- {name}");
        let (status, text) = shell::tee(shell::cargo().args(["run", "--release", "--package", &name]))?;
        if !status.success() {
            counts += Counts { failures: vec![name], ..Counts::fail() };
            continue;
        }
        counts += Counts::pass();
        counts += match text.lines().find(|line| line.to_lowercase().contains(&NO_DEVICE.to_lowercase())) {
            None => Counts::pass(),
            Some(line) => Counts::skip(format!("launch of {name}: {}", line.trim())),
        };
    }
    Ok(counts)
}
