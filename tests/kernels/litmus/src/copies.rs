//! Message passing by `cp.async`: what one thread wrote before a barrier, another copies to shared memory after it; and what
//! was copied, a third one reads after the next barrier (PTX ISA, "Asynchronous copy").

use ptx::Shared;
use ptx::atomic::{Atomic, AtomicSlice, Block, Device, Ordering};
use ptx::prelude::*;

use crate::play::THREADS;

#[ptx::shared]
static COPIES: Shared<[Atomic<u32, Block>; THREADS]>;

/// Each thread writes its number plus `seed`, copies what another one wrote, and notes what a third one has copied. `memory`
/// and `out` have an element a thread.
#[kernel]
pub fn copied(seed: u32, memory: AtomicSlice<u32, Device>, out: AtomicSlice<u32, Device>) {
    let (first, me) = ((thread::block_idx_x() * thread::block_dim_x()) as usize, thread::thread_idx_x() as usize);
    let partner = |of: usize, step: usize| (of * 37 + step + seed as usize) & (THREADS - 1);
    let Some(own) = memory.get(first + me) else { return };
    own.store((first + me) as u32 + seed, Ordering::Relaxed);
    sync_threads();
    if ptx::arch() >= 800
        && let (Some(from), Some(to)) = (memory.get(first + partner(me, 1)), COPIES.get(me))
    {
        copy(from.as_ptr(), to.as_ptr());
    }
    sync_threads();
    if let (Some(copy), Some(out)) = (COPIES.get(partner(me, 2)), out.get(first + me)) {
        out.store(copy.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// What [`copied`] must note, thread by thread.
#[cfg(not(target_arch = "nvptx64"))]
pub fn expected(seed: u32, all: usize) -> impl Iterator<Item = u32> {
    let partner = move |of: usize, step: usize| (of * 37 + step + seed as usize) & (THREADS - 1);
    (0..all).map(move |number| {
        let (first, me) = (number & !(THREADS - 1), number & (THREADS - 1));
        (first + partner(partner(me, 2), 1)) as u32 + seed
    })
}

/// Copies a word from global to shared memory, and waits for it.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
fn copy(from: *mut u32, to: *mut u32) {
    // SAFETY: both are whole words of the spaces that their names say, and nobody writes them at this time.
    unsafe {
        core::arch::asm!(
            "{{.reg .b64 %from; .reg .b64 %to;",
            "cvta.to.global.u64 %from, {from};",
            "cvta.to.shared.u64 %to, {to};",
            "cp.async.ca.shared.global [%to], [%from], 4;",
            "cp.async.wait_all;}}",
            from = in(reg64) from,
            to = in(reg64) to,
        );
    }
}

#[cfg(not(target_arch = "nvptx64"))]
fn copy(_from: *mut u32, _to: *mut u32) {
    unreachable!("only a GPU copies by itself")
}
