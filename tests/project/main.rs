//! A user's day: `cargo ptx new`, `cargo run`, a change here and there, `cargo ptx build` and `inspect`.

use std::process::ExitCode;

use libtest_mimic::Trial;

mod build_script;
mod cargo_ptx;
mod debug;
mod demo;
mod messages;
mod rebuild;

/// A test that needs no tool.
fn test(name: &str, body: fn()) -> Trial {
    ptx_tests::trial(name, move || {
        body();
        None
    })
}

fn main() -> ExitCode {
    ptx_tests::run(|| {
        let trials =
            [rebuild::trials(), build_script::trials(), cargo_ptx::trials(), messages::trials(), debug::trials()];
        trials.into_iter().flatten().collect()
    })
}
