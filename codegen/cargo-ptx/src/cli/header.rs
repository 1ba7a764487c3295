//! `cargo ptx header`: the C++ declarations of what a package exports.

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::files::publish;
use ptx_codegen::request::Emit;
use ptx_project::progress::Progress;

use super::arguments::BuildArgs;
use super::{build, output};

/// Builds, and prints the header or writes it to the file that is named.
pub fn run(mut args: BuildArgs, progress: &Progress) -> Result<()> {
    let file = args.out.take();
    let report = build::build(&args, &[Emit::Header], progress)?.report;
    let made = &report.output(Emit::Header, None).expect("it was asked for").path;
    let broken = |e| Diagnostic::error(Code::OutputFailed, format!("cannot read `{}`: {e}", made.display()));
    let text = std::fs::read_to_string(made).map_err(broken)?;
    if let Some(file) = &file {
        publish(file, text.as_bytes())?;
    }
    match (args.message_format.is_json(), file) {
        (true, _) => output::json("ptx-text", "text", &serde_json::json!({ "kind": Emit::Header, "text": text })),
        (false, Some(file)) => println!("{}", output::path(&file)),
        (false, None) => print!("{text}"),
    }
    Ok(())
}
