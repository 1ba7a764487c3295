//! Each space of memory has its loads and stores: shared, constant, local, global.
#![no_std]
use ptx::Shared;
use ptx::prelude::*;

#[ptx::shared]
static TILE: Shared<[f32; 256]>;

#[ptx::constant]
static TABLE: [f32; 8] = [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5];

// SASS-LABEL: .text.a_shared:
// SASS: STS
// SASS: BAR.SYNC
// SASS: LDS
// SASS: EXIT
#[kernel]
pub unsafe fn a_shared(data: *mut f32) {
    let t = thread::thread_idx_x() as usize % 256;
    unsafe {
        TILE.write(t, *data.add(t));
        sync_threads();
        *data.add(t) = TILE.read(255 - t);
    }
}

// SASS-LABEL: .text.b_constant:
// SASS: c[0x3][R
// SASS: EXIT
#[kernel]
pub unsafe fn b_constant(i: usize, out: *mut f32) {
    unsafe { *out = TABLE[i % 8] }
}

// SASS-LABEL: .text.c_local:
// SASS: STL
// SASS: LDL
// SASS: EXIT
#[kernel]
pub unsafe fn c_local(i: usize, j: usize, out: *mut u32) {
    let mut scratch = [0u32; 256];
    scratch[i % 256] = 5;
    unsafe { *out = scratch[j % 256] }
}
