//! What is known at compile time is a number in the PTX: `const fn`, lengths, branches on constants.
#![no_std]
use ptx::prelude::*;

const fn factorial(n: u64) -> u64 {
    if n < 2 { 1 } else { n * factorial(n - 1) }
}

struct Matrix<const N: usize>([f32; N]);

impl<const N: usize> Matrix<N> {
    const SIDE: usize = N.isqrt();
}

// CHECK-LABEL: .visible .entry constants(
// CHECK: st.volatile.global.b64 [{{.*}}], 479001600;
// CHECK-NEXT: st.volatile.global.b64 [{{.*}}], 5;
// CHECK-NEXT: st.volatile.global.b64 [{{.*}}], 4;
// CHECK-NEXT: st.volatile.global.b64 [{{.*}}], 24;
// CHECK-NEXT: ret;
#[kernel]
pub unsafe fn constants(out: *mut u64) {
    unsafe {
        out.write_volatile(const { factorial(12) });
        out.write_volatile("hello".len() as u64);
        out.write_volatile(Matrix::<16>::SIDE as u64);
        if size_of::<Matrix<6>>() == 24 {
            out.write_volatile(24);
        } else {
            out.write_volatile(1);
        }
    }
}
