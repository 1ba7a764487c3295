//! The parts of a pair that an iterator returns, and of a number that may be missing, are values, not memory, nor what the last
//! round left.
#![no_std]
use ptx::RowsPerBlock;
use ptx::atomic::{Atomic, Block, Ordering};
use ptx::prelude::*;
use ptx::shared::SharedTile;

const BINS: usize = 512;

// CHECK-LABEL: .visible .entry a_votes(
// CHECK-NOT: .local
// CHECK: bar
// CHECK-NOT: selp.b64
// CHECK: atom.relaxed.cta.shared.add.u32
// CHECK: bar
// CHECK-NOT: .local
// CHECK: ret;
#[kernel(dimensions = 1, launch_bounds(256))]
pub fn a_votes(
    numbers: &[i32],
    factors: &[i32],
    mut votes: RowsPerBlock<u32>,
    #[shared] mut bins: SharedTile<[Atomic<u32, Block>; BINS]>,
) {
    bins.own().fill(|_| Atomic::new(0));
    let counts = bins.publish();
    let factor = factors[thread::block_idx_x() as usize];
    for &number in numbers.iter().skip(thread::thread_idx_x() as usize).step_by(256) {
        let bin = (number * factor >> 14) + BINS as i32 / 2;
        if let Some(count) = usize::try_from(bin).ok().and_then(|bin| counts.get().get(bin)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
    let mut bins = counts.reclaim();
    for ((_, votes), (_, count)) in votes.row().iter_mut().zip(bins.own().iter_mut()) {
        *votes = count.load(Ordering::Relaxed);
    }
}
