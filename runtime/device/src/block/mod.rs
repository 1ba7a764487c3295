//! What the threads of a block compute together: CUB's block-wide primitives.
//!
//! | CUB | here |
//! |---|---|
//! | `BlockReduce` | [`Reduce`] |
//! | `BlockScan` | [`Scan`] |
//! | `BlockExchange` | [`Exchange`] |
//! | `BlockLoad`, `BlockStore` | [`load_blocked`], [`load_striped`], [`Exchange::load`]; [`store_blocked`], [`store_striped`], [`Exchange::store`] |
//! | `BlockRadixSort` | [`RadixSort`], [`RadixSortPairs`] |
//! | `BlockMergeSort` | [`MergeSort`] |
//! | `BlockHistogram` | [`Histogram`] |
//! | `BlockAdjacentDifference`, `BlockDiscontinuity` | [`Neighbours`] |
//! | `DeviceSelect`, `DevicePartition` within a block | [`Select`] |
//! | `DeviceRunLengthEncode` within a block | [`RunLength`] |
//! | `DeviceReduce::ReduceByKey` within a block | [`ReduceByKey`] |
//! | `BlockTopK` | [`RadixSort::largest`], [`RadixSort::smallest`] |
//! | `WarpReduce`, `WarpScan` | [`cooperative::tile`](crate::cooperative::tile), `reduce`, `inclusive_scan`, `exclusive_scan` |
//!
//! Each is a kernel's `#[shared]` parameter, which has the memory and the barrier that it needs. `THREADS` is the number of
//! the block's threads in all dimensions, 32, 64, … 1024: a launch with another number panics where the kernel begins.
//! Threads are counted with x first.
//!
//! Values are of types that any bits are a value of, [`Plain`](ptx_abi::bits::Plain).
//!
//! ```
//! use ptx::block::{self, RadixSort, Reduce};
//! use ptx::prelude::*;
//! use ptx::PerBlock;
//!
//! /// Sorts every 1024 numbers, and gives their sum.
//! #[kernel(dimensions = 1, launch_bounds(256))]
//! pub fn sort(
//!     x: &[f32],
//!     mut sorted: PerBlock<f32, 1024>,
//!     mut sums: PerBlock<f32>,
//!     #[shared] mut sort: RadixSort<f32, 256, 4>,
//!     #[shared] mut reduce: Reduce<f32, 256>,
//! ) {
//!     let mut part = sorted.part();
//!     let tile = x.get(part.start()..).unwrap_or(&[]);
//!     let keys: [f32; 4] = block::load_blocked(tile, f32::INFINITY);
//!     let sum = reduce.sum_items(block::load_blocked::<f32, 4>(tile, 0.0));
//!     block::store_striped(&mut part, sort.sort_to_striped(keys));
//!     if let Some(out) = sums.part().get_mut() {
//!         *out = sum;
//!     }
//! }
//! ```
//!
//! # Why this is sound
//! Whatever threads do, all that can go wrong is that values are not those that were meant, or that threads wait for ever:
//!
//! 1. Every access to an object's memory is a relaxed atomic one of the block's scope, `ld.relaxed.cta` and
//!    `st.relaxed.cta`, which in shared memory is the machine instruction of an ordinary one. So there are no data races,
//!    however threads diverge, leave early, or call something else than the others. [`Scan`] and [`MergeSort`] use
//!    ordinary accesses, and say why no two of them race.
//! 2. Any bits are a value, so that what nobody wrote is some value. What is computed of such values, as places to write
//!    to, is kept within the memory.
//! 3. A thread's number is compared with `THREADS` where the object is made.
//! 4. The kernel's entry makes each object once in every thread, of memory that nothing else names, and with a barrier of
//!    its own ([`shared`](crate::shared)).
//!
//! Debug builds panic where threads come to an object's barrier from different places in the code.

mod exchange;
mod histogram;
mod key;
mod memory;
mod merge_sort;
mod neighbours;
mod radix_sort;
mod rank;
mod reduce;
mod reduce_by_key;
mod runs;
mod scan;
mod select;
mod threads;
mod tile;
mod transfer;

pub use self::exchange::Exchange;
pub use self::histogram::Histogram;
pub use self::key::RadixKey;
pub use self::memory::Value;
pub use self::merge_sort::MergeSort;
pub use self::neighbours::Neighbours;
pub use self::radix_sort::{RadixSort, RadixSortPairs};
pub use self::reduce::Reduce;
pub use self::reduce_by_key::ReduceByKey;
pub use self::runs::{Run, RunLength};
pub use self::scan::{Scan, Scanned};
pub use self::select::Select;
pub use self::transfer::{load_blocked, load_striped, store_blocked, store_striped};
pub use crate::cooperative::Number;
