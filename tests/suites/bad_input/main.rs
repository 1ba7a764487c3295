//! The linker on bad input: a message that names file, symbol and remedy; no panic, and nothing half-written.

use std::process::ExitCode;

mod bytes;
mod files;
mod ir;
mod mathematics;
mod mutated;
mod outputs;
mod programs;

fn main() -> ExitCode {
    ptx_tests::run(|| {
        [files::trials(), programs::trials(), mathematics::trials(), outputs::trials(), mutated::trials()]
            .into_iter()
            .flatten()
            .collect()
    })
}
