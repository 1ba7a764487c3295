//! Groups that are no part of a warp: one thread, the block, the cluster.

use super::Group;
use crate::dim::Dim3;
use crate::intrinsics::{cluster_ctarank, cluster_nctarank};
use crate::thread::{block_dim, thread_idx};

/// The caller alone: CUDA's `this_thread()`.
#[derive(Clone, Copy, Debug)]
pub struct ThisThread;

impl Group for ThisThread {
    #[inline(always)]
    fn size(&self) -> u32 {
        1
    }

    #[inline(always)]
    fn rank(&self) -> u32 {
        0
    }

    #[inline(always)]
    fn sync(&self) {}
}

/// The caller's block: CUDA's `this_thread_block()`.
#[derive(Clone, Copy, Debug)]
pub struct Block;

/// `(z * height + y) * width + x`
#[inline(always)]
fn linear(at: Dim3, of: Dim3) -> u32 {
    (at.z * of.y + at.y) * of.x + at.x
}

impl Group for Block {
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn size(&self) -> u32 {
        let block = block_dim();
        block.x * block.y * block.z
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn rank(&self) -> u32 {
        linear(thread_idx(), block_dim())
    }

    /// [`sync_threads`](crate::sync_threads).
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn sync(&self) {
        crate::sync_threads();
    }
}

/// The caller's cluster, from sm_90: CUDA's `this_cluster()`.
#[derive(Clone, Copy, Debug)]
pub struct Cluster;

impl Group for Cluster {
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn size(&self) -> u32 {
        cluster_nctarank() * Block.size()
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn rank(&self) -> u32 {
        cluster_ctarank() * Block.size() + Block.rank()
    }

    /// [`cluster::sync`](crate::cluster::sync).
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn sync(&self) {
        crate::cluster::sync();
    }
}
