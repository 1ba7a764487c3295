//! Memory that a graph has taken, of the device and of the host.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{
    CudaContext, CudaEvent, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, HostSlice, PinnedHostSlice, SyncOnDrop,
};

use crate::memory::{DeviceMemory, DeviceMemoryMut, DeviceRead, DeviceWrite, GraphSlot};

/// Memory of the device that a graph has taken: the argument of launches that are added to it. `Graph::memory` gives the memory
/// itself.
///
/// It goes when the graph does.
pub struct GraphMemory<T> {
    pub(super) slot: GraphSlot,
    pub(super) address: CUdeviceptr,
    context: Arc<CudaContext>,
    len: usize,
    elements: PhantomData<fn() -> T>,
}

/// Page-locked memory of the host that a graph has taken: one side of its copies. `Graph::host` gives the memory itself.
///
/// It goes when the graph does.
pub struct GraphHostMemory<T> {
    pub(super) slot: GraphSlot,
    pub(super) address: u64,
    len: usize,
    elements: PhantomData<fn() -> T>,
}

impl<T: 'static> GraphMemory<T> {
    pub(super) fn new(memory: &CudaSlice<T>, slot: GraphSlot) -> Self {
        // On its own stream this only waits for what the stream waits for anyway.
        let (address, guard) = memory.device_ptr(memory.stream());
        drop(guard);
        Self { slot, address, context: memory.context().clone(), len: memory.len(), elements: PhantomData }
    }
}

impl<T: 'static> GraphHostMemory<T> {
    pub(super) fn new(memory: &PinnedHostSlice<T>, stream: &CudaStream, slot: GraphSlot) -> Self {
        // SAFETY: only the address is taken.
        let (elements, guard) = unsafe { memory.stream_synced_slice(stream) };
        // Nothing was put on the stream.
        std::mem::forget(guard);
        Self { slot, address: elements.as_ptr().expose_provenance() as u64, len: elements.len(), elements: PhantomData }
    }
}

impl<T> GraphHostMemory<T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// Memory of elements of any type.
pub(super) trait Slot {
    fn hold<'s>(&'s mut self, stream: &'s CudaStream) -> Held<'s>;
    fn any(&self) -> &dyn Any;
    fn any_mut(&mut self) -> &mut dyn Any;
}

/// When it goes, the memory is known to be in use by what was put on the stream.
pub(super) enum Held<'s> {
    /// The device's: cudarc takes notes if there are several streams.
    Device { _guard: SyncOnDrop<'s> },
    /// The host's, which reads it itself, however many streams there are.
    Host(&'s CudaEvent, &'s CudaStream),
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Self::Host(event, stream) = self {
            stream.context().record_err(event.record(stream));
        }
    }
}

impl<T: 'static> Slot for CudaSlice<T> {
    fn hold<'s>(&'s mut self, stream: &'s CudaStream) -> Held<'s> {
        Held::Device { _guard: self.device_ptr_mut(stream).1 }
    }
    fn any(&self) -> &dyn Any {
        self
    }
    fn any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

impl<T: 'static> Slot for PinnedHostSlice<T> {
    fn hold<'s>(&'s mut self, stream: &'s CudaStream) -> Held<'s> {
        // SAFETY: it is used on this stream.
        let (_, guard) = unsafe { self.stream_synced_mut_slice(stream) };
        match &guard {
            SyncOnDrop::Record(Some((event, _))) => {
                let held = Held::Host(event, stream);
                // It would record only if there are several streams.
                std::mem::forget(guard);
                held
            }
            _ => Held::Device { _guard: guard },
        }
    }
    fn any(&self) -> &dyn Any {
        self
    }
    fn any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

// SAFETY: the graph has the memory, and only its launches take it: `graph` says so, and all others refuse it.
unsafe impl<T> DeviceMemory for GraphMemory<T> {
    fn len(&self) -> usize {
        self.len
    }
    fn context(&self) -> Option<&Arc<CudaContext>> {
        Some(&self.context)
    }
    fn graph(&self) -> Option<GraphSlot> {
        Some(self.slot)
    }
    fn unguarded(&self) -> Option<CUdeviceptr> {
        Some(self.address)
    }
    fn read_on<'s>(&'s self, _: &'s CudaStream) -> (CUdeviceptr, SyncOnDrop<'s>) {
        (self.address, SyncOnDrop::Record(None))
    }
}
// SAFETY: as above.
unsafe impl<T> DeviceMemoryMut for GraphMemory<T> {
    fn write_on<'s>(&'s mut self, _: &'s CudaStream) -> (CUdeviceptr, SyncOnDrop<'s>) {
        (self.address, SyncOnDrop::Record(None))
    }
}
// SAFETY: `keep` took elements of this type.
unsafe impl<T> DeviceRead<T> for GraphMemory<T> {}
// SAFETY: as above.
unsafe impl<T> DeviceWrite<T> for GraphMemory<T> {}

impl<T> fmt::Debug for GraphMemory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GraphMemory({} elements)", self.len)
    }
}

impl<T> fmt::Debug for GraphHostMemory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GraphHostMemory({} elements)", self.len)
    }
}
