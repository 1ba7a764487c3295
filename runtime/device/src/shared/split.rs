//! A block's barrier in two steps, and memory that such a barrier turns from writable to readable and back.

use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Deref;

use super::data::{OfTheBlock, SharedData};
use super::parameter::SharedParam;
use crate::index::{rank_in_block, threads_of_block};
use crate::intrinsics::barrier_sync;
use crate::mbarrier::{Mbarrier, Token};

/// A barrier of the block at which a thread arrives, does something else, and then waits: CUDA's
/// `cuda::barrier<cuda::thread_scope_block>` for all threads of the block, PTX `mbarrier`, from sm_80.
///
/// A kernel gets it as a parameter with `#[shared]`; it takes 8 bytes of shared memory and none of the 16 hardware barriers.
/// A thread arrives once a phase, because [`arrive`](Self::arrive) consumes the barrier, and [`Arrived::wait`] gives it
/// back. What a thread did before it arrived is visible to those that have waited.
///
/// Unlike [`sync_threads`](crate::sync_threads), it counts threads that have ended: one that [leaves](Self::leave) says so,
/// and for one that only ends the others wait for ever. If a thread panics (`after-panic = "exit"`), those that wait end, too.
///
/// ```
/// use ptx::atomic::{Atomic, Block, Ordering};
/// use ptx::prelude::*;
/// use ptx::shared::SplitBarrier;
///
/// #[ptx::shared]
/// static SUM: ptx::Shared<Atomic<u32, Block>>;
///
/// /// Adds its block's sum to every element.
/// #[kernel]
/// pub fn add_sums(mut x: DisjointSlice<u32>, #[shared] mut barrier: SplitBarrier) {
///     if thread::thread_idx_x() == 0 {
///         SUM.store(0, Ordering::Relaxed);
///     }
///     barrier.sync();
///     if let Some(x) = x.get_mut(thread::index_1d()) {
///         SUM.fetch_add(*x, Ordering::Relaxed);
///     }
///     let arrived = barrier.arrive();
///     // Here is time for what needs no sum.
///     arrived.wait();
///     if let Some(x) = x.get_mut(thread::index_1d()) {
///         *x += SUM.load(Ordering::Relaxed);
///     }
/// }
/// ```
#[must_use = "without it this thread never comes to the next barrier, and the others wait"]
pub struct SplitBarrier<'b> {
    barrier: *const Mbarrier,
    block: OfTheBlock<'b>,
}

/// This thread has arrived at a [`SplitBarrier`], and has not waited yet: CUDA's `arrival_token`.
#[must_use = "without waiting this thread never comes to the next barrier, and the others wait"]
pub struct Arrived<'b> {
    barrier: SplitBarrier<'b>,
    token: Token,
}

// A thread arrives once a phase and waits before it arrives again, because the two types take turns. So a phase lacks this
// thread's arrival whenever it has a `SplitBarrier`, and cannot be over before it; and the barrier cannot be further than
// in the phase behind the one that an `Arrived` waits for, since that one lacks this thread.
impl<'b> SplitBarrier<'b> {
    /// Makes the barrier of all threads of the block, in thread 0, and waits for it.
    ///
    /// # Safety
    /// All threads of the block must call it once with this memory, which nothing else uses, before they do anything else.
    #[inline(always)]
    unsafe fn of_block(barrier: *const Mbarrier) -> Self {
        if rank_in_block() == 0 {
            // SAFETY: one thread, before the others go on.
            unsafe { (*barrier).init(threads_of_block()) };
        }
        barrier_sync();
        Self { barrier, block: PhantomData }
    }

    #[inline(always)]
    const fn get(&self) -> &Mbarrier {
        // SAFETY: it was made, lives as long as the block, and stays at its place.
        unsafe { &*self.barrier }
    }

    /// Arrives, and goes on: CUDA's `cuda::barrier::arrive()`, PTX `mbarrier.arrive.shared.b64`, from sm_80.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn arrive(self) -> Arrived<'b> {
        // SAFETY: see above.
        let token = unsafe { self.get().arrive() };
        Arrived { barrier: self, token }
    }

    /// Arrives, and waits for the block's other threads: CUDA's `cuda::barrier::arrive_and_wait()`, from sm_80.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn sync(&mut self) {
        // SAFETY: see above.
        unsafe {
            let token = self.get().arrive();
            self.get().wait(token);
        }
    }

    /// Arrives for the last time: the others no longer wait for this thread. CUDA's `cuda::barrier::arrive_and_drop()`, PTX
    /// `mbarrier.arrive_drop.shared.b64`, from sm_80.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn leave(self) {
        // SAFETY: see above.
        unsafe { self.get().leave() };
    }
}

