//! A slice of atomics as a kernel's parameter.

use core::fmt;
use core::ops::Deref;

use ptx_abi::cxx::{Cxx, Definition};
use ptx_abi::{AbiType, Access, CxxType, DeviceParam, RawSliceMut, Type};

use super::{Atomic, AtomicValue, Scope, System};

/// Device memory that every thread of a launch may change, element by element, atomically.
///
/// The host passes the same as for a [`DisjointSlice`](crate::DisjointSlice): `&mut CudaSlice<T>` or a mutable view. It
/// dereferences to `[Atomic<T, S>]`. The scope [`Device`](super::Device) is enough for the threads of all launches on
/// the GPU; the host and other GPUs need [`System`].
pub struct AtomicSlice<'a, T, S = System> {
    atomics: &'a [Atomic<T, S>],
}

impl<T, S> Clone for AtomicSlice<'_, T, S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, S> Copy for AtomicSlice<'_, T, S> {}

impl<'a, T, S> AtomicSlice<'a, T, S> {
    /// The atomics, for as long as the kernel runs.
    #[inline(always)]
    pub fn as_slice(self) -> &'a [Atomic<T, S>] {
        self.atomics
    }
}

impl<'a, T, S> From<&'a [Atomic<T, S>]> for AtomicSlice<'a, T, S> {
    fn from(atomics: &'a [Atomic<T, S>]) -> Self {
        Self { atomics }
    }
}

impl<T, S> Deref for AtomicSlice<'_, T, S> {
    type Target = [Atomic<T, S>];
    #[inline(always)]
    fn deref(&self) -> &[Atomic<T, S>] {
        self.atomics
    }
}

impl<T: AtomicValue + fmt::Debug, S: Scope> fmt::Debug for AtomicSlice<'_, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.atomics.fmt(f)
    }
}

// SAFETY: pointer, then length. `Raw`, because other threads change what is read.
unsafe impl<T: AtomicValue + AbiType, S: Scope> DeviceParam for AtomicSlice<'_, T, S> {
    type Raw = RawSliceMut<T>;
    const TYPE: Type = Type::slice::<T>(Access::Raw);
    const CXX: Cxx<'static> = <*mut T as CxxType>::CXX;
    const DEFINITION: &'static Definition<'static> = T::DEFINITION;
    #[inline(always)]
    unsafe fn from_raw(raw: Self::Raw) -> Self {
        // SAFETY: the host gave the launch this memory alone, and an atomic has the layout of its value.
        Self { atomics: unsafe { core::slice::from_raw_parts(raw.ptr.cast::<Atomic<T, S>>(), raw.len) } }
    }
    #[inline(always)]
    fn into_raw(self) -> Self::Raw {
        RawSliceMut { ptr: self.atomics.as_ptr().cast_mut().cast(), len: self.atomics.len() }
    }
}
