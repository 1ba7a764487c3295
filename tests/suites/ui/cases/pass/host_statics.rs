//! Statics that the host writes have symbols that it finds, and their loads stay; those that it does not write may be
//! folded.
#![no_std]
use ptx::atomic::Ordering;
use ptx::prelude::*;
use ptx::{Constant, Global};

mod tables {
    use super::*;

    #[ptx::constant]
    pub static WEIGHTS: Constant<[f32; 4]> = Constant::new([0.5, 0.25, 0.125, 0.0625]);
}

#[ptx::constant]
static FACTOR: Constant<u32> = Constant::new(3);

#[ptx::constant]
static FOLDED: u32 = 7;

#[ptx::global]
static COUNTS: Global<[u32; 2]> = Global::new([5, 0]);

#[ptx::global]
static UNUSED: Global<u64> = Global::new(9);

// CHECK-NOT: UNUSED
// CHECK-DAG: .visible .const .align 4 .b8 host_statics$FACTOR[4] = {3};
// CHECK-DAG: .visible .const .align 4 .b8 host_statics$tables$WEIGHTS[16] = {
// CHECK-DAG: .visible .global .align 4 .b8 host_statics$COUNTS[8] = {5};

// CHECK-LABEL: .visible .entry run(
// CHECK-DAG: ld.const.b32 {{.*}}, [host_statics$FACTOR];
// CHECK-DAG: ld.const.b32
// CHECK: mov.b64 {{.*}}, host_statics$COUNTS;
// CHECK: atom.relaxed.gpu.global.add.u32
// CHECK: ret;
#[kernel]
pub unsafe fn run(i: usize, out: *mut f32, numbers: *mut u32) {
    unsafe {
        *out = tables::WEIGHTS[i];
        *numbers = *FACTOR + FOLDED;
        *numbers.add(1) = COUNTS.atomics()[1].fetch_add(*numbers, Ordering::Relaxed);
    }
}
