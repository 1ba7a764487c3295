//! Waiting for a device, but not for ever.

use std::sync::Arc;
use std::time::Duration;

use cudarc::driver::{CudaContext, DriverError};

use crate::driver::Doing;
use crate::error::{Error, Result};
use crate::handover::Handover;
use crate::panic;
use crate::watch::Watch;

/// Waits for all work of the context, so long at most. A thread of its own waits on where that was not enough.
pub(crate) fn wait(context: &Arc<CudaContext>, watch: &Arc<Watch>, limit: Duration) -> Result<()> {
    let doing = || "waiting for the device".to_owned();
    let end = Arc::new(Handover::<Result<(), DriverError>>::new());
    let (waiting, watching, ended) = (context.clone(), watch.clone(), end.clone());
    let wait = move || {
        // Nobody may be left to hear it.
        ended.put(waiting.synchronize());
        watching.set_overdue(false);
    };
    std::thread::Builder::new()
        .name("ptx: waits for the device".to_owned())
        .spawn(wait)
        .map_err(|error| Error::Thread { doing: doing(), reason: error.to_string() })?;
    if let Some(result) = end.take_within(limit) {
        return result.doing(doing);
    }
    watch.set_overdue(true);
    // It may have come to its end just now.
    if let Some(result) = end.take_within(Duration::ZERO) {
        watch.set_overdue(false);
        return result.doing(doing);
    }
    let panic = panic::left(context.cu_ctx()).map(Box::new);
    Err(Error::Deadline { limit, kernels: watch.kernels().into(), panic })
}
