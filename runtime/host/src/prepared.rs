//! A launch that was checked once, to be started many times.

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use cudarc::driver::sys::CUstream;
use cudarc::driver::{CudaContext, CudaStream, DriverError};
use ptx_abi::Descriptor;

use crate::driver::Doing;
use crate::error::{Error, Result};
use crate::extents::LaunchGrid;
use crate::extras::start_alone;
use crate::grid::Grid;
use crate::launch::{Argument, Bound, Launch, bind, is_same};
use crate::memory::DeviceMemory;
use crate::module::{Kernel, Module};
use crate::watch::Watch;

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
    kernel: &'a Kernel,
    grid: Grid,
    pointers: Box<[*mut c_void]>,
    watch: &'a Watch,
    /// That of the module: another object for the same context would count its own streams.
    context: &'a Arc<CudaContext>,
    default: &'a CudaStream,
    descriptor: &'static Descriptor<'static>,
    /// Whether `words` are written, of memory that need not be held while its context has one stream, and nothing else must be
    /// made ready.
    plain: bool,
    /// The stream that some memory is bound to.
    bound: Option<CUstream>,
    /// Whether all memory is, so that none is held however many streams there are.
    all_bound: bool,
    words: Box<[[u64; 2]]>,
    // In a box, because `pointers` points into its values.
    launch: Box<Launch<'a>>,
    module: &'a Module,
}

impl<'a> Launch<'a> {
    /// Checks the launch as [`launch`](Self::launch) does, to start it later and as often as wanted.
    pub fn prepare(self, module: &'a Module, grid: impl LaunchGrid) -> Result<PreparedLaunch<'a>> {
        let device = module.device();
        let (context, default, descriptor) = (device.context(), device.stream(), self.kernel);
        let memory = || self.arguments.iter().filter_map(Argument::memory);
        let bound = memory().find_map(DeviceMemory::bound_to);
        let all_bound = memory().all(|memory| memory.bound_to().is_some());
        let kernel = self.find(module, bound.unwrap_or(default))?;
        let bound = bound.map(CudaStream::cu_stream);
        let mut grid = grid.grid(&mut || kernel.suggested_threads(context))?;
        self.check(module, kernel, &mut grid)?;
        let launch = Box::new(self);
        let mut words = vec![[0; 2]; launch.len()].into_boxed_slice();
        let mut pointers = vec![std::ptr::null_mut(); 2 * launch.len()].into_boxed_slice();
        // SAFETY: there is room for twice as many pointers as arguments, and for the words of all.
        let plain = unsafe {
            launch.pointers(words.as_mut_ptr(), pointers.as_mut_ptr());
            launch.write_unguarded(module, words.as_mut_ptr())
        };
        let plain = plain && kernel.is_ready(grid.shared_bytes) && !launch.extras.are_any();
        let watch = device.watch();
        Ok(PreparedLaunch {
            kernel,
            grid,
            pointers,
            watch,
            context,
            default,
            descriptor,
            plain,
            bound,
            all_bound,
            words,
            launch,
            module,
        })
    }
}

impl PreparedLaunch<'_> {
    /// Starts the kernel on the default stream of the module's device.
    ///
    /// # Errors
    /// As of [`Launch::launch`]; and [`Error::OtherStream`] if memory is bound to another stream.
    #[inline]
    pub fn launch(&mut self) -> Result<()> {
        self.start(self.default)
    }

    /// Starts the kernel on `stream`. It waits for work on other streams that uses the same memory, as cudarc does.
    ///
    /// # Errors
    /// As of [`launch`](Self::launch), and if the stream is another device's.
    pub fn launch_on(&mut self, stream: &CudaStream) -> Result<()> {
        if !is_same(stream.context(), self.context) {
            let (found, expected) = (stream.context().ordinal(), self.context.ordinal());
            return Err(Error::OtherDevice { what: "the stream".to_owned(), found, expected });
        }
        self.start(stream)
    }

    /// The grid that it is launched with.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    fn start(&mut self, stream: &CudaStream) -> Result<()> {
        if self.bound.is_some_and(|bound| bound != stream.cu_stream()) {
            let what = format!("memory of the prepared launch of kernel `{}`", self.descriptor.name);
            return Err(Error::OtherStream { what });
        }
        if !self.plain || (!self.all_bound && self.context.is_managing_stream_synchronization()) {
            bind(self.context).doing(|| format!("launching kernel `{}`", self.descriptor.name))?;
            return self.start_ready(stream);
        }
        self.watch.launched(self.descriptor, &self.grid, !std::ptr::eq(stream, self.default));
        // SAFETY: `prepare` wrote the words that the pointers are to, and memory that is borrowed does not move.
        match unsafe { start_alone(self.kernel, &self.grid, stream, self.pointers.as_mut_ptr()) } {
            Ok(()) => Ok(()),
            Err(error) => self.after_error(error, stream),
        }
    }

    /// As of a launch that is not prepared.
    #[cold]
    #[inline(never)]
    fn after_error(&mut self, error: DriverError, stream: &CudaStream) -> Result<()> {
        match bind(self.context).doing(|| format!("launching kernel `{}`", self.descriptor.name))? {
            Bound::Before => self.launch.failed(error, self.module, self.kernel, stream, &self.grid),
            Bound::Now => self.start_ready(stream),
        }
    }

    /// Makes ready what it needs, and starts it. The context must be current.
    #[inline(never)]
    fn start_ready(&mut self, stream: &CudaStream) -> Result<()> {
        let Self { launch, words, pointers, kernel, module, grid, .. } = self;
        launch.start(module, kernel, stream, grid, words.as_mut_ptr(), pointers.as_mut_ptr())
    }
}

impl fmt::Debug for PreparedLaunch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PreparedLaunch({} as {})", self.kernel.name(), self.grid)
    }
}
