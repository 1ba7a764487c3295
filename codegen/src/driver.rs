//! The pipeline, and what runs it as rustc's linker.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use crate::diagnostic::{Diagnostic, Result};
use crate::options::{MessageFormat, Options, Request};
use crate::report::Report;

/// The environment variable that makes a program of ours act as rustc's linker; see [`become_linker_if_asked`].
pub const LINKER_VARIABLE: &str = "RUST_PTX_LINKER";

/// Links: inputs to outputs.
pub fn link(_options: &Options) -> Result<Report> {
    unimplemented!("the pipeline is being written")
}

/// Lets `cargo ptx` and build scripts pass themselves to rustc as the linker: if [`LINKER_VARIABLE`] is set and there
/// are arguments, links and ends the process. Build scripts get no arguments, so nothing else looks like this.
pub fn become_linker_if_asked() {
    let mut args = std::env::args_os().skip(1).peekable();
    if std::env::var_os(LINKER_VARIABLE).is_some() && args.peek().is_some() {
        let code = linker_main(args);
        std::process::exit(if code == ExitCode::SUCCESS { 0 } else { 1 });
    }
}

/// The whole of `ptx-linker`: arguments without the program's name in, messages on standard error.
pub fn linker_main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut err = std::io::stderr().lock();
    let mut print = |diagnostics: &[Diagnostic], options: Option<&Options>| {
        for diagnostic in diagnostics {
            let text = match options {
                Some(o) if o.message_format == MessageFormat::Json => {
                    serde_json::to_string(diagnostic).unwrap_or_else(|e| e.to_string())
                }
                Some(o) => diagnostic.render(&o.source_base, false) + "\n",
                None => diagnostic.to_string(),
            };
            // A closed standard error is no reason to fail.
            let _ = writeln!(err, "{text}");
        }
    };
    match Options::from_args(args) {
        Err(failure) => {
            print(&failure.diagnostics, None);
            ExitCode::FAILURE
        }
        Ok(Request::Print(text)) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Ok(Request::Link(options)) => match link(&options) {
            Ok(report) => {
                print(&report.diagnostics, Some(&options));
                ExitCode::SUCCESS
            }
            Err(failure) => {
                print(&failure.diagnostics, Some(&options));
                ExitCode::FAILURE
            }
        },
    }
}
