//! Memory that one stream uses, and no other: launches and copies note nothing, so that it costs what it costs in CUDA C++.
//!
//! cudarc records an event for each use of a buffer where there are several streams, because the next use may be on another one.
//! Here the type says which stream it is on. Parts of one buffer may be on different streams: they overlap.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, DevicePtrMut, DeviceRepr, HostSlice, PinnedHostSlice, SyncOnDrop, result,
};

use crate::device::Device;
use crate::driver::Doing;
use crate::error::{Error, Result};
use crate::launch::{bind, is_same, other_device};
use crate::memory::{DeviceMemory, DeviceMemoryMut, DeviceRead, DeviceWrite};

/// Memory of the device that one stream uses: [`Device::bind`] makes it of a `CudaSlice`.
///
/// Kernels take it where they take a `CudaSlice`, in launches on its stream. It can be split into parts on several streams, whose
/// launches run at the same time. When the last part goes, the memory is freed behind all of them.
///
/// ```no_run
/// # use ptx_host::{Device, Grid, Launch, Module, Result, StreamMemory};
/// # type Fill = for<'a> fn(f32, &'a mut StreamMemory<f32>) -> Launch<'a>;
/// # fn run(device: &Device, module: &Module, fill: Fill) -> Result<()> {
/// let (left, right) = (device.new_stream()?, device.new_stream()?);
/// let mut low = device.bind(device.zeroed::<f32>(1000)?, &left)?;
/// let mut high = low.split_off(500, &right)?;
/// fill(1.0, &mut low).launch_on(module, &left, Grid::cover(500, 128))?;
/// fill(2.0, &mut high).launch_on(module, &right, Grid::cover(500, 128))?; // at the same time
/// # Ok(())
/// # }
/// ```
pub struct StreamMemory<T> {
    whole: Arc<Whole<T>>,
    stream: Arc<CudaStream>,
    address: CUdeviceptr,
    len: usize,
}

/// Page-locked memory of the host that one stream uses: [`Device::bind_host`] makes it of a `PinnedHostSlice`. The host's own
/// reads and writes wait for that stream.
pub struct StreamHostMemory<T> {
    /// Until it is taken back.
    memory: Option<PinnedHostSlice<T>>,
    stream: Arc<CudaStream>,
    start: *mut T,
    len: usize,
}

// SAFETY: an owned slice; the pointer is to its elements.
unsafe impl<T: Send> Send for StreamHostMemory<T> {}
// SAFETY: as above; shared it is only read.
unsafe impl<T: Sync> Sync for StreamHostMemory<T> {}

/// What the parts are of.
struct Whole<T> {
    /// Until it is taken back.
    memory: Option<CudaSlice<T>>,
    /// Those that have used a part.
    streams: Mutex<Vec<Arc<CudaStream>>>,
}

impl<T> Whole<T> {
    fn uses(&self, stream: &Arc<CudaStream>) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        if streams.iter().all(|known| known.cu_stream() != stream.cu_stream()) {
            streams.push(stream.clone());
        }
    }

    /// Has the memory's own stream wait for all others. Errors are kept by cudarc.
    fn wait(&mut self) {
        let Some(memory) = &self.memory else { return };
        let own = memory.stream();
        for stream in self.streams.get_mut().unwrap_or_else(PoisonError::into_inner) {
            if stream.cu_stream() != own.cu_stream() {
                own.context().record_err(own.join(stream));
            }
        }
    }
}

impl<T> Drop for Whole<T> {
    fn drop(&mut self) {
        self.wait();
    }
}

impl Device {
    /// Has one stream alone use the memory from now on: what is launched there needs no events. The stream waits for all that uses
    /// the memory so far.
    ///
    /// # Errors
    /// [`Error::OtherDevice`] if the memory or the stream is another device's.
    pub fn bind<T>(&self, mut memory: CudaSlice<T>, stream: &Arc<CudaStream>) -> Result<StreamMemory<T>> {
        self.own(stream)?;
        if !is_same(memory.context(), self.context()) {
            return Err(other_device("the memory".to_owned(), memory.context(), self.context()));
        }
        let (address, guard) = memory.device_ptr_mut(stream);
        // Nothing was put on the stream. What is put there is waited for when the memory goes.
        std::mem::forget(guard);
        self.context().check_err().doing(|| "binding memory to a stream".to_owned())?;
        let (len, streams) = (memory.len(), Mutex::new(vec![stream.clone()]));
        let whole = Arc::new(Whole { memory: Some(memory), streams });
        Ok(StreamMemory { whole, stream: stream.clone(), address, len })
    }

