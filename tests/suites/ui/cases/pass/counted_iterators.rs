//! What iterators and early ends of a round make of a loop is counted and unrolled like a plain one.
#![no_std]
use ptx::Disjoint2d;
use ptx::prelude::*;

// The order of two numbers is no number: they are compared. What a round does more than choose values is behind two branches.
// CHECK-LABEL: .visible .entry common(
// CHECK: ld.global.nc.b32
// CHECK: ld.global.nc.b32
// CHECK-NOT: selp.b16
// CHECK: setp.lt.u32
// CHECK-NOT: selp.b16
// CHECK: setp.ne.s32
#[kernel]
pub fn common(numbers: &[u32], middle: usize, mut counts: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(count) = counts.get_mut(i) {
        let (mut a, mut b) = numbers[i.get()..].split_at(middle);
        *count = 0;
        while let ([x, rest_of_a @ ..], [y, rest_of_b @ ..]) = (a, b) {
            match x.cmp(y) {
                core::cmp::Ordering::Less => a = rest_of_a,
                core::cmp::Ordering::Greater => b = rest_of_b,
                core::cmp::Ordering::Equal => {
                    (a, b) = (rest_of_a, rest_of_b);
                    *count += 1;
                }
            }
        }
    }
}

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
// CHECK: ret;
#[kernel]
pub fn triangle(packed: &[[f32; 21]], mut out: DisjointSlice<[[f32; 6]; 6]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = lower(&packed[i.get()]);
    }
}

fn lower<const N: usize>(packed: &[f32]) -> [[f32; N]; N] {
    let mut lower = [[0.0; N]; N];
    for row in 0..N {
        for column in 0..=row {
            let mut sum = packed[row * (row + 1) / 2 + column];
            for k in 0..column {
                sum -= lower[row][k] * lower[column][k];
            }
            lower[row][column] = if row == column { sum.sqrt() } else { sum / lower[column][column] };
        }
    }
    lower
}
