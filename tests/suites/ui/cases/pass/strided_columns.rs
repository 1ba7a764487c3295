//! A thread that walks down a column of a volume keeps no address of each layer, and checks no neighbour in a round.
//! As `cargo ptx` has rustc compile it, which would unroll the loop that fills the column.
//@ arch: sm_90
//@ compile-flags: -Clinker-plugin-lto
#![no_std]
use ptx::DisjointStrided;
use ptx::prelude::*;

// Two rounds without a check of a neighbour, whose addresses grow, and one with checks, for what is not all inside; threads at
// the edge have the first loop, as they look at no neighbour.
// CHECK-LABEL: .visible .entry a_smooth(
// CHECK-NOT: .local
// CHECK-COUNT-16: ld.global.nc.b32
// CHECK-NOT: ld.global
// CHECK-LABEL: .visible .entry b_sum(
#[kernel(dimensions = 1)]
pub fn a_smooth(from: &[f32], width: usize, mut to: DisjointStrided<f32, 64>) {
    let i = thread::index_1d();
    let (layer, first) = (to.stride(), to.first(i));
    let Some(column) = to.get_mut(i) else { return };
    let (x, y, height) = (first % width, first / width, layer / width);
    let is_edge = x == 0 || x == width - 1 || y == 0 || y == height - 1;
    let mut above = 0.0;
    let mut here = from[first];
    for (z, to) in column.into_iter().enumerate() {
        let at = first + z * layer;
        let below = from.get(at + layer).copied().unwrap_or(0.0);
        *to = if is_edge {
            here
        } else {
            let around = from[at - 1] + from[at + 1] + from[at - width] + from[at + width];
            0.4 * here + 0.1 * (above + below + around)
        };
        (above, here) = (here, below);
    }
}

// CHECK-NOT: .local
// CHECK-NOT: ld.local
// CHECK-LABEL: .visible .entry c_end(
#[kernel(dimensions = 1)]
pub fn b_sum(from: &[f32], mut to: DisjointStrided<f32, 256>) {
    let i = thread::index_1d();
    let (layer, first) = (to.stride(), to.first(i));
    let Some(column) = to.get_mut(i) else { return };
    let mut sum = 0.0;
    for (z, to) in column.into_iter().enumerate() {
        sum += from[first + z * layer];
        *to = sum;
    }
}

// CHECK: ret
#[kernel]
pub fn c_end() {}
