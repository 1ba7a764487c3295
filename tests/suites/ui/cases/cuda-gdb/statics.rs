//! Statics in shared, constant and global memory.
//@ launch: statics<<<2, 32>>>(slice i32 64)
//@ cuda-gdb-command: run
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], statics::statics (out=...) at [...]/statics.rs:{#break}
//@ cuda-gdb-command: print statics::TILE
//@ cuda-gdb-check: [...] = ptx_device::statics::Shared<[i32; 32]> {[...]value: core::mem::maybe_dangling::MaybeDangling<[i32; 32]> ([100, 101, 102, [...]
//@ cuda-gdb-command: print TILE.value.value.value.value.__0[31]
//@ cuda-gdb-check: [...] = 131
//@ cuda-gdb-command: print TABLE
//@ cuda-gdb-check: [...] = [11, 22, 33, 44]
//@ cuda-gdb-command: print statics::TABLE
//@ cuda-gdb-check: [...] = [11, 22, 33, 44]
//@ cuda-gdb-command: print TABLE[2]
//@ cuda-gdb-check: [...] = 33
//@ cuda-gdb-command: print statics::NAME.length
//@ cuda-gdb-check: [...] = 7
//@ cuda-gdb-command: print *statics::NAME.data_ptr@7
//@ cuda-gdb-check: [...] = [115, 116, 97, 116, 105, 99, 115]
//@ cuda-gdb-command: print COUNT
//@ cuda-gdb-check: [...] = core::sync::atomic::Atomic<u32> {[...](5)}}
//@ cuda-gdb-command: print statics::nested::PRIMES
//@ cuda-gdb-check: [...] = [2, 3, 5]
//@ cuda-gdb-command: whatis TABLE
//@ cuda-gdb-check: type = [i32; 4]
//@ cuda-gdb-command: whatis TILE
//@ cuda-gdb-check: type = ptx_device::statics::Shared<[i32; 32]>
//@ cuda-gdb-command: info locals
//@ cuda-gdb-check: other = 131
//@ cuda-gdb-check: t = 0
//@ cuda-gdb-names: other t i
//@ cuda-gdb-command: cuda block 1 thread 9
//@ cuda-gdb-check: [Switching focus to CUDA kernel 0, grid [...], block (1,0,0), thread (9,0,0), [...]]
#![no_std]
use ptx::Shared;
use core::sync::atomic::{AtomicU32, Ordering};
use ptx::prelude::*;

#[ptx::constant]
static TABLE: [i32; 4] = [11, 22, 33, 44];

#[ptx::shared]
static TILE: Shared<[i32; 32]>;

static NAME: &str = "statics";

static COUNT: AtomicU32 = AtomicU32::new(5);

mod nested {
    pub static PRIMES: [u16; 3] = [2, 3, 5];
}

#[kernel]
pub fn statics(mut out: DisjointSlice<i32>) {
    let i = thread::index_1d();
    let t = thread::thread_idx_x() as usize;
    // SAFETY: each thread writes its own element.
    unsafe { TILE.write(t, 100 + t as i32) };
    sync_threads();
    // SAFETY: nobody writes after the barrier.
    let other = unsafe { TILE.read(31 - t) };
    let prime = nested::PRIMES[t % 3]; // #break
    if let Some(out) = out.get_mut(i) {
        *out = other + TABLE[t % 4] + prime as i32 + NAME.len() as i32 + COUNT.load(Ordering::Relaxed) as i32;
    }
}
