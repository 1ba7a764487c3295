//! What the threads of a warp do together: shuffles, votes, matches, reductions.
//!
//! A warp is 32 threads, its lanes. They need not run in step: since sm_70 each thread has a program counter of its own,
//! and nothing here lets you assume otherwise. Every operation names the lanes that take part, and waits until all of
//! them that have not ended have come to it with the same lanes.
//!
//! ```
//! use ptx::prelude::*;
//! use ptx::{PerWarp, warp};
//!
//! /// The sum of every 32 numbers.
//! #[kernel]
//! pub fn sums(x: &[f32], mut sums: PerWarp<f32>) {
//!     // Threads past the end take part, too, with a number that changes nothing.
//!     let mut sum = x.get(thread::index_1d().get()).copied().unwrap_or(0.0);
//!     for lanes in [16, 8, 4, 2, 1] {
//!         sum += warp::ALL.shuffle_xor(sum, lanes);
//!     }
//!     // `None` for all threads but the warp's first.
//!     if let Some(first) = sums.part().get_mut() {
//!         *first = sum;
//!     }
//! }
//! ```
//!
//! [`Members`] holds the lanes that take part, the caller always among them: [`ALL`], those that [`Members::active`]
//! finds at this place, or a [`LaneMask`] of your own.
//!
//! | CUDA C++ | here | PTX | from |
//! |---|---|---|---|
//! | `__shfl_sync(mask, v, lane)` | [`shuffle`](Members::shuffle) | `shfl.sync.idx.b32` | sm_70 |
//! | `__shfl_up_sync`, `__shfl_down_sync` | [`shuffle_up`](Members::shuffle_up), [`shuffle_down`](Members::shuffle_down) | `shfl.sync.up`, `.down` | sm_70 |
//! | `__shfl_xor_sync` | [`shuffle_xor`](Members::shuffle_xor) | `shfl.sync.bfly` | sm_70 |
//! | `__all_sync`, `__any_sync`, `__uni_sync` | [`all`](Members::all), [`any`](Members::any), [`uniform`](Members::uniform) | `vote.sync.all.pred`, `.any`, `.uni` | sm_70 |
//! | `__ballot_sync` | [`ballot`](Members::ballot) | `vote.sync.ballot.b32` | sm_70 |
//! | `__activemask()` | [`active_mask`] | `activemask.b32` | sm_70 |
//! | `__match_any_sync`, `__match_all_sync` | [`match_any`](Members::match_any), [`match_all`](Members::match_all) | `match.any.sync`, `match.all.sync` | sm_70 |
//! | `__reduce_add_sync` and kin | [`reduce_add`](Members::reduce_add) and kin | `redux.sync` | sm_80 |
//! | none (`elect.sync` inline) | [`elect`](Members::elect) | `elect.sync` | sm_90 |
//! | `__syncwarp(mask)` | [`sync`](Members::sync) | `bar.warp.sync` | sm_70 |
//! | the argument `width` | [`cooperative::Tile`](crate::cooperative::Tile) | | |
//!
//! The instructions are in the PTX ISA's chapters "Data Movement and Conversion Instructions: shfl.sync" and "Parallel
//! Synchronization and Communication Instructions". What a GPU lacks is an error at the line that asks for it
//! (PTX0032), unless `if ptx::arch() >= …` leaves it out.
//!
//! # Why these functions are safe
//!
//! The PTX ISA leaves two things undefined. The first is a caller that is not among the lanes; [`Members`] rules it out.
//! The second is what comes from a lane that has ended, or that is not among the lanes: some bits. Every value that goes
//! from lane to lane is [`ptx::Plain`](ptx_abi::bits::Plain): any bits are a value of it, so this is a wrong number and no more. Debug builds look,
//! and panic at your line where a lane is asked for that is not among them. A lane that has not ended and never comes
//! makes the others wait for ever, which is a bug but not a memory error, as with
//! [`sync_threads`](crate::sync_threads). So it does not matter for safety how threads diverge, and which leave early.
//!
//! None of this is ordered by itself with memory, but for [`sync`](Members::sync).

mod instructions;
mod mask;
mod members;

pub(crate) use instructions::{
    by_words, by_words_if, clamp, clamp_up, shfl_bfly, shfl_down_pair, shfl_idx, shfl_up_pair,
};
pub use mask::{LaneMask, Lanes};
pub use members::{ALL, Members, ReduceBits, ReduceInteger, active_mask, sync_warp};
