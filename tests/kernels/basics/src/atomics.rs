//! Atomic operations under contention, whose results do not depend on the order that threads come in.

use ptx::Shared;
use ptx::atomic::{Atomic, AtomicInteger, AtomicSlice, Block, Device, Ordering, Scope, System};
use ptx::prelude::*;

/// Values that [`exercise`] uses.
pub const SLOTS: usize = 12;

/// Sums of what the operations returned, by [`exercise`].
pub const SUMS: usize = 4;

/// Threads of a block, and so the uses of shared and local memory.
pub const THREADS: usize = 128;

/// Integers of tests.
pub trait Integer: AtomicInteger + Eq + core::fmt::Debug {
    /// The low bits.
    fn cut(value: u64) -> Self;
    /// Widened or cut to 64 bits.
    fn wide(self) -> u64;
    /// What slots hold to begin with.
    fn begin(slot: usize) -> Self {
        Self::cut([3, 5, u64::MAX, 0, 0, 0, 100, 7, 0, 0, 0, 0][slot])
    }
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Integer for $ty {
            fn cut(value: u64) -> Self {
                value as Self
            }
            fn wide(self) -> u64 {
                self as u64
            }
        }
    )*};
}
integers!(u8 u16 u32 u64 u128 i8 i16 i32 i64 i128);

