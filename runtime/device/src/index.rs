//! Indices that no other thread of the launch has, and loops over more elements than there are threads.

use core::marker::PhantomData;

use crate::intrinsics::{
    ctaid_x, ctaid_y, ctaid_z, mulhi_u32, nctaid_x, nctaid_y, nctaid_z, ntid_x, ntid_y, ntid_z, tid_x, tid_y, tid_z,
};

/// A number that no other thread of the launch has; only [`index_1d`] makes one.
///
/// This makes [`DisjointSlice::get_mut`](crate::DisjointSlice::get_mut) safe. It stays with its thread: it is neither
/// `Send` nor `Sync`.
#[derive(Clone, Copy, Debug)]
pub struct ThreadIndex {
    value: u32,
    stays_with_its_thread: PhantomData<*const ()>,
}

impl ThreadIndex {
    /// The thread's number, from 0.
    #[inline(always)]
    pub fn get(self) -> usize {
        self.value as usize
    }

    /// The same in 32 bits, for arithmetic that is to be fast: a GPU has no 64-bit integer instructions.
    #[inline(always)]
    pub fn get_u32(self) -> u32 {
        self.value
    }
}

impl From<ThreadIndex> for usize {
    #[inline(always)]
    fn from(index: ThreadIndex) -> usize {
        index.get()
    }
}

/// The thread's number in a one-dimensional launch: `blockIdx.x * blockDim.x + threadIdx.x`.
///
/// It costs three instructions and a check of the grid. `#[kernel(dimensions = 1)]` moves the check to the launch.
///
/// # Panics
/// If the grid or the block has more than one dimension, or 2^32 threads and more, because this number would not be
/// unique then.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn index_1d() -> ThreadIndex {
    // One test for all: extents are at least 1, so their union of bits is 1 exactly when all of them are.
    if (rows_and_layers() ^ 1) | columns_over_u32() != 0 {
        more_than_one_dimension();
    }
    // SAFETY: it was just checked.
    let value = unsafe {
        assume_dimensions::<1>();
        checked_column()
    };
    ThreadIndex { value, stays_with_its_thread: PhantomData }
}

#[cold]
#[inline(never)]
fn more_than_one_dimension() -> ! {
    panic!(
        "index_1d() in a launch of more than one dimension, or of 2^32 threads: use index_2d() or index_3d(), or \
         launch with y and z extents of 1 and fewer threads"
    )
}

/// The union of the extents in the second and third dimension.
#[inline(always)]
fn rows_and_layers() -> u32 {
    ntid_y() | ntid_z() | nctaid_y() | nctaid_z()
}

/// The high half of the number of threads in the first dimension. If it is 0, so is that of every thread's column, which
/// is less.
#[inline(always)]
fn columns_over_u32() -> u32 {
    mulhi_u32(nctaid_x(), ntid_x())
}

/// The thread's position in the first dimension, of which [`columns_over_u32`] says whether it fits.
#[inline(always)]
fn column() -> u32 {
    ctaid_x().wrapping_mul(ntid_x()).wrapping_add(tid_x())
}

/// The same, of which LLVM is told that it is not the largest number: the next one is no 0.
///
/// # Safety
/// There must be fewer than 2^32 threads in the first dimension.
#[inline(always)]
unsafe fn checked_column() -> u32 {
    let column = column();
    // SAFETY: positions begin at 0, so the last one is below 2^32 - 1.
    unsafe { core::hint::assert_unchecked(column != u32::MAX) };
    column
}

/// The thread's position in the second dimension. It fits: CUDA has at most 65,535 blocks there, of 1,024 threads (CUDA C++
/// Programming Guide, "Features and Technical Specifications").
#[inline(always)]
fn row() -> u32 {
    ctaid_y().wrapping_mul(ntid_y()).wrapping_add(tid_y())
}

/// The thread's position in the third dimension: at most 65,535 blocks of 64 threads.
#[inline(always)]
fn layer() -> u32 {
    ctaid_z().wrapping_mul(ntid_z()).wrapping_add(tid_z())
}

/// A position that no other thread of the launch has; only [`index_2d`] makes one.
#[derive(Clone, Copy, Debug)]
pub struct Index2d {
    x: u32,
    y: u32,
    stays_with_its_thread: PhantomData<*const ()>,
}

