//! The elements of a slice that are a thread's own, one after the other.

use core::marker::PhantomData;

use crate::index::GridStride;

/// The elements of a thread: the iterator of [`DisjointSlice::grid_stride`](super::DisjointSlice::grid_stride).
#[derive(Debug)]
pub struct OwnElements<'s, T> {
    ptr: *mut T,
    indices: GridStride,
    elements: PhantomData<&'s mut [T]>,
}

impl<T> OwnElements<'_, T> {
    /// The elements at `indices`.
    ///
    /// # Safety
    /// `indices` must be this thread's own, in bounds, and each come once.
    #[inline(always)]
    pub(crate) unsafe fn new(ptr: *mut T, indices: GridStride) -> Self {
        Self { ptr, indices, elements: PhantomData }
    }
}

impl<'s, T> Iterator for OwnElements<'s, T> {
    type Item = (usize, &'s mut T);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let i = self.indices.next()?;
        // SAFETY: in bounds, the thread's own, and no index comes twice.
        Some((i, unsafe { &mut *self.ptr.add(i) }))
    }
}