impl<'b> Arrived<'b> {
    /// Whether all threads have arrived: PTX `mbarrier.test_wait.shared.b64`, from sm_80.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn is_over(&self) -> bool {
        // SAFETY: see above.
        unsafe { self.barrier.get().is_over(self.token) }
    }

    /// Waits until all threads have arrived: CUDA's `cuda::barrier::wait(token)`. PTX `mbarrier.try_wait` in a loop, before
    /// sm_90 `mbarrier.test_wait`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn wait(self) -> SplitBarrier<'b> {
        // SAFETY: see above.
        unsafe { self.barrier.get().wait(self.token) };
        self.barrier
    }

    /// Waits, but about so long at most: CUDA's `cuda::barrier::try_wait_for`, PTX `mbarrier.try_wait.shared::cta.b64` with a
    /// time, from sm_90.
    ///
    /// # Errors
    /// This arrival, if others are still missing.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn wait_within(self, nanoseconds: u32) -> Result<SplitBarrier<'b>, Self> {
        // SAFETY: see above.
        if unsafe { self.barrier.get().try_wait_within(self.token, nanoseconds) } {
            Ok(self.barrier)
        } else {
            Err(self)
        }
    }
}

// SAFETY: see above; `of_block` gives each thread one.
unsafe impl SharedParam for SplitBarrier<'_> {
    type Storage = MaybeUninit<Mbarrier>;
    const BARRIERS: u32 = 0;
    #[inline(always)]
    unsafe fn make(storage: *mut MaybeUninit<Mbarrier>, _barrier: u32) -> Self {
        // SAFETY: the caller's promise; a kernel's parameters are made before it begins, by all threads alike.
        unsafe { Self::of_block(storage.cast()) }
    }
}

/// [`SharedTile`](super::SharedTile) with a [`SplitBarrier`], from sm_80: between giving up the tile's own elements and
/// reading all of them, a thread does something else.
///
/// ```
/// use ptx::prelude::*;
/// use ptx::shared::SplitTile;
///
/// /// Reverses the elements of every block of 256, and has time for something else meanwhile.
/// #[kernel(launch_bounds(256))]
/// pub fn reverse(x: &[f32], mut y: DisjointSlice<f32>, #[shared] mut tile: SplitTile<[f32; 256]>) {
///     let i = thread::index_1d();
///     tile.own().set(x.get(i.get()).copied().unwrap_or(0.0));
///     let published = tile.publish();
///     let scale = x.first().copied().unwrap_or(1.0).sqrt();
///     let tile = published.wait();
///     if let Some(y) = y.get_mut(i) {
///         *y = scale * tile[255 - thread::thread_idx_x() as usize];
///     }
/// }
/// ```
///
/// It is sound for [the reasons of other tiles](super#why-this-is-sound), with the barrier in memory in place of the one in
/// hardware: each thread arrives once a phase, and from its arrival until it has waited it reaches no element.
#[must_use = "without it this thread never comes to the next barrier, and the others wait"]
pub struct SplitTile<'b, S: SharedData> {
    place: S::Place,
    barrier: SplitBarrier<'b>,
}

/// A [`SplitTile`] on the way to its readable phase.
#[must_use = "without waiting this thread never comes to the next barrier, and the others wait"]
pub struct Publishing<'b, S: SharedData> {
    place: S::Place,
    arrived: Arrived<'b>,
}

/// A [`SplitTile`] in its readable phase: every thread reads all elements, and changes those that are atomic. It derefs to the
/// data.
#[must_use = "without it this thread never comes to the next barrier, and the others wait"]
pub struct SplitView<'b, S: SharedData> {
    place: S::Place,
    barrier: SplitBarrier<'b>,
}

