//! What iterators and early ends of a round make of a loop is counted and unrolled like a plain one.
#![no_std]
use ptx::Disjoint2d;
use ptx::prelude::*;

// The element that an iterator is at and the one behind it are one address; so the rounds are counted, and four loads wait
// together.
// CHECK-LABEL: .visible .entry first_of_largest(
// CHECK: ld.global.nc.b32
// CHECK: .pragma "nounroll";
// CHECK-COUNT-4: ld.global.nc.b32
// CHECK: setp.gt.f32
#[kernel]
pub fn first_of_largest(x: &[f32], mut best: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let columns = best.len();
    if let Some(best) = best.get_mut(i) {
        let (at, _) = x
            .iter()
            .skip(i.get())
            .step_by(columns)
            .enumerate()
            .fold((0, f32::NEG_INFINITY), |best, (row, v)| if *v > best.1 { (row, *v) } else { best });
        *best = at as u32;
    }
}

// `continue` makes no loop within the loop, so that all nine rounds stand one behind the other.
// CHECK-LABEL: .visible .entry nine(
// CHECK-COUNT-9: fma.rn.f32
#[kernel(dimensions = 2)]
pub fn nine(x: &[f32], weights: &[f32; 9], width: u32, height: u32, mut out: Disjoint2d<f32>) {
    let at = thread::index_2d();
    let Some(out) = out.get_mut(at) else { return };
    let (column, row) = (at.x() as u32, at.y() as u32);
    let mut sum = 0.0;
    for dy in 0..3 {
        let y = (row + dy).wrapping_sub(1);
        if y >= height {
            continue;
        }
        for dx in 0..3 {
            let x0 = (column + dx).wrapping_sub(1);
            if x0 >= width {
                continue;
            }
            sum += x[(y * width + x0) as usize] * weights[(dy * 3 + dx) as usize];
        }
    }
    *out = sum;
}

// A range with its end is a number of rounds, too, where a panic of one says which it was: the triangle needs no memory.
// CHECK-LABEL: .visible .entry triangle(
// CHECK-NOT: .local
// CHECK: .visible .entry
#[kernel]
pub fn triangle(packed: &[[f32; 10]], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let packed: &[f32] = &packed[i.get()];
        let mut lower = [[0.0; 4]; 4];
        for row in 0..4 {
            for column in 0..=row {
                let mut sum = packed[row * (row + 1) / 2 + column];
                for k in 0..column {
                    sum -= lower[row][k] * lower[column][k];
                }
                lower[row][column] = if row == column { sum.sqrt() } else { sum / lower[column][column] };
            }
        }
        *out = lower[3][3];
    }
}

// The order of two numbers is no number: they are compared.
// CHECK-LABEL: .visible .entry common(
// CHECK-NOT: brx
// CHECK: setp.lt.u32
// CHECK-NOT: selp.b32 {{.*}}, -1,
// CHECK: ret;
#[kernel]
pub fn common(lists: &[[u32; 64]], mut counts: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(count) = counts.get_mut(i) {
        let (a, b) = (&lists[2 * i.get()], &lists[2 * i.get() + 1]);
        let (mut at_a, mut at_b, mut found) = (0, 0, 0);
        while let (Some(x), Some(y)) = (a.get(at_a), b.get(at_b)) {
            match x.cmp(y) {
                core::cmp::Ordering::Less => at_a += 1,
                core::cmp::Ordering::Greater => at_b += 1,
                core::cmp::Ordering::Equal => {
                    (at_a, at_b) = (at_a + 1, at_b + 1);
                    found += 1;
                }
            }
        }
        *count = found;
    }
}