impl Index2d {
    /// The column, from 0: the position in the first dimension.
    #[inline(always)]
    pub fn x(self) -> usize {
        self.x as usize
    }

    /// The row, from 0: the position in the second dimension.
    #[inline(always)]
    pub fn y(self) -> usize {
        self.y as usize
    }

    /// Column and row in 32 bits.
    #[inline(always)]
    pub fn get_u32(self) -> (u32, u32) {
        (self.x, self.y)
    }
}

/// The thread's position in a launch of one or two dimensions.
///
/// `#[kernel(dimensions = 2)]` moves the check of the grid to the launch.
///
/// # Panics
/// If the grid or the block has three dimensions, or the grid has 2^32 threads in the first, because this position
/// would not be unique then.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn index_2d() -> Index2d {
    if ((ntid_z() | nctaid_z()) ^ 1) | columns_over_u32() != 0 {
        more_than_two_dimensions();
    }
    // SAFETY: it was just checked.
    let x = unsafe {
        assume_dimensions::<2>();
        checked_column()
    };
    Index2d { x, y: row(), stays_with_its_thread: PhantomData }
}

#[cold]
#[inline(never)]
fn more_than_two_dimensions() -> ! {
    panic!(
        "index_2d() in a launch of three dimensions, or of 2^32 threads in the first: use index_3d(), or launch with z \
         extents of 1"
    )
}

/// A position that no other thread of the launch has; only [`index_3d`] makes one.
#[derive(Clone, Copy, Debug)]
pub struct Index3d {
    x: u32,
    y: u32,
    z: u32,
    stays_with_its_thread: PhantomData<*const ()>,
}

impl Index3d {
    /// The column, from 0: the position in the first dimension.
    #[inline(always)]
    pub fn x(self) -> usize {
        self.x as usize
    }

    /// The row, from 0: the position in the second dimension.
    #[inline(always)]
    pub fn y(self) -> usize {
        self.y as usize
    }

    /// The layer, from 0: the position in the third dimension.
    #[inline(always)]
    pub fn z(self) -> usize {
        self.z as usize
    }

    /// Column, row and layer in 32 bits.
    #[inline(always)]
    pub fn get_u32(self) -> (u32, u32, u32) {
        (self.x, self.y, self.z)
    }
}

/// The thread's position in a launch of any dimensions.
///
/// `#[kernel(dimensions = 3)]` moves the check of the grid to the launch.
///
/// # Panics
/// If the grid has 2^32 threads in the first dimension, because this position would not be unique then.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn index_3d() -> Index3d {
    if columns_over_u32() != 0 {
        too_many_columns();
    }
    // SAFETY: it was just checked.
    let x = unsafe { checked_column() };
    Index3d { x, y: row(), z: layer(), stays_with_its_thread: PhantomData }
}

#[cold]
#[inline(never)]
fn too_many_columns() -> ! {
    panic!("index_3d() in a launch of 2^32 threads in the first dimension: launch fewer")
}

/// What `#[kernel(dimensions = N)]` knows, or the check of a position has found: the launch has no extents but 1 beyond
/// `N` dimensions, and fewer than 2^32 threads in the first.
///
/// # Safety
/// That must be so.
#[doc(hidden)]
#[inline(always)]
pub unsafe fn assume_dimensions<const N: u32>() {
    // A function of the compiler's: `assert_unchecked` does not outlive rustc's optimiser, which knows nothing of the
    // registers and so takes the fact for one about two calls that nobody uses.
    match N {
        1 => crate::intrinsics::dimensions_1(),
        2 => crate::intrinsics::dimensions_2(),
        _ => crate::intrinsics::dimensions_3(),
    }
}

/// The thread's number in its block, whose threads may lie in three dimensions.
#[inline(always)]
pub(crate) fn rank_in_block() -> u32 {
    tid_x() + ntid_x() * (tid_y() + ntid_y() * tid_z())
}

/// Threads in a block.
#[inline(always)]
pub(crate) fn threads_of_block() -> u32 {
    ntid_x() * ntid_y() * ntid_z()
}

