//! What a panic does on the device: it writes message, place, block and thread for the host, and ends the thread or the
//! launch.
//!
//! `ptx_abi::panic` says where that is. One thread reports. With `after-panic = "exit"` it then leaves, and so do others
//! that panic. Otherwise they wait until the launch is over, and the first thread ends in `__assertfail`, which the host
//! sees as `CUDA_ERROR_ASSERT` and cuda-gdb as an exception, and has the driver print `file:line: Rust panic: block: [..],
//! thread: [..] Assertion `message` failed.` — once. Hosts that know nothing of rust-ptx have that always.

use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::fmt::Write;
use core::mem::MaybeUninit;
use core::panic::{Location, PanicInfo};
use core::sync::atomic::Ordering;

use ptx_abi::panic::{FILE_LEN, MESSAGE, Position, Record};

use crate::Dim3;
use crate::atomic::{Atomic, Device};
use crate::intrinsics::{nanosleep, trap};
use crate::syscalls::__assertfail;
use crate::text::Text;
use crate::thread;

/// The compiler's inline PTX for panics without a message reads a location's fields at these places (ptx-codegen,
/// `panics::lower`). Its text ends in NUL.
const _: () = {
    #[repr(C)]
    struct Fields {
        file: *const u8,
        len: usize,
        line: u32,
        column: u32,
    }
    let location = Location::caller();
    // SAFETY: the sizes are the same, or this does not compile; the fields' values are checked here.
    let fields = unsafe { core::mem::transmute_copy::<Location<'_>, Fields>(location) };
    assert!(size_of::<Fields>() == size_of::<Location<'_>>());
    assert!(fields.line == location.line() && fields.column == location.column());
    assert!(!fields.file.is_null() && fields.len == location.file().len());
};

/// Memory that only the thread that claimed it writes.
#[repr(transparent)]
struct Draft(UnsafeCell<Record>);

// SAFETY: whoever claimed it is alone with the rest.
unsafe impl Sync for Draft {}

/// The address of the record that threads compete for; if no host gave one, as much of it as they compete with is there.
#[repr(transparent)]
struct Host(*mut Record);

// SAFETY: it is not written while kernels run; what it leads to is for those who use it.
unsafe impl Sync for Host {}

impl Host {
    /// Read where it is asked for: who waits in a loop keeps no register for it.
    fn address(&self) -> *mut Record {
        // SAFETY: it is initialised, and not written while kernels run.
        unsafe { (&raw const self.0).read_volatile() }
    }
}

unsafe extern "C" {
    /// `ptx_abi::panic::SYMBOL`; the compiler defines it, and the host writes it before a kernel starts.
    #[link_name = "__ptx_panic"]
    safe static HOST: Host;
    /// `ptx_abi::panic::DRAFT_SYMBOL`; the compiler defines it, as zero.
    #[link_name = "__ptx_panic_draft"]
    safe static DRAFT: Draft;
}

unsafe extern "C" {
    /// Ends the thread in builds where panics do; in others it does nothing. The compiler puts it in (ptx-codegen,
    /// `panics::lower`).
    #[link_name = "__rust_ptx_panic_end"]
    safe fn end_thread();
}

/// The compiler inlines this into `core`'s panic functions (ptx-codegen, `panics::shrink`). It then recognises constant
/// messages, and [`panic_formatted`] with all of `core::fmt` stays out of the output.
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
    let mut text = claim();
    text.push(message);
    __ptx_rt_fail(&text, location)
}

#[cold]
#[inline(never)]
fn panic_formatted(info: &PanicInfo<'_>) -> ! {
    let mut text = claim();
    // A `Display` that fails leaves what it wrote so far.
    _ = write!(text, "{}", info.message());
    __ptx_rt_fail(&text, info.location())
}

/// Replaces `core`'s `panic_bounds_check`, which needs all of `core::fmt`. The compiler calls it by name.
#[unsafe(no_mangle)]
#[cold]
#[inline(never)]
extern "C" fn __ptx_rt_panic_bounds_check(index: usize, len: usize, location: &'static Location<'static>) -> ! {
    let mut text = claim();
    text.push("index out of bounds: the len is ");
    text.push_number(len);
    text.push(" but the index is ");
    text.push_number(index);
    __ptx_rt_fail(&text, Some(location))
}

/// Replaces `alloc`'s `__rdl_alloc_error_handler`, which needs all of `core::fmt` and does not say what to do. The
/// compiler calls it by name. It does not know which place asked for the memory.
#[unsafe(no_mangle)]
#[cold]
#[inline(never)]
extern "C" fn __ptx_rt_alloc_error(size: usize, _align: usize) -> ! {
    let mut text = claim();
    text.push("memory allocation of ");
    text.push_number(size);
    text.push(
        " bytes failed: the device heap is full. Allow more with Device::set_heap_size (cuCtxSetLimit, \
         CU_LIMIT_MALLOC_HEAP_SIZE) before the first kernel that allocates",
    );
    __ptx_rt_fail(&text, None)
}

/// The draft's message, for the first thread that fails. For the others it does not return, nor for a thread that
/// panics a second time, in the `Display` of what its first panic shows; the launch then ends with what there is.
fn claim() -> Text<'static> {
    let draft = DRAFT.0.get();
    let position = here();
    let record = HOST.address();
    // SAFETY: both records live as long as the module; `free` is atomic, and the draft is written by the thread that found
    // another address there. What others read of it is numbers, and the worst is a wrong guess.
    unsafe {
        let text = (&raw mut (*draft).message).cast::<[MaybeUninit<u8>; _]>();
        let taken = record.addr() as u64;
        if free(record).swap(taken, Ordering::Relaxed) != taken {
            (&raw mut (*draft).position).write_volatile(position);
            (*draft).ready.store(1, Ordering::Relaxed);
            return Text::new(&mut *text);
        }
        if (*draft).ready.load(Ordering::Relaxed) == 1 && (&raw const (*draft).position).read_volatile() == position {
            let mut text = Text::new(&mut *text);
            text.push("a panic in the `Display` or `Debug` of what a panic shows");
            __ptx_rt_fail(&text, None);
        }
    }
    // SAFETY: the host keeps its record while the module is loaded; of nobody's, there is as much.
    unsafe { Atomic::<u32, Device>::from_ptr((*record).others.as_ptr()) }.fetch_add(1, Ordering::Relaxed);
    loop {
        end_thread();
        nanosleep(1000);
    }
}

