//! A local array is memory in neither copy of a kernel of which one has no checks.
#![no_std]
use ptx::Disjoint2d;
use ptx::prelude::*;

const WEIGHTS: [i32; 3] = [1, 2, 1];

// CHECK-LABEL: .visible .entry blurred(
// CHECK-NOT: .local
// CHECK-COUNT-9: ld.global.nc.b8
// CHECK-NOT: st.local
#[kernel(dimensions = 2)]
pub fn blurred(image: &[u8], mut out: Disjoint2d<u8>) {
    let at = thread::index_2d();
    let (width, height) = (out.width() as i32, out.height() as i32);
    let Some(out) = out.get_mut(at) else { return };
    let mut sum = 0;
    for (dy, wy) in (-1..=1).zip(WEIGHTS) {
        let y = (at.y() as i32 + dy).clamp(0, height - 1);
        for (dx, wx) in (-1..=1).zip(WEIGHTS) {
            let x = (at.x() as i32 + dx).clamp(0, width - 1);
            sum += wy * wx * i32::from(image[(y * width + x) as usize]);
        }
    }
    *out = (sum >> 4) as u8;
}
