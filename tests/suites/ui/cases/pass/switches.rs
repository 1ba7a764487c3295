//! A dense match on numbers reads a table; one on many actions jumps through one, on a few compares; two arms are a
//! selection.
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

// CHECK-LABEL: .visible .entry b_compare(
// CHECK-NOT: brx.idx
// CHECK: ret;
#[kernel]
pub unsafe fn b_compare(i: u32, a: u32, out: *mut u32) {
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

// CHECK-LABEL: .visible .entry c_jump(
// CHECK: .branchtargets
// CHECK-COUNT-32: $L_
// CHECK: brx.idx
// SASS-LABEL: .text.c_jump:
// SASS: BRX
#[kernel]
pub unsafe fn c_jump(i: u32, a: u32, out: *mut u32) {
    macro_rules! store {
        ($($n:literal)*) => {
            match i {
                $($n => out.add((a * $n ^ (a >> ($n % 7))) as usize).write_volatile(a + $n),)*
                _ => {}
            }
        };
    }
    unsafe { store!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31) }
}

// CHECK-LABEL: .visible .entry d_selection(
// CHECK-NOT: bra
// CHECK: selp.b32 {{.*}}, 7, 9,
// CHECK-NOT: bra
// CHECK: ret;
#[kernel]
pub unsafe fn d_selection(flag: bool, out: *mut u32) {
    unsafe { *out = if flag { 7 } else { 9 } }
}
