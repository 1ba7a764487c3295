//! Hints for the compiler, as CUDA C++ has them: unrolling, assumptions, likely branches.
//!
//! | CUDA C++ | Here |
//! |---|---|
//! | `#pragma unroll` | [`unroll_full`](Unroll::unroll_full) on the loop's iterator |
//! | `#pragma unroll 4` | [`unroll::<4>`](Unroll::unroll) |
//! | `#pragma unroll 1` | [`unroll_none`](Unroll::unroll_none) |
//! | `#pragma unroll` on `while` | [`unroll_loop`] |
//! | `__builtin_assume(x)` | [`assume`] |
//! | `__builtin_expect(x, 1)`, `[[likely]]` | [`likely`], [`unlikely`] |
//! | `__noinline__`, `__forceinline__` | Rust's own `#[inline(never)]`, `#[inline(always)]` |
//!
//! ```
//! use ptx::hint::Unroll as _;
//! use ptx::prelude::*;
//!
//! #[kernel]
//! pub fn dot(x: &[f32], y: &[f32], mut out: DisjointSlice<f32>) {
//!     let n = x.len().min(y.len());
//!     let mut sum = 0.0;
//!     for i in (0..n).unroll::<8>() {
//!         sum += x[i] * y[i];
//!     }
//!     if let Some(out) = out.get_mut(thread::index_1d()) {
//!         *out = sum;
//!     }
//! }
//! ```
//!
//! Hints change no result. They reach optimised code only, and on the host they do nothing.

use core::iter::FusedIterator;

/// The number that stands for "as often as the loop runs".
const FULL: u32 = u32::MAX;

/// The number that stands for "not at all".
const NONE: u32 = 1;

/// Tells the compiler that `condition` holds: CUDA's `__builtin_assume`.
///
/// # Safety
/// It must hold.
#[inline(always)]
pub const unsafe fn assume(condition: bool) {
    // SAFETY: the caller's promise.
    unsafe { core::hint::assert_unchecked(condition) }
}

/// The condition, with the hint that it mostly holds: code for the other case is moved out of the way.
#[inline(always)]
pub const fn likely(condition: bool) -> bool {
    if !condition {
        core::hint::cold_path();
    }
    condition
}

/// The condition, with the hint that it mostly does not hold.
#[inline(always)]
pub const fn unlikely(condition: bool) -> bool {
    if condition {
        core::hint::cold_path();
    }
    condition
}

/// How often a loop over an iterator is unrolled.
///
/// The hint is for the loop that calls `next`: a `for` loop, or the loop inside `fold`, `sum`, `for_each` and so on.
pub trait Unroll: Iterator + Sized {
    /// `N` rounds at a time: CUDA's `#pragma unroll N`. The rounds that are left over are a loop of their own.
    #[inline(always)]
    fn unroll<const N: u32>(self) -> Unrolled<Self> {
        const { assert!(N > 0 && N <= 1024, "a loop is unrolled 1 to 1,024 times") };
        Unrolled { inner: self, hint: unroll_by(N) }
    }

    /// All rounds, if their number is known when the code is compiled: CUDA's `#pragma unroll`.
    #[inline(always)]
    fn unroll_full(self) -> Unrolled<Self> {
        Unrolled { inner: self, hint: unroll_by(FULL) }
    }

    /// Not at all: CUDA's `#pragma unroll 1`.
    #[inline(always)]
    fn unroll_none(self) -> Unrolled<Self> {
        Unrolled { inner: self, hint: unroll_by(NONE) }
    }
}

impl<I: Iterator> Unroll for I {}

/// An iterator whose loop has a hint, by [`Unroll`].
#[derive(Clone, Debug)]
pub struct Unrolled<I> {
    inner: I,
    hint: LoopHint,
}

impl<I: Iterator> Iterator for Unrolled<I> {
    type Item = I::Item;

    #[inline(always)]
    fn next(&mut self) -> Option<I::Item> {
        let item = self.inner.next()?;
        self.hint.round();
        Some(item)
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.size_hint()
    }
}

impl<I: ExactSizeIterator> ExactSizeIterator for Unrolled<I> {}
impl<I: FusedIterator> FusedIterator for Unrolled<I> {}

/// A hint for a `while` or `loop`: made before the loop, called in it.
///
/// ```
/// use ptx::hint;
///
/// fn zeros(mut bits: u32) -> u32 {
///     let mut zeros = 0;
///     let hint = hint::unroll_loop::<4>();
///     while bits & 1 == 0 && zeros < 32 {
///         hint.round();
///         zeros += 1;
///         bits >>= 1;
///     }
///     zeros
/// }
/// # assert_eq!(zeros(8), 3);
/// ```
#[inline(always)]
pub fn unroll_loop<const N: u32>() -> LoopHint {
    const { assert!(N > 0 && N <= 1024, "a loop is unrolled 1 to 1,024 times") };
    unroll_by(N)
}

/// A hint for the loop that calls [`round`](Self::round).
#[derive(Clone, Copy, Debug)]
pub struct LoopHint {
    #[cfg(target_arch = "nvptx64")]
    token: u32,
    #[cfg(target_arch = "nvptx64")]
    times: u32,
}

impl LoopHint {
    /// Says which loop is meant: the innermost one around this call, if the hint was made outside it.
    #[inline(always)]
    pub fn round(&self) {
        // The compiler (its stage `hints`) finds the call, marks the loop and removes the call.
        #[cfg(target_arch = "nvptx64")]
        __ptx_unroll_round(self.token, self.times);
    }
}

#[inline(always)]
fn unroll_by(times: u32) -> LoopHint {
    #[cfg(target_arch = "nvptx64")]
    return LoopHint { token: __ptx_unroll_loop(), times };
    #[cfg(not(target_arch = "nvptx64"))]
    {
        _ = times;
        LoopHint {}
    }
}

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    /// Stands before the loop.
    safe fn __ptx_unroll_loop() -> u32;
    /// Stands in the loop.
    safe fn __ptx_unroll_round(token: u32, times: u32);
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn hints_change_nothing() {
        assert_eq!((0..10).unroll::<4>().collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
        assert_eq!((0..10).unroll_full().len(), 10);
        assert_eq!((0..10).unroll_none().sum::<u32>(), 45);
        assert!(likely(true) && !unlikely(false) && !likely(false) && unlikely(true));
    }
}
