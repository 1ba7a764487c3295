//! More shared memory than a block has.
//@debug: full
//@opt-level: 3
#![no_std]
use ptx::Shared;
use ptx::prelude::*;

#[ptx::shared]
static A: Shared<[f32; 8000]>; //~ ERROR: has 56000 bytes of shared statics

#[ptx::shared]
static B: Shared<[f64; 3000]>;

#[ptx::shared]
static UNUSED: Shared<[u8; 40000]>;

fn fill(t: usize) {
    // SAFETY: each thread writes its own elements.
    unsafe {
        A.write(t, 1.0);
        B.write(t, 1.0);
    }
}

/// # Safety
/// Blocks must have no more than 1024 threads.
#[kernel]
pub unsafe fn run(out: *mut f64) {
    let t = thread::thread_idx_x() as usize;
    fill(t);
    sync_threads();
    // SAFETY: the caller's promise.
    unsafe { *out.add(t) = B.read(1023 - t) + f64::from(A.read(t)) };
}
