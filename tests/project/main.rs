//! A user's day: `cargo ptx new`, `cargo run`, a change here and there, `cargo ptx build` and `inspect`.

use std::process::ExitCode;

mod cargo_ptx;
mod demo;
mod messages;
mod rebuild;

fn main() -> ExitCode {
    ptx_tests::run(|| [rebuild::trials(), cargo_ptx::trials(), messages::trials()].into_iter().flatten().collect())
}
