//! Signals: what std does about them as `main` begins, for the linker that a build script becomes before that; and what a
//! linker does before one ends it.

#[cfg(unix)]
pub use unix::{as_in_main, clean_up};

/// Only Unix has signals.
#[cfg(not(unix))]
pub fn as_in_main() {}

/// Only Unix has signals.
#[cfg(not(unix))]
pub fn clean_up() {}

#[cfg(unix)]
mod unix {
    use std::ptr::null_mut;

    use ptx_codegen::scratch;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    /// Enough for a handler and what the kernel saves of wide vector registers.
    const STACK_SIZE: usize = 64 << 10;

    /// A closed output is an error of `write`, and a handler has a stack when the thread's own is at its end.
    pub fn as_in_main() {
        // SAFETY: ignoring a signal runs no code of ours. `stack` is whole both times, and what it names is never freed.
        unsafe {
            libc::signal(libc::SIGPIPE, libc::SIG_IGN);
            let mut stack: libc::stack_t = std::mem::zeroed();
            if libc::sigaltstack(null_mut(), &mut stack) == 0 && stack.ss_flags & libc::SS_DISABLE != 0 {
                let memory = Box::leak(vec![0_u8; STACK_SIZE].into_boxed_slice());
                let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK_SIZE };
                libc::sigaltstack(&stack, null_mut());
            }
        }
    }

    /// Lets a signal that ends the process end it without its temporary files, on a thread that waits for one. The process
    /// then ends by that signal, as whoever sent it expects.
    pub fn clean_up() {
        // `nohup`, and shells for what runs behind them, have signals ignored; they stay so.
        let deadly = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| !is_ignored(*signal));
        let Ok(mut signals) = Signals::new(deadly.chain([SIGUSR1])) else { return };
        let wait = move || {
            block_crashes();
            for signal in signals.forever() {
                scratch::clean();
                // LLVM has crashed, whose handler ends the process, or somebody sent it.
                if signal != SIGUSR1 || !scratch::has_crashed() {
                    let _ = emulate_default_handler(signal);
                }
            }
        };
        if std::thread::Builder::new().name("signals".into()).spawn(wait).is_ok() {
            scratch::watched();
        }
    }

    /// The handler of a crash waits for the thread that calls this, so another one must run it.
    fn block_crashes() {
        // SAFETY: the set is whole; only what this thread gets is changed.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGABRT] {
                libc::sigaddset(&mut set, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, null_mut());
        }
    }

    fn is_ignored(signal: libc::c_int) -> bool {
        // SAFETY: the structure is whole, and only read into.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
        }
    }
}
