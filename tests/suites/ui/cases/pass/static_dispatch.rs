//! A call through a generic is direct, and one through a trait object whose type is known is, too.
#![no_std]
use ptx::prelude::*;

trait Operation {
    fn apply(&self, x: u32) -> u32;
}

struct Add(u32);

impl Operation for Add {
    fn apply(&self, x: u32) -> u32 {
        x + self.0
    }
}

fn twice(operation: &impl Operation, x: u32) -> u32 {
    operation.apply(operation.apply(x))
}

// CHECK-LABEL: .visible .entry by_generic(
// CHECK-NOT: call
// CHECK: shl.b32 {{.*}}, 1;
// CHECK-NOT: call
// CHECK: ret;
#[kernel]
pub unsafe fn by_generic(x: u32, out: *mut u32) {
    unsafe { *out = twice(&Add(x), 7) }
}

// CHECK-LABEL: .visible .entry known_object(
// CHECK-NOT: call
// CHECK: add.s32 {{.*}}, 4;
// CHECK-NOT: call
// CHECK: ret;
#[kernel]
pub unsafe fn known_object(x: u32, out: *mut u32) {
    let object: &dyn Operation = &Add(4);
    unsafe { *out = object.apply(x) }
}
