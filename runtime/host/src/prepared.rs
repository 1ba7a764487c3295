//! A launch that was checked once, to be started many times.

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use cudarc::driver::CudaStream;

use crate::driver::Doing;
use crate::error::{Error, Result};
use crate::extents::LaunchGrid;
use crate::grid::Grid;
use crate::launch::Launch;
use crate::module::{Kernel, Module};

/// A launch with its arguments and its grid, checked once. To start it allocates nothing and looks nothing up.
///
/// It borrows the memory that the kernel works on, and starts with the same arguments each time.
///
/// ```
/// # use ptx_host::{Grid, Launch, Module, Result};
/// fn thrice<'a>(launch: Launch<'a>, module: &'a Module) -> Result<()> {
///     let mut prepared = launch.prepare(module, Grid::items(1000))?;
///     (0..3).try_for_each(|_| prepared.launch())
/// }
/// ```
pub struct PreparedLaunch<'a> {
    // In a box, because `pointers` points into its values.
    launch: Box<Launch<'a>>,
    words: Box<[[u64; 2]]>,
    pointers: Box<[*mut c_void]>,
    kernel: Arc<Kernel>,
    module: &'a Module,
    grid: Grid,
}

impl<'a> Launch<'a> {
    /// Checks the launch as [`launch`](Self::launch) does, to start it later and as often as wanted.
    pub fn prepare(self, module: &'a Module, grid: impl LaunchGrid) -> Result<PreparedLaunch<'a>> {
        let (kernel, grid) = self.check(module, module.device().stream(), grid)?;
        let launch = Box::new(self);
        let mut words = vec![[0; 2]; launch.len()].into_boxed_slice();
        let pointers = launch.pointers(words.as_mut_ptr()).into_vec().into_boxed_slice();
        Ok(PreparedLaunch { launch, words, pointers, kernel, module, grid })
    }
}

impl PreparedLaunch<'_> {
    /// Starts the kernel on the default stream of the module's device.
    pub fn launch(&mut self) -> Result<()> {
        self.start(self.module.device().stream())
    }

    /// Starts the kernel on `stream`. It waits for work on other streams that uses the same memory, as cudarc does.
    pub fn launch_on(&mut self, stream: &CudaStream) -> Result<()> {
        let context = self.module.device().context();
        if **stream.context() != **context {
            let (found, expected) = (stream.context().ordinal(), context.ordinal());
            return Err(Error::OtherDevice { what: "the stream".to_owned(), found, expected });
        }
        self.start(stream)
    }

    /// The grid that it is launched with.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    fn start(&mut self, stream: &CudaStream) -> Result<()> {
        let Self { launch, words, pointers, kernel, module, grid } = self;
        let name = kernel.name();
        stream.context().bind_to_thread().doing(|| format!("launching kernel `{name}`"))?;
        launch.start(module, kernel, stream, *grid, words.as_mut_ptr(), pointers)
    }
}

impl fmt::Debug for PreparedLaunch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PreparedLaunch({} as {})", self.kernel.name(), self.grid)
    }
}