/// A value of thread `i`'s own.
pub fn mix(i: u64) -> u64 {
    let mixed = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

/// Everything that thread `i` does.
pub fn exercise<T: Integer, S: Scope>(
    slots: &[Atomic<T, S>; SLOTS],
    sums: &[Atomic<u64, Device>; SUMS],
    i: u64,
    order: Ordering,
    loads: Ordering,
) {
    let value = T::cut(mix(i));
    let add = |sum: usize, old: T| _ = sums[sum].fetch_add(old.wide(), Ordering::Relaxed);
    add(0, slots[0].fetch_add(T::cut(1), order));
    slots[1].fetch_sub(value, order);
    slots[2].fetch_and(T::cut(!(1 << (mix(i) % 5))), order);
    slots[3].fetch_or(T::cut(1 << (mix(i) % 7)), order);
    slots[4].fetch_xor(value, order);
    // With all bits set it is `not`, and so even out.
    slots[5].fetch_nand(T::cut(u64::MAX), order);
    slots[6].fetch_min(value, order);
    slots[7].fetch_max(value, order);
    add(1, slots[8].fetch_inc_wrap(T::cut(9), order));
    add(2, slots[9].fetch_dec_wrap(T::cut(9), order));
    add(3, slots[10].swap(value, order));
    // Each thread counts its own success.
    while slots[11].fetch_update(order, loads, |old| Some(T::cut(old.wide().wrapping_add(3)))).is_err() {}
}

#[inline(never)]
fn exercise_somewhere<T: Integer>(slots: &[Atomic<T, System>; SLOTS], sums: &[Atomic<u64, Device>; SUMS], i: u64) {
    exercise(slots, sums, i, Ordering::SeqCst, Ordering::SeqCst);
}

/// This thread's number; [`thread::index_1d`] would look at the grid's shape, and could panic, which costs ptxas time.
fn number() -> usize {
    (thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x()) as usize
}

macro_rules! kernels {
    ($($module:ident: $ty:ident, $global:ident $shared:ident $local:ident;)*) => {$(
        pub mod $module {
            use super::*;

            /// All threads on the same slots, in global memory.
            #[kernel]
            pub fn $global(slots: AtomicSlice<$ty, Device>, sums: AtomicSlice<u64, Device>) {
                if (size_of::<$ty>() < 16 || ptx::arch() >= 900)
                    && let (Ok(slots), Ok(sums)) = (slots.as_slice().try_into(), sums.as_slice().try_into())
                {
                    let i = number() as u64;
                    exercise::<$ty, _>(slots, sums, i, Ordering::AcqRel, Ordering::Acquire);
                }
            }

            #[ptx::shared]
            static SHARED: Shared<[Atomic<$ty, Block>; SLOTS]>;

            /// The threads of each block on slots in shared memory, which end in `out`.
            #[kernel]
            pub fn $shared(begin: &[$ty], out: AtomicSlice<$ty, Device>, sums: AtomicSlice<u64, Device>) {
                if (size_of::<$ty>() < 16 || ptx::arch() >= 900) && let Ok(sums) = sums.as_slice().try_into() {
                    let (t, block) = (thread::thread_idx_x() as usize, thread::block_idx_x() as usize);
                    let mine = SHARED.get(t);
                    if let (Some(mine), Some(begin)) = (mine, begin.get(t)) {
                        mine.store(*begin, Ordering::Relaxed);
                    }
                    sync_threads();
                    exercise::<$ty, _>(&SHARED, sums, t as u64, Ordering::Relaxed, Ordering::Relaxed);
                    sync_threads();
                    if let (Some(mine), Some(out)) = (mine, out.get(block * SLOTS + t)) {
                        out.store(mine.load(Ordering::Relaxed), Ordering::Release);
                    }
                }
            }

            /// Each thread alone on slots of its own stack, by a function that knows nothing of where they are.
            #[kernel]
            pub fn $local(begin: &[$ty], out: AtomicSlice<$ty, Device>, sums: AtomicSlice<u64, Device>) {
                if (size_of::<$ty>() < 16 || ptx::arch() >= 900)
                    && let (Ok(begin), Ok(sums)) = (begin.try_into(), sums.as_slice().try_into())
                {
                    let begin: &[$ty; SLOTS] = begin;
                    let slots: [Atomic<$ty, System>; SLOTS] = begin.map(Atomic::new);
                    exercise_somewhere(&slots, sums, number() as u64);
                    for (out, slot) in out.iter().skip(number() * SLOTS).zip(&slots) {
                        out.store(slot.load(Ordering::SeqCst), Ordering::Relaxed);
                    }
                }
            }
        }
    )*};
}

kernels! {
    for_u8: u8, atomics_u8_global atomics_u8_shared atomics_u8_local;
    for_u16: u16, atomics_u16_global atomics_u16_shared atomics_u16_local;
    for_u32: u32, atomics_u32_global atomics_u32_shared atomics_u32_local;
    for_u64: u64, atomics_u64_global atomics_u64_shared atomics_u64_local;
    for_u128: u128, atomics_u128_global atomics_u128_shared atomics_u128_local;
    for_i8: i8, atomics_i8_global atomics_i8_shared atomics_i8_local;
    for_i16: i16, atomics_i16_global atomics_i16_shared atomics_i16_local;
    for_i32: i32, atomics_i32_global atomics_i32_shared atomics_i32_local;
    for_i64: i64, atomics_i64_global atomics_i64_shared atomics_i64_local;
    for_i128: i128, atomics_i128_global atomics_i128_shared atomics_i128_local;
}

/// Small whole numbers, of which floats have exact sums.
pub fn small(i: u64) -> i32 {
    (mix(i) % 5) as i32 - 1
}

#[kernel]
pub fn atomic_floats(single: AtomicSlice<f32, Device>, double: AtomicSlice<f64>) {
    let value = small(number() as u64);
    let ([a, b], [c, d]) = (single.as_slice(), double.as_slice()) else { return };
    a.fetch_add(value as f32, Ordering::Relaxed);
    b.fetch_sub(value as f32, Ordering::SeqCst);
    c.fetch_add(f64::from(value) / 1024.0, Ordering::AcqRel);
    d.fetch_sub(f64::from(value), Ordering::Release);
}

/// 1 in the lower half and 2 in the upper, as `f16` and as `bf16`.
pub const ONE_AND_TWO: [u32; 2] = [0x4000_3c00, 0x4000_3f80];

#[kernel]
pub fn atomic_halves(sums: AtomicSlice<u32, Device>) {
    let [a, b] = sums.as_slice() else { return };
    a.fetch_add_f16x2(ONE_AND_TWO[0], Ordering::Relaxed);
    if ptx::arch() >= 900 {
        b.fetch_add_bf16x2(ONE_AND_TWO[1], Ordering::AcqRel);
    }
}

/// Each thread takes the lock, and adds 1 without an atomic.
///
/// # Safety
/// `lock` holds `false`, and nobody else uses `count`.
#[kernel]
pub unsafe fn atomic_lock(lock: *mut bool, count: *mut u64) {
    // SAFETY: the caller's promise.
    let lock = unsafe { Atomic::<bool, Device>::from_ptr(lock) };
    let mut done = false;
    while !done {
        if !lock.swap(true, Ordering::Acquire) {
            // SAFETY: the lock is ours, and acquiring it made the last holder's write visible.
            unsafe { *count += 1 };
            lock.store(false, Ordering::Release);
            done = true;
        }
    }
}

/// `core`'s own atomics, and a pointer: blocks push their numbers to a list.
///
/// # Safety
/// `head` holds 0, and `next` has an element for every block; nobody else uses either.
#[kernel]
pub unsafe fn atomic_list(head: *mut usize, next: *mut usize) {
    if thread::thread_idx_x() == 0 {
        let block = thread::block_idx_x() as usize;
        // SAFETY: the caller's promise.
        let head = unsafe { core::sync::atomic::AtomicUsize::from_ptr(head) };
        let mut first = head.load(Ordering::Relaxed);
        loop {
            // SAFETY: this block's own element.
            unsafe { *next.add(block) = first };
            match head.compare_exchange_weak(first, block + 1, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => break,
                Err(found) => first = found,
            }
        }
    }
}
