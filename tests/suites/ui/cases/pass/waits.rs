//! What a thread waits for: quotients that are wanted, loads that need no answer first, rounds that load together.
#![no_std]
use ptx::atomic::{AtomicSlice, Device, Ordering};
use ptx::block::Reduce;
use ptx::prelude::*;
use ptx::shared::{Array2d, SharedTile};
use ptx::vec::Float4;
use ptx::{Disjoint2d, RowsPerBlock};

// A small quotient is a product with a reciprocal; the function on integers stands behind a branch.
// CHECK-LABEL: .visible .entry a_wrapped(
// CHECK: rcp.approx.ftz.f32
// CHECK: setp.geu.f32 %p{{[0-9]+}}, %r{{[0-9]+}}, 0f49000000;
// CHECK: fma.rn.f32
// CHECK: call.uni (retval0), fmodf
#[kernel(dimensions = 1)]
pub fn a_wrapped(side: f32, mut x: DisjointSlice<f32>) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x = (*x + side) % side;
    }
}

// libdevice's three instructions.
// CHECK-LABEL: .visible .entry b_rounded(
// CHECK: copysign.f32
// CHECK-NEXT: add.rz.f32
// CHECK-NEXT: cvt.rzi.f32.f32
// CHECK-NOT: selp
// CHECK: ret;
#[kernel(dimensions = 1)]
pub fn b_rounded(mut x: DisjointSlice<f32>) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x = x.round();
    }
}

// The second load does not wait for the first one, nor the quotient for numbers that have none.
// CHECK-LABEL: .visible .entry c_calibrated(
// CHECK: setp.gtu.f32
// CHECK: or.pred
// CHECK: ld.global.nc.b16
// CHECK-NOT: setp
// CHECK: @%p{{[0-9]+}} bra
// CHECK: or.pred
// CHECK: bra
// CHECK-NEXT: div.rn.f32
// CHECK-NEXT: sqrt.rn.f32
#[kernel(dimensions = 1)]
pub fn c_calibrated(raw: &[i16], reference: &[f32], low: f32, high: f32, mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let Some(out) = out.get_mut(i) else { return };
    let value = match raw[i.get()] {
        i16::MIN => None,
        x => Some(f32::from(x).clamp(low, high)),
    };
    let reference = Some(reference[i.get()]).filter(|r| *r > 0.0);
    *out = value.zip(reference).map_or(-1.0, |(x, r)| (x / r).sqrt());
}

// Four neighbours and four words are under way together, before anything is marked.
// CHECK-LABEL: .visible .entry d_frontier(
// CHECK-NOT: red.
// CHECK: ld.global.nc.b32 %r{{[0-9]+}}, [%rd{{[0-9]+}}+12];
// CHECK: max.u32
// CHECK-NOT: red.
// CHECK-COUNT-4: ld.global.nc.b32
// CHECK-COUNT-4: red.
#[kernel(dimensions = 1)]
pub fn d_frontier(edges: &[u32], visited: &[u32], next: AtomicSlice<u32, Device>, ends: &[u32]) {
    let Some(&end) = ends.get(thread::index_1d().get()) else { return };
    for &neighbour in &edges[..end as usize] {
        let (word, bit) = (neighbour as usize / 32, 1 << (neighbour % 32));
        if visited[word] & bit == 0 {
            next[word].fetch_or(bit, Ordering::Relaxed);
        }
    }
}

// An array that rounds up to a counted number index becomes registers.
// CHECK-LABEL: .visible .entry e_tree(
// CHECK-NOT: .local
// CHECK: ret;
#[kernel(dimensions = 1)]
pub fn e_tree(up: f32, mut prices: DisjointSlice<f32>) {
    if let Some(price) = prices.get_mut(thread::index_1d()) {
        let mut values = [0.0_f32; 17];
        let mut at = *price;
        for value in &mut values {
            *value = at;
            at *= up;
        }
        for last in (0..16).rev() {
            for j in 0..=last {
                values[j] = (0.4 * values[j] + 0.6 * values[j + 1]).max(at * up);
            }
        }
        *price = values[0];
    }
}

// Much arithmetic of each body: ptxas may have several bodies under way.
// CHECK-LABEL: .visible .entry f_bodies(
// CHECK: .maxnreg 48
#[kernel(dimensions = 1)]
pub fn f_bodies(bodies: &[Float4], mut potentials: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let Some(potential) = potentials.get_mut(i) else { return };
    let own = bodies[i.get()];
    let mut sum = 0.0;
    for other in bodies {
        let (dx, dy, dz) = (other.x - own.x, other.y - own.y, other.z - own.z);
        sum += other.w * (dx * dx + dy * dy + dz * dz + 0.01).rsqrt() * dx * dy * dz;
    }
    *potential = sum;
}

