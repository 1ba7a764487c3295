//! Rows behind those that are skipped: whether they are there is asked without a division, and no rows are skipped as others are.
#![no_std]
use ptx::Disjoint2d;
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry case(
// CHECK-NOT: rem.
// CHECK-NOT: div.
// CHECK-COUNT-3: ld.global.nc.b32
// CHECK-NOT: ld.global
// CHECK: st.global.b32
#[kernel(dimensions = 2)]
pub fn case(from: &[f32], mut to: Disjoint2d<f32>) {
    let width = to.width();
    let at = thread::index_2d();
    if let Some(to) = to.get_mut(at) {
        *to = column(from, width, at.x(), at.y()).unwrap_or_default();
    }
}

/// The sum of an element and those above and below it, if there are both.
fn column(from: &[f32], width: usize, x: usize, y: usize) -> Option<f32> {
    let mut rows = from.chunks_exact(width).skip(y.checked_sub(1)?);
    let mut sum = 0.0;
    for _ in 0..3 {
        sum += rows.next()?.get(x)?;
    }
    Some(sum)
}
