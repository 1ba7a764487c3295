//! 256 KiB of shared memory in a build with line tables alone, where nothing says on which line a static stands: the message
//! shows a line that uses it.
#![no_std]
use ptx::Shared;
use ptx::prelude::*;

#[ptx::shared]
static TILE: Shared<[f32; 65536]>;

#[kernel]
pub fn run(mut out: DisjointSlice<f32>) {
    let t = thread::thread_idx_x() as usize;
    // SAFETY: each thread writes its own element.
    unsafe { TILE.write(t, 1.0) }; //~ ERROR: has 262144 bytes of shared statics
    sync_threads();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        // SAFETY: in bounds.
        *out = unsafe { TILE.read(1023 - t) };
    }
}
