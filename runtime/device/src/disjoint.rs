//! Mutable slices of which every thread reaches only its own elements.
//!
//! # Why this is sound
//! A type of this module says which thread owns which element: a function of the thread's position, the launch and what
//! the host passed for the parameter, the same in all threads, under which no element has two owners. The whole memory
//! has one such type for the whole launch: a kernel gets the slice from the host, nothing makes a second one of the same
//! memory or of a part, and nothing turns one type into another. So it does not matter how threads diverge, in which
//! order they come, how often, or which of a type's methods they call: what a thread reaches is its own. Within a
//! thread, `&mut self` lets one reference to an element live at a time. Two launches cannot have the memory at once,
//! because the host borrows it exclusively and cudarc orders the streams.

mod grids;
mod groups;
mod own;
mod strided;

use core::marker::PhantomData;

use ptx_abi::cxx::{Cxx, Definition};
use ptx_abi::{AbiType, Access, CxxType, DeviceParam, RawSliceMut, Type};

pub use self::grids::{Disjoint2d, Disjoint3d, DisjointTiles, InPlace, TileOrder, Transposed};
pub use self::groups::{
    DisjointParts, DisjointRows, Part, PartIter, PartsIter, PerBlock, PerThread, PerWarp, RowsPerBlock, RowsPerThread,
    RowsPerWarp, ThreadGroup, group,
};
pub use self::own::OwnElements;
pub use self::strided::DisjointStrided;
use crate::index::{Index2d, ThreadIndex, grid_stride};

/// A mutable slice that all threads of a launch hold, each reaching only the element of its own [`ThreadIndex`], and
/// every one that is further by the number of threads.
///
/// It replaces CUDA's `T *out`: no two threads can write the same element, so a kernel needs no `unsafe`.
///
/// ```
/// use ptx::prelude::*;
///
/// #[kernel]
/// pub fn double(x: &[f32], mut y: DisjointSlice<f32>) {
///     let i = thread::index_1d();
///     if let Some(y) = y.get_mut(i) {
///         *y = 2.0 * x[i.get()];
///     }
/// }
///
/// /// The same for any number of threads.
/// #[kernel]
/// pub fn double_all(x: &[f32], mut y: DisjointSlice<f32>) {
///     for (i, y) in y.grid_stride() {
///         *y = 2.0 * x[i];
///     }
/// }
/// ```
///
/// Other shapes have types of their own: [`Disjoint2d`], [`Disjoint3d`], [`PerBlock`], [`PerWarp`], [`PerThread`],
/// [`RowsPerBlock`], [`DisjointTiles`], [`DisjointStrided`].
///
/// # Soundness
/// Element `e` is that of thread `e % n`, where `n` is the number of threads, by [`index_1d`](crate::thread::index_1d).
/// [`get_mut`](Self::get_mut) and [`grid_stride`](Self::grid_stride) agree on that, and an index of another launch or
/// thread cannot come here: it is neither `Send` nor `Sync`.
#[derive(Debug)]
pub struct DisjointSlice<'a, T> {
    ptr: *mut T,
    len: usize,
    elements: PhantomData<&'a mut [T]>,
}

