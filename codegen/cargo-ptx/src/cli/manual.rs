//! `cargo ptx completions` and `cargo ptx man`: the command line for shells and for readers.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use ptx_codegen::diagnostic::Result;
use ptx_codegen::files;

use super::arguments::CommandLine;
use super::output;

/// The script for a shell. It completes `cargo-ptx`: of `cargo ptx` a shell knows cargo's own completions alone.
pub fn completions(shell: Shell) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "cargo-ptx", &mut script);
    print!("{}", String::from_utf8_lossy(&script));
}

/// Writes a page for `cargo ptx` and one for each verb.
pub fn man(dir: &Path) -> Result<()> {
    let failed = |e| files::failed("write", dir, &e, "name a folder that can be written");
    std::fs::create_dir_all(dir).map_err(failed)?;
    clap_mangen::generate_to(command(), dir).map_err(failed)?;
    println!("Wrote pages into {}; `man -l {}` shows one", output::path(dir), output::path(&dir.join("cargo-ptx.1")));
    Ok(())
}

fn command() -> Command {
    CommandLine::command().name("cargo-ptx").bin_name("cargo-ptx").display_name("cargo-ptx")
}
