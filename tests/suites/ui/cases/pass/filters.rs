//! Loops of filters, scanners and updates: neighbours that are known to be inside, windows of known size, choices without
//! branches.
#![no_std]
use ptx::Disjoint2d;
use ptx::prelude::*;

// Where the image has as many elements as the view, no index is checked, and the elements of a row have one address.
// CHECK-LABEL: .visible .entry a_edges(
// CHECK: , [%rd{{[0-9]+}}+-4];
// CHECK-NOT: u64
// CHECK: , [%rd{{[0-9]+}}+4];
// CHECK-NOT: u64
// CHECK: , [%rd{{[0-9]+}}+32];
#[kernel(dimensions = 2)]
pub fn a_edges(image: &[f32], weights: &[[f32; 3]; 3], mut out: Disjoint2d<f32>) {
    let at = thread::index_2d();
    let (width, height) = (out.width() as i32, out.height() as i32);
    let Some(out) = out.get_mut(at) else { return };
    let (x, y) = (at.x() as i32, at.y() as i32);
    let mut sum = 0.0;
    for dy in -1..=1 {
        for dx in -1..=1 {
            let (x, y) = (x + dx, y + dy);
            if (0..width).contains(&x) && (0..height).contains(&y) {
                sum += weights[(dy + 1) as usize][(dx + 1) as usize] * image[(y * width + x) as usize];
            }
        }
    }
    *out = sum;
}

// Three elements, one behind the other.
// CHECK-LABEL: .visible .entry b_window(
// CHECK: ld.global.nc.b32 %r{{[0-9]+}}, [%rd{{[0-9]+}}+-4];
// CHECK-NOT: bra
// CHECK: ld.global.nc.b32 %r{{[0-9]+}}, [%rd{{[0-9]+}}+4];
// CHECK-NOT: bra
// CHECK: st.global.b32
#[kernel(dimensions = 1)]
pub fn b_window(x: &[f32], mut out: DisjointSlice<f32>) {
    let index = thread::index_1d();
    let (i, n) = (index.get(), x.len());
    if let Some(out) = out.get_mut(index) {
        if i >= 1 && i + 1 < n {
            for k in i - 1..=i + 1 {
                *out += x[k] * x[k];
            }
        }
    }
}

// The table's numbers are the code's, also where a round may end early.
// CHECK-LABEL: .visible .entry c_table(
// CHECK-NOT: .local
// CHECK: , [%rd{{[0-9]+}}+-32];
// CHECK: , [%rd{{[0-9]+}}+-4];
// CHECK: , [%rd{{[0-9]+}}+4];
// CHECK: , [%rd{{[0-9]+}}+32];
#[kernel(dimensions = 1)]
pub fn c_table(x: &[f32], mut out: DisjointSlice<f32>) {
    const STEPS: [(isize, f32); 4] = [(-8, 1.5), (-1, 2.5), (1, 3.5), (8, 4.5)];
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let mut least = *out;
        for (step, cost) in STEPS {
            let Some(near) = i.get().checked_add_signed(step) else { continue };
            if let Some(x) = x.get(near) {
                least = least.min(x + cost);
            }
        }
        *out = least;
    }
}

// The array is registers, though it takes more than a thousand steps.
// CHECK-LABEL: .visible .entry d_triangle(
// CHECK-NOT: .local
// CHECK-COUNT-1128: fma.rn.f32
// CHECK: st.global.b32
#[kernel(dimensions = 1)]
pub fn d_triangle(x: &[f32], up: f32, down: f32, mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let mut values = [0.0_f32; 49];
        for (j, value) in values.iter_mut().enumerate() {
            *value = x[i.get()] * j as f32;
        }
        for step in (1..=48).rev() {
            for j in 0..step {
                values[j] = up * values[j + 1] + down * values[j];
            }
        }
        *out = values[0];
    }
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Plain,
    Quoted,
    AfterQuote,
}

