//! A CUDA device, its memory and its limits.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use cudarc::driver::sys::{self, CUdevice_attribute as Attribute, CUlimit};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError, ValidAsZeroBits};
use ptx_device::Dim3;

use crate::deadline;
use crate::driver::{self, Doing};
use crate::error::{Error, Result};
use crate::grid::Limits;
use crate::panic::{self, PanicRecord};
use crate::stack_top;
use crate::watch::Watch;

/// An open CUDA device. Clones are cheap and refer to the same device.
#[derive(Clone)]
pub struct Device {
    inner: Arc<Inner>,
}

struct Inner {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    name: String,
    capability: (u32, u32),
    limits: Limits,
    /// A stream without work: see `readers.rs`. cudarc stops waiting between streams when only the default one is left, though work
    /// of the others may still run. With this stream that never happens.
    last_stream: OnceLock<Arc<CudaStream>>,
    /// See [`Device::set_stack_size`].
    chosen_stack: AtomicBool,
    /// See [`Device::stack_top`].
    stack_top: OnceLock<u64>,
    /// What a kernel leaves that panics is read after its module may be gone.
    panics: OnceLock<Arc<PanicRecord>>,
    watch: Arc<Watch>,
}

impl Device {
    /// The number of devices. It is an error if there is no driver or no device.
    pub fn count() -> Result<usize> {
        match driver::device_count()? {
            0 => Err(Error::NoDevice { reason: "it lists none".to_owned() }),
            count => Ok(count),
        }
    }

    /// Opens the first device.
    pub fn first() -> Result<Self> {
        Self::open(0)
    }

    /// Opens the device with this number, counted from 0.
    pub fn open(ordinal: usize) -> Result<Self> {
        let count = Self::count()?;
        if ordinal >= count {
            return Err(Error::UnknownDevice { ordinal, count });
        }
        let context = CudaContext::new(ordinal).doing(|| format!("opening CUDA device {ordinal}"))?;
        Self::from_context(context)
    }

    /// The bytes of stack that each thread gets, if its kernel does not need more by itself.
    pub fn stack_size(&self) -> Result<usize> {
        self.inner.context.get_limit(CUlimit::CU_LIMIT_STACK_SIZE).doing(|| "asking for the stack's size".to_owned())
    }

    /// Sets [`stack_size`](Self::stack_size), for launches from now on: `cuCtxSetLimit(CU_LIMIT_STACK_SIZE)`.
    ///
    /// Only deep recursion needs it. A launch gives its kernel what it needs by itself: all that its functions take, and
    /// for recursion room for 64 turns, or 8,192 bytes if that is more, but not more than a sixteenth of the device's
    /// memory for all threads together. Recursion that goes deeper panics with `stack overflow in …`. Once this is called,
    /// launches raise the size only for kernels that cannot run a single turn with it.
    ///
    /// The driver keeps as many bytes for every thread that the device can run at once, from this call on: 64 KiB are
    /// 16 GiB on an H200.
    pub fn set_stack_size(&self, bytes: usize) -> Result<()> {
        self.inner.chosen_stack.store(true, Ordering::Relaxed);
        self.limit_stack(bytes)
    }

    /// Whether [`set_stack_size`](Self::set_stack_size) was called.
    pub(crate) fn has_chosen_stack(&self) -> bool {
        self.inner.chosen_stack.load(Ordering::Relaxed)
    }

    pub(crate) fn limit_stack(&self, bytes: usize) -> Result<()> {
        let doing = || format!("setting the stack's size to {bytes} bytes a thread");
        self.inner.context.bind_to_thread().doing(doing)?;
        self.inner.context.set_limit(CUlimit::CU_LIMIT_STACK_SIZE, bytes).doing(doing)
    }

