//! A type that no GPU accesses in one piece.
#![no_std]
use ptx::atomic::{Atomic, Device, Ordering};
use ptx::prelude::*;

#[derive(Clone, Copy)]
pub struct Pair(u16, u16);

#[kernel]
pub fn run(a: u16) {
    let pair = Atomic::<Pair, Device>::new(Pair(a, 2));
    pair.swap(Pair(1, 2), Ordering::Relaxed); //~ ERROR: but its trait bounds were not satisfied
}
