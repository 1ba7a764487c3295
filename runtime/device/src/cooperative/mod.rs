//! Groups of threads, as CUDA C++'s cooperative groups: a thread, a tile of a warp or of several, the threads that are here
//! together, a block, a cluster, the grid.
//!
//! ```
//! use ptx::cooperative::{self, WarpGroup as _};
//! use ptx::prelude::*;
//!
//! /// Leaves in every element the sum of its eight.
//! #[kernel]
//! pub fn sums_of_8(x: &[f32], mut sums: DisjointSlice<f32>) {
//!     let i = thread::index_1d();
//!     // Threads past the end take part, too.
//!     let own = x.get(i.get()).copied().unwrap_or(0.0);
//!     let sum = cooperative::tile::<8>().reduce(own, |a, b| a + b);
//!     if let Some(all) = sums.get_mut(i) {
//!         *all = sum;
//!     }
//! }
//! ```
//!
//! | CUDA C++ (`cooperative_groups::`) | here |
//! |---|---|
//! | `this_thread()` | [`ThisThread`] |
//! | `tiled_partition<N>(this_thread_block())` | [`tile::<N>()`](tile) |
//! | `tiled_partition<N>(this_thread_block(memory))`, 64 to 512 | a parameter `#[shared] tile: `[`BlockTile<N, THREADS>`](BlockTile) |
//! | `coalesced_threads()` | [`coalesced`] |
//! | `this_thread_block()` | [`Block`] |
//! | `this_cluster()` | [`Cluster`], sm_90 |
//! | `this_grid()` | [`grid`] |
//! | `size`, `thread_rank`, `sync` | [`Group::size`], [`Group::rank`], [`Group::sync`] |
//! | `shfl`, `shfl_up`, `shfl_down`, `shfl_xor` | [`WarpGroup::shuffle`], `shuffle_up`, `shuffle_down`, [`Tile::shuffle_xor`] |
//! | `all`, `any`, `ballot`, `match_any`, `match_all` | the same names of [`WarpGroup`] |
//! | `reduce(g, x, plus<int>())` | [`WarpGroup::reduce_add`] and kin: `redux.sync` from sm_80, shuffles before |
//! | `reduce(g, x, op)` | [`WarpGroup::reduce`] |
//! | `inclusive_scan`, `exclusive_scan` | [`WarpGroup::inclusive_scan`], [`WarpGroup::exclusive_scan`] |
//! | `labeled_partition`, `binary_partition` | [`WarpGroup::partition_by`], [`WarpGroup::partition`] |
//! | `invoke_one`, `invoke_one_broadcast` | [`WarpGroup::invoke_one`], [`WarpGroup::invoke_one_broadcast`] |
//!
//! Safety is that of [`warp`](crate::warp): the caller is in its own group by construction, values are of plain bits, and
//! a member that has not ended and never comes makes the others wait for ever. A value of a member that has ended is any.
//!
//! A [`BlockTile`] has what CUDA's tiles of several warps have: `sync`, `shuffle` of one rank, `all`, `any`, reductions,
//! scans and `invoke_one`. It is no [`WarpGroup`].

mod block_tile;
mod coalesced;
mod grid;
mod group;
mod larger;
mod number;
mod some;
mod tile;

pub use block_tile::BlockTile;
pub use coalesced::coalesced;
pub use grid::{Grid, grid};
pub use group::{Group, WarpGroup};
pub use larger::{Block, Cluster, ThisThread};
pub use number::{Number, Value};
pub use some::Coalesced;
pub use tile::{Tile, tile};
