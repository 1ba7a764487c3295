//! Compiles every file in `cases/` as a user's crate and checks what comes out.
//!
//! `cases/pass` compile for the device; their `// CHECK` lines (see [`ui_tests::filecheck`]) are matched on the PTX, and
//! ptxas must accept it. `cases/fail` must not compile for the device, `cases/host` not for the host; what rustc and our
//! linker say is compared with the `.stderr` file beside the case, which `cargo xtask bless [FILTER]` writes.
//!
//! In a case, `//~ ERROR: text` marks the line of an error, `//~^ ERROR: text` the line above. These directives stand
//! each on a line of its own, optionally for some revisions (`//@[a,b] arch: sm_90`); an unknown one is an error:
//!
//! - `//@arch: sm_90` compiles for that GPU, sm_80 by default.
//! - `//@emit: llvm-ir` matches `// CHECK` lines on the optimised LLVM IR, not on the PTX.
//! - `//@link-arg: --option=x` passes an option to the linker.
//! - `//@compile-flags: …` passes options to rustc.
//! - `//@needs-ptxas` skips the case where ptxas is not installed.
//! - `//@aux-build: file.rs` compiles `auxiliary/file.rs` first, as a dependency.
//! - `//@revisions: a b` compiles the case once for each, with `--cfg a`, `--cfg b`.
//! - `//@error-in-other-file: text` expects an error that has no line in the case.
//! - `//@rustc-env`, `//@normalize-stderr-test`, `//@edition`, `//@ignore-…`, `//@only-…`: as the crate ui_test says.

use std::path::Path;

use ui_test::color_eyre::eyre::Result;
use ui_test::custom_flags::edition::Edition;
use ui_test::spanned::Spanned;
use ui_test::status_emitter::StatusEmitter;
use ui_test::{Args, Config, default_file_filter, run_tests_generic};

mod crates;
mod diagnostics;
mod flags;

fn main() -> Result<()> {
    ptx_codegen::become_linker_if_asked();
    let args = Args::test()?;
    let device = crates::device()?;
    let host = crates::host()?;
    if flags::ptxas().is_none() {
        println!("skipped: ptxas on the PTX of every case: ptxas was not found; `cargo xtask setup` installs it");
    }
    let mut pass = config("cases/pass", &device);
    flags::expect_ptx(&mut pass);
    let mut fail = config("cases/fail", &device);
    for config in [&mut pass, &mut fail] {
        flags::compile_for_device(config);
    }
    let mut configs = vec![pass, fail, config("cases/host", &host)];
    configs.iter_mut().for_each(|config| config.with_args(&args));
    let emitter: Box<dyn StatusEmitter> = args.format.into();
    // Dependencies of a case become rlibs without our doing.
    let crate_type = |config: &mut Config, _: &Spanned<_>| config.program.args.push("--crate-type=cdylib".into());
    run_tests_generic(configs, file_filter, crate_type, emitter)
}

/// What all cases of a folder have in common.
fn config(folder: &str, built: &crates::Built) -> Config {
    let mut config = Config::rustc(folder);
    config.target = built.target.map(str::to_string);
    config.out_dir = crates::out_dir();
    config.bless_command = Some("cargo xtask bless".into());
    config.diagnostic_extractor = diagnostics::extract;
    config.program.args.extend(built.args.iter().map(Into::into));
    // Line numbers of our own sources in the margin, and the terminal's width, would change what is compared.
    config.program.args.extend(["-Zui-testing", "--diagnostic-width=120"].map(Into::into));
    let defaults = config.comment_defaults.base();
    defaults.set_custom("edition", Edition("2024".into()));
    defaults.custom.remove("rustfix");
    for (path, name) in &built.paths {
        defaults.normalize_stderr.push((path.as_path().into(), name.as_bytes().to_vec()));
    }
    config.stderr_filter(r"((?:\$[A-Z_]+|runtime|codegen)/[^: ]+\.rs):\d+:\d+", "$1:LL:CC");
    config.stderr_filter("[0-9a-f]{16}", "$$HASH");
    config
}

/// Every case; files in `auxiliary` are parts of cases.
fn file_filter(path: &Path, config: &Config) -> Option<bool> {
    if path.components().any(|part| part.as_os_str() == "auxiliary") { None } else { default_file_filter(path, config) }
}
