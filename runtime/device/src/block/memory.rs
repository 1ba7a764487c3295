//! Values in shared memory that threads exchange.
//!
//! Every access by `get` and `set` is a relaxed atomic of the block's scope, which in shared memory is the same machine instruction as an
//! ordinary one. So whatever threads do at the same time, there is no data race, only any value: the one that
//! [`Plain`](ptx_abi::bits::Plain) allows. What is written before a barrier is seen after it (PTX ISA, "Memory Consistency Model").

use crate::atomic::{Atomic, Block, Ordering};
pub use crate::cooperative::Value;

macro_rules! by {
    ($word:ty, $place:ident, |$at:ident, $cell:ident| $access:expr) => {
        for $at in 0..size_of::<T>() / size_of::<$word>() {
            // SAFETY: a part of the value, aligned as it is; nobody accesses it otherwise.
            let $cell = unsafe { Atomic::<$word, Block>::from_ptr($place.cast::<$word>().add($at)) };
            $access;
        }
    };
}

/// Calls the form for the largest word of which the type is made.
macro_rules! by_words {
    ($place:ident, |$at:ident, $cell:ident, $word:ident| $access:expr) => {
        match align_of::<T>() {
            1 => {
                type $word = u8;
                by!(u8, $place, |$at, $cell| $access);
            }
            2 => {
                type $word = u16;
                by!(u16, $place, |$at, $cell| $access);
            }
            4 => {
                type $word = u32;
                by!(u32, $place, |$at, $cell| $access);
            }
            _ => {
                type $word = u64;
                by!(u64, $place, |$at, $cell| $access);
            }
        }
    };
}

/// Reads a value.
///
/// # Safety
/// `place` must be in memory that lives, aligned, and accessed by this function and [`set`] only.
#[inline(always)]
pub(super) unsafe fn get<T: Value>(place: *mut T) -> T {
    let mut value = core::mem::MaybeUninit::<T>::uninit();
    let into = value.as_mut_ptr();
    by_words!(place, |at, cell, Word| {
        // SAFETY: the same part of the value.
        unsafe { into.cast::<Word>().add(at).write(cell.load(Ordering::Relaxed)) }
    });
    // SAFETY: all of its words are written, and any bits are a value.
    unsafe { value.assume_init() }
}

/// Writes a value.
///
/// # Safety
/// As for [`get`].
#[inline(always)]
pub(super) unsafe fn set<T: Value>(place: *mut T, value: T) {
    let from = &raw const value;
    by_words!(place, |at, cell, Word| {
        // SAFETY: a part of the value, which has no padding.
        cell.store(unsafe { from.cast::<Word>().add(at).read() }, Ordering::Relaxed);
    });
}
