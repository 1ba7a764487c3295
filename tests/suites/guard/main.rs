//! The code of the benchmark's kernels against a record: what has become worse fails.
//!
//! `cargo xtask bench guard --accept` runs this program with [`ACCEPT`], and it writes the record in place of comparing.

use std::process::ExitCode;

mod history;
mod measure;
mod record;
mod trials;

/// The reason for which what is worse is accepted; it may be empty if nothing is.
const ACCEPT: &str = "PTX_GUARD_ACCEPT";

fn main() -> ExitCode {
    ptx_project::linker::become_linker_if_asked();
    match std::env::var(ACCEPT) {
        Ok(reason) => record::accept(&reason),
        Err(_) => ptx_tests::run(trials::all),
    }
}
