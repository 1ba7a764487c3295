//! Reductions over a block.

use core::fmt;

use super::memory::{Value, get, set};
use super::threads::{MOST_WARPS, Shape, WARP};
use crate::cooperative::{Number, WarpGroup, tile};
use crate::shared::{ObjectBarrier, SharedParam};
use crate::warp;

/// Reductions of a `T` from each of a block's `THREADS` threads: CUB's `BlockReduce<T, THREADS,
/// BLOCK_REDUCE_WARP_REDUCTIONS>`.
///
/// Every warp reduces its values by shuffles (`redux.sync` for integers of up to 32 bits from sm_80 on), and leaves one
/// in shared memory. After one barrier, every thread that needs the result combines those. It takes up to 64 `T` of
/// shared memory, and a barrier a call; a block of one warp takes none.
///
/// All threads must make the same calls in the same order. Those that have ended are not waited for, and give any value.
///
/// ```
/// use ptx::block::Reduce;
/// use ptx::PerBlock;
/// use ptx::prelude::*;
///
/// /// The sum of every 256 elements.
/// #[kernel(dimensions = 1, launch_bounds(256))]
/// pub fn sums(x: &[f32], mut sums: PerBlock<f32>, #[shared] mut block: Reduce<f32, 256>) {
///     let own = x.get(thread::index_1d().get()).copied().unwrap_or(0.0);
///     let sum = block.sum(own);
///     if let Some(out) = sums.part().get_mut() {
///         *out = sum;
///     }
/// }
/// ```
pub struct Reduce<T, const THREADS: usize> {
    /// A value for each warp, twice: by turns, so that one barrier a call is enough.
    partial: *mut [[T; MOST_WARPS]; 2],
    turn: usize,
    thread: u32,
    barrier: ObjectBarrier,
}

impl<T: Value, const THREADS: usize> Reduce<T, THREADS> {
    const WARPS: usize = Shape::<THREADS>::WARPS;

    /// What `combine` makes of all threads' values, in all threads: CUB's `Reduce`. `combine` must be associative and
    /// commutative, or the result is any of those that an order gives.
    ///
    /// # Panics
    /// In debug builds, if another thread came here from another place in the code.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn reduce(&mut self, value: T, mut combine: impl FnMut(T, T) -> T) -> T {
        let of_warp = tile::<32>().reduce(value, &mut combine);
        self.of_warps(of_warp, combine)
    }

    /// The same in the block's first thread alone, which spares the others work: `None` in these.
    ///
    /// # Panics
    /// As [`reduce`](Self::reduce).
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn reduce_to_first(&mut self, value: T, mut combine: impl FnMut(T, T) -> T) -> Option<T> {
        let of_warp = tile::<32>().reduce(value, &mut combine);
        self.first_of_warps(of_warp, combine)
    }

    /// The same of several values a thread.
    ///
    /// # Panics
    /// As [`reduce`](Self::reduce).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn reduce_items<const ITEMS: usize>(&mut self, values: [T; ITEMS], mut combine: impl FnMut(T, T) -> T) -> T {
        let own = own(values, &mut combine);
        self.reduce(own, combine)
    }

    /// The same of the first `count` threads' values, in the order of the threads: CUB's `Reduce` with `num_valid`. `None`
    /// if `count` is 0. `combine` must be associative, and `count` the same in all threads.
    ///
    /// # Panics
    /// As [`reduce`](Self::reduce).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn reduce_first(&mut self, value: T, count: usize, mut combine: impl FnMut(T, T) -> T) -> Option<T> {
        let (lane, first) = (self.thread as usize % WARP, self.thread as usize / WARP * WARP);
        let here = count.saturating_sub(first);
        let (mut own, mut step) = (value, 1);
        while step < WARP {
            let above = warp::ALL.shuffle_down(own, step as u32);
            if lane + step < here.min(WARP) {
                own = combine(own, above);
            }
            step *= 2;
        }
        if Self::WARPS == 1 {
            return (count > 0).then_some(warp::ALL.shuffle(own, 0));
        }
        self.leave(own);
        let mut result = self.partial(0);
        for warp in 1..Self::WARPS {
            if warp * WARP < count {
                result = combine(result, self.partial(warp));
            }
        }
        self.turn ^= 1;
        (count > 0).then_some(result)
    }

    /// What `combine` makes of the warps' values.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn of_warps(&mut self, of_warp: T, mut combine: impl FnMut(T, T) -> T) -> T {
        if Self::WARPS == 1 {
            return of_warp;
        }
        self.leave(of_warp);
        let result = match Self::WARPS {
            // Every warp reduces them again, which takes fewer instructions than one after the other.
            16 => tile::<16>().reduce(self.partial(self.thread as usize % 16), combine),
            32 => tile::<32>().reduce(self.partial(self.thread as usize % 32), combine),
            _ => self.one_by_one(&mut combine),
        };
        self.turn ^= 1;
        result
    }

    /// The same in the first thread.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn first_of_warps(&mut self, of_warp: T, mut combine: impl FnMut(T, T) -> T) -> Option<T> {
        if Self::WARPS > 1 {
            self.leave(of_warp);
        }
        let result = match self.thread {
            0 if Self::WARPS == 1 => Some(of_warp),
            0 => Some(self.one_by_one(&mut combine)),
            _ => None,
        };
        self.turn ^= 1;
        result
    }

    /// Leaves the warp's value for the others, and waits for theirs.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn leave(&mut self, of_warp: T) {
        if (self.thread as usize).is_multiple_of(WARP) {
            // SAFETY: a thread's number is less than `THREADS`, so the warp's is less than `MOST_WARPS`.
            unsafe { set(self.place(self.thread as usize / WARP), of_warp) };
        }
        self.barrier.wait();
    }

    #[inline(always)]
    fn one_by_one(&self, combine: &mut impl FnMut(T, T) -> T) -> T {
        let mut result = self.partial(0);
        for warp in 1..Self::WARPS {
            result = combine(result, self.partial(warp));
        }
        result
    }

    #[inline(always)]
    fn partial(&self, warp: usize) -> T {
        // SAFETY: callers ask for warps of the block.
        unsafe { get(self.place(warp)) }
    }

    /// Where the value of a warp below `MOST_WARPS` lies.
    #[inline(always)]
    fn place(&self, warp: usize) -> *mut T {
        // `turn` is 0 or 1.
        self.partial.cast::<T>().wrapping_add(self.turn % 2 * MOST_WARPS + warp)
    }
}