    /// Has one stream alone use page-locked memory of the host from now on, which waits for what uses it so far.
    ///
    /// # Errors
    /// As of [`bind`](Self::bind).
    pub fn bind_host<T>(
        &self,
        mut memory: PinnedHostSlice<T>,
        stream: &Arc<CudaStream>,
    ) -> Result<StreamHostMemory<T>> {
        self.own(stream)?;
        if !is_same(memory.context(), self.context()) {
            return Err(other_device("the memory of the host".to_owned(), memory.context(), self.context()));
        }
        // SAFETY: only the address is taken, and the stream alone uses it.
        let (elements, guard) = unsafe { memory.stream_synced_mut_slice(stream) };
        let (start, len) = (elements.as_mut_ptr(), elements.len());
        std::mem::forget(guard);
        self.context().check_err().doing(|| "binding memory of the host to a stream".to_owned())?;
        Ok(StreamHostMemory { memory: Some(memory), stream: stream.clone(), start, len })
    }
}

impl<T> StreamMemory<T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The stream that uses it.
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// Has another stream use it, which waits for the one before.
    ///
    /// # Errors
    /// [`Error::OtherDevice`] if the stream is another device's.
    pub fn move_to(&mut self, stream: &Arc<CudaStream>) -> Result<()> {
        self.follow(stream)?;
        self.stream = stream.clone();
        Ok(())
    }

    /// Takes the elements from `at` on away, for another stream, or the same. What is launched with the two parts on two streams
    /// runs at the same time.
    ///
    /// # Errors
    /// [`Error::OtherDevice`] if the stream is another device's.
    ///
    /// # Panics
    /// If there are not so many elements, as `Vec::split_off`.
    #[track_caller]
    pub fn split_off(&mut self, at: usize, stream: &Arc<CudaStream>) -> Result<Self> {
        assert!(at <= self.len, "there are {} elements, and they are to be split at {at}", self.len);
        self.follow(stream)?;
        let address = self.address + (at * size_of::<T>()) as u64;
        let rest = Self { whole: self.whole.clone(), stream: stream.clone(), address, len: self.len - at };
        self.len = at;
        Ok(rest)
    }

    /// Has the stream wait for what uses the memory so far.
    fn follow(&self, stream: &Arc<CudaStream>) -> Result<()> {
        if !is_same(stream.context(), self.stream.context()) {
            return Err(other_device("the stream".to_owned(), stream.context(), self.stream.context()));
        }
        if stream.cu_stream() != self.stream.cu_stream() {
            stream.join(&self.stream).doing(|| "moving memory to another stream".to_owned())?;
            self.whole.uses(stream);
        }
        Ok(())
    }

    /// The `CudaSlice` again, which may be used on any stream; none, and this part is gone, if there are other parts.
    pub fn into_slice(self) -> Option<CudaSlice<T>> {
        let mut whole = Arc::into_inner(self.whole)?;
        whole.wait();
        let mut memory = whole.memory.take()?;
        let own = memory.stream().clone();
        // Its own stream has waited for all: that is what others wait for.
        drop(memory.device_ptr_mut(&own));
        Some(memory)
    }
}

impl<T: DeviceRepr> StreamMemory<T> {
    /// Copies from the host's memory, without keeping the thread: `cuMemcpyHtoDAsync`.
    ///
    /// # Errors
    /// [`Error::OtherStream`] if the two are not on one stream, [`Error::CopyLength`] if they have not as many elements.
    pub fn upload(&mut self, from: &StreamHostMemory<T>) -> Result<()> {
        self.check(from.len, self.len, &from.stream)?;
        // SAFETY: both have so many elements, and stay until the stream has done it.
        unsafe {
            let from = std::slice::from_raw_parts(from.start, from.len);
            result::memcpy_htod_async(self.address, from, self.stream.cu_stream())
        }
        .doing(|| "copying to the device".to_owned())
    }

