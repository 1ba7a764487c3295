//! What a warp does together is not copied into branches, and not moved into one: neither where it stands itself, nor in a
//! function that is called.
#![no_std]
use ptx::prelude::*;
use ptx::warp;

// CHECK-LABEL: .visible .entry called(
// CHECK: call.uni {{.*}}voted
// CHECK-NOT: voted
// CHECK-LABEL: .visible .entry sums(
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK-NOT: shfl.sync
#[kernel]
pub fn sums(x: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let mut sum = x.get(i.get()).copied().unwrap_or(0.0);
    for lanes in [16, 8, 4, 2, 1] {
        sum += warp::ALL.shuffle_xor(sum, lanes);
    }
    // Only some threads want the sum; all take part in it.
    if i.get() % 2 == 0
        && let Some(out) = out.get_mut(i)
    {
        *out = sum;
    }
}

#[inline(never)]
fn voted(condition: bool) -> u32 {
    warp::ALL.ballot(condition).len()
}

#[kernel]
pub fn called(limit: u32, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let t = thread::thread_idx_x();
    let mut value = if t > limit { 3 } else { 5 };
    value += voted(t % 3 == 0);
    if t > limit {
        value *= 7;
    }
    if let Some(out) = out.get_mut(i) {
        *out = value;
    }
}
