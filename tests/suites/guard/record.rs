//! The record as a file.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use ptx_bench_table::guard::{ARCHS, Arch, Record};
use ptx_tests::folders::root;

use crate::measure::Tools;

/// Where it is, in the repository.
pub const PATH: &str = "tests/suites/guard/record.txt";

/// What accepts what is worse, for messages.
pub const COMMAND: &str = "cargo xtask bench guard --accept 'REASON'";

fn path() -> PathBuf {
    root().join(PATH)
}

/// All guarded archs.
pub fn archs() -> Vec<Arch> {
    ARCHS.iter().filter_map(|name| Arch::new(name)).collect()
}

/// As it is in the working tree.
pub fn read() -> Result<Record, String> {
    let text = fs::read_to_string(path()).map_err(|error| format!("{PATH}: {error}"))?;
    Record::parse(&text).map_err(|fault| format!("{PATH}: {fault}"))
}

/// Writes down what the kernels have become.
pub fn accept(reason: &str) -> ExitCode {
    match write(reason) {
        Ok(changed) => {
            println!("{PATH}: {}", if changed { "written" } else { "as it was" });
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}\n{COMMAND} accepts it");
            ExitCode::FAILURE
        }
    }
}

fn write(reason: &str) -> Result<bool, String> {
    let tools = Tools::find()?;
    let old = if path().exists() { read()? } else { Record::default() };
    let new = old.accept(&tools.ptxas, &tools.measure(&archs())?, reason)?;
    fs::write(path(), new.to_string()).map_err(|error| format!("{PATH}: {error}"))?;
    Ok(new != old)
}
