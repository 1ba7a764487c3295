//! A dense match on numbers reads a table; one on actions jumps through one; two arms are a selection.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry a_table(
// CHECK: mov.b64 {{.*}}, [[TABLE:switch.*table.*]];
// CHECK: ld.global.nc.b32
// CHECK-NOT: brx.idx
// CHECK: ret;
#[kernel]
pub unsafe fn a_table(i: u32, out: *mut u32) {
    unsafe {
        *out = match i {
            0 => 17,
            1 => 4,
            2 => 99,
            3 => 3,
            4 => 58,
            5 => 21,
            _ => 0,
        }
    }
}

// CHECK-LABEL: .visible .entry b_jump(
// CHECK: .branchtargets
// CHECK-COUNT-6: $L_
// CHECK: brx.idx
// SASS-LABEL: .text.b_jump:
// SASS: BRX
#[kernel]
pub unsafe fn b_jump(i: u32, a: u32, out: *mut u32) {
    unsafe {
        match i {
            0 => out.write_volatile(a),
            1 => out.add(a as usize).write_volatile(4),
            2 => {
                out.write_volatile(1);
                out.write_volatile(2);
            }
            3 => out.write_volatile(a * a),
            4 => out.write_volatile(a / 3),
            5 => out.write_volatile(a ^ 5),
            _ => {}
        }
    }
}

// CHECK-LABEL: .visible .entry c_selection(
// CHECK-NOT: bra
// CHECK: selp.b32 {{.*}}, 7, 9,
// CHECK-NOT: bra
// CHECK: ret;
#[kernel]
pub unsafe fn c_selection(flag: bool, out: *mut u32) {
    unsafe { *out = if flag { 7 } else { 9 } }
}
