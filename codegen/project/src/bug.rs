//! Bugs of ours: a panic becomes a message that says what to report, with an exit code of its own.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::Diagnostic;

/// How a program ends that came upon a bug of its own, as rustc and cargo do.
pub const EXIT_CODE: u8 = 101;

/// Runs a program to its exit code. Of a panic, `print` gets the message, and the exit code is [`EXIT_CODE`].
pub fn catch(print: impl Fn(&Diagnostic) + Send + Sync + 'static, run: impl FnOnce() -> u8) -> u8 {
    std::panic::set_hook(Box::new(move |info| {
        if !is_closed_output(info.payload_as_str()) {
            print(&report(info));
        }
    }));
    let code = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
        if is_closed_output(payload.downcast_ref::<String>().map(String::as_str)) { 1 } else { EXIT_CODE }
    });
    // What runs afterwards has std's hook again.
    drop(std::panic::take_hook());
    code
}

/// Whether it is std's panic in `println!` because the reader has gone, as in `cargo ptx explain | head -1`: nobody's bug.
fn is_closed_output(reason: Option<&str>) -> bool {
    reason.is_some_and(|reason| reason.starts_with("failed printing to std"))
}

fn report(info: &PanicHookInfo<'_>) -> Diagnostic {
    let reason = info.payload_as_str().unwrap_or("it does not say why");
    let place = info.location().map(|place| format!(", at {}:{}:{}", place.file(), place.line(), place.column()));
    let mut diagnostic = Diagnostic::error(Code::Bug, format!("the compiler panicked: {reason}"))
        .note(format!(
            "rust-ptx {} with LLVM {} of rustc {}{}",
            env!("CARGO_PKG_VERSION"),
            ptx_codegen::LLVM_VERSION,
            ptx_codegen::RUSTC_RELEASE,
            place.unwrap_or_default()
        ))
        .help("this is a bug of rust-ptx: please report it with this message and the kernel, or with what `--dump-dir=DIR` writes");
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        diagnostic.notes.push(backtrace.to_string());
    } else {
        diagnostic.help.push("`RUST_BACKTRACE=1` shows how the compiler came there".into());
    }
    diagnostic
}
