//! What a program is to those who play it: generic in what its locations hold, and in the scope.

use ptx::atomic::{Atomic, AtomicNumber, Scope};
use ptx_litmus::READS;

/// What a location holds.
pub trait Cell: AtomicNumber {
    /// Of a small number.
    fn of(number: u32) -> Self;
    /// As a number.
    fn number(self) -> u32;
}

macro_rules! cells {
    ($($ty:ident)*) => {$(
        impl Cell for $ty {
            #[inline(always)]
            fn of(number: u32) -> Self {
                number as Self
            }
            #[inline(always)]
            fn number(self) -> u32 {
                self as u32
            }
        }
    )*};
}

cells! { u8 u16 u32 u64 }

/// The two locations of a try.
pub struct Locations<'a, X, Y, S> {
    pub x: &'a Atomic<X, S>,
    pub y: &'a Atomic<Y, S>,
}

/// A row: how many threads, and what each does.
pub trait Program {
    const THREADS: usize;
    fn run<X: Cell, Y: Cell, S: Scope>(role: usize, at: Locations<'_, X, Y, S>) -> [u32; READS];
}
