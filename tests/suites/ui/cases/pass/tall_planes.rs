//! The copy of a kernel with indices of 32 bits runs where the elements of a plane are few, whatever its shape: of a
//! plane with 65,536 rows, too. One test asks for the product of the extents, with which the slice's length is compared
//! as well; another one for the product of the width and what rows are moved by.
#![no_std]
use ptx::Disjoint2d;
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry a_box(
// CHECK-NOT: 32767
// CHECK-NOT: 32768
// CHECK: mul.wide.u32 %rd[[PRODUCT:[0-9]+]], {{.*}};
// CHECK: cvt.u32.u64 %r[[LOW:[0-9]+]], %rd[[PRODUCT]];
// CHECK: add.s32 %r[[LESS:[0-9]+]], %r[[LOW]], -1;
// CHECK: setp.gt.u32 {{.*}}, %r[[LESS]], 268435455;
// CHECK: mov.b64 {tmp, %r[[HIGH:[0-9]+]]}, %rd[[PRODUCT]];
// CHECK: setp.ne.s32 {{.*}}, %r[[HIGH]], 0;
// CHECK: setp.lt.u32 {{.*}}, %r[[LOW]];
// CHECK: mov.pred
// CHECK-NOT: setp.{{[lg]}}
// CHECK: mov.pred
// CHECK-NOT: setp
// CHECK: ld.global.nc.b32
#[kernel(dimensions = 2)]
pub fn a_box(from: &[u32], mut to: Disjoint2d<u32>) {
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

// CHECK-LABEL: .visible .entry b_moved(
// CHECK-NOT: 32767
// CHECK-NOT: 32768
// CHECK-COUNT-2: mul.wide.u32
// CHECK: bra
// CHECK-NOT: setp.{{.*}}64
// CHECK: ld.global.nc.b32
#[kernel(dimensions = 2)]
pub fn b_moved(from: &[u32], rows: usize, mut to: Disjoint2d<u32>) {
    let (width, at) = (to.width(), thread::index_2d());
    let Some(to) = to.get_mut(at) else { return };
    let (x, y) = (at.x(), at.y());
    let value = |row: usize| from.get(row * width + x).copied().unwrap_or_default();
    *to = value(y + rows) ^ value(y + rows + 1) ^ value(y + rows + 2) ^ value(rows + 1) ^ value(rows + 2);
}
