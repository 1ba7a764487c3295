//! The program that cuda-gdb and compute-sanitizer watch: `--launch CASE.rs CASE.cubin` launches a case.
//!
//! With a folder of cases instead, and perhaps parts of their names, it runs them under those tools and shows what they
//! said.

use std::path::Path;
use std::process::ExitCode;

use ptx_debugger_tests::{LAUNCH, Prepared, Run, cases, launch};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        [option, source, cubin] if *option == LAUNCH => launch::launch(source.as_ref(), cubin.as_ref()).map(|()| true),
        [folder, names @ ..] => show(folder.as_ref(), names),
        [] => Err(format!("usage: debugger-tests {LAUNCH} CASE.rs CASE.cubin, or debugger-tests FOLDER [NAME]…")),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the cases whose names contain one of these.
fn show(folder: &Path, names: &[&str]) -> Result<bool, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let (mut checks, mut wrong) = (0, 0);
    for prepared in cases(folder)? {
        if !names.is_empty() && !names.iter().any(|name| prepared.name.contains(name)) {
            continue;
        }
        let tool: fn(&Prepared, &Path) -> Result<Run, String> =
            if prepared.case.sanitizer.is_some() { Prepared::sanitize } else { Prepared::debug };
        let run = tool(&prepared, &program)?;
        println!("==== {}\n{}", prepared.name, run.said);
        run.failures.iter().for_each(|failure| println!("FAILED {}: {failure}", prepared.name));
        checks += run.checks;
        wrong += run.failures.len();
    }
    println!("{checks} checks, {wrong} failed");
    Ok(wrong == 0)
}
