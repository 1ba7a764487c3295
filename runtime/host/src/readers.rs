//! Several streams that read the same memory at the same time.
//!
//! cudarc keeps one event for a buffer's readers, that of the last. What writes or frees the buffer next waits for this event, and
//! would not wait for a reader on another stream that is still at work. So where a second stream reads, the event is recorded once
//! more, on a stream that has waited for both and has no work of its own: neither reader waits for the other.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use cudarc::driver::{CudaEvent, CudaStream, DriverError, SyncOnDrop};

/// Buffers that are remembered at most: then the device is waited for, and all are forgotten.
const MOST: usize = 1 << 16;

/// Of a context: the stream that has read each buffer last, by the handle of the buffer's event.
#[derive(Debug, Default)]
pub(crate) struct Readers {
    last: Mutex<HashMap<usize, usize>>,
}

/// A reader that must be joined to another one when it has been put on its stream.
pub(crate) struct Join<'s> {
    event: &'s CudaEvent,
    joined: &'s CudaStream,
}

impl Readers {
    /// Notes that the stream is to read what the guard stands for; `joining` is the stream without work.
    pub(crate) fn reads<'s>(
        &self,
        joining: impl FnOnce() -> Result<&'s CudaStream, DriverError>,
        guard: &SyncOnDrop<'s>,
        stream: &CudaStream,
    ) -> Result<Option<Join<'s>>, DriverError> {
        let SyncOnDrop::Record(Some((event, _))) = guard else { return Ok(None) };
        let event: &'s CudaEvent = event;
        let own = stream.cu_stream() as usize;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() >= MOST {
            stream.context().record_err(stream.context().synchronize());
            last.clear();
        }
        let joined = joining()?;
        match last.insert(event.cu_event() as usize, own) {
            None => Ok(None),
            Some(before) if before == own => Ok(None),
            Some(_) => {
                // From now on it is the joining stream that has read it.
                last.insert(event.cu_event() as usize, joined.cu_stream() as usize);
                stream.context().record_err(joined.wait(event));
                Ok(Some(Join { event, joined }))
            }
        }
    }
}

impl Join<'_> {
    /// The guard has recorded the event on the reader's stream.
    pub(crate) fn join(self) -> Result<(), DriverError> {
        self.joined.wait(self.event)?;
        self.event.record(self.joined)
    }
}
