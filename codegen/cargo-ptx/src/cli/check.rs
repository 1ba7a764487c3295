//! `cargo ptx check`, `clippy`, `doc` and `expand`: what rustc and its companions make of a package's kernels as code for the GPU.
//!
//! With `--message-format json` an editor can run `check` or `clippy` in place of cargo's: rustc's messages are passed on as
//! cargo prints them.

use ptx_codegen::diagnostic::{Diagnostic, Failure, Result};
use ptx_project::build::{self, DeviceBuild};
use ptx_project::progress::Progress;

use super::arguments::{BuildArgs, ClippyArgs, DocArgs};
use super::build::{device_build, device_builds};
use super::output;

/// Checks; messages have been printed when this returns.
pub fn check(args: &BuildArgs, progress: &Progress) -> Result<()> {
    all(args, |build| build::check(build, progress))
}

/// The same by Clippy.
pub fn clippy(ClippyArgs { build: args, clippy }: &ClippyArgs, progress: &Progress) -> Result<()> {
    all(args, |build| build::clippy(build, clippy, progress))
}

/// Checks every package: an editor wants the errors of all.
fn all(args: &BuildArgs, check: impl Fn(&DeviceBuild) -> Result<Vec<Diagnostic>>) -> Result<()> {
    let mut failed: Option<Failure> = None;
    for build in device_builds(args)? {
        match (check(&build), &mut failed) {
            (Ok(warnings), _) => {
                output::diagnostics(&warnings, args.message_format, &super::environment::current_dir());
            }
            (Err(failure), Some(failed)) => failed.diagnostics.extend(failure.diagnostics),
            (Err(failure), failed) => *failed = Some(failure),
        }
    }
    failed.map_or(Ok(()), Err)?;
    finished(args);
    Ok(())
}

/// Documents, and prints which page to begin with.
pub fn doc(args: &DocArgs, progress: &Progress) -> Result<()> {
    let switches =
        [("--no-deps", args.no_deps), ("--document-private-items", args.document_private_items), ("--open", args.open)];
    let switches: Vec<String> = switches.iter().filter(|(_, set)| *set).map(|(name, _)| name.to_string()).collect();
    for build in device_builds(&args.build)? {
        let page = build::doc(&build, &switches, progress)?;
        match args.build.message_format.is_json() {
            true => output::json("ptx-doc", "page", &page),
            false => println!("{}", output::path(&page)),
        }
    }
    finished(&args.build);
    Ok(())
}

/// Prints the expanded code.
pub fn expand(args: &BuildArgs, progress: &Progress) -> Result<()> {
    let text = build::expand(&device_build(args, &[])?, progress)?;
    match args.message_format.is_json() {
        true => output::json("ptx-text", "text", &serde_json::json!({ "kind": "expanded", "text": text })),
        false => print!("{text}"),
    }
    Ok(())
}

fn finished(args: &BuildArgs) {
    if args.message_format.is_json() {
        output::json("build-finished", "success", &true);
    }
}
