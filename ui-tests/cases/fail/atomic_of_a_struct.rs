//! A type that no GPU accesses in one piece.
#![no_std]
use ptx::atomic::{Atomic, Device, Ordering};
use ptx::prelude::*;

#[derive(Clone, Copy)]
pub struct Pair(u16, u16);

/// # Safety
/// `p` must point to a value.
#[kernel]
pub unsafe fn run(p: *mut Pair) {
    // SAFETY: the caller's promise.
    let a = unsafe { Atomic::<Pair, Device>::from_ptr(p) };
    a.swap(Pair(1, 2), Ordering::Relaxed); //~ ERROR: but its trait bounds were not satisfied
}
