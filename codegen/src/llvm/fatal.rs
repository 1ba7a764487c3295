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
    let diagnostic = Diagnostic::error(code, format!("{what}: LLVM gave up"));
    // "Cannot select: 0x55…: f32 = fsin 0x55…\n … In function: f"
    let operation = reason
        .strip_prefix("Cannot select: ")
        .and_then(|rest| rest.lines().next()?.split(" = ").nth(1)?.split_whitespace().next());
    let Some(operation) = operation else { return diagnostic.note(format!("LLVM says: {reason}")) };
    let function = reason.split("In function: ").nth(1).map(|name| name.trim()).unwrap_or("?");
    diagnostic
        .note(format!("no PTX instruction does `{operation}`, which `{:#}` needs", rustc_demangle::demangle(function)))
        .help("that is a bug of ours: please report it, with the file that `--dump-dir` writes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_instruction_is_named_with_its_function() {
        let reason = "Cannot select: 0x559c: f32 = fsin 0x559d\n  0x559d: f32,ch = load<(s32)> 0x5598\nIn function: f";
        let text = explain(Code::LlvmFailed, "cannot generate code for sm_75", reason).to_string();
        assert!(text.contains("no PTX instruction does `fsin`, which `f` needs"), "{text}");
        let text = explain(Code::BrokenInput, "cannot read a.o", "Malformed block").to_string();
        assert!(text.contains("cannot read a.o") && text.contains("Malformed block"), "{text}");
    }
}
