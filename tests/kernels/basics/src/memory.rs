//! References, pointers, and copies and comparisons of memory.

use ptx::prelude::*;

use crate::layouts::Inner;

#[kernel]
pub fn scale(factor: &f32, offset: &Inner, mut values: DisjointSlice<f32>) {
    if let Some(value) = values.get_mut(thread::index_1d()) {
        *value = *value * *factor + offset.b as f32;
    }
}

/// # Safety
/// `from` and `to` must be valid for `count` elements and not overlap.
#[kernel]
pub unsafe fn reverse(from: *const u16, to: *mut u16, count: usize) {
    let i = thread::index_1d().get();
    if i < count {
        // SAFETY: the caller's promise.
        unsafe { to.add(i).write(*from.add(count - 1 - i)) };
    }
}

/// Blocks that are copied and compared as a whole.
pub const BLOCK: usize = 100;

#[kernel]
pub fn copy_blocks(from: &[[u64; BLOCK]], mut to: DisjointSlice<[u64; BLOCK]>) {
    let i = thread::index_1d();
    if let Some(to) = to.get_mut(i) {
        *to = from[i.get()];
    }
}

/// Rotates and swaps parts of a block, so that copies overlap.
#[inline]
pub fn shuffle(block: &mut [u64; BLOCK], by: usize) {
    block.rotate_left(by % BLOCK);
    block.copy_within(3..BLOCK - 9, 7);
    let (left, right) = block.split_at_mut(BLOCK / 2);
    left.swap_with_slice(right);
    block[..10].fill(by as u64);
    block.reverse();
}

#[kernel]
pub fn shuffle_blocks(mut blocks: DisjointSlice<[u64; BLOCK]>) {
    let i = thread::index_1d();
    if let Some(block) = blocks.get_mut(i) {
        shuffle(block, i.get());
    }
}

/// How long what [`shift`] moves is.
pub const SHIFTED: usize = 300;

/// Copies, moves and clears parts whose length and place `by` says: words, blocks of words, and what is left.
#[inline]
pub fn shift(from: &[u16; SHIFTED], to: &mut [u16; SHIFTED], by: usize) {
    let (start, len) = (by % 7, by % 280);
    to[start..start + len].copy_from_slice(&from[20 - start..20 - start + len]);
    to.copy_within(..len, by % 20);
    to.copy_within(by % 20..by % 20 + len, by % 11);
    let middle = &mut to[100..100 + by % 200];
    // SAFETY: every bit pattern is a number.
    unsafe { core::ptr::write_bytes(middle.as_mut_ptr(), by as u8, middle.len()) };
}

#[kernel]
pub fn shift_parts(from: &[[u16; SHIFTED]], mut to: DisjointSlice<[u16; SHIFTED]>) {
    let i = thread::index_1d();
    if let Some(to) = to.get_mut(i) {
        shift(&from[i.get()], to, i.get());
    }
}

/// -1, 0 or 1.
#[inline]
pub fn order(a: &[u8; BLOCK], b: &[u8; BLOCK]) -> i32 {
    if a == b { 0 } else { a.cmp(b) as i32 }
}

#[kernel]
pub fn compare_blocks(a: &[[u8; BLOCK]], b: &[[u8; BLOCK]], mut out: DisjointSlice<i32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = order(&a[i.get()], &b[i.get()]);
    }
}

static PRIMES: [u32; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

#[inline]
pub fn prime(i: usize) -> u32 {
    PRIMES[i % PRIMES.len()]
}

#[kernel]
pub fn primes(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = prime(i.get());
    }
}
