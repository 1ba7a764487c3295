//! Memory that host and device both reach: page-locked memory of the host, which kernels can use as it is (mapped), and managed
//! memory, which moves to where it is used. Both are cudarc's types.

use std::sync::Arc;

use cudarc::driver::sys::{self, CUdeviceptr};
use cudarc::driver::{
    CudaContext, CudaStream, DevicePtr, DevicePtrMut, DeviceRepr, DeviceSlice, HostSlice, PinnedHostSlice, SyncOnDrop,
    UnifiedSlice, UnifiedView, UnifiedViewMut, ValidAsZeroBits,
};

use crate::device::Device;
use crate::driver::Doing;
use crate::error::Result;
use crate::memory::{DeviceMemory, DeviceMemoryMut, DeviceRead, DeviceWrite};

impl Device {
    /// Allocates page-locked (pinned) memory of the host, with all bits zero: `cuMemHostAlloc` with `CU_MEMHOSTALLOC_PORTABLE` and
    /// `CU_MEMHOSTALLOC_DEVICEMAP`.
    ///
    /// Copies to and from it do not keep the host's thread. A kernel can take it in place of device memory, and then goes over
    /// the bus for each element (mapped, or zero-copy memory). `as_slice` and `as_mut_slice` wait for the work that uses it.
    ///
    /// # Errors
    /// If the system does not lock so much, or the device is lost.
    pub fn pinned_zeroed<T: DeviceRepr + ValidAsZeroBits>(&self, len: usize) -> Result<PinnedHostSlice<T>> {
        let doing = || format!("making {} zero bytes of page-locked memory", len.saturating_mul(size_of::<T>()));
        self.take_notes()?;
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: all is written before anybody reads it. The driver refuses a size of 0.
        let mut memory = unsafe { self.context().alloc_pinned_with_flags::<T>(len, flags) }.doing(doing)?;
        let start = memory.as_mut_ptr().doing(doing)?;
        // SAFETY: so many elements were allocated, and zeros are a value of them.
        unsafe { start.write_bytes(0, len) };
        Ok(memory)
    }

    /// Allocates managed (unified) memory, with all bits zero: `cuMemAllocManaged` with `CU_MEM_ATTACH_GLOBAL`. Host and device have
    /// the same address, and pages move to where they are used. `as_slice` and `as_mut_slice` wait for the work that uses it.
    ///
    /// # Errors
    /// If there is not enough memory, or the device has no managed memory.
    pub fn managed_zeroed<T: DeviceRepr + ValidAsZeroBits>(&self, len: usize) -> Result<UnifiedSlice<T>> {
        let doing = || format!("making {} zero bytes of managed memory", len.saturating_mul(size_of::<T>()));
        self.take_notes()?;
        self.context().bind_to_thread().doing(doing)?;
        // SAFETY: all is written before anybody reads it.
        let mut memory = unsafe { self.context().alloc_unified::<T>(len, true) }.doing(doing)?;
        self.stream().memset_zeros(&mut memory).doing(doing)?;
        Ok(memory)
    }
}

/// cudarc notes what a stream uses only if there are several streams. The host reads this memory itself, so if nobody takes notes
/// it must wait here.
fn noted<'s>(guard: SyncOnDrop<'s>, stream: &'s CudaStream) -> SyncOnDrop<'s> {
    if stream.context().is_managing_stream_synchronization() {
        return guard;
    }
    drop(guard);
    SyncOnDrop::sync_stream(stream)
}

/// Where the device finds page-locked memory; where it does not, cudarc keeps the error, and the launch returns it.
fn mapped<T>(start: *const T, stream: &CudaStream) -> CUdeviceptr {
    let mut address = 0;
    // SAFETY: writes one address; memory that is not page-locked is an error.
    let found = unsafe { sys::cuMemHostGetDevicePointer_v2(&mut address, start.cast_mut().cast(), 0) }.result();
    stream.context().record_err(found);
    address
}

// SAFETY: cudarc keeps the memory, and orders the work on it, the host's own among it. To leave memory uninitialised is `unsafe`.
unsafe impl<T> DeviceMemory for PinnedHostSlice<T> {
    fn len(&self) -> usize {
        Self::len(self)
    }
    fn context(&self) -> Option<&Arc<CudaContext>> {
        Some(Self::context(self))
    }
    fn read_on<'s>(&'s self, stream: &'s CudaStream) -> (CUdeviceptr, SyncOnDrop<'s>) {
        // SAFETY: it is used on this stream.
        let (slice, guard) = unsafe { self.stream_synced_slice(stream) };
        (mapped(slice.as_ptr(), stream), noted(guard, stream))
    }
}
// SAFETY: as above, and the type is borrowed exclusively.
unsafe impl<T> DeviceMemoryMut for PinnedHostSlice<T> {
    fn write_on<'s>(&'s mut self, stream: &'s CudaStream) -> (CUdeviceptr, SyncOnDrop<'s>) {
        // SAFETY: it is used on this stream.
        let (slice, guard) = unsafe { self.stream_synced_mut_slice(stream) };
        (mapped(slice.as_ptr(), stream), noted(guard, stream))
    }
}
// SAFETY: cudarc's type says so.
unsafe impl<T> DeviceRead<T> for PinnedHostSlice<T> {}
// SAFETY: cudarc's type says so.
unsafe impl<T> DeviceWrite<T> for PinnedHostSlice<T> {}

macro_rules! managed {
    ($($ty:ty),*) => {$(
        // SAFETY: as above.
        unsafe impl<T> DeviceMemory for $ty {
            fn len(&self) -> usize {
                DeviceSlice::len(self)
            }
            fn context(&self) -> Option<&Arc<CudaContext>> {
                Some(DeviceSlice::stream(self).context())
            }
            fn read_on<'s>(&'s self, stream: &'s CudaStream) -> (CUdeviceptr, SyncOnDrop<'s>) {
                let (address, guard) = self.device_ptr(stream);
                (address, noted(guard, stream))
            }
        }
        // SAFETY: cudarc's type says so.
        unsafe impl<T> DeviceRead<T> for $ty {}
    )*};
}

macro_rules! managed_mut {
    ($($ty:ty),*) => {$(
        // SAFETY: as above, and the types borrow exclusively.
        unsafe impl<T> DeviceMemoryMut for $ty {
            fn write_on<'s>(&'s mut self, stream: &'s CudaStream) -> (CUdeviceptr, SyncOnDrop<'s>) {
                let (address, guard) = self.device_ptr_mut(stream);
                (address, noted(guard, stream))
            }
        }
        // SAFETY: cudarc's type says so.
        unsafe impl<T> DeviceWrite<T> for $ty {}
    )*};
}

managed!(UnifiedSlice<T>, UnifiedView<'_, T>, UnifiedViewMut<'_, T>);
managed_mut!(UnifiedSlice<T>, UnifiedViewMut<'_, T>);
