//! What std does about signals as `main` begins, for the linker that a build script becomes before that.

#[cfg(unix)]
pub use unix::as_in_main;

/// Only Unix has signals.
#[cfg(not(unix))]
pub fn as_in_main() {}

#[cfg(unix)]
mod unix {
    use std::ptr::null_mut;

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
}
