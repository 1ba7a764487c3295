//! The shared memory of a cluster's other blocks: mapped, read by plain loads, and synchronised by a barrier of the object's
//! own, with an arrival in each block.
//@ arch: sm_90
#![no_std]
use ptx::atomic::{Atomic, Cluster, Ordering};
use ptx::prelude::*;
use ptx::shared::ClusterTile;
use ptx::{Shared, cluster};

// CHECK-LABEL: .visible .entry a_rotate(
// CHECK: mbarrier.init.shared.b64
// CHECK: fence.mbarrier_init.release.cluster;
// CHECK: barrier.cluster.arrive
// CHECK: barrier.cluster.wait
// CHECK: st.shared.b32
// CHECK: bar.sync 1;
// CHECK: mapa.shared::cluster.u32
// CHECK: mbarrier.arrive.release.cluster.shared::cluster.b64 _,
// CHECK: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p,
// CHECK: mapa.u64 [[PLACE:%rd[0-9]+]],
// CHECK: ld.b32
// CHECK: barrier.cluster.arrive
// CHECK: barrier.cluster.wait
#[kernel(cluster(4), launch_bounds(256), dimensions = 1)]
pub fn a_rotate(mut x: DisjointSlice<f32>, #[shared] mut tile: ClusterTile<[f32; 256]>) {
    let i = thread::index_1d();
    tile.own().set(x.get_mut(i).map_or(0.0, |x| *x));
    let tiles = tile.publish();
    let next = (cluster::block_rank() + 1) % cluster::block_count();
    if let Some(x) = x.get_mut(i) {
        *x = tiles.of_block(next)[thread::thread_idx_x() as usize];
    }
}

// CHECK-LABEL: .visible .entry b_count(
// CHECK: red.{{.*}}cluster{{.*}}.add.u32
#[kernel(cluster(2))]
pub fn b_count(x: &[u8], #[shared] mut bins: ClusterTile<[Atomic<u32, Cluster>; 256]>) {
    bins.own().fill(|_| Atomic::new(0));
    let bins = bins.publish();
    if let Some(x) = x.get(thread::index_1d().get()) {
        bins.of_block(u32::from(*x) % 2)[usize::from(*x)].fetch_add(1, Ordering::Relaxed);
    }
}

#[ptx::shared]
static BOX: Shared<[u64; 2]>;

// CHECK-LABEL: .visible .entry c_places(
// CHECK: mapa.shared::cluster.u32
// CHECK: st.shared::cluster.b64
// CHECK: ld.shared::cluster.v2.b64
// CHECK: getctarank.shared::cluster.u32
#[kernel(cluster(2))]
pub unsafe fn c_places(out: *mut u64) {
    unsafe {
        cluster::sync();
        let place = cluster::remote(BOX.as_ptr(), 1);
        cluster::remote(BOX.as_ptr().cast::<u64>(), 1).add(1).store(7);
        *out = place.load()[1] + u64::from(place.block_rank());
        cluster::sync();
    }
}
