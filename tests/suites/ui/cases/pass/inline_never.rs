//! `#[inline(never)]` is a call, with results in a register, in several, or behind a pointer; `#[inline(always)]` is none.
#![no_std]
use ptx::prelude::*;

#[inline(never)]
fn mixed(x: u32) -> u32 {
    x.wrapping_mul(2) ^ 5
}

#[inline(never)]
fn pair(x: u32, y: f32) -> (u32, f32) {
    (x + 1, y * 2.0)
}

#[inline(never)]
fn large(x: u32) -> [u32; 8] {
    [x; 8]
}

#[inline(always)]
fn plain(x: u32) -> u32 {
    x + 3
}

// CHECK-LABEL: .visible .entry calls(
// CHECK: .local .align 4 .b8 {{.*}}[32];
// CHECK: call.uni (retval0), {{.*}}5mixed, (param0);
// CHECK-NEXT: ld.param.b32 [[MIXED:%r[0-9]+]], [retval0];
// CHECK: st.volatile.global.b32 {{.*}}, [[MIXED]];
// CHECK: .param .align {{[0-9]+}} .b8 retval0[8];
// CHECK: call.uni (retval0), {{.*}}4pair, (param0, param1);
// CHECK: call.uni {{.*}}5large, (param0, param1);
// CHECK: ld.local.b32
// CHECK-NOT: call
// CHECK: add.s32 {{.*}}, 3;
// CHECK: ret;
#[kernel]
pub unsafe fn calls(x: u32, y: f32, out: *mut u32) {
    unsafe {
        out.write_volatile(mixed(x));
        let (a, b) = pair(x, y);
        out.write_volatile(a);
        out.write_volatile(b.to_bits());
        out.write_volatile(large(x)[3]);
        out.write_volatile(plain(x));
    }
}
