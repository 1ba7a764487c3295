//! LLVM's fatal errors, which end the process, end it with a message of ours.

use std::ffi::{CStr, c_char};
use std::sync::{Mutex, Once};

use inkwell::llvm_sys::error_handling::LLVMInstallFatalErrorHandler;

use crate::codes::Code;
use crate::diagnostic::Diagnostic;

static DOING: Mutex<(Code, String)> = Mutex::new((Code::LlvmFailed, String::new()));

/// Says what a fatal error from now on will be blamed on.
pub fn doing(code: Code, what: impl Into<String>) {
    *DOING.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = (code, what.into());
}

/// Installs the handler, once a process.
pub fn install() {
    static ONCE: Once = Once::new();
    // SAFETY: LLVM allows one handler a process; `Once` sees to that. The handler has the type LLVM asks for.
    ONCE.call_once(|| unsafe { LLVMInstallFatalErrorHandler(Some(on_fatal_error)) });
}

extern "C" fn on_fatal_error(reason: *const c_char) {
    // SAFETY: LLVM passes a NUL-terminated string that outlives the call.
    let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy().into_owned();
    let (code, what) = DOING.lock().map(|doing| doing.clone()).unwrap_or((Code::LlvmFailed, String::new()));
    // Nothing has been written yet: outputs are only written after LLVM is done.
    eprintln!("{}", explain(code, &what, &reason));
    // SAFETY: ends the process; `exit` would run LLVM's destructors in the middle of its work.
    unsafe { libc::_exit(1) }
}

fn explain(code: Code, what: &str, reason: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error(code, format!("{what}: LLVM gave up"))
        .note(format!("LLVM says: {}", reason.lines().next().unwrap_or_default()));
    if let Some(symbol) = reason.split("Cannot select").nth(1) {
        return diagnostic.note(format!("no PTX instruction does `{}`", symbol.trim_matches([':', ' ', '\n']))).help(
            "the operation exists on no GPU, or not on this arch: name a higher `--arch` or write it differently",
        );
    }
    diagnostic
}
