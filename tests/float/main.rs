//! Floating-point modes: the instructions of one table of expressions, in Rust and in CUDA C++, by both compilers.
//!
//! The table is `table.rs`; what may differ, and why, is `deviations.rs`.

use std::process::ExitCode;

mod compare;
mod compile;
mod deviations;
mod generate;
mod instructions;
mod modes;
mod table;

fn main() -> ExitCode {
    ptx_tests::run(compare::trials)
}
