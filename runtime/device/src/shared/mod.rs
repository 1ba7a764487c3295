//! A block's shared memory: objects that the kernel gets as parameters, whose use needs no `unsafe`, and statics.
//!
//! | CUDA C++ | here |
//! |---|---|
//! | `__shared__ float tile[256];` | a parameter `#[shared] tile: SharedTile<[f32; 256]>` |
//! | `__shared__ float tile[32][33];` | `#[shared] tile: SharedTile<Array2d<f32, 32, 32, 1>>` |
//! | two arrays that are filled and read together | `#[shared] tiles: SharedTile<([f32; 256], [u32; 256])>` |
//! | two copies of an array, by turns | `#[shared] tile: SharedBuffers<[f32; 256]>` |
//! | `extern __shared__ float tile[];` | `#[shared(dynamic)] tile: SharedTile<[f32]>`; of several parts, `SharedTile<Slices<(f32, u32)>>` |
//! | `cuda::barrier<cuda::thread_scope_block>`, sm_80 | `#[shared] barrier: SplitBarrier` |
//! | a tile filled before, and read after one | `#[shared] tile: SplitTile<[f32; 256]>` |
//! | `cluster.map_shared_rank(tile, rank)`, sm_90 | `#[shared] tile: ClusterTile<[f32; 256]>` |
//! | `__shared__` without a discipline | [`#[ptx::shared] static TILE: Shared<[f32; 256]>`](Shared), mostly `unsafe` |
//!
//! A [`SharedTile`] is writable: each thread reaches its own elements by [`own`](SharedTile::own).
//! [`publish`](SharedTile::publish) waits for the block's threads and makes it a [`SharedView`], in which all elements
//! are readable and none is writable; [`reclaim`](SharedView::reclaim) waits again and makes it writable.
//!
//! ```
//! use ptx::prelude::*;
//! use ptx::shared::SharedTile;
//!
//! /// Reverses the elements of every block of 256.
//! #[kernel(launch_bounds(256))]
//! pub fn reverse(x: &[f32], mut y: DisjointSlice<f32>, #[shared] mut tile: SharedTile<[f32; 256]>) {
//!     let i = thread::index_1d();
//!     tile.own().set(x.get(i.get()).copied().unwrap_or(0.0));
//!     let tile = tile.publish();
//!     if let Some(y) = y.get_mut(i) {
//!         *y = tile[255 - thread::thread_idx_x() as usize];
//!     }
//! }
//! ```
//!
//! # Why this is sound
//! 1. *One object a thread.* A parameter with `#[shared]` is no part of the kernel's signature for the host. The kernel's
//!    entry makes each one exactly once in every thread, of memory that nothing else names. It can be neither copied nor
//!    sent to another thread, nor kept longer than the kernel runs.
//! 2. *One barrier an object.* A block has 16 hardware barriers (PTX ISA, "barrier"). Number 0 is
//!    [`sync_threads`](crate::sync_threads)'s; the macro gives each object one of the others, which it alone uses. So the
//!    `n`th time that the barrier opens is the `n`th time that each thread waits at it by this object.
//! 3. *One order of phases.* A thread's object alternates between [`SharedTile`] and [`SharedView`], because each of
//!    `publish` and `reclaim` consumes the one and gives the other. So the barrier's 1st, 3rd, 5th opening makes the object
//!    readable, and the 2nd, 4th, 6th writable, in all threads alike. From one opening to the next, all threads that still
//!    use the object are in the same phase, wherever in the code they are.
//! 4. *Own elements.* In a writable phase a thread reaches only elements that are its own, by a function of its position
//!    in the block and the object's type, the same in all threads and phases, under which no element has two owners. In a
//!    readable phase nobody writes, except by atomics.
//! 5. *Any bits are a value.* Nothing makes all threads write. So elements are of types of which any bits are a value
//!    ([`SharedValue`]); what nobody wrote is an arbitrary value.
//!
//! Threads that diverge either meet at the object's barrier, each from its own place in the code (which debug builds
//! report, because it is seldom meant), or some of them never come and the others wait for ever: a hang, not a race. It is
//! for this that barriers have the form without `.aligned`, at which each thread arrives by itself, unless the compiler
//! proves that warps arrive whole. A thread that drops its object never comes again. If it ends, barriers no longer count
//! it (CUDA C++ Programming Guide, "Synchronization Functions"); it does not write any more either. References to
//! elements borrow the tile or the view, so that none outlives the phase.
//!
//! What is not covered, and stays `unsafe`: [`NamedBarrier`](crate::sync::NamedBarrier) with an object's number, and
//! CUDA C++ code that uses numbered barriers.

pub(crate) mod barrier;
mod buffers;
mod cluster_tile;
mod data;
mod dynamic;
mod own;
#[doc(hidden)]
pub mod parameter;
mod split;
mod tile;

pub use barrier::ObjectBarrier;
pub use buffers::SharedBuffers;
pub use cluster_tile::{ClusterData, ClusterStorage, ClusterTile, ClusterValue, ClusterView};
pub use data::{Array2d, SharedData, SharedValue, Transposed2d, WarpArray};
pub use dynamic::{SliceElements, Slices};
pub use own::{Own, Own2d, OwnOfWarp, Row};
pub use parameter::{DynamicParam, SharedParam};
pub use split::{Arrived, Publishing, Reclaiming, SplitBarrier, SplitStorage, SplitTile, SplitView};
pub use tile::{SharedTile, SharedView};

pub use crate::statics::{Shared, SharedAtomics};