    /// The stack pointer that every thread begins with, as PTX's `stacksave` gives it.
    pub(crate) fn stack_top(&self) -> Result<u64> {
        if let Some(top) = self.inner.stack_top.get() {
            return Ok(*top);
        }
        let doing = || "asking where stacks begin".to_owned();
        self.inner.context.bind_to_thread().doing(doing)?;
        // SAFETY: the context is current.
        let top = unsafe { stack_top::top() }.doing(doing)?;
        Ok(*self.inner.stack_top.get_or_init(|| top))
    }

    /// How many threads the device can run at once.
    pub(crate) fn resident_threads(&self) -> Result<u64> {
        let doing = || "asking how many threads the device runs at once".to_owned();
        let read = |attribute| -> Result<u64> {
            Ok(self.inner.context.attribute(attribute).doing(doing)?.try_into().unwrap_or(0))
        };
        Ok(read(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?
            * read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?)
    }

    /// Bytes of the device's memory.
    pub(crate) fn total_memory(&self) -> Result<u64> {
        let bytes = self.inner.context.total_mem().doing(|| "asking for the size of the device's memory".to_owned())?;
        Ok(bytes as u64)
    }

    /// The size in bytes of the device's heap, from which kernels allocate `Box`, `Vec` and the rest of `alloc`.
    pub fn heap_size(&self) -> Result<usize> {
        self.inner
            .context
            .get_limit(CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE)
            .doing(|| "asking for the heap's size".to_owned())
    }

    /// Sets [`heap_size`](Self::heap_size): `cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE)`. The driver's default is 8 MiB.
    ///
    /// Set it before the first launch of a kernel of a module that allocates. The driver makes the heap then; its size
    /// cannot change while the context lives, and a later call is an error (CUDA C++ Programming Guide, "Heap Memory
    /// Allocation"). The heap takes device memory whether or not it is used. A kernel that finds it full panics with
    /// `memory allocation of N bytes failed`.
    pub fn set_heap_size(&self, bytes: usize) -> Result<()> {
        let doing = || format!("setting the size of the device's heap to {bytes} bytes");
        self.inner.context.set_limit(CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE, bytes).doing(doing)
    }

    /// The size in bytes of the buffer that holds what kernels print until the host prints it.
    pub fn print_buffer_size(&self) -> Result<usize> {
        let doing = || "asking for the size of the print buffer".to_owned();
        self.inner.context.get_limit(CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE).doing(doing)
    }

    /// Sets [`print_buffer_size`](Self::print_buffer_size): `cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE)`. The driver's
    /// default is 1 MiB. If the buffer is full, the oldest lines are lost. Set it before the first launch of a kernel
    /// that prints; a later call is an error.
    pub fn set_print_buffer_size(&self, bytes: usize) -> Result<()> {
        let doing = || format!("setting the size of the print buffer to {bytes} bytes");
        self.inner.context.set_limit(CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE, bytes).doing(doing)
    }

    /// Wraps a device that cudarc has already opened. Launches raise its limit of the stack where a kernel needs it.
    pub fn from_context(context: Arc<CudaContext>) -> Result<Self> {
        let doing = || format!("asking CUDA device {} what it is", context.ordinal());
        let name = context.name().doing(doing)?;
        let (major, minor) = context.compute_capability().doing(doing)?;
        let read =
            |attribute| -> Result<u32> { Ok(context.attribute(attribute).doing(doing)?.try_into().unwrap_or(0)) };
        let limits = Limits {
            grid: Dim3::new(
                read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            ),
            block: Dim3::new(
                read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            ),
            threads_per_block: read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            shared_bytes_per_block: read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
            shared_bytes_per_block_optin: read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        };
        let stream = context.default_stream();
        let capability = (major.try_into().unwrap_or(0), minor.try_into().unwrap_or(0));
        let watch = Watch::of(&context);
        let inner = Inner {
            context,
            stream,
            name,
            capability,
            limits,
            last_stream: OnceLock::new(),
            chosen_stack: AtomicBool::new(false),
            stack_top: OnceLock::new(),
            panics: OnceLock::new(),
            watch,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Keeps the record of panics, which a module has found, as long as the device.
    pub(crate) fn keep_panics(&self, record: &Arc<PanicRecord>) {
        self.inner.panics.get_or_init(|| record.clone());
    }

    /// The device's name.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The compute capability: `(9, 0)` for sm_90.
    pub fn capability(&self) -> (u32, u32) {
        self.inner.capability
    }

    /// The device's architecture, such as `sm_90`.
    pub fn arch(&self) -> String {
        let (major, minor) = self.inner.capability;
        format!("sm_{major}{minor}")
    }

    /// The version of CUDA that the driver supports, such as `(13, 0)`.
    pub fn driver_version(&self) -> Result<(u32, u32)> {
        let mut version = 0;
        // SAFETY: writes one number.
        unsafe { sys::cuDriverGetVersion(&mut version) }
            .result()
            .doing(|| "asking for the driver's version".to_owned())?;
        let version = u32::try_from(version).unwrap_or(0);
        Ok((version / 1000, version % 1000 / 10))
    }

    /// The largest launch that the device allows.
    #[inline]
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// cudarc's context.
    #[inline]
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.inner.context
    }

    /// The stream that `upload`, `download` and `Launch::launch` use: the context's default stream.
    #[inline]
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.inner.stream
    }

    /// Makes a new stream on the device.
    pub fn new_stream(&self) -> Result<Arc<CudaStream>> {
        self.take_notes()?;
        self.inner.context.new_stream().doing(|| "making a stream".to_owned())
    }

    /// Has cudarc note from now on which stream uses which memory.
    pub(crate) fn take_notes(&self) -> Result<()> {
        self.joining_stream().map(drop).doing(|| "making a stream".to_owned())
    }

    /// The stream without work.
    pub(crate) fn joining_stream(&self) -> Result<&CudaStream, DriverError> {
        let place = &self.inner.last_stream;
        if let Some(stream) = place.get() {
            return Ok(stream);
        }
        let stream = self.inner.context.new_stream()?;
        // Another thread may be first; then this one goes away.
        Ok(place.get_or_init(|| stream))
    }

    /// The priorities of streams and launches, the highest first: `cuCtxGetStreamPriorityRange`. Lower numbers come first.
    pub fn priorities(&self) -> Result<RangeInclusive<i32>> {
        let doing = || "asking for the device's priorities".to_owned();
        self.inner.context.bind_to_thread().doing(doing)?;
        let (mut last, mut first) = (0, 0);
        // SAFETY: writes two numbers; the context is current.
        unsafe { sys::cuCtxGetStreamPriorityRange(&mut last, &mut first) }.result().doing(doing)?;
        Ok(first..=last)
    }

    /// Makes a new stream whose work is preferred to that of streams of lower priority: `cuStreamCreateWithPriority`. The driver
    /// takes the nearest of [`priorities`](Self::priorities).
    pub fn new_stream_with_priority(&self, priority: i32) -> Result<Arc<CudaStream>> {
        self.take_notes()?;
        self.inner.context.new_stream_with_priority(priority).doing(|| "making a stream".to_owned())
    }

    /// Allocates memory on the device and copies `data` into it.
    pub fn upload<T: DeviceRepr>(&self, data: &[T]) -> Result<CudaSlice<T>> {
        self.inner.stream.clone_htod(data).doing(|| format!("copying {} bytes to the device", size_of_val(data)))
    }

    /// Allocates `len` elements on the device, with all bits zero.
    pub fn zeroed<T: DeviceRepr + ValidAsZeroBits>(&self, len: usize) -> Result<CudaSlice<T>> {
        self.inner
            .stream
            .alloc_zeros(len)
            .doing(|| format!("making {} zero bytes on the device", len.saturating_mul(size_of::<T>())))
    }

    /// Copies `memory` to the host, after all work on it is done.
    pub fn download<T: DeviceRepr>(&self, memory: &impl DevicePtr<T>) -> Result<Vec<T>> {
        let found = memory.stream().context();
        if **found != *self.inner.context {
            return Err(Error::OtherDevice {
                what: "the memory to download".to_owned(),
                found: found.ordinal(),
                expected: self.inner.context.ordinal(),
            });
        }
        let doing = || format!("copying {} bytes from the device", memory.num_bytes());
        if let Some(limit) = self.deadline() {
            // The driver's copy waits in the call itself.
            self.synchronize_within(limit)?;
        }
        let data = self.inner.stream.clone_dtoh(memory).doing(doing)?;
        self.inner.stream.synchronize().doing(doing)?;
        let checked = self.check();
        self.inner.watch.default_done();
        checked?;
        Ok(data)
    }

    /// Waits for all work on all streams of the device, and reports a failure in it, or a panic.
    pub fn synchronize(&self) -> Result<()> {
        if let Some(limit) = self.deadline() {
            return self.synchronize_within(limit);
        }
        self.wait()?;
        self.all_done()
    }

    /// Waits as [`synchronize`](Self::synchronize) does, but no longer than `limit`: after that it is
    /// [`Error::Deadline`](crate::Error::Deadline), which names the kernels that were launched.
    ///
    /// CUDA cannot end a kernel. One that is only slow goes on, and a later wait finds it done. Of one that waits for ever,
    /// as for a thread that panicked, only the end of the process frees the device. Until the device is done, modules that are
    /// dropped are left loaded, because to unload one is to wait. The wait takes a thread of the system.
    pub fn synchronize_within(&self, limit: Duration) -> Result<()> {
        deadline::wait(&self.inner.context, &self.inner.watch, limit)?;
        self.all_done()
    }

    /// How long [`synchronize`](Self::synchronize) and [`download`](Self::download) wait at most.
    pub fn deadline(&self) -> Option<Duration> {
        self.inner.watch.deadline()
    }

    /// Sets [`deadline`](Self::deadline), for all [`Device`]s of this context. With a deadline `download` waits for all streams.
    pub fn set_deadline(&self, limit: Option<Duration>) {
        self.inner.watch.set_deadline(limit);
    }

    /// Reports the panic that a kernel left, without waiting; the panic is then forgotten.
    ///
    /// [`synchronize`](Self::synchronize) and [`download`](Self::download) do this by themselves. After cudarc's own waits, as
    /// for a stream or an event, it says whether the kernels came through. A panic that has taken the context with it is the
    /// error of any call.
    pub fn check(&self) -> Result<()> {
        match panic::take(self.inner.context.cu_ctx(), false) {
            Some(panic) => Err(Error::Panic(Box::new(panic))),
            None => Ok(()),
        }
    }

    fn wait(&self) -> Result<()> {
        self.inner.context.synchronize().doing(|| "waiting for the device".to_owned())
    }

    /// Reports what kernels left that are all done.
    fn all_done(&self) -> Result<()> {
        let context = self.inner.context.cu_ctx();
        let is_idle = panic::is_unfinished(context);
        if is_idle {
            // Another thread of the host may have launched what writes it now; after this, nobody does.
            self.wait()?;
        }
        let panic = panic::take(context, is_idle);
        self.inner.watch.all_done();
        panic.map_or(Ok(()), |panic| Err(Error::Panic(Box::new(panic))))
    }

    pub(crate) fn watch(&self) -> &Watch {
        &self.inner.watch
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({}: {}, {})", self.inner.context.ordinal(), self.inner.name, self.arch())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a machine without a GPU this used to be where cudarc panics.
    #[test]
    fn a_missing_driver_or_device_is_an_error_and_never_a_panic() {
        match Device::count() {
            Ok(count) => {
                assert!(count > 0);
                let error = Device::open(count).unwrap_err();
                assert!(matches!(error, Error::UnknownDevice { .. }), "{error}");
            }
            Err(error @ (Error::NoDriver { .. } | Error::NoDevice { .. })) => {
                assert_eq!(Device::first().unwrap_err().to_string(), error.to_string());
            }
            Err(error) => panic!("{error}"),
        }
    }
}
