//! Being rustc's linker: the whole of `ptx-linker`, and what every program is that passes itself to rustc as the linker.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use ptx_codegen::diagnostic::Diagnostic;
use ptx_codegen::link;
use ptx_codegen::request::{MessageFormat, Options};

use crate::options::{self, Request};
use crate::{above, bug, signals, timings, wrapper};

/// The environment variable that makes the program whose path it holds act as rustc's linker; see
/// [`become_linker_if_asked`].
pub const LINKER_VARIABLE: &str = "RUST_PTX_LINKER";

/// Lets `cargo ptx` and build scripts pass themselves to rustc as the linker, and to cargo as rustc's wrapper: if
/// [`LINKER_VARIABLE`] names this program, does that and ends the process. Other programs inherit the variable, and may
/// have this code in them.
pub fn become_linker_if_asked() {
    wrapper::become_rustc_with_notes_if_asked();
    let asked = std::env::var_os(LINKER_VARIABLE).map(PathBuf::from);
    if asked.is_none() || asked != std::env::current_exe().ok() {
        return;
    }
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    wrapper::become_rustc_if_asked(&args);
    std::process::exit(run_linker(args).into());
}

/// The whole of `ptx-linker`: arguments without the program's name in, messages on standard error.
pub fn linker_main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    run_linker(args.into_iter().collect()).into()
}

fn run_linker(args: Vec<OsString>) -> u8 {
    // Whoever wants JSON also wants it when the options cannot be read.
    let json = args.iter().any(|arg| arg == "--message-format=json");
    let is_json = move |options: Option<&Options>| {
        json || options.is_some_and(|options| options.message_format == MessageFormat::Json)
    };
    let text = move |diagnostic: &Diagnostic, options: Option<&Options>| {
        let text = match options {
            _ if is_json(options) => serde_json::to_string(diagnostic).unwrap_or_else(|e| e.to_string()),
            Some(o) => diagnostic.render(&o.source_base, false) + "\n",
            None => diagnostic.to_string(),
        };
        text + "\n"
    };
    // A closed standard error is no reason to fail.
    let print = |text: &str| drop(std::io::stderr().write_all(text.as_bytes()));
    bug::catch(
        move |diagnostic| print(&text(diagnostic, None)),
        move || {
            signals::clean_up();
            timings::begin();
            let (diagnostics, options, code) = match options::from_args(args) {
                Err(failure) => (failure.diagnostics, None, 1),
                Ok(Request::Print(text)) => {
                    // A closed standard output is no reason to fail either.
                    let _ = writeln!(std::io::stdout(), "{text}");
                    (vec![], None, 0)
                }
                Ok(Request::Link(options)) => match link(&options) {
                    Ok(report) => (report.diagnostics, Some(options), 0),
                    Err(failure) => (failure.diagnostics, Some(options), 1),
                },
            };
            let options = options.as_deref();
            let messages: String = diagnostics.iter().map(|diagnostic| text(diagnostic, options)).collect();
            if code == 0 || is_json(options) {
                print(&messages)
            } else {
                above::show(&messages)
            }
            timings::hand_over();
            code
        },
    )
}
