//! Clusters of blocks, from sm_90: where a block is in its cluster, and waiting for all of it.
//!
//! | CUDA C++ | here | PTX |
//! |---|---|---|
//! | `__clusterRelativeBlockIdx()`, `cluster_group::block_index()` | [`block_idx`] | `%cluster_ctaid` |
//! | `__clusterRelativeBlockRank()`, `block_rank()` | [`block_rank`] | `%cluster_ctarank` |
//! | `__clusterDim()`, `dim_blocks()` | [`dim`] | `%cluster_nctaid` |
//! | `__clusterSizeInBlocks()`, `num_blocks()` | [`block_count`] | `%cluster_nctarank` |
//! | `__clusterIdx()`, `__clusterGridDimInClusters()` | [`cluster_idx`], [`grid_dim`] | `%clusterid`, `%nclusterid` |
//! | `cluster_group::sync()` | [`sync`] | `barrier.cluster.arrive`, `barrier.cluster.wait` |
//! | `cluster_group::map_shared_rank(p, rank)` | [`map_shared_rank`] | `mapa.u64` |
//! | `cluster_group::query_shared_rank(p)` | [`query_shared_rank`] | `getctarank.u64` |
//! | `__isClusterShared(p)` | [`is_cluster_shared`] | `isspacep.shared::cluster` |
//! | inline PTX | [`remote`], [`Remote::load`], [`Remote::store`] | `mapa`, `ld`, `st` of `.shared::cluster` |
//! | `cuda::ptx::st_async`, `red_async` | [`Remote::store_async`], [`Remote::add_async`] and kin | `st.async`, `red.async` |
//!
//! The registers are in the PTX ISA's chapter "Special Registers", the barrier in "Parallel Synchronization and
//! Communication Instructions: barrier.cluster". A launch without clusters has clusters of one block.
//!
//! What another block shares can be read from when it has begun, which is after a first [`sync`], until it ends, which is
//! after a last one. [`ClusterTile`](crate::shared::ClusterTile) sees to both, and needs no `unsafe`.

mod remote;

use crate::dim::Dim3;
use crate::intrinsics::{self, cluster_arrive, cluster_arrive_relaxed, cluster_wait};

pub use self::remote::{Remote, is_cluster_shared, map_shared_rank, query_shared_rank, remote};

macro_rules! positions {
    ($($(#[$doc:meta])* $name:ident = $x:ident $y:ident $z:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
        pub fn $name() -> Dim3 {
            Dim3::new(intrinsics::$x(), intrinsics::$y(), intrinsics::$z())
        }
    )*};
}
positions! {
    /// The block's position in its cluster: CUDA's `__clusterRelativeBlockIdx()`, PTX `%cluster_ctaid`, from sm_90.
    block_idx = cluster_ctaid_x cluster_ctaid_y cluster_ctaid_z;
    /// The number of blocks of a cluster in each dimension: CUDA's `__clusterDim()`, PTX `%cluster_nctaid`, from sm_90.
    dim = cluster_nctaid_x cluster_nctaid_y cluster_nctaid_z;
    /// The cluster's position in the grid: CUDA's `__clusterIdx()`, PTX `%clusterid`, from sm_90.
    cluster_idx = clusterid_x clusterid_y clusterid_z;
    /// The number of clusters of the grid in each dimension: CUDA's `__clusterGridDimInClusters()`, PTX `%nclusterid`,
    /// from sm_90.
    grid_dim = nclusterid_x nclusterid_y nclusterid_z;
}

/// The block's number in its cluster: CUDA's `__clusterRelativeBlockRank()`, PTX `%cluster_ctarank`, from sm_90.
#[inline(always)]
#[must_use]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn block_rank() -> u32 {
    intrinsics::cluster_ctarank()
}

/// The number of blocks of the cluster: CUDA's `__clusterSizeInBlocks()`, PTX `%cluster_nctarank`, from sm_90.
#[inline(always)]
#[must_use]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn block_count() -> u32 {
    intrinsics::cluster_nctarank()
}

/// Waits until every thread of the cluster that has not ended arrives here; what any of them wrote before is visible to
/// all of them afterwards: CUDA's `cluster_group::sync()`, PTX `barrier.cluster.arrive` and `barrier.cluster.wait`, from
/// sm_90.
///
/// Each thread arrives by itself, so that it is safe wherever it stands: if only some arrive, they wait for ever.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync() {
    cluster_arrive();
    cluster_wait();
}

/// Says that this thread has come to the cluster's barrier, and goes on: PTX `barrier.cluster.arrive`, whose default order
/// is `.release`, from sm_90.
///
/// # Safety
/// The thread must [`wait`] before it arrives again, by this, [`arrive_relaxed`] or [`sync`], or ends (PTX ISA,
/// "barrier.cluster").
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn arrive() {
    cluster_arrive();
}

/// The same without an order of memory: PTX `barrier.cluster.arrive.relaxed`, from sm_90.
///
/// # Safety
/// As with [`arrive`].
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn arrive_relaxed() {
    cluster_arrive_relaxed();
}

/// Waits until all threads of the cluster that have not ended have arrived: PTX `barrier.cluster.wait`, whose order is
/// `.acquire`, from sm_90.
///
/// # Safety
/// The thread must have arrived, and not waited since.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn wait() {
    cluster_wait();
}
