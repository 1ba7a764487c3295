//! A kernel with many indices has a copy in which they have 32 bits, for launches whose lengths are small. There only the
//! checks stay that others do not imply. Whether a thread has an element is asked before the copy is chosen.
#![no_std]
use ptx::block::Reduce;
use ptx::prelude::*;
use ptx::{Disjoint2d, PerBlock};

// CHECK-LABEL: .visible .entry a_torus(
// CHECK: setp.gt.u64 {{.*}}, 1073741823;
// CHECK: setp.gt.u32 {{.*}}, 268435455;
// CHECK: setp.lt.u32
// CHECK: setp.lt.u32
// CHECK: setp.lt.u32
// CHECK: mov.pred
// CHECK: bra
// CHECK-NOT: setp.lt
// CHECK-NOT: setp.ge
// CHECK-NOT: max.u32
// CHECK: ld.global.nc.b32
// CHECK: mul.lo.s64
// CHECK: ld.global.nc.b32
// CHECK: setp.ge.u64
#[kernel(dimensions = 2)]
pub fn a_torus(from: &[u32], mut to: Disjoint2d<u32>) {
    let (width, height) = (to.width(), to.height());
    let at = thread::index_2d();
    let Some(to) = to.get_mut(at) else { return };
    let (x, y) = (at.x(), at.y());
    let columns = [if x == 0 { width - 1 } else { x - 1 }, x, if x + 1 == width { 0 } else { x + 1 }];
    let rows = [if y == 0 { height - 1 } else { y - 1 }, y, if y + 1 == height { 0 } else { y + 1 }];
    let mut sum = 0_u32;
    for row in rows {
        for column in columns {
            sum = sum.wrapping_add(from[row * width + column]);
        }
    }
    *to = sum;
}

// CHECK-LABEL: .visible .entry b_few(
// CHECK-NOT: 1073741823
// CHECK: st.global
#[kernel(dimensions = 2)]
pub fn b_few(from: &[u32], mut to: Disjoint2d<u32>) {
    let width = to.width();
    let at = thread::index_2d();
    if let Some(to) = to.get_mut(at) {
        *to = from[at.y() * width + at.x()];
    }
}

// CHECK-LABEL: .visible .entry c_box(
// CHECK: setp.gt.u32 {{.*}}, 268435455;
// CHECK: setp.lt.u32
// CHECK: setp.ge.u32
// CHECK: setp.ge.u32
// CHECK: mov.pred
// CHECK-NOT: setp.{{[lg]}}
// CHECK: mov.pred
// CHECK-NOT: setp
// CHECK-NOT: max.u32
// CHECK: ld.global.nc.b32
#[kernel(dimensions = 2)]
pub fn c_box(from: &[u32], mut to: Disjoint2d<u32>) {
    let (width, height) = (to.width(), to.height());
    let at = thread::index_2d();
    let Some(to) = to.get_mut(at) else { return };
    let (x, y) = (at.x(), at.y());
    if x == 0 || y == 0 || x + 1 == width || y + 1 == height {
        *to = 0;
        return;
    }
    let pixel = |row: usize, column: usize| from[(y + row - 1) * width + x + column - 1];
    let corners = pixel(0, 0) ^ pixel(0, 2) ^ pixel(2, 0) ^ pixel(2, 2);
    *to = corners ^ pixel(0, 1) ^ pixel(1, 0) ^ pixel(1, 2) ^ pixel(2, 1);
}

// What a loop would reach at last is asked in 32 bits, too, and nothing there can overflow.
// CHECK-LABEL: .visible .entry d_filter(
// CHECK: setp.gt.u32 {{.*}}, 268435455;
// CHECK-NOT: min.u64
// CHECK: min.u32
// CHECK: fma.rn.f32
#[kernel(dimensions = 2)]
pub fn d_filter(image: &[f32], weights: &[f32], mut out: Disjoint2d<f32>) {
    let at = thread::index_2d();
    let (width, height) = (out.width(), out.height());
    let Some(out) = out.get_mut(at) else { return };
    let mut sum = 0.0;
    for (dy, weights) in weights.chunks_exact(5).enumerate() {
        let y = (at.y() + dy).saturating_sub(2).min(height - 1);
        for (dx, weight) in weights.iter().enumerate() {
            let x = (at.x() + dx).saturating_sub(2).min(width - 1);
            sum += weight * image[y * width + x];
        }
    }
    *out = sum;
}

// The rows of a loop are parts of a slice that has an element for each of the view's: the loop asks nothing of them.
// CHECK-LABEL: .visible .entry e_rows(
// CHECK: setp.lt.u32 {{.*}}, 268435456;
// CHECK: setp.eq.s32
// CHECK: setp.lt.u32
// CHECK: setp.lt.u32
// CHECK-NOT: setp.
// CHECK: ld.global.nc.b8
#[kernel(dimensions = 2)]
pub fn e_rows(radius: usize, image: &[u8], mut out: Disjoint2d<u8>) {
    let at = thread::index_2d();
    let (width, height) = (out.width(), out.height());
    if let Some(out) = out.get_mut(at) {
        let rows = at.y().saturating_sub(radius)..(at.y() + radius + 1).min(height);
        let columns = at.x().saturating_sub(radius)..(at.x() + radius + 1).min(width);
        let count = (rows.len() * columns.len()) as u32;
        let sum: u32 = rows.flat_map(|y| &image[y * width..][columns.clone()]).map(|pixel| u32::from(*pixel)).sum();
        *out = ((sum + count / 2) / count) as u8;
    }
}

// Threads that meet have such a copy where it has no checks. A coordinate below 0 is none, and one within the view is a number.
// CHECK-LABEL: .visible .entry f_step(
// CHECK: setp.gt.u32 {{.*}}, 32767;
// CHECK-NOT: setp.{{[lg][te]}}.u64
// CHECK: ld.global.nc.b32
// CHECK: bar
// CHECK: setp.lt.u64
#[kernel(dimensions = 2, launch_bounds(256))]
pub fn f_step(
    old: &[f32],
    mut new: Disjoint2d<f32>,
    mut changes: PerBlock<f32>,
    #[shared] mut block: Reduce<f32, 256>,
) {
    let at = thread::index_2d();
    let (width, height) = (new.width(), new.height());
    let value = |dx: i32, dy: i32| {
        let x = usize::try_from(at.x() as i32 + dx).ok()?;
        let y = usize::try_from(at.y() as i32 + dy).ok()?;
        (x < width && y < height).then(|| old[y * width + x])
    };
    let change = new.get_mut(at).map_or(0.0, |new| {
        let around = [(-1, 0), (1, 0), (0, -1), (0, 1)].map(|(dx, dy)| value(dx, dy).unwrap_or(0.0));
        *new = 0.25 * around.iter().sum::<f32>();
        *new - value(0, 0).unwrap_or(0.0)
    });
    if let (Some(sum), Some(out)) = (block.sum_to_first(change * change), changes.part().get_mut()) {
        *out = sum;
    }
}
