//! Memory of a block in which the threads of its whole cluster read.

use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Deref;

use ptx_abi::bits::Plain;

use super::barrier::ObjectBarrier;
use super::data::{Array2d, OfTheBlock, SharedData, SharedValue, Transposed2d, WarpArray};
use super::parameter::SharedParam;
use crate::atomic::{Atomic, AtomicValue, Cluster, Device, System};
use crate::cluster;
use crate::index::{rank_in_block, threads_of_block};
use crate::mbarrier::{Mbarrier, fence_init};

/// A type that an element of a [`ClusterTile`] may have: [`Plain`], or atomic of a scope that holds the cluster's threads.
///
/// # Safety
/// As for [`SharedValue`], and threads of several blocks may have a `&Self` to the same place.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of a `ClusterTile`",
    label = "threads of several blocks reach it",
    note = "numbers, vectors, arrays of these and `ptx::atomic::Atomic` can, with the scope `Cluster`, `Device` or `System`"
)]
pub unsafe trait ClusterValue: SharedValue {}

#[diagnostic::do_not_recommend]
// SAFETY: it has no cells.
unsafe impl<T: Plain> ClusterValue for T {}
// SAFETY: every access is atomic, of a scope that holds the cluster.
unsafe impl<T: AtomicValue> ClusterValue for Atomic<T, Cluster> {}
// SAFETY: as above.
unsafe impl<T: AtomicValue> ClusterValue for Atomic<T, Device> {}
// SAFETY: as above.
unsafe impl<T: AtomicValue> ClusterValue for Atomic<T, System> {}

/// What a [`ClusterTile`] holds: arrays of [`ClusterValue`]s in one and two dimensions, and tuples of these.
///
/// # Safety
/// All its elements must be [`ClusterValue`]s.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot lie in a `ClusterTile`",
    label = "threads of several blocks reach it",
    note = "it holds `[T; N]`, `Array2d<T, W, H>`, `Transposed2d<T, W, H>`, `WarpArray<T, N>`, or a tuple of these, of numbers \
            or of atomics with the scope `Cluster`, `Device` or `System`"
)]
pub unsafe trait ClusterData: SharedData<Place = *mut Self> {}

// SAFETY: the bound.
unsafe impl<T: ClusterValue, const N: usize> ClusterData for [T; N] {}
// SAFETY: the bound.
unsafe impl<T: ClusterValue, const W: usize, const H: usize, const PAD: usize> ClusterData for Array2d<T, W, H, PAD> {}
// SAFETY: the bound.
unsafe impl<T: ClusterValue, const W: usize, const H: usize, const PAD: usize> ClusterData
    for Transposed2d<T, W, H, PAD>
{
}
// SAFETY: the bound.
unsafe impl<T: ClusterValue, const N: usize> ClusterData for WarpArray<T, N> {}

macro_rules! tuples {
    ($($($name:ident),*;)*) => {$(
        // SAFETY: the bounds.
        unsafe impl<$($name: ClusterData),*> ClusterData for ($($name,)*) {}
    )*};
}
tuples! { A; A, B; A, B, C; A, B, C, D; A, B, C, D, E; A, B, C, D, E, F; }

/// [`SharedTile`](super::SharedTile) for a cluster of blocks, from sm_90: each block has one, its threads write their own
/// elements, and after [`publish`](Self::publish) all threads of the cluster read the tiles of all its blocks (CUDA C++
/// Programming Guide, "Distributed Shared Memory").
///
/// ```
/// use ptx::prelude::*;
/// use ptx::shared::ClusterTile;
/// use ptx::{cluster, sync_threads};
///
/// /// Replaces each element by that of the same thread in the cluster's next block.
/// #[kernel(cluster(4), launch_bounds(256))]
/// pub fn rotate(mut x: DisjointSlice<f32>, #[shared] mut tile: ClusterTile<[f32; 256]>) {
///     let i = thread::index_1d();
///     tile.own().set(x.get_mut(i).map_or(0.0, |x| *x));
///     let tiles = tile.publish();
///     let next = (cluster::block_rank() + 1) % cluster::block_count();
///     if let Some(x) = x.get_mut(i) {
///         *x = tiles.of_block(next)[thread::thread_idx_x() as usize];
///     }
/// }
/// ```
///
/// # Why this is sound
/// What holds for [other objects](super#why-this-is-sound) does here, too, with a barrier of the object's own for the cluster:
/// the block's threads meet at the object's hardware barrier; then for each block of the cluster one thread arrives at that
/// block's [`Mbarrier`], whose phases need an arrival of every block; and all wait at their own one. So its `n`th phase is over
/// only when all threads of the cluster have come to the `n`th `publish` or `reclaim` of this object.
/// [`cluster::sync`](crate::cluster::sync), of which hardware has one for all purposes, cannot be taken for it.
///
/// No block reads the memory of one that has not begun: all threads come to the cluster's barrier before the kernel begins.
/// Nor of one that has ended: when its object is dropped, a thread waits at the cluster's barrier once more, for all of the
/// cluster that have not ended. Threads that panic (`after-panic = "exit"`), call [`control::exit`](crate::control::exit) or
/// come to [`cluster::sync`](crate::cluster::sync) while others drop their object can still leave too early. An access to the
/// memory of a block that has ended is an exception of the GPU ("cluster target block not present"), and the launch fails: it
/// reaches no other memory.
///
/// A thread that ends before others publish is missed: if the first threads of a block do, which arrive at other blocks, those
/// wait for ever. If a thread panics, those that wait end, too.
#[must_use = "without it this thread never comes to the next barrier, and the others wait"]
pub struct ClusterTile<'b, S: ClusterData> {
    inner: Inner<'b, S>,
}

