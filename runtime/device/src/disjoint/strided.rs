//! Several elements a thread, a stride apart: butterflies, and what sorts or transforms in steps.

use core::array;
use core::fmt;
use core::marker::PhantomData;

use ptx_abi::cxx::{Cxx, Definition};
use ptx_abi::{AbiType, Access, CxxType, DeviceParam, RawSliceMut, Type, extents};

use crate::index::ThreadIndex;

/// A mutable slice of which every thread reaches `N` elements that are a stride apart. The host gives the stride, a power
/// of two, with the memory, as [`Strided`](../ptx/struct.Strided.html).
///
/// With a stride of 4 and `N = 2`, threads 0 to 3 have elements 0 and 4, 1 and 5, 2 and 6, 3 and 7; threads 4 to 7 have 8
/// and 12, and so on: the butterflies of a fast Fourier transform, the pairs of a bitonic sort.
///
/// ```
/// use ptx::prelude::*;
/// use ptx::DisjointStrided;
///
/// /// A step of the Walsh-Hadamard transform, in place.
/// #[kernel]
/// pub fn step(mut data: DisjointStrided<f32, 2>) {
///     if let Some([a, b]) = data.get_mut(thread::index_1d()) {
///         (*a, *b) = (*a + *b, *a - *b);
///     }
/// }
///
/// # #[cfg(not(target_arch = "nvptx64"))]
/// fn run(device: &Device, module: &Module) -> ptx::Result<Vec<f32>> {
///     let mut data = device.upload(&[1.0_f32; 1024])?;
///     for step_log2 in 0..10 {
///         let data = ptx::Strided::new(&mut data, 1 << step_log2);
///         step(data).launch(module, Grid::cover(512, 128))?;
///     }
///     device.download(&data)
/// }
/// ```
///
/// # Soundness
/// With the stride `s`, every index has one form `(q * N + k) * s + r` with `k < N` and `r < s`, as digits have. It is
/// that of thread `q * s + r`, by [`index_1d`](crate::thread::index_1d). The stride comes with the memory: all threads
/// have the same.
pub struct DisjointStrided<'a, T, const N: usize> {
    ptr: *mut T,
    /// At most [`extents::MAX_STRIDED`].
    len: usize,
    /// At most [`extents::MAX_STRIDE_LOG2`].
    stride_log2: u32,
    elements: PhantomData<&'a mut [T]>,
}

impl<T, const N: usize> DisjointStrided<'_, T, N> {
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

    /// How far apart a thread's elements are.
    #[inline(always)]
    pub fn stride(&self) -> usize {
        1 << self.stride_log2
    }

    /// The index of the thread's first element.
    #[inline(always)]
    pub fn first(&self, index: ThreadIndex) -> usize {
        let (q, r) = (index.get() >> self.stride_log2, index.get() & (self.stride() - 1));
        // Less than 2^48 + 2^32: `q * s` and `r` are at most the index, which has 32 bits, and `N` is at most 2^16.
        ((q * N) << self.stride_log2) + r
    }

    /// This thread's elements; `None` if one of them is past the end.
    #[inline(always)]
    pub fn get_mut(&mut self, index: ThreadIndex) -> Option<[&mut T; N]> {
        const { assert!(N > 0 && N <= 1 << 16, "a thread has 1 to 65,536 elements") };
        let first = self.first(index);
        let last = first + (N - 1) * self.stride();
        // No overflow: `last` is less than 2^48 + 2^32 + 2^47.
        if last >= self.len {
            return None;
        }
        let (ptr, stride) = (self.ptr, self.stride());
        // SAFETY: in bounds, different from one another, and this thread's own, as the type's documentation shows; `&mut
        // self` lets the thread have them once at a time.
        Some(array::from_fn(|k| unsafe { &mut *ptr.add(first + k * stride) }))
    }
}

impl<T, const N: usize> fmt::Debug for DisjointStrided<'_, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DisjointStrided").field("ptr", &self.ptr).field("len", &self.len).finish_non_exhaustive()
    }
}

#[diagnostic::do_not_recommend]
// SAFETY: pointer, then length and stride.
unsafe impl<T: AbiType, const N: usize> DeviceParam for DisjointStrided<'_, T, N> {
    type Raw = RawSliceMut<T>;
    const TYPE: Type = Type::slice::<T>(Access::Strided);
    const CXX: Cxx<'static> = <*mut T as CxxType>::CXX;
    const DEFINITION: &'static Definition<'static> = T::DEFINITION;
    #[inline(always)]
    unsafe fn from_raw(raw: Self::Raw) -> Self {
        // SAFETY: the host gave the launch this memory, whose address is not null.
        unsafe { core::hint::assert_unchecked(!raw.ptr.is_null()) };
        let (len, stride_log2) = extents::unpack_strided(raw.len as u64);
        Self { ptr: raw.ptr, len: len as usize, stride_log2, elements: PhantomData }
    }
    #[inline(always)]
    fn into_raw(self) -> Self::Raw {
        RawSliceMut { ptr: self.ptr, len: extents::pack_strided(self.len as u64, self.stride_log2) as usize }
    }
}