/// The block's number in its grid, whose blocks may lie in three dimensions.
#[inline(always)]
pub(crate) fn block_number() -> usize {
    ctaid_x() as usize + nctaid_x() as usize * (ctaid_y() as usize + nctaid_y() as usize * ctaid_z() as usize)
}

/// Blocks of the grid: fewer than 2^63, by the limits of [`row`].
#[inline(always)]
pub(crate) fn number_of_blocks() -> usize {
    nctaid_x() as usize * nctaid_y() as usize * nctaid_z() as usize
}

/// The numbers below `len` that are this thread's, when all threads of a one-dimensional launch share them: its
/// [`index_1d`], then every one that is further by the number of threads. CUDA's grid-stride loop.
///
/// ```
/// use ptx::atomic::{Atomic, AtomicSlice, Device, Ordering};
/// use ptx::prelude::*;
///
/// /// Adds the sum of `x` to `total`, however many threads there are.
/// #[kernel]
/// pub fn sum(x: &[u32], total: AtomicSlice<u32, Device>) {
///     let part: u32 = thread::grid_stride(x.len()).map(|i| x[i]).sum();
///     total[0].fetch_add(part, Ordering::Relaxed);
/// }
/// ```
///
/// Methods such as `sum`, `fold` and `for_each` take four numbers a round, so that four loads are under way at once; a
/// `for` loop takes one.
///
/// # Panics
/// As [`index_1d`], and if `len` is more than any slice can have.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn grid_stride(len: usize) -> GridStride {
    assert!(len <= isize::MAX as usize, "grid_stride(len): no slice has that many elements");
    let next = index_1d().get();
    let stride = nctaid_x().wrapping_mul(ntid_x()) as usize;
    // SAFETY: `index_1d` has checked that there are fewer than 2^32 threads, and there are some.
    unsafe { core::hint::assert_unchecked(stride != 0) };
    GridStride { next, len, stride }
}

/// The iterator of [`grid_stride`].
#[derive(Clone, Debug)]
pub struct GridStride {
    next: usize,
    /// At most `isize::MAX`.
    len: usize,
    /// Less than 2^32.
    stride: usize,
}

impl GridStride {
    /// The numbers from `first` below `len`, each `stride` after the last.
    ///
    /// `len` must be at most `isize::MAX`, `stride` at least 1 and less than 2^32.
    #[inline(always)]
    pub(crate) fn new(first: usize, len: usize, stride: usize) -> Self {
        Self { next: first, len, stride }
    }

    /// The next number.
    ///
    /// # Safety
    /// There must be one: `next` is less than `len`.
    #[inline(always)]
    unsafe fn advance(&mut self) -> usize {
        let now = self.next;
        // SAFETY: the caller's promise. It spares `x[i]` a test, where `len` is the length of `x`.
        unsafe { core::hint::assert_unchecked(now < self.len) };
        // SAFETY: `now` is less than `len`, which is at most `isize::MAX`, and the stride is less than 2^32.
        self.next = unsafe { now.unchecked_add(self.stride) };
        now
    }
}

impl Iterator for GridStride {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        // SAFETY: there is a next number.
        if self.next < self.len { Some(unsafe { self.advance() }) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn strides_part_the_numbers() {
        for len in [0, 1, 7, 8, 9, 100] {
            for stride in [1, 3, 8] {
                let mut seen: Vec<usize> = (0..stride).flat_map(|first| GridStride::new(first, len, stride)).collect();
                let mut folded = Vec::new();
                (0..stride).for_each(|first| GridStride::new(first, len, stride).for_each(|i| folded.push(i)));
                assert_eq!(folded, seen, "{len} by {stride}");
                seen.sort_unstable();
                assert_eq!(seen, (0..len).collect::<Vec<_>>(), "{len} by {stride}");
            }
        }
    }

    #[test]
    fn nothing_overflows_at_the_end_of_the_longest_slice() {
        let len = isize::MAX as usize;
        assert_eq!(GridStride::new(len - 1, len, u32::MAX as usize).count(), 1);
        assert_eq!(GridStride::new(len - 1, len, u32::MAX as usize).collect::<Vec<_>>(), [len - 1]);
    }
}