/// A [`SplitView`] on the way back to the writable phase.
#[must_use = "without waiting this thread never comes to the next barrier, and the others wait"]
pub struct Reclaiming<'b, S: SharedData> {
    place: S::Place,
    arrived: Arrived<'b>,
}

impl<'b, S: SharedData> SplitTile<'b, S> {
    /// This thread's own elements, to read and to write; of several parts, a tuple of them.
    #[inline(always)]
    pub fn own(&mut self) -> S::Own<'_> {
        // SAFETY: by `&mut self` there is one; the phase ends with `self`.
        unsafe { S::own(self.place) }
    }

    /// Gives up the thread's own elements, and goes on: PTX `mbarrier.arrive.shared.b64`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn publish(self) -> Publishing<'b, S> {
        Publishing { place: self.place, arrived: self.barrier.arrive() }
    }

    /// Gives up the tile: the others no longer wait for this thread. PTX `mbarrier.arrive_drop.shared.b64`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn leave(self) {
        self.barrier.leave();
    }
}

impl<'b, S: SharedData> Publishing<'b, S> {
    /// Whether all threads have arrived: PTX `mbarrier.test_wait.shared.b64`.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn is_over(&self) -> bool {
        self.arrived.is_over()
    }

    /// Waits until all threads have arrived, and makes all elements readable: PTX `mbarrier.try_wait`, before sm_90
    /// `mbarrier.test_wait`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn wait(self) -> SplitView<'b, S> {
        SplitView { place: self.place, barrier: self.arrived.wait() }
    }
}

impl<'b, S: SharedData> SplitView<'b, S> {
    /// All elements; of several parts, a tuple of them.
    #[inline(always)]
    pub fn get(&self) -> S::Read<'_> {
        // SAFETY: the phase ends with `self`.
        unsafe { S::read(self.place) }
    }

    /// Says that this thread has read what it wanted, and goes on: PTX `mbarrier.arrive.shared.b64`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn reclaim(self) -> Reclaiming<'b, S> {
        Reclaiming { place: self.place, arrived: self.barrier.arrive() }
    }

    /// Gives up the tile: the others no longer wait for this thread. PTX `mbarrier.arrive_drop.shared.b64`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn leave(self) {
        self.barrier.leave();
    }
}

impl<'b, S: SharedData> Reclaiming<'b, S> {
    /// Whether all threads have arrived: PTX `mbarrier.test_wait.shared.b64`.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn is_over(&self) -> bool {
        self.arrived.is_over()
    }

    /// Waits until all threads have arrived, and makes own elements writable: PTX `mbarrier.try_wait`, before sm_90
    /// `mbarrier.test_wait`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn wait(self) -> SplitTile<'b, S> {
        SplitTile { place: self.place, barrier: self.arrived.wait() }
    }
}

impl<S: SharedData<Place = *mut S>> Deref for SplitView<'_, S> {
    type Target = S;
    #[inline(always)]
    fn deref(&self) -> &S {
        // SAFETY: memory of the block's, in a phase that ends with `self`; any bits are a value.
        unsafe { &*self.place }
    }
}

/// What lies in shared memory for a [`SplitTile`].
#[doc(hidden)]
#[derive(Debug)]
#[repr(C)]
pub struct SplitStorage<S> {
    barrier: MaybeUninit<Mbarrier>,
    data: MaybeUninit<S>,
}

// SAFETY: the documentation of the type.
unsafe impl<S: SharedData<Place = *mut S>> SharedParam for SplitTile<'_, S> {
    type Storage = SplitStorage<S>;
    const BARRIERS: u32 = 0;
    #[inline(always)]
    unsafe fn make(storage: *mut SplitStorage<S>, _barrier: u32) -> Self {
        // SAFETY: the caller's promise; a kernel's parameters are made before it begins, by all threads alike.
        unsafe {
            let place = (&raw mut (*storage).data).cast();
            Self { place, barrier: SplitBarrier::of_block((&raw const (*storage).barrier).cast()) }
        }
    }
}

macro_rules! debug {
    ($($name:ident $(<$data:ident>)?;)*) => {$(
        impl<'b $(, $data: SharedData)?> fmt::Debug for $name<'b $(, $data)?> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}
debug! { SplitBarrier; Arrived; SplitTile<S>; Publishing<S>; SplitView<S>; Reclaiming<S>; }