/// The cluster's tiles in their readable phase: every thread reads all elements of all blocks, and changes those that are
/// atomic. It derefs to the data of the thread's own block.
#[must_use = "without it this thread never comes to the next barrier, and the others wait"]
pub struct ClusterView<'b, S: ClusterData> {
    inner: Inner<'b, S>,
}

/// What both phases have. Dropping it waits until nobody in the cluster reads any more.
struct Inner<'b, S: ClusterData> {
    storage: *mut ClusterStorage<S>,
    barrier: ObjectBarrier,
    odd: bool,
    block: OfTheBlock<'b>,
}

/// What lies in shared memory for a [`ClusterTile`].
#[doc(hidden)]
#[derive(Debug)]
#[repr(C)]
pub struct ClusterStorage<S> {
    barrier: MaybeUninit<Mbarrier>,
    data: MaybeUninit<S>,
}

impl<S: ClusterData> Inner<'_, S> {
    #[inline(always)]
    fn place(&self) -> *mut S {
        // SAFETY: memory of the block's.
        unsafe { (&raw mut (*self.storage).data).cast() }
    }

    /// Waits for all threads of the cluster to come to this object's same barrier.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn meet(&mut self) {
        self.barrier.wait();
        // SAFETY: `make` has made the barriers of all blocks, for an arrival of each block. One thread of this block arrives at
        // each, once a phase; and no block is further than a phase, which lacks this block's arrival.
        unsafe {
            let barrier: *const Mbarrier = (&raw const (*self.storage).barrier).cast();
            let (count, threads) = (cluster::block_count(), threads_of_block());
            let mut block = rank_in_block();
            while block < count {
                cluster::remote(barrier, block).arrive();
                block += threads;
            }
            (*barrier).wait_parity_of_cluster(self.odd);
        }
        self.odd = !self.odd;
    }
}

impl<S: ClusterData> Drop for Inner<'_, S> {
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn drop(&mut self) {
        cluster::sync();
    }
}

impl<'b, S: ClusterData> ClusterTile<'b, S> {
    /// This thread's own elements of its block's tile, to read and to write; of several parts, a tuple of them.
    #[inline(always)]
    pub fn own(&mut self) -> S::Own<'_> {
        // SAFETY: by `&mut self` there is one; the phase ends with `self`.
        unsafe { S::own(self.inner.place()) }
    }

    /// Waits for the cluster's other threads, and makes all elements of all blocks readable: PTX `barrier.sync` in each block,
    /// `mbarrier.arrive.release.cluster.shared::cluster` from one to another, `mbarrier.try_wait.acquire.cluster`. CUDA's
    /// `cluster.sync()` after filling a tile. From sm_90.
    ///
    /// # Panics
    /// In debug builds, if another thread of the block waits at another place in the code.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn publish(mut self) -> ClusterView<'b, S> {
        self.inner.meet();
        ClusterView { inner: self.inner }
    }
}

impl<'b, S: ClusterData> ClusterView<'b, S> {
    /// All elements of the tile of a block, by its [rank](crate::cluster::block_rank) in the cluster; of several parts, a tuple
    /// of them. CUDA's `cluster.map_shared_rank(tile, rank)`, PTX `mapa.u64`, from sm_90.
    ///
    /// # Panics
    /// If the cluster has not that many blocks.
    #[inline(always)]
    #[track_caller]
    pub fn of_block(&self, rank: u32) -> S::Read<'_> {
        let count = cluster::block_count();
        assert!(rank < count, "block {rank} of a cluster of {count} blocks");
        // SAFETY: the block has begun and not ended; the phase ends with `self`.
        unsafe { S::read(cluster::map_shared_rank(self.inner.place(), rank)) }
    }

    /// All elements of the tile of the thread's own block; of several parts, a tuple of them.
    #[inline(always)]
    pub fn get(&self) -> S::Read<'_> {
        // SAFETY: the phase ends with `self`.
        unsafe { S::read(self.inner.place()) }
    }

    /// Waits until the cluster's other threads have read, too, and makes own elements writable, as [`ClusterTile::publish`]
    /// does. After the last phase it is not needed.
    ///
    /// # Panics
    /// In debug builds, if another thread of the block waits at another place in the code.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn reclaim(mut self) -> ClusterTile<'b, S> {
        self.inner.meet();
        ClusterTile { inner: self.inner }
    }
}

impl<S: ClusterData> Deref for ClusterView<'_, S> {
    type Target = S;
    #[inline(always)]
    fn deref(&self) -> &S {
        // SAFETY: memory of the block's, in a phase that ends with `self`; any bits are a value.
        unsafe { &*self.inner.place() }
    }
}

// SAFETY: the documentation of the type.
unsafe impl<S: ClusterData> SharedParam for ClusterTile<'_, S> {
    type Storage = ClusterStorage<S>;
    #[inline(always)]
    unsafe fn make(storage: *mut ClusterStorage<S>, barrier: u32) -> Self {
        // SAFETY: the caller's promise; a kernel's parameters are made before it begins, by all threads alike. So one thread
        // makes the barrier, before all threads of the cluster go on.
        unsafe {
            if rank_in_block() == 0 {
                (*(&raw const (*storage).barrier).cast::<Mbarrier>()).init(cluster::block_count());
                fence_init();
            }
            cluster::sync();
            let barrier = ObjectBarrier::new(barrier);
            Self { inner: Inner { storage, barrier, odd: false, block: PhantomData } }
        }
    }
}

impl<S: ClusterData> fmt::Debug for ClusterTile<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterTile").finish_non_exhaustive()
    }
}

impl<S: ClusterData> fmt::Debug for ClusterView<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterView").finish_non_exhaustive()
    }
}
