//! Litmus tests as kernels: a kernel for each scope, space and width, which tries the row of the table that it is told.
//!
//! Every thread of a launch takes part in as many tries as a row has threads, in each as another one of them, with other
//! partners. Blocks in between load memory all the while.
#![cfg_attr(target_arch = "nvptx64", no_std, feature(asm_experimental_arch))]

mod copies;
mod play;
mod program;
mod rows;

use ptx::Shared;
use ptx::atomic::{Atomic, AtomicSlice, Block, Cluster, Device, Ordering, System};
use ptx::prelude::*;

use self::play::{Launch, Member, note, number};
use self::rows::dispatch;

pub use copies::copied;
#[cfg(not(target_arch = "nvptx64"))]
pub use copies::expected;
pub use play::{PERIOD, STRIDE, THREADS};

/// Kernels on global memory. `count` says how many threads share tries: all of the launch, or those of a block.
macro_rules! on_global_memory {
    ($($(#[$doc:meta])* $name:ident: $scope:ident $other:ident, $x:ident $y:ident;)*) => {$(
        $(#[$doc])*
        #[kernel]
        #[inline(always)]
        pub fn $name(
            row: u32,
            count: u32,
            stride: u32,
            seed: u32,
            memory: AtomicSlice<u32, $scope>,
            noise: AtomicSlice<u32, Device>,
            out: AtomicSlice<u32, Device>,
        ) {
            let Some(all) = number(&noise, seed) else { return };
            let (count, stride) = (count as usize, stride as usize);
            let me = Member { number: all & (count - 1), count, first: all & !(count - 1) };
            let own = me.first * 2 * stride..(me.first + count) * 2 * stride;
            let Some(memory) = memory.get(own) else { return };
            let launch = Launch { row, memory, stride, seed, noise: noise.as_slice(), out: out.as_slice() };
            dispatch::<$x, $y, $scope, $other>(launch, me);
        }
    )*};
}

on_global_memory! {
    /// In device scope.
    of_device: Device Device, u32 u32;
    /// In system scope.
    of_system: System System, u32 u32;
    /// In block scope.
    of_block: Block Block, u32 u32;
    /// In two scopes that both hold all threads.
    device_system: Device System, u32 u32;
    /// The same for threads of a block.
    block_device: Block Device, u32 u32;
    /// In device scope, with a wide and a narrow location.
    wide_narrow: Device Device, u64 u8;
    /// The other way round.
    narrow_wide: Device Device, u16 u64;
}

/// In cluster scope, which sm_90 has.
#[kernel]
#[inline(always)]
pub fn of_cluster(
    row: u32,
    count: u32,
    stride: u32,
    seed: u32,
    memory: AtomicSlice<u32, Cluster>,
    noise: AtomicSlice<u32, Device>,
    out: AtomicSlice<u32, Device>,
) {
    if ptx::arch() >= 900 {
        let Some(all) = number(&noise, seed) else { return };
        let (count, stride) = (count as usize, stride as usize);
        let me = Member { number: all & (count - 1), count, first: all & !(count - 1) };
        let own = me.first * 2 * stride..(me.first + count) * 2 * stride;
        let Some(memory) = memory.get(own) else { return };
        let launch = Launch { row, memory, stride, seed, noise: noise.as_slice(), out: out.as_slice() };
        dispatch::<u32, u32, Cluster, Cluster>(launch, me);
    }
}

/// Notes the last values after one of the kernels above, which has ended.
#[kernel]
pub fn last(count: u32, stride: u32, memory: AtomicSlice<u32, Device>, out: AtomicSlice<u32, Device>) {
    let all = (thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x()) as usize;
    let (count, stride) = (count as usize, stride as usize);
    let me = Member { number: all & (count - 1), count, first: all & !(count - 1) };
    let Some(memory) = memory.get(me.first * 2 * stride..(me.first + count) * 2 * stride) else { return };
    note(Launch { row: 0, memory, stride, seed: 0, noise: &[], out: out.as_slice() }, me);
}

#[ptx::shared]
static MEMORY: Shared<[Atomic<u32, Block>; 2 * STRIDE * THREADS]>;

/// In block scope, with the locations in shared memory.
#[kernel]
#[inline(always)]
pub fn of_shared(row: u32, seed: u32, noise: AtomicSlice<u32, Device>, out: AtomicSlice<u32, Device>) {
    let Some(all) = number(&noise, seed) else { return };
    let me = Member { number: all & (THREADS - 1), count: THREADS, first: all & !(THREADS - 1) };
    MEMORY.iter().skip(me.number).step_by(THREADS).for_each(|place| place.store(0, Ordering::Relaxed));
    sync_threads();
    let launch =
        Launch { row, memory: &MEMORY[..], stride: STRIDE, seed, noise: noise.as_slice(), out: out.as_slice() };
    dispatch::<u32, u32, Block, Block>(launch, me);
    sync_threads();
    note(launch, me);
}
