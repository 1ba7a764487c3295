//! The elements of a shared object that are a thread's own.

use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Deref;

use crate::disjoint::OwnElements;
use crate::index::{GridStride, rank_in_block, threads_of_block};
use crate::intrinsics::{ntid_x, ntid_y, tid_x, tid_y, tid_z};

/// Up to how many elements are counted in 32 bits.
const MOST_FILLED: usize = 1 << 30;

/// Bytes of an element that may wait in registers with three more until all four are written.
const MOST_WAITING: usize = 16;

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
        #[cfg(target_arch = "nvptx64")]
        // SAFETY: shared memory has some hundred KB.
        unsafe {
            core::hint::assert_unchecked(size_of::<T>() == 0 || len <= MOST_FILLED);
        }
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
        let rank = rank_in_block() as usize;
        if rank >= self.len {
            return;
        }
        // Not by way of an `Option`: LLVM would compare the address with null where it does not know what it is.
        // SAFETY: in bounds, and no other thread of the block has this rank.
        unsafe { *self.ptr.add(rank) = value };
    }

    /// Writes all elements of this thread's. If all threads do this, every element is written: a fill of the whole array by
    /// all of them, neighbours by neighbours. `value` may be called for up to four elements before the first of them is
    /// written.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn fill(&mut self, mut value: impl FnMut(usize) -> T) {
        // Shared memory is shorter, so that only elements without a size can be as many. Numbers of 32 bits take half the
        // instructions.
        if size_of::<T>() == 0 || self.len > MOST_FILLED {
            let threads = threads_of_block() as usize;
            (rank_in_block() as usize..self.len).step_by(threads).for_each(|index| {
                // SAFETY: in bounds; the index modulo the number of threads is this thread's rank.
                unsafe { self.ptr.add(index).write(value(index)) };
            });
            return;
        }
        let (rank, threads, len) = (rank_in_block(), threads_of_block(), self.len as u32);
        // A block has as many threads as there are elements, or a half or a quarter, more often than not. Then no loop is left
        // to ask how many rounds there are, and what the values read is waited for together.
        if size_of::<T>() <= MOST_WAITING {
            if threads == len {
                return self.fill_at([rank], value);
            }
            if threads == len / 2 && len.is_multiple_of(2) {
                return self.fill_at([0, 1].map(|part| part * (len / 2) + rank), value);
            }
            if threads == len / 4 && len.is_multiple_of(4) {
                return self.fill_at([0, 1, 2, 3].map(|part| part * (len / 4) + rank), value);
            }
        }
        let mut first = 0_u32;
        // `step_by` would count the rounds, which is a division where nobody knows the number of threads. Where that is
        // known, so is the second end of the loop, which can be unrolled then.
        loop {
            // SAFETY: both are below 2³⁰, as a block has at most 1024 threads.
            let index = unsafe { first.unchecked_add(rank) };
            if index >= len {
                break;
            }
            // SAFETY: in bounds; the index modulo the number of threads is this thread's rank.
            unsafe { self.ptr.add(index as usize).write(value(index as usize)) };
            // SAFETY: both are below 2³⁰.
            first = unsafe { first.unchecked_add(threads) };
            if first >= len {
                break;
            }
        }
    }

    /// Writes these elements, which are this thread's, once their values are known.
    #[inline(always)]
    fn fill_at<const N: usize>(&mut self, own: [u32; N], mut value: impl FnMut(usize) -> T) {
        let values = own.map(|index| (index as usize, value(index as usize)));
        for (index, value) in values {
            // SAFETY: in bounds, and the index modulo the number of threads is this thread's rank.
            unsafe { self.ptr.add(index).write(value) };
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

/// A row of an [`Array2d`](super::Array2d): an array, and its padding.
#[repr(C)]
pub struct Row<T, const W: usize, const PAD: usize> {
    row: [T; W],
    padding: MaybeUninit<[T; PAD]>,
}

impl<T, const W: usize, const PAD: usize> Deref for Row<T, W, PAD> {
    type Target = [T; W];
    #[inline(always)]
    fn deref(&self) -> &[T; W] {
        &self.row
    }
}

impl<T: fmt::Debug, const W: usize, const PAD: usize> fmt::Debug for Row<T, W, PAD> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.row.fmt(f)
    }
}

/// The elements of an [`Array2d`](super::Array2d) that are this thread's, or of a
/// [`Transposed2d`](super::Transposed2d).
///
/// Threads of a block with `threadIdx.z` above 0 have none.
#[derive(Debug)]
pub struct Own2d<'a, T, const W: usize, const H: usize, const PAD: usize, const TRANSPOSED: bool> {
    ptr: *mut Row<T, W, PAD>,
    elements: PhantomData<&'a mut [T]>,
}