/// The reductions that need no operator, in two forms.
macro_rules! numbers {
    ($($(#[doc = $doc:literal])* $name:ident $to_first:ident $items:ident: $of_warp:ident $two:ident;)*) => {
        impl<T: Number, const THREADS: usize> Reduce<T, THREADS> {$(
            $(#[doc = $doc])*
            ///
            /// # Panics
            /// In debug builds, if another thread came here from another place in the code.
            #[inline(always)]
            #[must_use]
            #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
            pub fn $name(&mut self, value: T) -> T {
                self.of_warps(value.$of_warp(), T::$two)
            }

            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") in the block's first thread \
                alone, which spares the others work: `None` in these.")]
            ///
            /// # Panics
            /// In debug builds, if another thread came here from another place in the code.
            #[inline(always)]
            #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
            pub fn $to_first(&mut self, value: T) -> Option<T> {
                self.first_of_warps(value.$of_warp(), T::$two)
            }

            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") of several values a thread.")]
            ///
            /// # Panics
            /// In debug builds, if another thread came here from another place in the code.
            #[inline(always)]
            #[must_use]
            #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
            pub fn $items<const ITEMS: usize>(&mut self, values: [T; ITEMS]) -> T {
                self.$name(own(values, &mut T::$two))
            }
        )*}
    };
}
numbers! {
    /// The sum of all threads' values, in all threads: CUB's `Sum`. Sums of integers wrap; those of floats are added in
    /// the same order every time.
    sum sum_to_first sum_items: sum_of_warp plus;
    /// The smallest of all threads' values, in all threads: CUB's `Reduce` with `cuda::minimum`. NaNs are passed over.
    min min_to_first min_items: smallest_of_warp smaller;
    /// The largest of all threads' values, in all threads: CUB's `Reduce` with `cuda::maximum`. NaNs are passed over.
    max max_to_first max_items: largest_of_warp larger;
}

/// What `combine` makes of one thread's values.
#[inline(always)]
pub(super) fn own<T: Value, const ITEMS: usize>(values: [T; ITEMS], combine: &mut impl FnMut(T, T) -> T) -> T {
    const { assert!(ITEMS > 0, "a thread has at least one item") };
    let mut result = values[0];
    for value in &values[1..] {
        result = combine(result, *value);
    }
    result
}

// SAFETY: whatever threads do, they access the memory by `get` and `set` alone, within bounds.
unsafe impl<T: Value, const THREADS: usize> SharedParam for Reduce<T, THREADS> {
    type Storage = [[T; MOST_WARPS]; 2];

    #[inline(always)]
    #[track_caller]
    unsafe fn make(storage: *mut Self::Storage, barrier: u32) -> Self {
        // SAFETY: the caller's promise.
        let barrier = unsafe { ObjectBarrier::new(barrier) };
        Self { partial: storage, turn: 0, thread: Shape::<THREADS>::thread(), barrier }
    }
}

impl<T, const THREADS: usize> fmt::Debug for Reduce<T, THREADS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reduce").finish_non_exhaustive()
    }
}
