//! Loops of safe Rust: checks that hold in every round go, so that the loop is unrolled, and arrays and tables that a loop
//! indexes become registers and constants.
#![no_std]
use ptx::atomic::{AtomicSlice, Device, Ordering};
use ptx::prelude::*;

// Both indices are checked once, before the loop, and four rounds follow without a branch.
// CHECK-LABEL: .visible .entry a_product(
// CHECK: mul.hi.u64
// CHECK: fma.rn.f32
// CHECK-NOT: bra
// CHECK: fma.rn.f32
// CHECK-NOT: bra
// CHECK: fma.rn.f32
// CHECK-NOT: bra
// CHECK: fma.rn.f32
#[kernel]
pub fn a_product(a: &[f32], b: &[f32], n: usize, row: usize, mut out: DisjointSlice<f32>) {
    let column = thread::index_1d();
    if let Some(out) = out.get_mut(column) {
        let mut sum = 0.0;
        for k in 0..n {
            sum += a[row * n + k] * b[k * n + column.get()];
        }
        *out = sum;
    }
}

// The array's iterator is in registers.
// CHECK-LABEL: .visible .entry b_window(
// CHECK-NOT: .local
// CHECK: fma.rn.f32
// CHECK: ret;
#[kernel]
pub fn b_window(x: &[f32], mut out: DisjointSlice<f32>) {
    const WEIGHTS: [f32; 5] = [0.1, 0.2, 0.4, 0.2, 0.1];
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = match x.get(i.get()..i.get() + WEIGHTS.len()) {
            Some(window) => window.iter().zip(WEIGHTS).map(|(x, weight)| x * weight).sum(),
            None => 0.0,
        };
    }
}

// The table's numbers are the code's: nothing is loaded from it, and no index into `words` is checked.
// CHECK-LABEL: .visible .entry c_table(
// CHECK-NOT: [{{.*}}ORDER
// CHECK: xor.b32
// CHECK-NOT: {{st.volatile.global.(v2.u32 .*[+]16\]|u64 .*[+]32\])}}
// CHECK: ret;
#[kernel]
pub fn c_table(words: &[u32; 8], mut out: DisjointSlice<u32>) {
    static ORDER: [[usize; 4]; 6] =
        [[0, 1, 2, 3], [4, 5, 6, 7], [7, 0, 6, 1], [5, 2, 4, 3], [3, 6, 1, 4], [2, 7, 5, 0]];
    if let Some(out) = out.get_mut(thread::index_1d()) {
        let mut value = *out;
        for [a, b, c, d] in &ORDER {
            value = (value ^ words[*a]).rotate_left(7).wrapping_add(words[*b] ^ words[*c]).wrapping_mul(words[*d]);
        }
        *out = value;
    }
}

// Four indices are loaded and checked before anything is loaded with them, and what follows has no branch.
// CHECK-LABEL: .visible .entry d_gathered(
// CHECK-COUNT-4: ld.global.nc.b32
// CHECK: bra.uni
// CHECK-NOT: bra
// CHECK-COUNT-4: add.f32
// CHECK: bra
// CHECK: .pragma "nounroll";
#[kernel]
pub fn d_gathered(columns: &[u32], x: &[f32], mut out: DisjointSlice<f32>) {
    let row = thread::index_1d();
    if let Some(out) = out.get_mut(row) {
        *out = columns[row.get()..].iter().map(|column| x[*column as usize]).sum();
    }
}

// One register has the count: it is the result, however the loop ends, and counted last.
// CHECK-LABEL: .visible .entry e_escape(
// CHECK: setp.gt.f32
// CHECK: add.s32 [[COUNT:%r[0-9]+]], {{.*}}, 1;
// CHECK: xor.b32 {{.*}}, [[COUNT]],
// CHECK: st.global.b32 [{{.*}}], [[COUNT]];
#[kernel]
pub fn e_escape(limit: u32, mut out: DisjointSlice<u32>) {
    let at = thread::index_1d();
    if let Some(out) = out.get_mut(at) {
        *out = escape_time(at.get_u32() as f32 * 1e-3, limit);
    }
}

fn escape_time(c: f32, limit: u32) -> u32 {
    let (mut x, mut y) = (0.0_f32, 0.0_f32);
    for n in 0..limit {
        if x * x + y * y > 4.0 {
            return n;
        }
        (x, y) = (x * x - y * y + c, 2.0 * x * y + c);
    }
    limit
}

// A round remembers whether it has stored something, and the loop has one end all the same: four neighbours are loaded and
// checked before anything is loaded with them.
// CHECK-LABEL: .visible .entry f_frontier(
// CHECK: ld.global.nc.b32 {{.*}}+12];
// CHECK: bra
// CHECK-NOT: bra
// CHECK-COUNT-4: ld.global.nc.b32
// CHECK: bra
// CHECK-COUNT-4: st.relaxed.gpu.global.b32
// CHECK: .pragma "nounroll";
#[kernel]
pub fn f_frontier(
    edges: &[u32],
    levels: &[u32],
    level: u32,
    next: AtomicSlice<u32, Device>,
    changed: AtomicSlice<u32, Device>,
) {
    let mut any = false;
    for &neighbour in edges {
        if levels[neighbour as usize] == u32::MAX {
            next[neighbour as usize].store(level, Ordering::Relaxed);
            any = true;
        }
    }
    if any {
        changed[0].store(1, Ordering::Relaxed);
    }
}
