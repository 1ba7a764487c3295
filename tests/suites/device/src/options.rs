//! The options that libtest does not have.

use std::path::PathBuf;

use crate::parts::Share;

/// As given.
#[derive(Debug, Default)]
pub struct Options {
    /// Where the record goes.
    pub json: Option<PathBuf>,
    /// A folder of programs to run as well.
    pub examples: Option<PathBuf>,
    /// The same programs, not optimised.
    pub examples_at_o0: Option<PathBuf>,
    /// A folder of what `abi-fuzz --round-trips` built.
    pub abi: Option<PathBuf>,
    /// A folder of cases for cuda-gdb and compute-sanitizer, with the program that they watch.
    pub debugger: Option<PathBuf>,
    /// A folder of user-interface tests that run.
    pub cases: Option<PathBuf>,
    /// A folder of images with the tests of Rust's `core`.
    pub core: Option<PathBuf>,
    /// A folder of images with the tests of the crate `ptx-tested`.
    pub tested: Option<PathBuf>,
    /// What the programs were built from.
    pub commit: Option<String>,
    /// The day of the run.
    pub date: Option<String>,
    /// Whether to run in several processes at once.
    pub at_once: bool,
    /// After how many seconds those end.
    pub limit: Option<u64>,
    /// Parts of names: tests that have none of them do not run; all do where there is none.
    pub only: Vec<String>,
    /// What of the rest this process runs; all of it by default.
    pub share: Option<Share>,
    /// The kernel to launch in a process that does nothing else: one that fails, or that prints.
    pub child: Option<String>,
}

/// The options of ours, and the arguments that are none of them.
pub fn parse(mut args: impl Iterator<Item = String>) -> Result<(Options, Vec<String>), String> {
    let (mut options, mut rest) = (Options::default(), Vec::new());
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("`{arg}` needs a value"));
        match arg.as_str() {
            "--json" => options.json = Some(value()?.into()),
            "--examples" => options.examples = Some(value()?.into()),
            "--examples-at-o0" => options.examples_at_o0 = Some(value()?.into()),
            "--abi" => options.abi = Some(value()?.into()),
            "--debugger" => options.debugger = Some(value()?.into()),
            "--cases" => options.cases = Some(value()?.into()),
            "--core" => options.core = Some(value()?.into()),
            "--tested" => options.tested = Some(value()?.into()),
            "--commit" => options.commit = Some(value()?),
            "--date" => options.date = Some(value()?),
            "--at-once" => options.at_once = true,
            "--limit" => options.limit = Some(value()?.parse().map_err(|error| format!("`--limit`: {error}"))?),
            "--only" => options.only.push(value()?),
            "--share" => {
                let text = value()?;
                options.share = Some(Share::parse(&text).ok_or_else(|| format!("`--share`: there is no `{text}`"))?);
            }
            "--child" => options.child = Some(value()?),
            _ => rest.push(arg),
        }
    }
    Ok((options, rest))
}

/// What of the arguments each of the processes gets, too.
pub fn of_parts(mut args: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--at-once" => {}
            "--json" | "--limit" => drop(args.next()),
            _ => kept.push(arg),
        }
    }
    kept
}
