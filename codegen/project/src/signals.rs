//! What a linker does before a signal ends it.

#[cfg(unix)]
pub use unix::clean_up;

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
