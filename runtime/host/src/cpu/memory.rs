//! Memory for kernels that the CPU runs.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaContext, CudaStream, SyncOnDrop};

use crate::memory::{DeviceMemory, DeviceMemoryMut, DevicePointer, DeviceRead, DeviceWrite};

/// What stands for memory of the GPU where the CPU runs a kernel: the argument for a parameter `&T`, `&[T]`,
/// `DisjointSlice<T>`, and so on. It is a slice.
///
/// ```
/// let mut memory = ptx_host::CpuMemory::from([1, 2, 3]);
/// memory[0] = 5;
/// assert_eq!(memory[..], [5, 2, 3]);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct CpuMemory<T>(Vec<T>);

impl<T> CpuMemory<T> {
    /// The address of the first element: the argument for a parameter `*const T`.
    pub fn pointer(&self) -> DevicePointer<T> {
        DevicePointer::new(self.0.as_ptr().expose_provenance() as u64)
    }

    /// The same for a parameter `*mut T`.
    pub fn pointer_mut(&mut self) -> DevicePointer<T> {
        DevicePointer::new(self.0.as_mut_ptr().expose_provenance() as u64)
    }

    /// What a kernel left in it, without a copy.
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T> From<Vec<T>> for CpuMemory<T> {
    fn from(elements: Vec<T>) -> Self {
        Self(elements)
    }
}

impl<T: Clone> From<&[T]> for CpuMemory<T> {
    fn from(elements: &[T]) -> Self {
        Self(elements.to_vec())
    }
}

impl<T, const N: usize> From<[T; N]> for CpuMemory<T> {
    fn from(elements: [T; N]) -> Self {
        Self(elements.into())
    }
}

impl<T> FromIterator<T> for CpuMemory<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        Self(elements.into_iter().collect())
    }
}

impl<T> Deref for CpuMemory<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for CpuMemory<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for CpuMemory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

// SAFETY: a vector's elements, which stay while it is borrowed; no launch on a GPU takes them, as they have no context.
unsafe impl<T> DeviceMemory for CpuMemory<T> {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn context(&self) -> Option<&Arc<CudaContext>> {
        None
    }
    fn cpu_address(&self) -> Option<u64> {
        Some(self.pointer().address())
    }
    fn read_on<'s>(&'s self, _: &'s CudaStream) -> (CUdeviceptr, SyncOnDrop<'s>) {
        (self.pointer().address(), SyncOnDrop::Sync(None))
    }
}
// SAFETY: as above, and the vector is borrowed exclusively.
unsafe impl<T> DeviceMemoryMut for CpuMemory<T> {
    fn write_on<'s>(&'s mut self, _: &'s CudaStream) -> (CUdeviceptr, SyncOnDrop<'s>) {
        (self.pointer_mut().address(), SyncOnDrop::Sync(None))
    }
}
// SAFETY: the type says so.
unsafe impl<T> DeviceRead<T> for CpuMemory<T> {}
// SAFETY: the type says so.
unsafe impl<T> DeviceWrite<T> for CpuMemory<T> {}
