//! Loops that are written out or made one, and checks that one test is enough for.
#![no_std]
use ptx::prelude::*;
use ptx::{Disjoint2d, PerThread};

// The rounds of two arrays in turn: the state stays in registers.
// CHECK-LABEL: .visible .entry a_quarter_rounds(
// CHECK-NOT: .local
// CHECK: ret;
#[kernel(dimensions = 1)]
pub fn a_quarter_rounds(mut blocks: PerThread<u32, 8>) {
    const COLUMNS: [[usize; 3]; 2] = [[0, 2, 4], [1, 3, 5]];
    const DIAGONALS: [[usize; 3]; 3] = [[0, 3, 6], [1, 4, 7], [2, 5, 0]];
    if let Some(block) = blocks.array() {
        let mut x = *block;
        for _ in 0..10 {
            for [a, b, c] in COLUMNS.into_iter().chain(DIAGONALS) {
                x[b] ^= x[a].wrapping_add(x[c]).rotate_left(7);
                x[c] ^= x[b].wrapping_add(x[a]).rotate_left(9);
            }
        }
        *block = x;
    }
}

// A triangle of larger ones of two floats.
// CHECK-LABEL: .visible .entry b_american(
// CHECK-NOT: .local
// CHECK: ret;
#[kernel(dimensions = 1)]
pub fn b_american(up: f32, strike: f32, mut prices: DisjointSlice<f32>) {
    if let Some(price) = prices.get_mut(thread::index_1d()) {
        let mut values = [0.0_f32; 17];
        let mut lowest = *price;
        for value in &mut values {
            *value = (strike - lowest).max(0.0);
            lowest *= up;
        }
        for len in (1..17).rev() {
            let mut at = *price;
            for j in 0..len {
                let later = 0.4 * values[j] + 0.6 * values[j + 1];
                values[j] = later.max((strike - at).max(0.0));
                at *= up;
            }
        }
        *price = values[0];
    }
}

// Nine neighbours, clamped to the image, are all in a slice that has as many elements as the image: one test, by the product.
// CHECK-LABEL: .visible .entry c_clamped(
// CHECK: mul.wide.u32
// CHECK: bra
// CHECK-COUNT-9: ld.global.nc.b32
// CHECK: st.global.b32
#[kernel(dimensions = 2)]
pub fn c_clamped(image: &[f32], width: i32, height: i32, mut out: Disjoint2d<f32>) {
    let at = thread::index_2d();
    if let Some(out) = out.get_mut(at) {
        let (x, y) = (at.x() as i32, at.y() as i32);
        let mut sum = 0.0;
        for dy in 0..3 {
            let row = (y + dy - 1).clamp(0, height - 1);
            for dx in 0..3 {
                sum += image[(row * width + (x + dx - 1).clamp(0, width - 1)) as usize];
            }
        }
        *out = sum;
    }
}

// The search for the first is the loop over the rest: a round is there five times in each of two copies.
// CHECK-LABEL: .visible .entry d_nearest(
// CHECK-COUNT-10: sqrt.rn.f32
// CHECK-NOT: sqrt.rn.f32
// CHECK: ret;
#[kernel(dimensions = 1)]
pub fn d_nearest(spheres: &[[f32; 2]], mut rays: DisjointSlice<f32>) {
    let Some(ray) = rays.get_mut(thread::index_1d()) else { return };
    let x = *ray;
    let hit = |sphere: &[f32; 2]| {
        let b = sphere[0] * x;
        let d = b * b - sphere[1];
        if d < 0.0 {
            return None;
        }
        let t = b - d.sqrt();
        (t > 0.0).then_some(t)
    };
    let nearest = spheres.iter().filter_map(|sphere| hit(sphere).map(|t| (t, sphere)));
    *ray = nearest.min_by(|(a, _), (b, _)| a.total_cmp(b)).map_or(-1.0, |(t, sphere)| t * sphere[1]);
}

// Sixteen words of a thread's own have one check.
// CHECK-LABEL: .visible .entry e_words(
// CHECK: setp
// CHECK: bra
// CHECK-COUNT-16: ld.global.nc.b32
// CHECK: st.global.b32
#[kernel(dimensions = 1)]
pub fn e_words(words: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let mut all = [0; 16];
        for k in 0..16 {
            all[k] = words[i.get() * 16 + k];
        }
        *out = all.iter().fold(0, |sum: u32, word| sum.rotate_left(5) ^ word);
    }
}

// Both arms load without an end in them.
// CHECK-LABEL: .visible .entry f_arms(
// CHECK-COUNT-2: ld.global.nc.b8
// CHECK: setp.{{eq|ne}}
// CHECK-COUNT-2: ld.global.nc.b32
// CHECK: ret;
#[kernel(dimensions = 1)]
pub fn f_arms(a: &[u8], b: &[u8], one: &[u32], other: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let i = i.get();
        *out = if a[i] == b[i] { one[i] + 1 } else { other[i] };
    }
}
