//! Device memory as kernels take it: cudarc's slices and views, and raw device pointers.

use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop,
};

/// Device memory that holds elements of any type.
///
/// # Safety
/// The address must be that of `len()` initialised elements in the context, which stay while `self` is borrowed and
/// until the work that the guard stands for is done.
pub unsafe trait DeviceMemory {
    /// Number of elements.
    fn len(&self) -> usize;

    /// Whether there are no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The context that the memory belongs to; none of memory of the CPU.
    fn context(&self) -> Option<&Arc<CudaContext>>;

    /// The address, if it is memory of the CPU.
    fn cpu_address(&self) -> Option<u64> {
        None
    }

    /// The graph that has taken the memory, whose launches alone may use it.
    #[doc(hidden)]
    fn graph(&self) -> Option<GraphSlot> {
        None
    }

    /// The one stream that launches may use the memory on, if there is such.
    #[doc(hidden)]
    fn bound_to(&self) -> Option<&CudaStream> {
        None
    }

    /// The address, if the memory can be used on any stream without [`read_on`](Self::read_on) and `write_on` at this moment: as
    /// long as its context has one stream only, cudarc neither waits nor takes notes.
    fn unguarded(&self) -> Option<CUdeviceptr> {
        None
    }

    /// The address as a kernel takes it, and the length, if the memory is of this very context, of which the caller knows that
    /// it has one stream only; else none. One call for all that a launch asks.
    #[doc(hidden)]
    fn plain(&self, context: &Arc<CudaContext>) -> (Option<NonZeroU64>, usize) {
        _ = context;
        (None, 0)
    }

    /// The address, for reading on `stream`, which waits for work on other streams that writes the memory. Drop the
    /// guard once the reading has been put on the stream.
    fn read_on<'s>(&'s self, stream: &'s CudaStream) -> (CUdeviceptr, SyncOnDrop<'s>);
}

/// The address of slices without elements: not null, and aligned for every type.
const NO_ELEMENTS: u64 = 0x1000;

/// An empty allocation may have no address, but no Rust slice begins at null.
#[inline]
pub(crate) fn some_address(address: u64, len: usize) -> u64 {
    if len == 0 { NO_ELEMENTS } else { address }
}

/// Which memory of which graph.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphSlot {
    pub(crate) graph: u64,
    pub(crate) number: usize,
}

/// Device memory that may be written.
///
/// # Safety
/// As for [`DeviceMemory`]. Also, nobody else accesses the memory while `self` is borrowed.
pub unsafe trait DeviceMemoryMut: DeviceMemory {
    /// The address, for writing on `stream`, which waits for all other work on the memory.
    fn write_on<'s>(&'s mut self, stream: &'s CudaStream) -> (CUdeviceptr, SyncOnDrop<'s>);
}

/// Device memory of `T`s that a kernel may read: the argument for a parameter `&[T]` or `&T`.
///
/// # Safety
/// The elements must be `T`s.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not device memory of `{T}`",
    label = "a kernel's parameter `&[{T}]` takes `&CudaSlice<{T}>` or a view of one",
    note = "`device.upload(&data)?` copies a slice to the device"
)]
pub unsafe trait DeviceRead<T>: DeviceMemory {}

/// Device memory of `T`s that a kernel may write: the argument for a parameter `DisjointSlice<T>`.
///
/// # Safety
/// The elements must be `T`s.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not device memory of `{T}` that may be written",
    label = "a kernel's parameter `DisjointSlice<{T}>` takes `&mut CudaSlice<{T}>` or a mutable view of one",
    note = "`device.zeroed(len)?` makes memory for results"
)]
pub unsafe trait DeviceWrite<T>: DeviceRead<T> + DeviceMemoryMut {}

