//! The elements of a shared object that are a thread's own.

use core::marker::PhantomData;

use crate::disjoint::OwnElements;
use crate::index::{GridStride, rank_in_block, threads_of_block};
use crate::intrinsics::{ntid_x, ntid_y, tid_x, tid_y, tid_z};

/// The elements of an array that are this thread's: element `e` is that of the thread of rank `e` modulo the number of the
/// block's threads, where threads are counted with x first, then y, then z.
#[derive(Debug)]
pub struct Own<'a, T> {
    ptr: *mut T,
    len: usize,
    elements: PhantomData<&'a mut [T]>,
}

impl<T> Own<'_, T> {
    /// Of `len` elements at `ptr`.
    ///
    /// # Safety
    /// The memory must be the block's, nobody may use it in another way while this lives, and this thread must not have
    /// a second one.
    #[inline(always)]
    pub(super) unsafe fn new(ptr: *mut T, len: usize) -> Self {
        // SAFETY: no memory is longer. It spares loops the question whether their index overflows.
        unsafe { core::hint::assert_unchecked(len <= isize::MAX as usize) };
        Self { ptr, len, elements: PhantomData }
    }

    /// Elements of the whole array.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the array has no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The element of this thread's rank; `None` if the array is shorter.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        let rank = rank_in_block() as usize;
        // SAFETY: in bounds, and no other thread of the block has this rank.
        if rank < self.len { Some(unsafe { &mut *self.ptr.add(rank) }) } else { None }
    }

    /// Writes the element of this thread's rank, if there is one.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn set(&mut self, value: T) {
        if let Some(own) = self.get_mut() {
            *own = value;
        }
    }

    /// Writes all elements of this thread's. If all threads do this, every element is written: a fill of the whole array by
    /// all of them, neighbours by neighbours.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn fill(&mut self, mut value: impl FnMut(usize) -> T) {
        for (index, own) in self.iter_mut() {
            *own = value(index);
        }
    }

    /// All elements of this thread's, with their indices. `for_each` and its like take four a round.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn iter_mut(&mut self) -> OwnElements<'_, T> {
        let indices = GridStride::new(rank_in_block() as usize, self.len, threads_of_block() as usize);
        // SAFETY: in bounds, and those of this thread's rank.
        unsafe { OwnElements::new(self.ptr, indices) }
    }
}

/// The elements of an [`Array2d`](super::Array2d) that are this thread's, or of a
/// [`Transposed2d`](super::Transposed2d).
///
/// Threads of a block with `threadIdx.z` above 0 have none.
#[derive(Debug)]
pub struct Own2d<'a, T, const W: usize, const H: usize, const TRANSPOSED: bool> {
    ptr: *mut T,
    elements: PhantomData<&'a mut [T]>,
}

impl<T, const W: usize, const H: usize, const TRANSPOSED: bool> Own2d<'_, T, W, H, TRANSPOSED> {
    /// Of `H` rows of `W` elements at `ptr`.
    ///
    /// # Safety
    /// As for `Own`.
    #[inline(always)]
    pub(super) unsafe fn new(ptr: *mut T) -> Self {
        Self { ptr, elements: PhantomData }
    }

    /// Row and column of this thread's first element.
    #[inline(always)]
    fn first() -> (usize, usize) {
        let (x, y) = (tid_x() as usize, tid_y() as usize);
        if TRANSPOSED { (x, y) } else { (y, x) }
    }

    /// This thread's first element, at its own position in the block; `None` if the array is smaller.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        let (row, column) = Self::first();
        if (row < H) & (column < W) & (tid_z() == 0) {
            // SAFETY: in bounds, and no other thread in the first layer of the block has this position.
            Some(unsafe { &mut *self.ptr.add(row * W + column) })
        } else {
            None
        }
    }

    /// Writes this thread's first element, if there is one.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn set(&mut self, value: T) {
        if let Some(own) = self.get_mut() {
            *own = value;
        }
    }

    /// Writes all elements of this thread's, of which `value` gets row and column.
    ///
    /// Where a kernel begins with `assert_eq!(thread::block_dim(), Dim3::new(32, 8, 1))` or the like, the compiler knows how
    /// many they are and unrolls the loop.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn fill(&mut self, mut value: impl FnMut(usize, usize) -> T) {
        self.for_each(|row, column, own| *own = value(row, column));
    }

    /// Calls `each` with row, column and element for all elements of this thread's.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn for_each(&mut self, mut each: impl FnMut(usize, usize, &mut T)) {
        if tid_z() != 0 {
            return;
        }
        let (x, y) = (ntid_x() as usize, ntid_y() as usize);
        let (rows, columns) = if TRANSPOSED { (x, y) } else { (y, x) };
        let (first_row, first_column) = Self::first();
        for row in GridStride::new(first_row, H, rows) {
            for column in GridStride::new(first_column, W, columns) {
                // SAFETY: in bounds; position modulo extents is that of this thread alone.
                each(row, column, unsafe { &mut *self.ptr.add(row * W + column) });
            }
        }
    }
}

/// The element of a [`WarpArray`](super::WarpArray) that is this thread's.
#[derive(Debug)]
pub struct OwnOfWarp<'a, T> {
    ptr: *mut T,
    len: usize,
    elements: PhantomData<&'a mut [T]>,
}

impl<T> OwnOfWarp<'_, T> {
    /// Of `len` elements at `ptr`.
    ///
    /// # Safety
    /// As for `Own`.
    #[inline(always)]
    pub(super) unsafe fn new(ptr: *mut T, len: usize) -> Self {
        Self { ptr, len, elements: PhantomData }
    }

    /// The warp's element; `None` for all threads of a warp but the first, and for warps past the array's end.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        let rank = rank_in_block() as usize;
        if rank.is_multiple_of(32) && rank / 32 < self.len {
            // SAFETY: in bounds, and no other thread of the block has this rank.
            Some(unsafe { &mut *self.ptr.add(rank / 32) })
        } else {
            None
        }
    }

    /// Writes the warp's element, if it is this thread's.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn set(&mut self, value: T) {
        if let Some(own) = self.get_mut() {
            *own = value;
        }
    }
}
