//! Two places that say the same are one, if they are reached from different sides.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry a_by_two_ways(
// CHECK: atom.global.exch.b64
// CHECK-NOT: atom.global.exch.b64
// CHECK: nanosleep.u32
#[kernel]
pub unsafe fn a_by_two_ways(x: u32, limit: u32, odd: bool, out: *mut u32) {
    unsafe {
        if odd {
            out.write_volatile(1);
            below(x, limit);
            out.write_volatile(x + 1);
        } else {
            out.write_volatile(2);
            below(x, limit);
            out.write_volatile(x * 2);
        }
    }
}

// So are two whose numbers differ: which one it is follows from the side.
// CHECK-LABEL: .visible .entry b_by_two_values(
// CHECK: atom.global.exch.b64
// CHECK-NOT: atom.global.exch.b64
// CHECK: nanosleep.u32
#[kernel]
pub unsafe fn b_by_two_values(x: u32, limit: u32, odd: bool, out: *mut u32) {
    unsafe {
        if odd {
            out.write_volatile(1);
            below(x ^ 5, limit);
            out.write_volatile(x + 1);
        } else {
            out.write_volatile(2);
            below(x ^ 6, limit);
            out.write_volatile(x * 2);
        }
    }
}

#[inline(always)]
fn below(x: u32, limit: u32) {
    if x >= limit {
        panic!("{x} is not below {limit}");
    }
}
