//! LLVM's fatal errors and crashes, which end the process, end it with a message of ours.

use std::ffi::{CStr, c_char};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, Once};

use inkwell::llvm_sys::error_handling::LLVMInstallFatalErrorHandler;

use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::scratch;

static DOING: Mutex<(Code, String)> = Mutex::new((Code::LlvmFailed, String::new()));

/// What a crash would print, ready: a signal's handler may allocate nothing.
static IF_IT_CRASHES: AtomicPtr<String> = AtomicPtr::new(null_mut());

/// Says what a fatal error or a crash from now on will be blamed on.
pub fn doing(code: Code, what: impl Into<String>) {
    let what = what.into();
    let text = format!("{}\n", crash(code, &what));
    // Left alone, not freed: a handler may be reading it. There is one for every file and arch.
    IF_IT_CRASHES.store(Box::into_raw(Box::new(text)), Ordering::Release);
    *DOING.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = (code, what);
}

/// Installs the handlers, once a process.
pub fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: LLVM allows one handler a process; `Once` sees to that. The handler has the type LLVM asks for.
        unsafe { LLVMInstallFatalErrorHandler(Some(on_fatal_error)) };
        #[cfg(unix)]
        for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGABRT] {
            // SAFETY: the action is whole, and its handler does nothing that a handler may not. The stack of std's own
            // handler serves where this thread's is at its end.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = on_signal as *const () as usize;
                action.sa_flags = libc::SA_ONSTACK;
                libc::sigemptyset(&mut action.sa_mask);
                libc::sigaction(signal, &action, null_mut());
            }
        }
    });
}

/// LLVM's reader of bitcode does not survive every broken file: it also aborts, for want of the memory that one asks for.
#[cfg(unix)]
extern "C" fn on_signal(_signal: libc::c_int) {
    // SAFETY: the text was never freed; all three functions may be called here.
    unsafe {
        if let Some(text) = IF_IT_CRASHES.load(Ordering::Acquire).as_ref() {
            libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len());
        }
        scratch::crashed();
        libc::_exit(1)
    }
}

fn crash(code: Code, what: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error(code, format!("{what}: LLVM crashed"));
    match code {
        Code::BrokenInput => diagnostic.help("the file is damaged: build it again"),
        _ => diagnostic.help("damaged files can do that: build every crate again (`cargo clean`)").help(
            "if it stays so, it is a bug of LLVM's or ours: please report it, with the files that `--dump-dir` writes",
        ),
    }
}

extern "C" fn on_fatal_error(reason: *const c_char) {
    // SAFETY: LLVM passes a NUL-terminated string that outlives the call.
    let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy().into_owned();
    let (code, what) = DOING.lock().map(|doing| doing.clone()).unwrap_or((Code::LlvmFailed, String::new()));
    // Nothing has been written yet: outputs are only written after LLVM is done.
    eprintln!("{}", explain(code, &what, &reason));
    // ptxas may be at work on an arch before.
    scratch::clean();
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
        assert!(crash(Code::BrokenInput, "cannot read a.o").to_string().contains("a.o: LLVM crashed"));
        let text = explain(Code::BrokenInput, "cannot read a.o", "Malformed block").to_string();
        assert!(text.contains("cannot read a.o") && text.contains("Malformed block"), "{text}");
    }
}
