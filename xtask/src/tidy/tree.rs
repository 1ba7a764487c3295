//! The repository as tidy sees it: its text files, what cargo knows of it, and which file takes what from which.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::arrows::Arrows;
use super::workspace::Workspace;
use crate::shell;

/// A file of the repository.
pub struct Source {
    pub path: PathBuf,
    pub text: String,
}

/// What the rules look at.
pub struct Tree {
    pub sources: Vec<Source>,
    pub workspace: Workspace,
    arrows: OnceCell<Arrows>,
}

impl Source {
    pub fn is(&self, extension: &str) -> bool {
        self.path.extension().is_some_and(|found| found == extension)
    }

    /// Line number and text of every line that `wrong` finds fault with.
    pub fn lines_where(&self, wrong: impl Fn(&str) -> bool) -> Vec<String> {
        let lines = self.text.lines().enumerate().filter(|(_, line)| wrong(line));
        lines.map(|(index, line)| format!("{}: {}", index + 1, line.trim())).collect()
    }
}

impl Tree {
    /// Reads it.
    pub fn read() -> Result<Self> {
        Ok(Self { sources: sources()?, workspace: Workspace::read()?, arrows: OnceCell::new() })
    }

    /// Which file takes what from which.
    pub fn arrows(&self) -> Result<&Arrows> {
        if let Some(arrows) = self.arrows.get() {
            return Ok(arrows);
        }
        let files = self.sources.iter().map(|source| (source.path.as_path(), source.text.as_str())).collect();
        let arrows = self.workspace.arrows(&files)?;
        Ok(self.arrows.get_or_init(|| arrows))
    }
}

/// Every text file that git has or would take.
fn sources() -> Result<Vec<Source>> {
    let list = shell::output(Command::new("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]))
        .context("tidy asks git for the list of files")?;
    let read = |path: &str| Some(Source { path: path.into(), text: std::fs::read_to_string(path).ok()? });
    Ok(list.lines().filter_map(read).collect())
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    /// A tree of these files; every `lib.rs` is a package's.
    pub fn tree(files: &[(&str, &str)]) -> Tree {
        let roots = files.iter().map(|(path, _)| PathBuf::from(path)).filter(|path| path.ends_with("lib.rs")).collect();
        Tree {
            sources: files.iter().map(|(path, text)| source(path, text)).collect(),
            workspace: Workspace { roots, packages: Arrows::new() },
            arrows: OnceCell::new(),
        }
    }
}