macro_rules! readable {
    ($($ty:ty),*) => {$(
        // SAFETY: cudarc keeps the memory and orders the work on it. To leave memory uninitialised is `unsafe` there.
        unsafe impl<T> DeviceMemory for $ty {
            fn len(&self) -> usize {
                DeviceSlice::len(self)
            }
            fn context(&self) -> Option<&Arc<CudaContext>> {
                Some(DeviceSlice::stream(self).context())
            }
            fn unguarded(&self) -> Option<CUdeviceptr> {
                let stream = DeviceSlice::stream(self);
                if stream.context().is_managing_stream_synchronization() {
                    return None;
                }
                let (address, guard) = self.device_ptr(stream);
                // It would note nothing.
                std::mem::forget(guard);
                Some(address)
            }
            fn plain(&self, context: &Arc<CudaContext>) -> (Option<NonZeroU64>, usize) {
                let stream = DeviceSlice::stream(self);
                if !Arc::ptr_eq(stream.context(), context) {
                    return (None, 0);
                }
                let len = DeviceSlice::len(self);
                let (address, guard) = self.device_ptr(stream);
                // As above.
                std::mem::forget(guard);
                (NonZeroU64::new(some_address(address, len)), len)
            }
            fn read_on<'s>(&'s self, stream: &'s CudaStream) -> (CUdeviceptr, SyncOnDrop<'s>) {
                self.device_ptr(stream)
            }
        }
        // SAFETY: cudarc's type says so.
        unsafe impl<T> DeviceRead<T> for $ty {}
    )*};
}

macro_rules! writable {
    ($($ty:ty),*) => {$(
        // SAFETY: as above, and the types borrow exclusively.
        unsafe impl<T> DeviceMemoryMut for $ty {
            fn write_on<'s>(&'s mut self, stream: &'s CudaStream) -> (CUdeviceptr, SyncOnDrop<'s>) {
                self.device_ptr_mut(stream)
            }
        }
        // SAFETY: cudarc's type says so.
        unsafe impl<T> DeviceWrite<T> for $ty {}
    )*};
}

readable!(CudaSlice<T>, CudaView<'_, T>, CudaViewMut<'_, T>);
writable!(CudaSlice<T>, CudaViewMut<'_, T>);

/// A raw address on the device: the argument for a parameter `*const T` or `*mut T`.
///
/// Making one is safe, as for any raw pointer; a kernel that dereferences it is `unsafe`. A launch does not wait for
/// other streams that use the memory, and does not keep it allocated.
pub struct DevicePointer<T> {
    address: CUdeviceptr,
    pointee: PhantomData<*mut T>,
}

impl<T> DevicePointer<T> {
    /// A pointer to `address`.
    pub const fn new(address: u64) -> Self {
        Self { address, pointee: PhantomData }
    }

    /// The null pointer.
    pub const fn null() -> Self {
        Self::new(0)
    }

    /// A pointer to the first element of `memory`. It waits on `stream` for the work on the memory that cudarc knows
    /// of.
    pub fn of(memory: &(impl DeviceRead<T> + ?Sized), stream: &CudaStream) -> Self {
        Self::new(memory.read_on(stream).0)
    }

    /// A pointer to the first element of `memory`, for writing.
    pub fn of_mut(memory: &mut (impl DeviceWrite<T> + ?Sized), stream: &CudaStream) -> Self {
        Self::new(memory.write_on(stream).0)
    }

    /// The address on the device.
    pub const fn address(self) -> u64 {
        self.address
    }

    /// The address as a Rust pointer, for fields of structs that are passed to kernels. It is not valid on the host.
    pub const fn as_ptr(self) -> *mut T {
        std::ptr::without_provenance_mut(self.address as usize)
    }
}

impl<T> Clone for DevicePointer<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for DevicePointer<T> {}

impl<T> fmt::Debug for DevicePointer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DevicePointer({:#x})", self.address)
    }
}

// SAFETY: a number.
unsafe impl<T> Send for DevicePointer<T> {}
// SAFETY: a number.
unsafe impl<T> Sync for DevicePointer<T> {}
