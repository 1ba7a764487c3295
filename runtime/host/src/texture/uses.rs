//! What work uses an image: who comes next waits for it, and so does who frees it.

use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::CUstream;
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, DriverError, SyncOnDrop};

/// The end of the last work on every stream.
#[derive(Default)]
pub(super) struct Uses {
    events: Mutex<Vec<(Stream, CudaEvent)>>,
}

/// A stream's handle, to compare.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stream(CUstream);

// SAFETY: it is only compared.
unsafe impl Send for Stream {}

impl Uses {
    /// The work that is on the stream now uses the image.
    pub(super) fn add(&self, stream: &CudaStream) -> Result<(), DriverError> {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let handle = Stream(stream.cu_stream());
        if let Some((_, event)) = events.iter().find(|(of, _)| *of == handle) {
            // Of an older stream with the same handle, perhaps.
            stream.wait(event)?;
            return event.record(stream);
        }
        let event = stream.context().new_event(None)?;
        event.record(stream)?;
        events.push((handle, event));
        Ok(())
    }

    /// Has the stream wait for all of it.
    pub(super) fn before(&self, stream: &CudaStream) -> Result<(), DriverError> {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.iter().try_for_each(|(_, event)| stream.wait(event))
    }

    /// Waits for all of it. Errors are for later calls: a lost context must not end the program here.
    pub(super) fn wait(&self, context: &CudaContext) {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.iter().for_each(|(_, event)| context.record_err(event.synchronize()));
    }
}

/// A texture or surface as a launch takes it.
pub(crate) trait Object {
    /// Where it is.
    fn context(&self) -> &Arc<CudaContext>;

    /// The handle, for work that is put on the stream while the guard lives; the stream waits for what must be done before.
    fn hold<'s>(&'s self, stream: &'s CudaStream) -> Result<(u64, Held<'s>), DriverError>;
}

/// When it goes, the work on the stream is known to use the image.
pub(crate) struct Held<'s> {
    pub(super) uses: &'s Uses,
    pub(super) stream: &'s CudaStream,
    /// Of memory that is cudarc's.
    pub(super) memory: Option<SyncOnDrop<'s>>,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.memory = None;
        self.stream.context().record_err(self.uses.add(self.stream));
    }
}