impl<T, const W: usize, const H: usize, const PAD: usize, const TRANSPOSED: bool> Own2d<'_, T, W, H, PAD, TRANSPOSED> {
    /// Of `H` rows at `ptr`.
    ///
    /// # Safety
    /// As for `Own`.
    #[inline(always)]
    pub(super) unsafe fn new(ptr: *mut Row<T, W, PAD>) -> Self {
        Self { ptr, elements: PhantomData }
    }

    /// The address of an element.
    ///
    /// # Safety
    /// There must be such an element.
    #[inline(always)]
    unsafe fn at(&self, row: usize, column: usize) -> *mut T {
        // SAFETY: the caller's promise; a row begins with its elements.
        unsafe { self.ptr.add(row).cast::<T>().add(column) }
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
            Some(unsafe { &mut *self.at(row, column) })
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
    /// `value` is called for up to four elements before the first of them is written, so that what it reads of global
    /// memory is waited for together.
    ///
    /// Where a kernel begins with `assert!(thread::block_dim() == Dim3::new(32, 8, 1))` or the like, the compiler knows how
    /// many they are and unrolls the loop.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn fill(&mut self, mut value: impl FnMut(usize, usize) -> T) {
        let is_small = (1..=MOST_WAITING).contains(&size_of::<T>()) && H <= MOST_FILLED && W <= MOST_FILLED;
        if !is_small {
            return self.for_each(|row, column, own| *own = value(row, column));
        }
        // Numbers of 32 bits take half the instructions.
        let (height, width) = (H as u32, W as u32);
        let [(rows, columns), (first_row, first_column)] =
            [(ntid_x(), ntid_y()), (tid_x(), tid_y())].map(|(x, y)| if TRANSPOSED { (x, y) } else { (y, x) });
        let is_first_layer = tid_z() == 0;
        // Rows, and columns in each of them, as in two loops; but one after the other, so that four can be looked at together.
        let next = |(top, left): (u32, u32)| {
            let right = left + columns;
            if right < width { (top, right) } else { (top + rows, 0) }
        };
        let mut corner = (0, 0);
        while corner.0 < height {
            let second = next(corner);
            let third = next(second);
            let fourth = next(third);
            // Four values are read before one is written: so a thread waits for memory once, not four times.
            let values = [corner, second, third, fourth].map(|(top, left)| {
                let (row, column) = (top + first_row, left + first_column);
                let is_own = (row < height) & (column < width) & is_first_layer;
                is_own.then(|| (row as usize, column as usize, value(row as usize, column as usize)))
            });
            for (row, column, value) in values.into_iter().flatten() {
                // SAFETY: in bounds; position modulo extents is that of this thread alone.
                unsafe { *self.at(row, column) = value };
            }
            corner = next(fourth);
        }
    }

    /// Calls `each` with row, column and element for all elements of this thread's.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn for_each(&mut self, mut each: impl FnMut(usize, usize, &mut T)) {
        let (x, y) = (ntid_x() as usize, ntid_y() as usize);
        let (rows, columns) = if TRANSPOSED { (x, y) } else { (y, x) };
        let (first_row, first_column) = Self::first();
        if tid_z() != 0 {
            return;
        }
        if columns >= W {
            // One column a thread, as in most kernels, and one loop: two loops in each other would hide from the compiler that
            // all rounds are alike, so that it would let none wait for memory together.
            if first_column < W {
                // The rounds are counted here, so that they can be made four at a time.
                (first_row..H).step_by(rows).for_each(|row| {
                    // SAFETY: in bounds; position modulo extents is that of this thread alone.
                    each(row, first_column, unsafe { &mut *self.at(row, first_column) });
                });
            }
            return;
        }
        Self::steps(first_row, H, rows, |row| {
            Self::steps(first_column, W, columns, |column| {
                // SAFETY: in bounds; position modulo extents is that of this thread alone.
                each(row, column, unsafe { &mut *self.at(row, column) });
            });
        });
    }

    /// Calls `each` with `first`, `first + by`, … below `end`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn steps(first: usize, end: usize, by: usize, mut each: impl FnMut(usize)) {
        // `step_by` would count the rounds, which is a division where nobody knows `by`. Where that is known, so is the second
        // end of the loop, which can be unrolled then.
        let mut start = 0_usize;
        while start < end {
            let Some(index) = start.checked_add(first).filter(|&index| index < end) else { break };
            each(index);
            let Some(next) = start.checked_add(by) else { break };
            start = next;
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
