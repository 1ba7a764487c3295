//! Shared parameters: static shared memory that the kernel's entry makes, and a barrier of its own for each object,
//! aligned where all threads come together.
#![no_std]
use ptx::Disjoint2d;
use ptx::prelude::*;
use ptx::shared::{Array2d, SharedBuffers, SharedTile, Slices};

// CHECK: .extern .shared .align 128 .b8 __ptx_dynamic_shared[];

// Two copies, and a barrier a step; the front is never the back.
// CHECK-LABEL: .visible .entry buffers(
// CHECK: .shared .align 8 .b8 {{.*}}steps[1024];
// CHECK: st.shared.b64 {{.*}}+512]
// CHECK: barrier.sync 1;
// CHECK: ld.shared.b64 {{.*}}+512]
// CHECK: st.shared.b64 {{.*}}[%rd{{[0-9]+}}],
// CHECK: barrier.sync 1;
// CHECK: ld.shared.b64 {{.*}}, [%rd{{[0-9]+}}];
#[kernel(dimensions = 1)]
pub fn buffers(mut data: DisjointSlice<u64>, #[shared] mut steps: SharedBuffers<[u64; 64]>) {
    let t = thread::thread_idx_x() as usize;
    let Some(data) = data.get_mut(thread::index_1d()) else { return };
    for distance in [1, 2, 4] {
        steps.own().set(*data);
        steps.swap();
        *data += steps[(t + distance) % 64];
    }
}

// Threads that come one by one: the form that is defined for them.
// CHECK-LABEL: .visible .entry diverging(
// CHECK: barrier.sync 1;
#[kernel(dimensions = 1)]
pub fn diverging(mut data: DisjointSlice<u32>, #[shared] mut tile: SharedTile<[u32; 64]>) {
    tile.own().set(1);
    if let Some(data) = data.get_mut(thread::index_1d()) {
        let tile = tile.publish();
        *data = tile[5];
    }
}

// The lengths of the parts are the second parameter, after pointer and length of the first.
// CHECK-LABEL: .visible .entry dynamic(
// CHECK: .param .u64 dynamic_param_1,
// CHECK-NEXT: .param .align 4 .b8 dynamic_param_2[8]
// CHECK: st.shared.b8
// CHECK: bar.sync 1;
// CHECK: ld.shared.b16
#[kernel(dimensions = 1)]
pub fn dynamic(mut data: DisjointSlice<u16>, #[shared(dynamic)] mut memory: SharedTile<Slices<(u8, u16)>>) {
    let t = thread::thread_idx_x() as usize;
    let (mut bytes, mut words) = memory.own();
    bytes.set(7);
    words.set(9);
    let memory = memory.publish();
    let (bytes, words) = memory.get();
    if let Some(data) = data.get_mut(thread::index_1d()) {
        *data = words[0] + u16::from(bytes[t / 2]);
    }
}

// A thread reads four elements before it writes one, with checks and without, and does not count how many it has. All
// rounds of a loop of a known number are written out.
// CHECK-LABEL: .visible .entry filled(
// CHECK-NOT: div
// CHECK-COUNT-4: ld.global.nc.b32
// CHECK-COUNT-4: st.shared.b32
// CHECK-COUNT-4: ld.global.nc.b32
// CHECK-COUNT-4: st.shared.b32
// CHECK-NOT: st.shared
// CHECK: bar.sync 1;
// CHECK-COUNT-32: fma.rn.f32
#[kernel(dimensions = 2)]
pub fn filled(a: &[f32], n: usize, mut out: Disjoint2d<f32>, #[shared] mut tile: SharedTile<Array2d<f32, 32, 32>>) {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    tile.own().fill(|row, column| a[row * n + column]);
    let tile = tile.publish();
    let mut sum = 0.0;
    for k in 0..32 {
        sum += tile[y][k] * tile[k][x];
    }
    if let Some(out) = out.get_mut(thread::index_2d()) {
        *out = sum;
    }
}

// No parameters for the host but the first; the objects have the barriers 1 and 2.
// CHECK-LABEL: .visible .entry reverse(
// CHECK: .param .u64 reverse_param_1
// CHECK-NEXT: )
// CHECK: .shared .align 4 .b8 {{.*}}tile[1024];
// CHECK: .shared .align 4 .b8 {{.*}}other[128];
// CHECK: st.shared.b32
// CHECK: bar.sync 1;
// CHECK: ld.shared.b32
// CHECK: bar.sync 1;
// CHECK: st.shared.b32
// CHECK: bar.sync 2;
// CHECK-NOT: isspacep
#[kernel(dimensions = 1)]
pub fn reverse(
    mut data: DisjointSlice<f32>,
    #[shared] mut tile: SharedTile<[f32; 256]>,
    #[ptx::shared] mut other: SharedTile<Array2d<u32, 8, 4>>,
) {
    let t = thread::thread_idx_x() as usize;
    tile.own().set(1.5 * t as f32);
    let view = tile.publish();
    let first = view.get()[255 - t];
    tile = view.reclaim();
    tile.own().set(first);
    other.own().set(7);
    let other = other.publish();
    if let Some(data) = data.get_mut(thread::index_1d()) {
        *data = first + other[3][t % 8] as f32;
    }
}