impl<T> DisjointSlice<'_, T> {
    /// A slice of `len` elements at `ptr`.
    ///
    /// # Safety
    /// Every thread must be given the same memory of `len` initialised elements, or memory of its own; while they
    /// use it, nothing else does. `ptr` must be aligned and not null, even where `len` is 0.
    #[inline(always)]
    pub unsafe fn from_raw_parts(ptr: *mut T, len: usize) -> Self {
        // SAFETY: the caller's promise. It spares `get_mut` a comparison: null stands for `None` there.
        unsafe { core::hint::assert_unchecked(!ptr.is_null()) };
        // SAFETY: no memory is longer. It spares loops the question whether their index overflows.
        unsafe { core::hint::assert_unchecked(size_of::<T>() == 0 || len <= isize::MAX as usize / size_of::<T>()) };
        Self { ptr, len, elements: PhantomData }
    }

    /// Number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// This thread's element; `None` for the threads past the end.
    #[inline(always)]
    pub fn get_mut(&mut self, index: ThreadIndex) -> Option<&mut T> {
        if index.get() < self.len {
            // SAFETY: in bounds. No other thread has this index, and `&mut self` lets this thread hold one at a time.
            Some(unsafe { &mut *self.ptr.add(index.get()) })
        } else {
            None
        }
    }

    /// All elements that are this thread's, with their indices: its [`index_1d`](crate::thread::index_1d), then every one
    /// that is further by the number of threads. As [`thread::grid_stride`](crate::thread::grid_stride), `for_each` and
    /// its like take four elements a round.
    ///
    /// # Panics
    /// As [`index_1d`](crate::thread::index_1d).
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn grid_stride(&mut self) -> OwnElements<'_, T> {
        // SAFETY: the indices below the length that are this thread's.
        unsafe { OwnElements::new(self.ptr, grid_stride(self.len)) }
    }

    /// The element in column `x` and row `y` of rows that are `width` long; `None` for the threads past the right or
    /// lower edge, and if a row has 2^37 elements or more. [`Disjoint2d`] does the same without `unsafe`.
    ///
    /// # Safety
    /// All threads of the launch must pass the same `width` in every call on this slice: with two widths, two positions
    /// can be one element. A kernel's parameter is the same for all threads.
    #[inline(always)]
    pub unsafe fn get_mut_2d(&mut self, index: Index2d, width: usize) -> Option<&mut T> {
        // A grid has at most 65,535 blocks of 1024 threads in its second dimension (CUDA C++ Programming Guide, "Technical
        // Specifications per Compute Capability"), so with such a width nothing is as large as 2^64.
        let at = index.y().wrapping_mul(width).wrapping_add(index.x());
        if (index.x() < width) & (width < 1 << 37) & (at < self.len) {
            // SAFETY: in bounds. With one width, positions and elements pair off, and positions are the thread's own.
            Some(unsafe { &mut *self.ptr.add(at) })
        } else {
            None
        }
    }

    /// The element at `index`, without any check.
    ///
    /// # Safety
    /// `index` must be less than `len()`, and no other thread may use that element at the same time.
    #[inline(always)]
    pub unsafe fn get_unchecked_mut(&mut self, index: usize) -> &mut T {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.ptr.add(index) }
    }

    /// The address of the first element.
    #[inline(always)]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.ptr
    }
}

// SAFETY: pointer, then length.
unsafe impl<T: AbiType> DeviceParam for DisjointSlice<'_, T> {
    type Raw = RawSliceMut<T>;
    const TYPE: Type = Type::slice::<T>(Access::Exclusive);
    const CXX: Cxx<'static> = <*mut T as CxxType>::CXX;
    const DEFINITION: &'static Definition<'static> = T::DEFINITION;
    // Each thread's index is its own, so all may have the slice.
    const IN_KERNELS: bool = true;
    #[inline(always)]
    unsafe fn from_raw(raw: Self::Raw) -> Self {
        // SAFETY: the host gave the launch, and so every thread, this memory alone.
        unsafe { Self::from_raw_parts(raw.ptr, raw.len) }
    }
    #[inline(always)]
    fn into_raw(self) -> Self::Raw {
        RawSliceMut { ptr: self.ptr, len: self.len }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_unchecked_access() {
        let mut data = [1, 2, 3];
        // SAFETY: one thread, and `data` is not touched while `slice` lives.
        let mut slice = unsafe { DisjointSlice::from_raw_parts(data.as_mut_ptr(), data.len()) };
        assert_eq!(slice.len(), 3);
        assert!(!slice.is_empty());
        // SAFETY: 2 is in bounds, and there is one thread.
        unsafe { *slice.get_unchecked_mut(2) = 7 };
        assert_eq!(data, [1, 2, 7]);
    }
}
