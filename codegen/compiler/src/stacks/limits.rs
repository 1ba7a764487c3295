//! How much stack a thread may have.

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
