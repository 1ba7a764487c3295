//! `cargo ptx test`: compiles a package's tests for the GPU and runs them there.

use std::ffi::OsString;
use std::process::{ExitCode, Termination};

use clap::Parser;

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::report::Report;
use ptx_codegen::request::Emit;
use ptx_host::Device;
use ptx_project::build::DeviceBuild;
use ptx_project::options::arch;
use ptx_project::progress::Progress;
use ptx_project::sysroot;
use ptx_project::tools;
use ptx_test_runner::{Tests, cli};

use super::arguments::TestArgs;
use super::output::Format;
use super::{build, environment, output};

/// Builds, and runs what was built unless only that was asked for.
pub fn run(args: &TestArgs, progress: &Progress) -> Result<u8> {
    let line = std::iter::once(OsString::from("cargo ptx test --"));
    let line = line.chain(args.filter.iter().map(Into::into)).chain(args.tests.iter().cloned());
    let line = match cli::Line::try_parse_from(line) {
        Ok(line) => line,
        Err(error) => {
            // Printing help to a closed pipe is no failure of ours.
            _ = error.print();
            return Ok(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let rustc = sysroot::rustc(&environment::rustc())?;
    if !rustc.is_nightly() {
        // The crate `test` for the device has language items.
        return Err(Diagnostic::error(Code::Usage, format!("rustc {} compiles no tests for the GPU", rustc.release))
            .help("use a nightly rustc, as in `cargo +nightly ptx test`")
            .help("`cargo test` runs kernels on the CPU with any rustc")
            .into());
    }
    let device_build = device_build(args)?;
    let built = ptx_project::build::run(&device_build, progress)?;
    output::diagnostics(&built.report.diagnostics, args.build.message_format, &built.source_base);
    if args.no_run {
        say(&built.report, args.build.message_format);
        return Ok(0);
    }
    let tests = Tests::read(&device_build.out_dir).map_err(|reason| Diagnostic::error(Code::OutputFailed, reason))?;
    Ok(code(cli::run(tests, line)))
}

/// The build of the tests: for the GPU that is there if no other is asked for, and as machine code if ptxas is there.
fn device_build(args: &TestArgs) -> Result<DeviceBuild> {
    let mut build = build::device_build(&args.build, &[])?;
    let settings = &mut build.settings;
    if settings.arch.is_empty()
        && let Ok(device) = Device::first()
        && arch::is_known(&device.arch())
    {
        settings.arch = vec![device.arch()];
    }
    if tools::find().ptxas().is_some()
        && settings.ptxas.as_deref() != Some("off")
        && !settings.emit.contains(&Emit::Cubin)
    {
        settings.emit.push(Emit::Cubin);
    }
    build.tests = true;
    if args.build.out.is_none() {
        build.out_dir.push("tests");
    }
    Ok(build)
}

fn say(report: &Report, format: Format) {
    if format.is_json() {
        output::json("ptx-report", "report", report);
        output::json("build-finished", "success", &true);
        return;
    }
    for file in &report.outputs {
        println!("{}", output::path(&file.path));
    }
    let number = report.tests.len();
    println!("{number} test{}, none of them run (--no-run)", if number == 1 { "" } else { "s" });
}

/// A program's exit code as a number; the standard library does not tell it.
fn code(code: ExitCode) -> u8 {
    u8::from(code.report() != ExitCode::SUCCESS)
}
