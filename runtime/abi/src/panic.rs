//! What a kernel leaves behind when it panics, in memory that the host reads after the context is lost.
//!
//! The host keeps a [`Record`] a context in its own memory, mapped for the device, and writes its address into the
//! global [`SYMBOL`] of every module that it loads. Where that address is null, nobody reads a record.

use core::sync::atomic::{AtomicPtr, AtomicU32};

/// The global of device code that holds the record's address: `.weak .global .align 8 .u64`, so that code of several
/// crates can be linked into one module.
pub const SYMBOL: &str = "__ptx_panic";

/// The type of [`SYMBOL`].
pub type RecordAddress = AtomicPtr<Record>;

/// The global of device code that is a [`Record`] of its own: messages are put together there.
pub const DRAFT_SYMBOL: &str = "__ptx_panic_draft";

/// [`Record::ready`]: the place is written, and there is no message: panics keep their places alone.
pub const PLACE: u32 = 1;

/// [`Record::ready`]: all is written.
pub const MESSAGE: u32 = 2;

/// Bytes for a file's name and its NUL; no path that an operating system takes is longer.
pub const FILE_LEN: usize = 4048;

/// Bytes for a message and its NUL.
pub const MESSAGE_LEN: usize = 4096;

/// A panic. The first thread that puts 1 for 0 into `claimed` writes; all others wait for the end of the launch. Two
/// pages: `file` ends the first. The compiler writes the same by inline PTX where panics are `location`.
#[repr(C, align(4096))]
#[derive(Debug)]
pub struct Record {
    /// 1 if a thread writes, or wrote.
    pub claimed: AtomicU32,
    /// 0, then [`PLACE`] or [`MESSAGE`].
    pub ready: AtomicU32,
    /// Line, from 1; 0 where the place is not known.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// `blockIdx`
    pub block: [u32; 3],
    /// `threadIdx`
    pub thread: [u32; 3],
    /// Bytes of `message`.
    pub message_len: u32,
    /// None.
    pub reserved: u32,
    /// NUL-terminated.
    pub file: [u8; FILE_LEN],
    /// UTF-8.
    pub message: [u8; MESSAGE_LEN],
}

const _: () = {
    assert!(size_of::<Record>() == 8192);
    assert!(core::mem::offset_of!(Record, ready) == 4);
    assert!(core::mem::offset_of!(Record, line) == 8);
    assert!(core::mem::offset_of!(Record, block) == 16);
    assert!(core::mem::offset_of!(Record, thread) == 28);
    assert!(core::mem::offset_of!(Record, file) == 48);
    assert!(core::mem::offset_of!(Record, message) == 4096);
};

impl Record {
    /// No panic.
    pub const fn new() -> Self {
        Self {
            claimed: AtomicU32::new(0),
            ready: AtomicU32::new(0),
            line: 0,
            column: 0,
            block: [0; 3],
            thread: [0; 3],
            message_len: 0,
            reserved: 0,
            file: [0; FILE_LEN],
            message: [0; MESSAGE_LEN],
        }
    }
}

impl Default for Record {
    fn default() -> Self {
        Self::new()
    }
}
