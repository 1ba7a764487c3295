//! A kernel with its arguments, ready to be put on a stream.

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use cudarc::driver::{CudaStream, DriverError};
use ptx_abi::Descriptor;
use ptx_device::Dim3;
use smallvec::SmallVec;

use crate::driver::Doing;
use crate::error::{Error, Result};
use crate::extents::LaunchGrid;
use crate::extras::Extras;
use crate::grid::Grid;
use crate::memory::{DeviceMemory, DeviceMemoryMut};
use crate::module::{Kernel, Module};
use crate::shape::Shape;
use crate::stack;
use crate::values::{At, Values};

/// A kernel with its arguments. It borrows the memory that the kernel works on.
///
/// The host's function for a kernel, which `#[kernel]` makes, returns this.
#[must_use = "nothing runs until `.launch(&module, grid)` is called"]
pub struct Launch<'a> {
    pub(crate) kernel: &'static Descriptor<'static>,
    pub(crate) arguments: Arguments<'a>,
    /// The dynamic shared memory that the kernel's parameters ask for, in bytes.
    shared_bytes: u32,
    pub(crate) values: Values,
    pub(crate) extras: Extras,
    #[cfg(feature = "cpu")]
    pub(crate) body: Option<Body>,
}

/// A kernel's body for the CPU, which reads its parameters at these places.
#[cfg(feature = "cpu")]
pub type Body = unsafe fn(&[*const ()]);

/// Most kernels have no more parameters, and their launches allocate nothing.
const FEW: usize = 8;

type Arguments<'a> = SmallVec<[Argument<'a>; FEW]>;

