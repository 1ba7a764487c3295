//! Launches for which nothing must be made ready, which are most: one pass over the arguments, and one call of the driver.
//!
//! Between two launches the driver's own code fills the processor's caches, so that each call and each line of memory that is
//! not needed costs as much as a check. Nothing here is reported: where a check fails, the long way finds the same, and says it.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream, DriverError};

use crate::driver::Doing;
use crate::error::Result;
use crate::extras::start_alone;
use crate::grid::Grid;
use crate::launch::{Argument, Bound, FEW, Launch, bind};
use crate::module::{Kernel, Module};
use crate::shape::Shape;

impl Launch<'_> {
    /// Checks and starts the kernel.
    pub(crate) fn run(&mut self, module: &Module, stream: &CudaStream, mut grid: Grid) -> Result<()> {
        grid.shared_bytes = grid.shared_bytes.max(self.shared_bytes);
        if let Some(kernel) = module.known_kernel(self.kernel) {
            match self.start_plain(module, kernel, stream, &grid) {
                Some(Ok(())) => return Ok(()),
                Some(Err(error)) => return self.after_error(error, module, kernel, stream, grid),
                None => {}
            }
        }
        self.check_and_start(module, stream, grid)
    }

    /// Starts the kernel, or returns the driver's error. None, and nothing is started, where a check fails or something must be
    /// made ready: memory held, the stack or the shared memory raised, attributes given.
    #[inline]
    fn start_plain(
        &self,
        module: &Module,
        kernel: &Kernel,
        stream: &CudaStream,
        grid: &Grid,
    ) -> Option<Result<(), DriverError>> {
        let mut words = MaybeUninit::<[[u64; 2]; FEW]>::uninit();
        let mut pointers = MaybeUninit::<[*mut c_void; 2 * FEW]>::uninit();
        let (words, pointers) = (words.as_mut_ptr().cast(), pointers.as_mut_ptr().cast());
        let device = module.device();
        let context = device.context();
        let is_plain = Arc::ptr_eq(stream.context(), context)
            && !context.is_managing_stream_synchronization()
            && !self.extras.are_any()
            && kernel.takes(grid, device.limits(), self.kernel.bounds.dimensions)
            // SAFETY: there is room for the words of `FEW` arguments, and for twice as many pointers.
            && unsafe { self.write_plain(context, words, pointers) }.is_some();
        if !is_plain {
            return None;
        }
        device.watch().launched(self.kernel, grid, !std::ptr::eq(stream, &**device.stream()));
        // SAFETY: `new`'s caller pushed what the kernel takes, and the module's kernel has the same ABI; every pointer is to a
        // value of the parameter's size, which the driver copies before it returns.
        Some(unsafe { start_alone(kernel, grid, stream, pointers) })
    }

    /// Writes the words of all arguments, and pointers to all that the kernel takes, in order. None if there are more than
    /// [`FEW`], or one is not as it must be.
    ///
    /// # Safety
    /// There must be room for the words of [`FEW`] arguments, and for twice as many pointers.
    // By itself, it needs so few registers that nothing goes to memory.
    #[inline(never)]
    unsafe fn write_plain(
        &self,
        context: &Arc<CudaContext>,
        mut words: *mut [u64; 2],
        mut pointers: *mut *mut c_void,
    ) -> Option<()> {
        if self.arguments.len() > FEW {
            return None;
        }
        for argument in &self.arguments {
            let place = words.cast::<u64>();
            words = words.wrapping_add(1);
            let (address, word) = match argument {
                Argument::Value(at) => {
                    // SAFETY: as below.
                    unsafe { pointers.write(self.values.address(*at).cast_mut()) };
                    pointers = pointers.wrapping_add(1);
                    continue;
                }
                Argument::Slice(memory) => {
                    let (address, len) = memory.plain(context);
                    (address?, len as u64)
                }
                Argument::SliceMut(memory) => {
                    let (address, len) = memory.plain(context);
                    (address?, len as u64)
                }
                Argument::Reference(memory) => {
                    let (address, len) = memory.plain(context);
                    if len == 0 {
                        return None;
                    }
                    // SAFETY: as below.
                    unsafe {
                        place.write(address?.get());
                        pointers.write(place.cast());
                    }
                    pointers = pointers.wrapping_add(1);
                    continue;
                }
                Argument::Shaped(memory, shape) => {
                    let (address, len) = memory.plain(context);
                    (address?, shape_word(shape, len)?)
                }
                Argument::Object(_) | Argument::Condition(_) => return None,
            };
            // SAFETY: each argument has two words and at most two pointers, for which there is room.
            unsafe {
                place.write(address.get());
                place.add(1).write(word);
                pointers.write(place.cast());
                pointers.add(1).write(place.add(1).cast());
            }
            pointers = pointers.wrapping_add(2);
        }
        Some(())
    }

    /// What the driver's error means, which refused a launch that nobody had made the context current for.
    ///
    /// The driver knows which context a kernel is of, and refuses it where another one is current, or none. So to ask before
    /// each launch which one is, as another library may have changed it, would be to check twice.
    #[cold]
    #[inline(never)]
    fn after_error(
        &mut self,
        error: DriverError,
        module: &Module,
        kernel: &Kernel,
        stream: &CudaStream,
        grid: Grid,
    ) -> Result<()> {
        match bind(module.device().context()).doing(|| format!("launching kernel `{}`", self.kernel.name))? {
            Bound::Before => self.failed(error, module, kernel, stream, &grid),
            Bound::Now => self.check_and_start(module, stream, grid),
        }
    }

    /// The long way: finds the kernel, makes its context current, makes ready what it needs, says what is wrong.
    #[inline(never)]
    fn check_and_start(&mut self, module: &Module, stream: &CudaStream, mut grid: Grid) -> Result<()> {
        let kernel = self.find(module, stream)?;
        self.check(module, kernel, &mut grid)?;
        self.put(module, kernel, stream, &grid)
    }
}

/// What a kernel gets of a shape that fits memory of so many elements.
#[inline(never)]
fn shape_word(shape: &Shape, len: usize) -> Option<u64> {
    shape.check(len).ok().map(|()| shape.word())
}
