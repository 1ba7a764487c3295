//! A volume whose layers lie below each other, with coordinates that were taken apart by a division: the element of the layer before
//! or behind is that of a row nearby, whose index has 32 bits where lengths are small, and is seen to be inside.
#![no_std]
use ptx::Disjoint2d;
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry case(
// CHECK: setp.lt.u64 {{.*}}, 1073741824;
// CHECK: setp.lt.u64 {{.*}}, 32768;
// CHECK: mul.wide.u32
// CHECK: div.u32
// CHECK: div.u32
// CHECK-NOT: mul{{.*}}64
// CHECK-NOT: mad{{.*}}64
// CHECK-NOT: setp.{{lt|ge}}.u64
// CHECK-COUNT-3: ld.global.nc.b32
#[kernel(dimensions = 2)]
pub fn case(from: &[f32], layer_height: usize, mut to: Disjoint2d<f32>) {
    let at = thread::index_2d();
    let (width, height, depth) = (to.width(), layer_height, to.height() / layer_height);
    let Some(to) = to.get_mut(at) else { return };
    let (x, y, z) = (at.x(), at.y() % height, at.y() / height);
    let value = |z: usize| from[(z * height + y) * width + x];
    if (1..depth - 1).contains(&z) {
        *to = value(z - 1) + value(z) + value(z + 1);
    }
}
