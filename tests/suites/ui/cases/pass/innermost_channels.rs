//! An image whose channels are innermost: which channel it is, is what a division has left.
#![no_std]
use ptx::prelude::*;

// The copy that stands first asks for no index once all weights and the image are known to be there: it has a branch for each
// neighbour, and the last one's loads are its own.
// CHECK-LABEL: .visible .entry a_depthwise(
// CHECK: , 2097152;
// CHECK: bra
// CHECK: bra.uni
// CHECK-COUNT-7: @%p{{[0-9]+}} bra
// CHECK-NOT: bra
// CHECK: fma.rn.f32
// CHECK-NOT: bra
// CHECK: st.global.b32
#[kernel(dimensions = 1)]
pub fn a_depthwise(x: &[f32], weights: &[f32], width: u32, height: u32, channels: u32, mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let Some(out) = out.get_mut(i) else { return };
    let i = i.get() as u32;
    let (pixel, c) = (i / channels, i % channels);
    let (col, row) = (pixel % width, pixel / width);
    let mut sum = 0.0;
    if row < height {
        for k in 0..7 {
            let Some(x0) = (col + k).checked_sub(3) else { continue };
            if x0 < width {
                sum += weights[(k * channels + c) as usize] * x[((row * width + x0) * channels + c) as usize];
            }
        }
    }
    *out = sum;
}
