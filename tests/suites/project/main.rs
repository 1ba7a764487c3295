//! A user's day: `cargo ptx new`, `cargo run`, a change here and there, `cargo ptx build` and `inspect`.

use std::process::ExitCode;

use ptx_tests::Sample;

mod build_script;
mod caches;
mod cargo_ptx;
mod check;
mod command;
mod compiler;
mod cubins;
mod debug;
mod demo;
mod messages;
mod plain_cargo;
mod rebuild;
mod report;
mod shared;
mod tests;
mod timings;

fn main() -> ExitCode {
    ptx_tests::run(|| {
        let trials = [
            rebuild::trials(),
            build_script::trials(),
            shared::trials(),
            caches::trials(),
            cargo_ptx::trials(),
            check::trials(),
            command::trials(),
            plain_cargo::trials(),
            compiler::trials(),
            cubins::trials(),
            messages::trials(),
            debug::trials(),
            tests::trials(),
            timings::trials(),
            report::trials(),
        ];
        // Nearly each compiles a package.
        Sample::asked().of("things that a user does", trials.into_iter().flatten(), 30)
    })
}
