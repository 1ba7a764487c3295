//! What a panic does on the device: `__assertfail` with the message, file and line.
//!
//! The driver prints `file:line: function: block: [..], thread: [..] Assertion `message` failed.` and ends the launch;
//! the host's next call gets `CUDA_ERROR_ASSERT`.

use core::ffi::CStr;
use core::fmt::Write;
use core::panic::{Location, PanicInfo};

use crate::intrinsics::trap;
use crate::syscalls::__assertfail;
use crate::text::Text;

/// The compiler inlines this into `core`'s panic functions (ptx-codegen, `optimize::shrink_panics`): then a constant
/// message is seen to be one, and [`panic_formatted`] with all of `core::fmt` stays out of the output.
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    match info.message().as_str() {
        Some(message) => panic_constant(message, info.location()),
        None => panic_formatted(info),
    }
}

#[cold]
#[inline(never)]
fn panic_constant(message: &str, location: Option<&Location<'_>>) -> ! {
    let mut text = Text::new();
    text.push(message);
    fail(&text, location)
}

#[cold]
#[inline(never)]
fn panic_formatted(info: &PanicInfo<'_>) -> ! {
    let mut text = Text::new();
    // A `Display` that fails leaves what it wrote so far.
    _ = write!(text, "{}", info.message());
    fail(&text, info.location())
}

/// Takes the place of `core`'s `panic_bounds_check`, which needs all of `core::fmt`. The compiler calls it by name.
#[unsafe(no_mangle)]
#[cold]
#[inline(never)]
extern "C" fn __ptx_rt_panic_bounds_check(index: usize, len: usize, location: &'static Location<'static>) -> ! {
    let mut text = Text::new();
    text.push("index out of bounds: the len is ");
    text.push_number(len);
    text.push(" but the index is ");
    text.push_number(index);
    fail(&text, Some(location))
}

/// Takes the place of `alloc`'s `__rdl_alloc_error_handler`, which needs all of `core::fmt` and does not say what to do. The
/// compiler calls it by name. Nobody tells it where memory was asked for.
#[unsafe(no_mangle)]
#[cold]
#[inline(never)]
extern "C" fn __ptx_rt_alloc_error(size: usize, _align: usize) -> ! {
    let mut text = Text::new();
    text.push("memory allocation of ");
    text.push_number(size);
    text.push(
        " bytes failed: the device heap is full. Allow more with Device::set_heap_size (cuCtxSetLimit, \
         CU_LIMIT_MALLOC_HEAP_SIZE) before the first kernel that allocates",
    );
    fail_at(&text, c"device heap", 0)
}

#[cold]
fn fail(text: &Text, location: Option<&Location<'_>>) -> ! {
    match location {
        Some(location) => fail_at(text, location.file_as_c_str(), location.line()),
        None => fail_at(text, c"unknown file", 0),
    }
}

fn fail_at(text: &Text, file: &CStr, line: u32) -> ! {
    // SAFETY: NUL-terminated texts of one-byte characters, which live until the call is over.
    unsafe {
        __assertfail(text.as_ptr(), file.as_ptr().cast(), line, c"Rust panic".as_ptr().cast(), 1);
    }
    trap()
}
