//! Waiting without a thread of its own: futures for any executor, and functions of the host's that run behind kernels.

use std::ffi::c_void;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use cudarc::driver::sys::{self, CUevent_flags, CUresult, CUstream};
use cudarc::driver::{CudaStream, DevicePtr, DeviceRepr, PinnedHostSlice, ValidAsZeroBits, result};

use crate::device::Device;
use crate::driver::Doing;
use crate::error::Result;
use crate::launch::{bind, is_same, other_device};

/// The end of the work that a stream had: a future for any executor. [`Device::finished`] makes it.
///
/// It needs no thread and no runtime: the driver wakes the task. Dropped early, it leaves the work alone.
#[must_use = "it waits only when it is awaited"]
pub struct Finished {
    device: Device,
    state: Arc<Mutex<State>>,
}

enum State {
    /// With the task that waits.
    Running(Option<Waker>),
    Done(CUresult),
}

impl Device {
    /// The end of the work that was put on the stream so far: `cuStreamAddCallback`, which is also called where a kernel failed.
    ///
    /// ```
    /// # use ptx_host::{CudaStream, Device, Result};
    /// async fn wait(device: &Device, stream: &CudaStream) -> Result<()> {
    ///     device.finished(stream)?.await
    /// }
    /// ```
    ///
    /// # Errors
    /// The future gives what [`synchronize`](Self::synchronize) gives: a kernel's failure, or its panic. This call fails if the
    /// stream is another device's or is captured.
    pub fn finished(&self, stream: &CudaStream) -> Result<Finished> {
        self.own(stream)?;
        let state = Arc::new(Mutex::new(State::Running(None)));
        let data = Arc::into_raw(state.clone());
        // SAFETY: `is_done` gets one count of the state, and gives it back.
        let added =
            unsafe { sys::cuStreamAddCallback(stream.cu_stream(), Some(is_done), data.cast_mut().cast(), 0) }.result();
        if added.is_err() {
            // SAFETY: made above, and nobody else gives it back.
            drop(unsafe { Arc::from_raw(data) });
        }
        added.doing(|| "waiting for a stream".to_owned())?;
        Ok(Finished { device: self.clone(), state })
    }

    /// Copies `memory` to the host behind the work on the stream, without keeping the thread: the future gives the elements.
    ///
    /// The copy goes through page-locked memory, which is allocated here.
    ///
    /// # Errors
    /// As of [`finished`](Self::finished), and if there is no page-locked memory.
    pub fn download_later<T: DeviceRepr + ValidAsZeroBits + Clone>(
        &self,
        memory: &impl DevicePtr<T>,
        stream: &Arc<CudaStream>,
    ) -> Result<Download<T>> {
        self.own(stream)?;
        let doing = || format!("copying {} bytes from the device", memory.num_bytes());
        let mut pinned = self.pinned_zeroed(memory.len())?;
        stream.memcpy_dtoh(memory, &mut pinned).doing(doing)?;
        Ok(Download { finished: self.finished(stream)?, pinned })
    }

    /// Has a thread of the driver call a function behind the work that was put on the stream so far; later work on the stream waits
    /// for it: `cuLaunchHostFunc`.
    ///
    /// The function must call nothing of CUDA, neither this library nor cudarc (CUDA Driver API, `cuLaunchHostFunc`: such calls
    /// fail with `CUDA_ERROR_NOT_PERMITTED`), nor drop device memory. If it panics, the panic ends there. If the context is lost
    /// before, it is never called.
    ///
    /// # Errors
    /// If the stream is another device's.
    pub fn call_after(&self, stream: &CudaStream, call: impl FnOnce() + Send + 'static) -> Result<()> {
        self.own(stream)?;
        let call: Box<Box<dyn FnOnce() + Send>> = Box::new(Box::new(call));
        let data = Box::into_raw(call);
        // SAFETY: `call_boxed` gets the box, once.
        let put = unsafe { result::stream::launch_host_function(stream.cu_stream(), call_boxed, data.cast()) };
        if put.is_err() {
            // SAFETY: made above, and the driver has refused it.
            drop(unsafe { Box::from_raw(data) });
        }
        put.doing(|| "putting a call of the host's on a stream".to_owned())
    }

    /// How long the device takes for what `work` puts on the stream, by two events: `cuEventElapsedTime`. It waits for the end.
    ///
    /// # Errors
    /// Those of `work`, and failures of kernels.
    pub fn time(&self, stream: &CudaStream, work: impl FnOnce() -> Result<()>) -> Result<Duration> {
        self.own(stream)?;
        let doing = || "measuring time on a stream".to_owned();
        let event = || stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT)).doing(doing);
        let begin = event()?;
        work()?;
        let milliseconds = begin.elapsed_ms(&event()?).doing(doing)?;
        self.check()?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) / 1e3))
    }

    /// Checks that the stream is this device's, and makes its context current.
    pub(crate) fn own(&self, stream: &CudaStream) -> Result<()> {
        if !is_same(stream.context(), self.context()) {
            return Err(other_device("the stream".to_owned(), stream.context(), self.context()));
        }
        bind(self.context()).doing(|| "choosing the device".to_owned()).map(drop)
    }
}

/// The end of a copy to the host: a future for any executor. [`Device::download_later`] makes it.
#[must_use = "it waits only when it is awaited"]
pub struct Download<T> {
    finished: Finished,
    pinned: PinnedHostSlice<T>,
}

impl<T: ValidAsZeroBits + Clone> Future for Download<T> {
    type Output = Result<Vec<T>>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        std::task::ready!(Pin::new(&mut self.finished).poll(task))?;
        let data = self.pinned.as_slice().doing(|| "reading page-locked memory".to_owned());
        Poll::Ready(data.map(<[T]>::to_vec))
    }
}

impl<T> fmt::Debug for Download<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Download({} elements)", self.pinned.len())
    }
}

/// The driver calls this when the stream's work is done, or has failed.
unsafe extern "C" fn is_done(_: CUstream, code: CUresult, data: *mut c_void) {
    // SAFETY: `finished` gave one count of it.
    let state = unsafe { Arc::from_raw(data.cast::<Mutex<State>>()) };
    let before = std::mem::replace(&mut *state.lock().unwrap_or_else(PoisonError::into_inner), State::Done(code));
    if let State::Running(Some(waker)) = before {
        // An executor's waker that panics must not unwind into the driver.
        _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
    }
}

unsafe extern "C" fn call_boxed(data: *mut c_void) {
    // SAFETY: `call_after` gave the box.
    let call = unsafe { Box::from_raw(data.cast::<Box<dyn FnOnce() + Send>>()) };
    _ = catch_unwind(AssertUnwindSafe(call));
}

impl Finished {
    /// Whether the work is done, or has failed.
    pub fn is_finished(&self) -> bool {
        matches!(*self.state.lock().unwrap_or_else(PoisonError::into_inner), State::Done(_))
    }
}

impl Future for Finished {
    type Output = Result<()>;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<()>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let code = match &mut *state {
            State::Done(code) => *code,
            State::Running(waker) => {
                if !waker.as_ref().is_some_and(|known| known.will_wake(task.waker())) {
                    *waker = Some(task.waker().clone());
                }
                return Poll::Pending;
            }
        };
        drop(state);
        // Only a thread that has the context is told what its kernels left. A lost context is the code's to tell.
        _ = bind(self.device.context());
        Poll::Ready(code.result().doing(|| "waiting for a stream".to_owned()).and_then(|()| self.device.check()))
    }
}

impl fmt::Debug for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Finished({})", self.is_finished())
    }
}
