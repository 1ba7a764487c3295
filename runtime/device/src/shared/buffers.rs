//! Two copies of a block's data that change places at a barrier.

use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Deref;

use super::barrier::ObjectBarrier;
use super::data::{OfTheBlock, SharedData};
use super::parameter::SharedParam;

/// Memory of a block twice: all threads read the front, while each writes its own elements of the back;
/// [`swap`](Self::swap) exchanges them. So a step takes one barrier, where a [`SharedTile`](super::SharedTile) takes two.
///
/// ```
/// use ptx::prelude::*;
/// use ptx::shared::SharedBuffers;
///
/// /// Sums of all elements of a block up to each (Hillis and Steele).
/// #[kernel(dimensions = 1, launch_bounds(256))]
/// pub fn scan(x: &[u32], mut sums: DisjointSlice<u32>, #[shared] mut sum: SharedBuffers<[u32; 256]>) {
///     let i = thread::index_1d();
///     let t = thread::thread_idx_x() as usize;
///     let mut mine = x.get(i.get()).copied().unwrap_or(0);
///     for distance in [1, 2, 4, 8, 16, 32, 64, 128] {
///         sum.own().set(mine);
///         sum.swap();
///         if t >= distance {
///             mine = mine.wrapping_add(sum[t - distance]);
///         }
///     }
///     if let Some(out) = sums.get_mut(i) {
///         *out = mine;
///     }
/// }
/// ```
///
/// # Soundness
/// As for [`SharedTile`](super), with one kind of transition: at the barrier's `n`th opening front and back change places
/// in all threads. What was written becomes readable, and what becomes writable was read by nobody after it.
pub struct SharedBuffers<'b, S: SharedData<Place = *mut S>> {
    front: *mut S,
    back: *mut S,
    barrier: ObjectBarrier,
    block: OfTheBlock<'b>,
}

impl<S: SharedData<Place = *mut S>> SharedBuffers<'_, S> {
    /// This thread's own elements of the back.
    #[inline(always)]
    pub fn own(&mut self) -> S::Own<'_> {
        // SAFETY: by `&mut self` there is one, and until `swap`, which needs `self` too, the back is writable.
        unsafe { S::own(self.back) }
    }

    /// This thread's own elements of the back, and all of the front.
    #[inline(always)]
    pub fn both(&mut self) -> (S::Own<'_>, &S) {
        // SAFETY: two places, in phases that end with `swap`, which needs `self` too; any bits are a value.
        unsafe { (S::own(self.back), &*self.front) }
    }

    /// Waits for the block's other threads and exchanges front and back: PTX `barrier.sync` with the object's own number.
    ///
    /// # Panics
    /// In debug builds, if another thread waits at another place in the code.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn swap(&mut self) {
        self.barrier.wait();
        core::mem::swap(&mut self.front, &mut self.back);
    }
}

/// It derefs to the front, which every thread reads.
impl<S: SharedData<Place = *mut S>> Deref for SharedBuffers<'_, S> {
    type Target = S;
    #[inline(always)]
    fn deref(&self) -> &S {
        // SAFETY: until `swap`, which needs `self` too, nobody writes there; any bits are a value.
        unsafe { &*self.front }
    }
}

// SAFETY: the type's documentation.
unsafe impl<S: SharedData<Place = *mut S>> SharedParam for SharedBuffers<'_, S> {
    type Storage = [MaybeUninit<S>; 2];
    #[inline(always)]
    unsafe fn make(storage: *mut Self::Storage, barrier: u32) -> Self {
        let front = storage.cast::<S>();
        // SAFETY: the second of two; the rest is the caller's promise.
        let (back, barrier) = unsafe { (front.add(1), ObjectBarrier::new(barrier)) };
        Self { front, back, barrier, block: PhantomData }
    }
}

impl<S: SharedData<Place = *mut S>> fmt::Debug for SharedBuffers<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedBuffers").finish_non_exhaustive()
    }
}
