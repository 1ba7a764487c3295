//! Memory of a block that is writable and readable by turns.

use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Deref;

use super::barrier::ObjectBarrier;
use super::data::{OfTheBlock, SharedData};
use super::parameter::SharedParam;

/// Memory of a block in its writable phase: each thread reaches its own elements. The module's page has an example, and
/// says [why this is sound](super#why-this-is-sound).
///
/// A kernel gets it as a parameter with `#[shared]`. What it holds is arbitrary when the block starts.
#[must_use = "without it this thread never comes to the next barrier, and the others wait"]
pub struct SharedTile<'b, S: ?Sized + SharedData> {
    place: S::Place,
    barrier: ObjectBarrier,
    block: OfTheBlock<'b>,
}

/// The same memory in its readable phase: every thread reads all elements, and changes those that are atomic.
///
/// It derefs to the data; of [`Slices`](super::Slices), [`get`](Self::get) gives them.
#[must_use = "without it this thread never comes to the next barrier, and the others wait"]
pub struct SharedView<'b, S: ?Sized + SharedData> {
    place: S::Place,
    barrier: ObjectBarrier,
    block: OfTheBlock<'b>,
}

impl<'b, S: ?Sized + SharedData> SharedTile<'b, S> {
    /// # Safety
    /// As for [`SharedParam::make`]: `place` is the block's, and `barrier` the object's own.
    #[inline(always)]
    pub(super) unsafe fn new(place: S::Place, barrier: u32) -> Self {
        // SAFETY: the caller's promise.
        Self { place, barrier: unsafe { ObjectBarrier::new(barrier) }, block: PhantomData }
    }

    /// This thread's own elements, to read and to write; of several parts, a tuple of them.
    #[inline(always)]
    pub fn own(&mut self) -> S::Own<'_> {
        // SAFETY: by `&mut self` there is one; the phase ends with `self`.
        unsafe { S::own(self.place) }
    }

    /// Waits for the block's other threads, and makes all elements readable: PTX `barrier.sync` with the object's own
    /// number, CUDA's `__syncthreads()` after filling a tile.
    ///
    /// # Panics
    /// In debug builds, if another thread waits at another place in the code.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn publish(mut self) -> SharedView<'b, S> {
        self.barrier.wait();
        SharedView { place: self.place, barrier: self.barrier, block: PhantomData }
    }
}

impl<'b, S: ?Sized + SharedData> SharedView<'b, S> {
    /// All elements; of several parts, a tuple of them.
    #[inline(always)]
    pub fn get(&self) -> S::Read<'_> {
        // SAFETY: the phase ends with `self`.
        unsafe { S::read(self.place) }
    }

    /// Waits until the block's other threads have read, too, and makes own elements writable: PTX `barrier.sync`, CUDA's
    /// `__syncthreads()` before filling a tile again. After the last phase it is not needed.
    ///
    /// # Panics
    /// In debug builds, if another thread waits at another place in the code.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn reclaim(mut self) -> SharedTile<'b, S> {
        self.barrier.wait();
        SharedTile { place: self.place, barrier: self.barrier, block: PhantomData }
    }
}

impl<S: ?Sized + SharedData<Place = *mut S>> Deref for SharedView<'_, S> {
    type Target = S;
    #[inline(always)]
    fn deref(&self) -> &S {
        // SAFETY: memory of the block's, in a phase that ends with `self`; any bits are a value.
        unsafe { &*self.place }
    }
}

// SAFETY: the module's documentation.
unsafe impl<S: SharedData<Place = *mut S>> SharedParam for SharedTile<'_, S> {
    type Storage = MaybeUninit<S>;
    #[inline(always)]
    unsafe fn make(storage: *mut MaybeUninit<S>, barrier: u32) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::new(storage.cast(), barrier) }
    }
}

impl<S: ?Sized + SharedData> fmt::Debug for SharedTile<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedTile").finish_non_exhaustive()
    }
}

impl<S: ?Sized + SharedData> fmt::Debug for SharedView<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedView").finish_non_exhaustive()
    }
}
