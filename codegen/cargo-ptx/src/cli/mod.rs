//! `cargo ptx`: new, init, build, check, clippy, doc, expand, run, test, debug, sanitize,
//! profile, header, inspect, report, clean, doctor, setup, explain.

mod arguments;
mod build;
mod check;
mod clean;
mod debug;
pub mod doctor;
mod environment;
mod explain;
mod header;
mod init;
mod inspect;
#[cfg(feature = "manual")]
mod manual;
mod new;
mod output;
#[cfg(feature = "profile")]
mod profile;
mod report;
mod run;
mod sanitize;
mod script;
mod select;
pub mod setup;
#[cfg(feature = "test")]
mod test;
mod timings;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_project::bug;
use ptx_project::options::float;
use ptx_project::progress::Progress;

use arguments::{CommandLine, Verb};
use environment::rustc;
use output::Format;

/// The whole of `cargo-ptx`: arguments with the program's name in, exit code out.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let line = match CommandLine::try_parse_from(float::with_two_dashes(without_subcommand(args))) {
        Ok(line) => line,
        Err(error) => {
            // Printing help to a closed pipe is no failure of ours.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    line.terminal().set();
    let format = line.verb.as_ref().map_or(Format::Human, Verb::message_format);
    let print =
        move |diagnostic: &Diagnostic| output::diagnostics(std::slice::from_ref(diagnostic), format, "".as_ref());
    let code = bug::catch(print, || match dispatch(line) {
        Ok(code) => code,
        Err(failure) => {
            output::diagnostics(&failure.diagnostics, format, &failure.source_base);
            match format.is_json() {
                true => output::json("build-finished", "success", &false),
                false => eprintln!("{}", output::more(&failure.diagnostics)),
            }
            // The linker's bugs are this program's.
            let is_bug = failure.diagnostics.iter().any(|diagnostic| diagnostic.code == Code::Bug);
            if is_bug { bug::EXIT_CODE } else { 1 }
        }
    });
    code.into()
}

fn dispatch(line: CommandLine) -> Result<u8> {
    let progress = if line.quiet { Progress::quiet() } else { Progress::new() };
    let Some(verb) = line.verb else {
        match line.explain {
            Some(code) => explain::run(Some(&code))?,
            None => println!("{}", CommandLine::command().render_help()),
        }
        return Ok(0);
    };
    match verb {
        Verb::New(args) => new::run(&args)?,
        Verb::Init(args) => init::run(&args, &progress)?,
        Verb::Build(args) => build::run(&args, &progress)?,
        Verb::Check(args) => check::check(&args, &progress)?,
        Verb::Clippy(args) => check::clippy(&args, &progress)?,
        Verb::Doc(args) => check::doc(&args, &progress)?,
        Verb::Expand(args) => check::expand(&args, &progress)?,
        Verb::Clean(args) => clean::run(&args)?,
        #[cfg(feature = "manual")]
        Verb::Completions { shell } => manual::completions(shell),
        #[cfg(feature = "manual")]
        Verb::Man { dir } => manual::man(&dir)?,
        Verb::Header(args) => header::run(args, &progress)?,
        Verb::Run(args) => return run::run(&args),
        #[cfg(feature = "test")]
        Verb::Test(args) => return test::run(&args, &progress),
        Verb::Debug(args) => return debug::run(&args, &progress),
        Verb::Sanitize(args) => return sanitize::run(&args),
        #[cfg(feature = "profile")]
        Verb::Profile(args) => return profile::run(args),
        Verb::Inspect(args) => inspect::run(&args, &progress)?,
        Verb::Report(args) => report::run(&args, &progress)?,
        Verb::Doctor { message_format } => {
            let can_compile = doctor::run(&rustc(), message_format);
            return Ok(u8::from(!can_compile));
        }
        Verb::Setup(args) => setup::run(&rustc(), &progress, &args)?,
        Verb::Explain { code } => explain::run(code.as_deref())?,
        Verb::BuildScript(args) => script::run(*args)?,
    }
    Ok(0)
}

/// cargo calls `cargo-ptx ptx build`, a user may call `cargo-ptx build`.
fn without_subcommand(args: impl IntoIterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    args.into_iter().enumerate().filter(|(index, arg)| !(*index == 1 && arg == "ptx")).map(|(_, arg)| arg)
}
