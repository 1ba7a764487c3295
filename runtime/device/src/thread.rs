//! The position of a thread in its block and grid.

use core::marker::PhantomData;

use crate::dim::Dim3;
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

/// A number that no other thread of the launch has; only [`index_1d`] makes one.
///
/// This makes [`DisjointSlice::get_mut`](crate::DisjointSlice::get_mut) safe. It stays with its thread: it is neither
/// `Send` nor `Sync`.
#[derive(Clone, Copy, Debug)]
pub struct ThreadIndex {
    value: usize,
    stays_with_its_thread: PhantomData<*const ()>,
}

impl ThreadIndex {
    /// The thread's number, from 0.
    #[inline(always)]
    pub fn get(self) -> usize {
        self.value
    }
}

impl From<ThreadIndex> for usize {
    #[inline(always)]
    fn from(index: ThreadIndex) -> usize {
        index.value
    }
}

/// The thread's number in a one-dimensional launch: `blockIdx.x * blockDim.x + threadIdx.x`.
///
/// # Panics
/// If the grid or the block has more than one dimension, because this number would not be unique then.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn index_1d() -> ThreadIndex {
    // Extents are at least 1, so their union of bits is 1 exactly when all of them are.
    if ntid_y() | ntid_z() | nctaid_y() | nctaid_z() != 1 {
        more_than_one_dimension();
    }
    let value = ctaid_x() as usize * ntid_x() as usize + tid_x() as usize;
    ThreadIndex { value, stays_with_its_thread: PhantomData }
}

#[cold]
#[inline(never)]
fn more_than_one_dimension() -> ! {
    panic!("index_1d() in a launch of more than one dimension: use index_2d(), or launch with y and z extents of 1")
}

/// A position that no other thread of the launch has; only [`index_2d`] makes one.
#[derive(Clone, Copy, Debug)]
pub struct Index2d {
    x: usize,
    y: usize,
    stays_with_its_thread: PhantomData<*const ()>,
}

impl Index2d {
    /// The column, from 0: the position in the first dimension.
    #[inline(always)]
    pub fn x(self) -> usize {
        self.x
    }

    /// The row, from 0: the position in the second dimension.
    #[inline(always)]
    pub fn y(self) -> usize {
        self.y
    }
}

/// The thread's position in a launch of one or two dimensions.
///
/// # Panics
/// If the grid or the block has three dimensions, because this position would not be unique then.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn index_2d() -> Index2d {
    if ntid_z() | nctaid_z() != 1 {
        more_than_two_dimensions();
    }
    let x = ctaid_x() as usize * ntid_x() as usize + tid_x() as usize;
    let y = ctaid_y() as usize * ntid_y() as usize + tid_y() as usize;
    Index2d { x, y, stays_with_its_thread: PhantomData }
}

#[cold]
#[inline(never)]
fn more_than_two_dimensions() -> ! {
    panic!("index_2d() in a launch of three dimensions: launch with z extents of 1")
}
