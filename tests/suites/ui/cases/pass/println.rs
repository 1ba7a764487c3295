//! `println!` is one call of `vprintf` with a constant format.
#![no_std]
use ptx::prelude::*;

// A crate that does not allocate gets nothing of the allocator.
// CHECK-NOT: malloc
// "x[%llu] = %8.3f "
// CHECK: {120, 91, 37, 108, 108, 117, 93, 32, 61, 32, 37, 56, 46, 51, 102, 32,
// CHECK-LABEL: .visible .entry show(
// CHECK: call.uni (retval0), vprintf
// CHECK-NOT: vprintf
// CHECK: ret;
#[kernel]
pub fn show(x: &[f32], n: u32) {
    let i = thread::index_1d();
    ptx::println!("x[{}] = {:8.3} {n:#010x} {:+}", i.get(), x[0], n as i32);
}
