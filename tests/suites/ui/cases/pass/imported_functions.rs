//! Calls of imported functions: what the guide's §2.3 asks of a caller. Here another module defines them, by the same ABI.
#![no_std]
use ptx::prelude::*;

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C, align(32))]
pub struct Wide {
    pub values: [f32; 8],
}

mod definitions {
    use super::Wide;

    #[ptx::device(export = "C++", namespace = "lib")]
    #[inline(never)]
    pub fn scale(wide: Wide, by: i8) -> Wide {
        Wide { values: wide.values.map(|value| value * f32::from(by)) }
    }

    #[ptx::device(export)]
    #[inline(never)]
    pub fn first(values: &[u8]) -> u8 {
        if values.is_empty() { 0 } else { values[0] }
    }
}

#[device(import, namespace = "lib")]
unsafe extern "C++" {
    safe fn scale(wide: Wide, by: i8) -> Wide;
}

#[device(import)]
unsafe extern "C" {
    #[link_name = "first"]
    safe fn head(values: &[u8]) -> u8;
}

// CHECK-LABEL: .visible .func{{.*}} _ZN3lib5scaleE4Widea(
// CHECK-LABEL: .visible .func{{.*}} first(
#[kernel]
pub fn run(wide: Wide, by: i8, bytes: &[u8], mut out: DisjointSlice<f32>) {
    let scaled = scale(wide, by);
    let first = f32::from(head(bytes));
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = scaled.values[i.get() % 8] + first;
    }
}
