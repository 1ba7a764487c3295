//! Floating-point modes: the instructions of one table of expressions, in Rust and in CUDA C++, by both compilers.
//!
//! The table is `table.rs`; what may differ, and why, is `deviations.rs`.

use std::process::ExitCode;

mod attributes;
mod compare;
mod compile;
mod compiled;
mod deviations;
mod functions;
mod further;
mod generate;
mod instructions;
mod isolation;
mod library;
mod modes;
mod row;
mod sass;
mod shapes;
mod table;

fn main() -> ExitCode {
    ptx_tests::run(|| {
        [
            compare::trials(),
            attributes::trials(),
            isolation::trials(),
            library::trials(),
            sass::trials(),
            shapes::trials(),
        ]
        .into_iter()
        .flatten()
        .collect()
    })
}
