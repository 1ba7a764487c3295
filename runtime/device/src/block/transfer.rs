//! Tiles that are loaded from global memory, and stored there.

use super::memory::Value;
use super::tile::Arrangement;
use crate::disjoint::group::{Block, Thread};
use crate::disjoint::{DisjointParts, Part};
use crate::index::{rank_in_block, threads_of_block};

/// What a thread reads or writes at once: one number, since LLVM takes an array apart and does not put it together again
/// where another path ends with a store to the same place.
type Vector = u128;

/// Its bytes, on which it is aligned.
const VECTOR: usize = size_of::<Vector>();

/// `ITEMS` neighbouring values for each thread, from the beginning of a slice: thread `t` has those from `t * ITEMS` on.
/// CUB's `BlockLoad` with `BLOCK_LOAD_VECTORIZE`: where the address and the number of bytes allow it, 16 bytes at once
/// (PTX `ld.global.v4.b32`). Past the end of the slice values are `default`.
///
/// Each thread's values lie apart from its neighbours', so with more than 16 bytes a thread
/// [`Exchange::load`](super::Exchange::load) is faster.
#[inline(always)]
#[must_use]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn load_blocked<T: Value, const ITEMS: usize>(from: &[T], default: T) -> [T; ITEMS] {
    let first = rank_in_block() as usize * ITEMS;
    if size_of::<[T; ITEMS]>().is_multiple_of(VECTOR)
        && from.as_ptr().addr().is_multiple_of(VECTOR)
        && first + ITEMS <= from.len()
    {
        let mut values = [default; ITEMS];
        for at in 0..size_of::<[T; ITEMS]>() / VECTOR {
            // SAFETY: within the slice, aligned because each thread has a multiple of 16 bytes; any bits are a value.
            unsafe {
                let vector = from.as_ptr().add(first).cast::<Vector>().add(at).read();
                values.as_mut_ptr().cast::<Vector>().add(at).write_unaligned(vector);
            }
        }
        return values;
    }
    core::array::from_fn(|item| from.get(first + item).copied().unwrap_or(default))
}

/// `ITEMS` values for each thread that are as far apart as the block has threads, from the beginning of a slice: thread
/// `t` has those at `t`, `t + threads`, … CUB's `BlockLoad` with `BLOCK_LOAD_STRIPED`. Past the end of the slice values
/// are `default`.
#[inline(always)]
#[must_use]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn load_striped<T: Value, const ITEMS: usize>(from: &[T], default: T) -> [T; ITEMS] {
    let (thread, threads) = (rank_in_block() as usize, threads_of_block() as usize);
    load_at(from, default, threads * ITEMS, |item| item * threads + thread)
}

/// The values of the warp's part of a tile that are 32 apart: `BLOCK_LOAD_WARP_TRANSPOSE`'s first half.
#[inline(always)]
pub(super) fn load_warp_striped<T: Value, const THREADS: usize, const ITEMS: usize>(
    from: &[T],
    thread: u32,
    default: T,
) -> [T; ITEMS] {
    let index = |item| Arrangement::WarpStriped.index::<THREADS, ITEMS>(thread, item) as usize;
    load_at(from, default, THREADS * ITEMS, index)
}

/// Values at these indices below `tile`.
#[inline(always)]
fn load_at<T: Value, const ITEMS: usize>(
    from: &[T],
    default: T,
    tile: usize,
    index: impl Fn(usize) -> usize,
) -> [T; ITEMS] {
    if from.len() >= tile {
        // SAFETY: less than `tile`.
        return core::array::from_fn(|item| unsafe { *from.get_unchecked(index(item)) });
    }
    core::array::from_fn(|item| from.get(index(item)).copied().unwrap_or(default))
}

/// Stores each thread's neighbouring values: CUB's `BlockStore` with `BLOCK_STORE_VECTORIZE`, where the address and the
/// number of bytes allow it 16 bytes at once (PTX `st.global.v4.b32`). What the thread's part has no room for is left
/// out.
///
/// A thread's part is the one with its number in the grid: in a launch of one dimension, block `b`'s tile is the `b`th.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn store_blocked<T: Value, const ITEMS: usize>(to: &mut DisjointParts<'_, T, Thread, ITEMS>, values: [T; ITEMS]) {
    if let Some(whole) = to.array()
        && size_of::<[T; ITEMS]>().is_multiple_of(VECTOR)
        && whole.as_ptr().addr().is_multiple_of(VECTOR)
    {
        for at in 0..size_of::<[T; ITEMS]>() / VECTOR {
            // SAFETY: within the part and the array; a value has no padding.
            unsafe {
                let vector = values.as_ptr().cast::<Vector>().add(at).read_unaligned();
                whole.as_mut_ptr().cast::<Vector>().add(at).write(vector);
            }
        }
        return;
    }
    let mut part = to.part();
    let to = part.as_mut_slice();
    for (to, value) in to.iter_mut().zip(values) {
        *to = value;
    }
}

/// Stores values of a striped tile in the block's part of a slice: CUB's `BlockStore` with `BLOCK_STORE_STRIPED`. What
/// the part has no room for is left out.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn store_striped<T: Value, const ITEMS: usize>(to: &mut Part<'_, T, Block>, values: [T; ITEMS]) {
    let threads = threads_of_block() as usize;
    if to.len() >= threads * ITEMS {
        let (first, thread) = (to.as_mut_ptr(), rank_in_block() as usize);
        for (item, value) in values.into_iter().enumerate() {
            // SAFETY: in bounds, and this thread's: the part's elements are dealt out by the thread's number.
            unsafe { first.add(item * threads + thread).write(value) };
        }
        return;
    }
    for ((_, to), value) in to.iter_mut().zip(values) {
        *to = value;
    }
}
