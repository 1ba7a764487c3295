//! A user's day: `cargo ptx new`, `cargo run`, a change here and there, `cargo ptx build` and `inspect`.

use std::process::ExitCode;

mod build_script;
mod cargo_ptx;
mod debug;
mod demo;
mod messages;
mod rebuild;
mod tests;
mod timings;

fn main() -> ExitCode {
    ptx_tests::run(|| {
        let trials = [
            rebuild::trials(),
            build_script::trials(),
            cargo_ptx::trials(),
            messages::trials(),
            debug::trials(),
            tests::trials(),
            timings::trials(),
        ];
        trials.into_iter().flatten().collect()
    })
}
