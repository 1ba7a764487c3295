//! The position of a thread in its block and grid, and the indices that no other thread has.

use crate::dim::Dim3;
pub use crate::index::{GridStride, Index2d, Index3d, ThreadIndex, grid_stride, index_1d, index_2d, index_3d};
use crate::intrinsics::{
    clock64, ctaid_x, ctaid_y, ctaid_z, globaltimer, laneid, nctaid_x, nctaid_y, nctaid_z, ntid_x, ntid_y, ntid_z,
    tid_x, tid_y, tid_z,
};

macro_rules! position {
    ($($(#[doc = $doc:literal])* $whole:ident: $x:ident = $rx:ident, $y:ident = $ry:ident, $z:ident = $rz:ident;)*) => {$(
        $(#[doc = $doc])*
        #[inline(always)]
        #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
        pub fn $whole() -> Dim3 {
            Dim3::new($rx(), $ry(), $rz())
        }
        position!(one $(#[doc = $doc])* $x = $rx, "x");
        position!(one $(#[doc = $doc])* $y = $ry, "y");
        position!(one $(#[doc = $doc])* $z = $rz, "z");
    )*};
    (one $(#[doc = $doc:literal])* $name:ident = $register:ident, $axis:literal) => {
        $(#[doc = $doc])*
        #[doc = concat!("\n\nOnly the ", $axis, " dimension.")]
        #[inline(always)]
        #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
        pub fn $name() -> u32 {
            $register()
        }
    };
}

position! {
    /// The thread's position in its block: CUDA's `threadIdx`.
    thread_idx: thread_idx_x = tid_x, thread_idx_y = tid_y, thread_idx_z = tid_z;
    /// The block's position in the grid: CUDA's `blockIdx`.
    block_idx: block_idx_x = ctaid_x, block_idx_y = ctaid_y, block_idx_z = ctaid_z;
    /// The number of threads of a block in each dimension: CUDA's `blockDim`.
    block_dim: block_dim_x = ntid_x, block_dim_y = ntid_y, block_dim_z = ntid_z;
    /// The number of blocks of the grid in each dimension: CUDA's `gridDim`.
    grid_dim: grid_dim_x = nctaid_x, grid_dim_y = nctaid_y, grid_dim_z = nctaid_z;
}

/// The thread's number in its warp, 0 to 31 (PTX `%laneid`).
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn lane_id() -> u32 {
    laneid()
}

/// The multiprocessor's cycle counter (PTX `%clock64`).
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn clock() -> u64 {
    clock64()
}

/// Nanoseconds since an unspecified moment, which is the same for the whole device (PTX `%globaltimer`).
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn timer_ns() -> u64 {
    globaltimer()
}