/// One argument, by the parameter's class.
pub(crate) enum Argument<'a> {
    Value(At),
    Reference(&'a dyn DeviceMemory),
    Slice(&'a dyn DeviceMemory),
    SliceMut(&'a mut dyn DeviceMemoryMut),
    Shaped(&'a mut dyn DeviceMemoryMut, Shape),
}

impl Argument<'_> {
    /// None for a value.
    pub(crate) fn memory(&self) -> Option<&dyn DeviceMemory> {
        match self {
            Self::Value(_) => None,
            Self::Reference(memory) | Self::Slice(memory) => Some(*memory),
            Self::SliceMut(memory) | Self::Shaped(memory, _) => Some(&**memory),
        }
    }
}

/// The address of slices without elements: not null, and aligned for every type.
const NO_ELEMENTS: u64 = 0x1000;

impl<'a> Launch<'a> {
    /// A launch without arguments.
    ///
    /// # Safety
    /// One argument must be pushed for every parameter of `kernel`, in order and of its type.
    #[doc(hidden)]
    pub unsafe fn new(kernel: &'static Descriptor<'static>) -> Self {
        Self {
            kernel,
            arguments: SmallVec::new(),
            shared_bytes: 0,
            values: Values::new(),
            extras: Extras::default(),
            #[cfg(feature = "cpu")]
            body: None,
        }
    }

    /// A parameter needs so many bytes of dynamic shared memory.
    #[doc(hidden)]
    pub fn need_shared(&mut self, bytes: u64) {
        // What is too large for a `u32` is too large for the device, and the check reports it.
        self.shared_bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    }

    /// The grid with the shared memory that the kernel's parameters ask for.
    pub(crate) fn with_shared(&self, grid: Grid) -> Grid {
        grid.shared_bytes(grid.shared_bytes.max(self.shared_bytes))
    }

    #[doc(hidden)]
    pub fn push_value<T: Copy + 'static>(&mut self, value: T) {
        if size_of::<T>() == 0 {
            // In C++ an empty struct takes its alignment, and the driver reads so much.
            let at = self.values.push([0_u8; ptx_abi::MAX_PARAM_ALIGN as usize]);
            self.arguments.push(Argument::Value(at));
            return;
        }
        let at = self.values.push(value);
        self.arguments.push(Argument::Value(at));
    }

    pub(crate) fn push_reference(&mut self, memory: &'a dyn DeviceMemory) {
        self.arguments.push(Argument::Reference(memory));
    }

    pub(crate) fn push_slice(&mut self, memory: &'a dyn DeviceMemory) {
        self.arguments.push(Argument::Slice(memory));
    }

    pub(crate) fn push_slice_mut(&mut self, memory: &'a mut dyn DeviceMemoryMut) {
        self.arguments.push(Argument::SliceMut(memory));
    }

    pub(crate) fn push_shaped(&mut self, memory: &'a mut dyn DeviceMemoryMut, shape: Shape) {
        self.arguments.push(Argument::Shaped(memory, shape));
    }

    /// Has the blocks run in clusters of so many, a number, a pair or a triple, which can wait for each other
    /// ([`ptx::cluster`](ptx_device::cluster)): CUDA's `cudaLaunchAttributeClusterDimension`, from sm_90. Up to eight blocks
    /// run everywhere; more where the device allows. Each extent of the grid must be a multiple of the cluster's.
    pub fn cluster(mut self, blocks: impl Into<Dim3>) -> Self {
        self.extras.cluster = Some(blocks.into());
        self
    }

    /// Has all blocks run at the same time, so that they can wait for each other: CUDA's `cudaLaunchCooperativeKernel`. The
    /// device must have room for all of them at once.
    pub fn cooperative(mut self) -> Self {
        self.extras.cooperative = true;
        self
    }

    /// Has the scheduler prefer the launch's blocks to those of other launches that wait: CUDA's
    /// `cudaLaunchAttributePriority`. It must be one of [`Device::priorities`](crate::Device::priorities): lower numbers come first.
    pub fn priority(mut self, priority: i32) -> Self {
        self.extras.priority = Some(priority);
        self
    }

    /// Lets the kernel begin before the launch before it on the stream has ended, as soon as that allows it by
    /// [`let_next_launch_begin`](ptx_device::control::let_next_launch_begin) or has ended in all blocks: CUDA's
    /// `cudaLaunchAttributeProgrammaticStreamSerialization` (programmatic dependent launch), from sm_90.
    ///
    /// # Safety
    /// Before the kernel reads or writes what launches before it write, or writes what they read, each of its threads must
    /// call [`wait_for_launch_before`](ptx_device::control::wait_for_launch_before).
    pub unsafe fn begins_early(mut self) -> Self {
        self.extras.early = true;
        self
    }

    /// Launches the kernel on the default stream of the module's device. It runs after everything that was put there
    /// before; `download` and `synchronize` wait for it.
    pub fn launch(self, module: &Module, grid: impl LaunchGrid) -> Result<()> {
        self.put(module, module.device().stream(), grid)
    }

    /// Launches the kernel on `stream`. It waits for work on other streams that uses the same memory, as cudarc does.
    pub fn launch_on(self, module: &Module, stream: &CudaStream, grid: impl LaunchGrid) -> Result<()> {
        self.put(module, stream, grid)
    }

    fn put(mut self, module: &Module, stream: &CudaStream, grid: impl LaunchGrid) -> Result<()> {
        let (kernel, grid) = self.check(module, stream, grid)?;
        let mut words: Words = SmallVec::from_elem([0; 2], self.arguments.len());
        let words = words.as_mut_ptr();
        let mut pointers = self.pointers(words);
        self.start(module, &kernel, stream, grid, words, &mut pointers)
    }

    /// How many arguments there are.
    pub(crate) fn len(&self) -> usize {
        self.arguments.len()
    }

    /// Checks all that a launch must be, and finds its kernel.
    pub(crate) fn check(
        &self,
        module: &Module,
        stream: &CudaStream,
        grid: impl LaunchGrid,
    ) -> Result<(Arc<Kernel>, Grid)> {
        let name = self.kernel.name;
        let kernel = module.kernel(self.kernel)?;
        self.check_devices(module, stream)?;
        self.check_shapes()?;
        stream.context().bind_to_thread().doing(|| format!("launching kernel `{name}`"))?;
        let grid = self.with_shared(grid.grid(&mut || kernel.suggested_threads())?);
        let refused = |reason| Error::Grid { kernel: name.to_owned(), grid, reason };
        grid.check_dimensions(self.kernel.bounds.dimensions).map_err(refused)?;
        kernel.check(grid, module.device().limits()).map_err(refused)?;
        self.extras.check(grid, &kernel, module.device())?.map_err(refused)?;
        kernel.allow_shared(grid.shared_bytes)?;
        Ok((kernel, grid))
    }

    /// Pointers to all that the kernel takes, in order. An address and what stands behind it are those of the same number in
    /// `words`, as many as arguments, which are written when the launch starts, and must not move.
    pub(crate) fn pointers(&self, words: *mut [u64; 2]) -> Pointers {
        let words = words.cast::<u64>();
        let mut pointers = Pointers::new();
        for (index, argument) in self.arguments.iter().enumerate() {
            // Inside the slice, or just behind it.
            let first = words.wrapping_add(2 * index);
            match argument {
                Argument::Value(at) => pointers.push(self.values.address(*at).cast_mut()),
                Argument::Reference(_) => pointers.push(first.cast()),
                _ => pointers.extend([first.cast(), first.wrapping_add(1).cast()]),
            }
        }
        pointers
    }

    /// Starts the kernel, which `check` found. The pointers are those of `pointers`, and `words` those that it was given.
    pub(crate) fn start(
        &mut self,
        module: &Module,
        kernel: &Kernel,
        stream: &CudaStream,
        grid: Grid,
        words: *mut [u64; 2],
        pointers: &mut [*mut c_void],
    ) -> Result<()> {
        let name = self.kernel.name;
        module.prepare_stack(kernel)?;
        let device = module.device();
        device.watch().launched(self.kernel, !std::ptr::eq(stream, &**device.stream()));
        let extras = self.extras;
        let mut launch = || {
            // Waiting for other streams has no result of its own: cudarc keeps the error.
            stream.context().check_err()?;
            // SAFETY: `new`'s caller pushed what the kernel takes, and the module's kernel has the same ABI; every pointer is to a
            // value of the parameter's size, which the driver copies before it returns.
            unsafe { extras.start(kernel, grid, stream, pointers) }
        };
        hold(&mut self.arguments, words, stream, &mut launch).or_else(|error| {
            match extras.reason(error, kernel, grid, stream) {
                Some(reason) => Err(Error::Grid { kernel: name.to_owned(), grid, reason }),
                None => match Err(error).doing(|| format!("launching kernel `{name}` as {grid}")) {
                    // The driver makes room for the stacks of what ptxas counted when it launches that.
                    Err(Error::OutOfMemory { .. }) if kernel.local_bytes() > stack::DEFAULT => {
                        Err(stack::no_room(device, name, kernel.local_bytes()))
                    }
                    other => other,
                },
            }
        })
    }

    /// Checks that the memory has the elements that its shape names.
    pub(crate) fn check_shapes(&self) -> Result<()> {
        for (argument, param) in self.arguments.iter().zip(self.kernel.params) {
            if let Argument::Shaped(memory, shape) = argument {
                shape.check(memory.len()).map_err(|reason| Error::Shape {
                    param: param.name.to_owned(),
                    kernel: self.kernel.name.to_owned(),
                    reason,
                })?;
            }
        }
        Ok(())
    }

    /// Checks that everything is on the module's device: an address of another device is an illegal one.
    fn check_devices(&self, module: &Module, stream: &CudaStream) -> Result<()> {
        let device = module.device();
        let context = device.context();
        let other = |what: String, found: &cudarc::driver::CudaContext| Error::OtherDevice {
            what,
            found: found.ordinal(),
            expected: context.ordinal(),
        };
        if **stream.context() != **context {
            return Err(other("the stream".to_owned(), stream.context()));
        }
        for (index, argument) in self.arguments.iter().enumerate() {
            let Some(memory) = argument.memory() else { continue };
            if matches!(argument, Argument::Reference(memory) if memory.is_empty()) {
                return Err(self.no_element(index));
            }
            let Some(found) = memory.context() else {
                return Err(self.other_place(index, "memory of the CPU", "`upload` it, or `launch_on_cpu`"));
            };
            if **found != **context {
                let param = self.kernel.params[index].name;
                return Err(other(
                    format!("the memory for parameter `{param}` of kernel `{}`", self.kernel.name),
                    found,
                ));
            }
        }
        Ok(())
    }

    /// The argument of that number has no element.
    pub(crate) fn no_element(&self, index: usize) -> Error {
        Error::NoElement { param: self.kernel.params[index].name.to_owned(), kernel: self.kernel.name.to_owned() }
    }

    /// The argument of that number is no memory of where the kernel is to run.
    pub(crate) fn other_place(&self, index: usize, found: &'static str, remedy: &'static str) -> Error {
        let (param, kernel) = (self.kernel.params[index].name.to_owned(), self.kernel.name.to_owned());
        Error::OtherPlace { param, kernel, found, remedy }
    }
}

/// Two for each argument: its address, and what stands behind it.
type Words = SmallVec<[[u64; 2]; FEW]>;

/// As the driver takes them.
pub(crate) type Pointers = SmallVec<[*mut c_void; 2 * FEW]>;

/// Writes the words of the arguments from here on, which `words` points to, and launches while all of their memory is held:
/// when that ends, cudarc notes that the stream uses it.
fn hold(
    arguments: &mut [Argument<'_>],
    words: *mut [u64; 2],
    stream: &CudaStream,
    launch: &mut dyn FnMut() -> Result<(), DriverError>,
) -> Result<(), DriverError> {
    let Some((argument, rest)) = arguments.split_first_mut() else { return launch() };
    let next = words.wrapping_add(1);
    let len = argument.memory().map_or(0, DeviceMemory::len);
    let ((address, guard), second) = match argument {
        Argument::Value(_) => return hold(rest, next, stream, launch),
        Argument::Reference(memory) | Argument::Slice(memory) => (memory.read_on(stream), len as u64),
        Argument::SliceMut(memory) => (memory.write_on(stream), len as u64),
        Argument::Shaped(memory, shape) => (memory.write_on(stream), shape.word()),
    };
    // SAFETY: as many words as arguments, which nobody else accesses meanwhile.
    unsafe { words.write([some_address(address, len), second]) };
    let launched = hold(rest, next, stream, launch);
    drop(guard);
    launched
}

/// An empty allocation may have no address, but no Rust slice begins at null.
pub(crate) fn some_address(address: u64, len: usize) -> u64 {
    if len == 0 { NO_ELEMENTS } else { address }
}

impl fmt::Debug for Launch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launch").field("kernel", &self.kernel.name).finish_non_exhaustive()
    }
}