    /// Copies to the host's memory, without keeping the thread: `cuMemcpyDtoHAsync`.
    ///
    /// # Errors
    /// As of [`upload`](Self::upload).
    pub fn download(&self, to: &mut StreamHostMemory<T>) -> Result<()> {
        self.check(self.len, to.len, &to.stream)?;
        // SAFETY: as above, and nobody else accesses the host's meanwhile.
        unsafe {
            let to = std::slice::from_raw_parts_mut(to.start, to.len);
            result::memcpy_dtoh_async(to, self.address, self.stream.cu_stream())
        }
        .doing(|| "copying from the device".to_owned())
    }

    fn check(&self, from: usize, to: usize, stream: &CudaStream) -> Result<()> {
        if stream.cu_stream() != self.stream.cu_stream() || !is_same(stream.context(), self.stream.context()) {
            return Err(Error::OtherStream { what: "memory of the host for a copy".to_owned() });
        }
        if from != to {
            return Err(Error::CopyLength { from, to });
        }
        bind(self.stream.context()).doing(|| "copying".to_owned()).map(drop)
    }
}

impl<T> StreamHostMemory<T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements, after all that is on the stream.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn as_slice(&self) -> Result<&[T]> {
        self.wait()?;
        // SAFETY: so many elements, which nobody writes while they are borrowed.
        Ok(unsafe { std::slice::from_raw_parts(self.start, self.len) })
    }

    /// The elements, to write them, after all that is on the stream.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.wait()?;
        // SAFETY: as above, and nobody reads them either.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.start, self.len) })
    }

    fn wait(&self) -> Result<()> {
        self.stream.synchronize().doing(|| "waiting for the stream of memory of the host".to_owned())
    }

    /// The `PinnedHostSlice` again, which may be used on any stream.
    pub fn into_pinned(mut self) -> PinnedHostSlice<T> {
        self.note();
        self.memory.take().expect("only this takes it")
    }

    /// Has the memory's own event stand for what is on the stream.
    fn note(&mut self) {
        let Some(memory) = &mut self.memory else { return };
        // SAFETY: it is used on this stream.
        let (_, guard) = unsafe { memory.stream_synced_mut_slice(&self.stream) };
        if let SyncOnDrop::Record(Some((event, stream))) = &guard {
            // The guard would record it only if there are several streams.
            stream.context().record_err(event.record(stream));
        }
        std::mem::forget(guard);
    }
}

impl<T> Drop for StreamHostMemory<T> {
    fn drop(&mut self) {
        self.note();
    }
}

/// The guard of work on a stream that the memory is not on, as of a texture's: before it the stream waits for the memory's, and
/// the host waits for it afterwards.
fn elsewhere<'s>(own: &CudaStream, stream: &'s CudaStream) -> SyncOnDrop<'s> {
    if own.cu_stream() == stream.cu_stream() {
        return SyncOnDrop::Record(None);
    }
    stream.context().record_err(stream.join(own));
    SyncOnDrop::sync_stream(stream)
}

// SAFETY: launches are on its stream, as `bound_to` says; all other work waits for that and is waited for. To leave memory
// uninitialised is `unsafe` in cudarc.
unsafe impl<T> DeviceMemory for StreamMemory<T> {
    fn len(&self) -> usize {
        self.len
    }
    fn context(&self) -> Option<&Arc<CudaContext>> {
        Some(self.stream.context())
    }
    fn bound_to(&self) -> Option<&CudaStream> {
        Some(&self.stream)
    }
    fn unguarded(&self) -> Option<CUdeviceptr> {
        Some(self.address)
    }
    fn read_on<'s>(&'s self, stream: &'s CudaStream) -> (CUdeviceptr, SyncOnDrop<'s>) {
        (self.address, elsewhere(&self.stream, stream))
    }
}
// SAFETY: as above, and it is borrowed exclusively.
unsafe impl<T> DeviceMemoryMut for StreamMemory<T> {
    fn write_on<'s>(&'s mut self, stream: &'s CudaStream) -> (CUdeviceptr, SyncOnDrop<'s>) {
        (self.address, elsewhere(&self.stream, stream))
    }
}
// SAFETY: `bind` took elements of this type.
unsafe impl<T> DeviceRead<T> for StreamMemory<T> {}
// SAFETY: as above.
unsafe impl<T> DeviceWrite<T> for StreamMemory<T> {}

impl<T> fmt::Debug for StreamMemory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StreamMemory({} elements)", self.len)
    }
}

impl<T> fmt::Debug for StreamHostMemory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StreamHostMemory({} elements)", self.len)
    }
}