// What a byte makes of the state is chosen without a branch.
// CHECK-LABEL: .visible .entry e_scanner(
// CHECK: ld.global.nc.b8
// CHECK-NOT: bra
// CHECK: selp
// CHECK-NOT: bra
// CHECK: selp
#[kernel(dimensions = 1)]
pub fn e_scanner(text: &[u8], line: usize, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let (Some(out), Some(line)) = (out.get_mut(i), text.chunks_exact(line).nth(i.get())) {
        let (state, count) = line.iter().fold((State::Plain, 1), |(state, count), byte| match (state, *byte) {
            (State::Plain | State::AfterQuote, b',') => (State::Plain, count + 1),
            (State::Plain | State::AfterQuote, b'"') => (State::Quoted, count),
            (State::Quoted, b'"') => (State::AfterQuote, count),
            (State::Quoted, _) => (State::Quoted, count),
            (State::Plain | State::AfterQuote, _) => (State::Plain, count),
        });
        *out = if state == State::Quoted { 0 } else { count };
    }
}

// All is loaded before anything is stored.
// CHECK-LABEL: .visible .entry f_updated(
// CHECK: ld.global.b32
// CHECK-NOT: st.global
// CHECK: ld.global.b32
// CHECK: st.global.b32
// CHECK: st.global.b32
#[kernel(dimensions = 1)]
pub fn f_updated(x: &[f32], mut m: DisjointSlice<f32>, mut v: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let (Some(x), Some(m), Some(v)) = (x.get(i.get()), m.get_mut(i), v.get_mut(i)) {
        *m = 0.9 * *m + 0.1 * x;
        *v = 0.9 * *v + 0.1 * x * x;
    }
}

// A column that is clamped into its row has 32 bits in the copy that stands first.
// CHECK-LABEL: .visible .entry g_clamped(
// CHECK-NOT: min.u64
// CHECK: min.u32
#[kernel(dimensions = 2)]
pub fn g_clamped(image: &[f32], weights: &[f32], mut to: Disjoint2d<f32>) {
    let at = thread::index_2d();
    let width = to.width();
    if let Some(to) = to.get_mut(at) {
        let row = &image[at.y() * width..(at.y() + 1) * width];
        let first = at.x() as isize - (weights.len() / 2) as isize;
        let of = |(weight, x): (&f32, isize)| weight * row[x.clamp(0, width as isize - 1) as usize];
        *to = weights.iter().zip(first..).map(of).sum();
    }
}

// What an iterator keeps of two tables, with where it stands, is registers.
// CHECK-LABEL: .visible .entry h_schedule(
// CHECK-NOT: .local
// CHECK: ret;
#[kernel(dimensions = 1)]
pub fn h_schedule(first: u32, mut out: DisjointSlice<u32>) {
    const KEYS: [u32; 64] = {
        let mut keys = [0; 64];
        let mut i = 0;
        while i < 64 {
            keys[i] = 0x9e37_79b9_u32.wrapping_mul(i as u32 + 1);
            i += 1;
        }
        keys
    };
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let mut words = [first; 64];
        words[0] = i.get() as u32;
        for k in 16..64 {
            words[k] = words[k - 16].rotate_left(7) ^ words[k - 7].wrapping_add(words[k - 2]);
        }
        for (key, word) in KEYS.into_iter().zip(words) {
            *out = (*out ^ key).rotate_left(5).wrapping_add(word);
        }
    }
}

// Rows of a table by numbers that are loaded: of eight at a time the largest is compared.
// CHECK-LABEL: .visible .entry i_bag_sums(
// CHECK: max.u32
// CHECK: max.u32
// CHECK: max.u32
// CHECK: max.u32
// CHECK: max.u32
// CHECK: max.u32
// CHECK: max.u32
// CHECK-NOT: setp.lt.and.u64
// CHECK: mad.wide.u32
#[kernel(dimensions = 2)]
pub fn i_bag_sums(table: &[f32], indices: &[u32], offsets: &[u32], mut sums: Disjoint2d<f32>) {
    let at = thread::index_2d();
    let width = sums.width();
    if let (Some(sum), Some(&[start, end])) = (sums.get_mut(at), offsets.windows(2).nth(at.y())) {
        let rows = indices[start as usize..end as usize].iter();
        *sum = rows.map(|&row| table[row as usize * width + at.x()]).sum();
    }
}