/// Whether a thread has panicked, and the host has not looked yet.
pub(crate) fn is_claimed() -> bool {
    let record = HOST.address();
    // SAFETY: the host keeps its record while the module is loaded; all access the field as an atomic.
    unsafe { free(record).load(Ordering::Relaxed) == record.addr() as u64 && is_read(record) }
}

/// What threads compete for. Only this device's do, though it is the host's memory.
///
/// # Safety
/// It must be the record of [`HOST`], and not used after the module.
unsafe fn free<'a>(record: *mut Record) -> &'a Atomic<u64, Device> {
    // SAFETY: passed on from the caller.
    unsafe { Atomic::from_ptr((*record).free.as_ptr()) }
}

/// Whether a host reads it.
///
/// # Safety
/// It must be the record of [`HOST`].
unsafe fn is_read(record: *mut Record) -> bool {
    // SAFETY: passed on from the caller.
    unsafe { (&raw const (*record).nobody).read_volatile() == 0 }
}

fn here() -> Position {
    let numbers = |dim: Dim3| [dim.x, dim.y, dim.z];
    Position::new(numbers(thread::block_idx()), numbers(thread::thread_idx()))
}

/// Hands the draft, whose message is `text`, to the host and ends the launch. It has a symbol of its own, so that it is
/// one function even if parts of the crate are linked several times.
#[unsafe(no_mangle)]
#[cold]
#[inline(never)]
extern "C" fn __ptx_rt_fail(text: &Text<'_>, location: Option<&Location<'_>>) -> ! {
    let draft = DRAFT.0.get();
    let host = HOST.address();
    let (file, line, column) = match location {
        Some(location) => (location.file_as_c_str(), location.line(), location.column()),
        None => (c"", 0, 0),
    };
    // SAFETY: it is the record of the module.
    if unsafe { is_read(host) } {
        // SAFETY: the host keeps its record while the module is loaded, and this thread claimed it. The texts fit: the
        // message by its type, the name by the count.
        unsafe {
            (*host).line = line;
            (*host).column = column;
            (*host).position = (*draft).position;
            (*host).detail = text.len() as u64;
            let bytes = file.count_bytes().min(FILE_LEN - 1);
            copy(file.as_ptr().cast(), (&raw mut (*host).file).cast(), bytes);
            copy(text.as_ptr(), (&raw mut (*host).message).cast(), text.len());
            // A later panic of a thread of the same number is not this one's second.
            (*draft).ready.store(0, Ordering::Relaxed);
            (*host).ready.store(MESSAGE, Ordering::SeqCst);
        }
        end_thread();
    }
    let file: &CStr = if file.is_empty() { c"unknown file" } else { file };
    // SAFETY: NUL-terminated texts of one-byte characters, which live until the call is over.
    unsafe {
        __assertfail(text.as_ptr(), file.as_ptr().cast(), line, c"Rust panic".as_ptr().cast(), 1);
    }
    trap()
}

/// # Safety
/// `count` bytes must be readable and writable, and apart.
unsafe fn copy(from: *const u8, to: *mut u8, count: usize) {
    for at in 0..count {
        // SAFETY: passed on from the caller. Volatile: no call of `memcpy`, which is larger.
        unsafe { to.add(at).write_volatile(from.add(at).read()) };
    }
}