// What goes to a place is loaded with the place, not behind its check.
// CHECK-LABEL: .visible .entry g_scattered(
// CHECK: ld.global.nc.b32
// CHECK-NOT: bra
// CHECK: ld.global.nc.b32
// CHECK: bra
// CHECK: st.relaxed.gpu
#[kernel(dimensions = 1)]
pub fn g_scattered(x: &[u32], places: &[u32], out: AtomicSlice<u32, Device>) {
    let i = thread::index_1d().get();
    if let (Some(x), Some(place)) = (x.get(i), places.get(i)) {
        out[*place as usize].store(*x, Ordering::Relaxed);
    }
}

// Columns that are a row of the matrix apart are loaded eight at a time.
// CHECK-LABEL: .visible .entry h_by_columns(
// CHECK-COUNT-8: ld.global.nc.b32
// CHECK: fma.rn.f32
// CHECK: ret;
#[kernel(dimensions = 1)]
pub fn h_by_columns(width: usize, columns: &[u32], values: &[f32], x: &[f32], mut y: DisjointSlice<f32>) {
    let rows = y.len();
    let i = thread::index_1d();
    let Some(y) = y.get_mut(i) else { return };
    let mut sum = 0.0;
    for k in 0..width {
        sum += values[k * rows + i.get()] * x[columns[k * rows + i.get()] as usize];
    }
    *y = sum;
}

// Both tiles are loaded before one is stored.
// CHECK-LABEL: .visible .entry i_tiles(
// CHECK: ld.global.nc.b64
// CHECK-NOT: st.shared
// CHECK: ld.global.nc.b64
// CHECK-NOT: ld.global
// CHECK: st.shared.b64
// CHECK-NEXT: st.shared.b64
#[kernel(launch_bounds(256))]
pub fn i_tiles(
    inner: u32,
    a: &[f64],
    b: &[f64],
    mut products: Disjoint2d<f64>,
    #[shared] mut of_a: SharedTile<Array2d<f64, 16, 16>>,
    #[shared] mut of_b: SharedTile<Array2d<f64, 16, 16>>,
) {
    let at = thread::index_2d();
    let (tx, ty) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let (height, width, inner) = (products.height(), products.width(), inner as usize);
    let of = |matrix: &[f64], (rows, columns): (usize, usize), row: usize, column: usize| {
        if row < rows && column < columns { matrix[row * columns + column] } else { 0.0 }
    };
    let mut sum = 0.0;
    for tile in 0..inner.div_ceil(16) {
        of_a.own().set(of(a, (height, inner), at.y(), tile * 16 + tx));
        of_b.own().set(of(b, (inner, width), tile * 16 + ty, at.x()));
        let (a, b) = (of_a.publish(), of_b.publish());
        sum += a[ty].iter().zip(b.iter()).map(|(a, row)| a * row[tx]).sum::<f64>();
        (of_a, of_b) = (a.reclaim(), b.reclaim());
    }
    if let Some(product) = products.get_mut(at) {
        *product = sum;
    }
}

// Two tiles that are published together wait at one barrier.
// CHECK-LABEL: .visible .entry j_published(
// CHECK: st.shared.b32
// CHECK: st.shared.b32
// CHECK: bar.sync
// CHECK-NOT: bar.sync
// CHECK: ld.shared.b32
// CHECK: st.global.b32
#[kernel(dimensions = 1)]
pub fn j_published(
    mut sums: DisjointSlice<u32>,
    #[shared] mut one: SharedTile<[u32; 64]>,
    #[shared] mut other: SharedTile<[u32; 64]>,
) {
    let t = thread::thread_idx_x();
    one.own().set(t);
    other.own().set(t * t);
    let (one, other) = (one.publish(), other.publish());
    if let Some(sum) = sums.get_mut(thread::index_1d()) {
        *sum = one[63 - t as usize % 64] + other[5];
    }
}

// Four elements are under way before the first quotient is computed.
// CHECK-LABEL: .visible .entry k_quotients(
// CHECK: div.rn.f32
// CHECK: .pragma "nounroll";
// CHECK-NOT: div.rn.f32
// CHECK-COUNT-4: ld.global.nc.b32
// CHECK-NOT: ld.global
// CHECK-COUNT-4: div.rn.f32
#[kernel(dimensions = 1, launch_bounds(256))]
pub fn k_quotients(x: &[f32], by: f32, mut y: RowsPerBlock<f32>, #[shared] mut block: Reduce<f32, 256>) {
    let mut row = y.row();
    let x = &x[row.start()..][..row.len()];
    let sum = block.sum(by);
    for (column, y) in row.iter_mut() {
        *y = (x[column] - by).exp() / sum;
    }
}
