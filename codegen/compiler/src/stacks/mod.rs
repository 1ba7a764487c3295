//! Stacks that cannot overflow silently.
//!
//! A thread's stack has a size that is set before the launch. ptxas adds up what a kernel needs, through pointers to functions
//! too, and the driver sees to it; but a kernel that can come back to a function has no such sum. So [`check`] has one
//! function of every such circle compare the stack pointer with the stack's end, and panic in time; and [`Calls`] says, once
//! ptxas gave each function's frame, what the way through all circles needs, what each turn adds, and how much must be free
//! where a check passes. The host knows the end: `ptx_abi::stack` is what it tells the device.

mod calls;
mod check;
mod need;

pub use calls::Calls;
pub use check::{check, read};
pub use need::{Frames, Recursion};

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Span};

/// The most bytes of stack that a thread can have: CUDA C++ Programming Guide, table "Technical Specifications per Compute
/// Capability", amount of local memory per thread.
pub const MOST_BYTES: u64 = 512 << 10;

/// Bytes of stack of a thread from which on a kernel takes a noticeable part of a device's memory: it is kept for as many
/// threads as the device can run at once, 270,336 on an H200.
const MANY_BYTES: u64 = 64 << 10;

/// What is wrong with a kernel's need of `bytes`: an error if no device has so much, or a warning.
pub fn judge(kernel: &str, span: &Span, bytes: u64, arch: &str) -> Option<Diagnostic> {
    let message = format!("kernel `{kernel}` needs {bytes} bytes of stack a thread on {arch}");
    let diagnostic = if bytes > MOST_BYTES {
        Diagnostic::error(Code::Stack, message).note(format!("CUDA allows {MOST_BYTES} bytes"))
    } else if bytes > MANY_BYTES {
        let gib = bytes as f64 * 270_336.0 / f64::from(1 << 30);
        Diagnostic::warning(Code::Stack, message)
            .note(format!("the driver keeps it for as many threads as run at once: {gib:.0} GiB on an H200"))
    } else {
        return None;
    };
    Some(
        diagnostic
            .at(Some(span.clone()), "this kernel, with all that it calls")
            .help("keep large arrays in memory that the host allocates, or in shared memory; a debug build needs several times as much as a release build"),
    )
}
