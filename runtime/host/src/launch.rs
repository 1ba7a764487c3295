//! A kernel with its arguments, ready to be put on a stream.

use std::ffi::c_void;
use std::fmt;

use cudarc::driver::result;
use cudarc::driver::{CudaStream, SyncOnDrop};
use ptx_abi::Descriptor;

use crate::driver::Doing;
use crate::error::{Error, Result};
use crate::grid::{Grid, LaunchGrid};
use crate::memory::{DeviceMemory, DeviceMemoryMut};
use crate::module::Module;
use crate::shape::Shape;

/// A kernel with its arguments. It borrows the memory that the kernel works on.
///
/// The host's function for a kernel, which `#[kernel]` makes, returns this.
#[must_use = "nothing runs until `.launch(&module, grid)` is called"]
pub struct Launch<'a> {
    pub(crate) kernel: &'static Descriptor<'static>,
    pub(crate) arguments: Vec<Argument<'a>>,
    #[cfg(feature = "cpu")]
    pub(crate) body: Option<Body>,
}

/// A kernel's body for the CPU, which reads its parameters at these places.
#[cfg(feature = "cpu")]
pub type Body = unsafe fn(&[*const ()]);

/// One argument, by the parameter's class.
pub(crate) enum Argument<'a> {
    Value(Box<dyn Value>),
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

/// A value of any type, in a box that has its size and alignment.
pub(crate) trait Value {
    fn address(&self) -> *const c_void;
}

impl<T: Copy> Value for T {
    fn address(&self) -> *const c_void {
        (&raw const *self).cast()
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
            arguments: Vec::with_capacity(kernel.params.len()),
            #[cfg(feature = "cpu")]
            body: None,
        }
    }

    #[doc(hidden)]
    pub fn push_value<T: Copy + 'static>(&mut self, value: T) {
        if size_of::<T>() == 0 {
            // In C++ an empty struct takes its alignment, and the driver reads so much.
            self.arguments.push(Argument::Value(Box::new([0_u8; ptx_abi::MAX_PARAM_ALIGN as usize])));
            return;
        }
        self.arguments.push(Argument::Value(Box::new(value)));
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

    /// Launches the kernel on the default stream of the module's device. It runs after everything that was put there
    /// before; `download` and `synchronize` wait for it.
    pub fn launch(self, module: &Module, grid: impl LaunchGrid) -> Result<()> {
        let stream = module.device().stream().clone();
        self.put(module, &stream, grid.grid())
    }

    /// Launches the kernel on `stream`. It waits for work on other streams that uses the same memory, as cudarc does.
    pub fn launch_on(self, module: &Module, stream: &CudaStream, grid: impl LaunchGrid) -> Result<()> {
        self.put(module, stream, grid.grid())
    }

    fn put(mut self, module: &Module, stream: &CudaStream, grid: Grid) -> Result<()> {
        let name = self.kernel.name;
        let kernel = module.kernel(self.kernel)?;
        self.check_devices(module, stream)?;
        self.check_shapes()?;
        let dimensions = self.kernel.bounds.dimensions;
        let fits = grid.check_dimensions(dimensions).and_then(|()| kernel.check(grid, module.device().limits()));
        fits.map_err(|reason| Error::Grid { kernel: name.to_owned(), grid, reason })?;
        stream.context().bind_to_thread().doing(|| format!("launching kernel `{name}`"))?;
        kernel.allow_shared(grid.shared_bytes)?;
        module.prepare_stack(&kernel)?;

        // Addresses and lengths, two for every argument at most; reserved whole, since the driver gets pointers to them.
        let mut words: Vec<u64> = Vec::with_capacity(2 * self.arguments.len());
        let mut pointers: Vec<*mut c_void> = Vec::with_capacity(2 * self.arguments.len());
        // Dropped after the launch: then they record that the stream uses the memory.
        let mut guards: Vec<SyncOnDrop<'_>> = Vec::with_capacity(self.arguments.len());
        let push = |words: &mut Vec<u64>, pointers: &mut Vec<*mut c_void>, word: u64| {
            words.push(word);
            pointers.push((&raw const words[words.len() - 1]).cast_mut().cast());
        };
        for argument in &mut self.arguments {
            let (address, second, guard) = match argument {
                Argument::Value(value) => {
                    pointers.push(value.address().cast_mut());
                    continue;
                }
                Argument::Reference(memory) => {
                    let (address, guard) = memory.read_on(stream);
                    (address, None, guard)
                }
                Argument::Slice(memory) => {
                    let (address, guard) = memory.read_on(stream);
                    (some_address(address, memory.len()), Some(memory.len() as u64), guard)
                }
                Argument::SliceMut(memory) => {
                    let len = memory.len();
                    let (address, guard) = memory.write_on(stream);
                    (some_address(address, len), Some(len as u64), guard)
                }
                Argument::Shaped(memory, shape) => {
                    let len = memory.len();
                    let (address, guard) = memory.write_on(stream);
                    (some_address(address, len), Some(shape.word()), guard)
                }
            };
            push(&mut words, &mut pointers, address);
            if let Some(second) = second {
                push(&mut words, &mut pointers, second);
            }
            guards.push(guard);
        }
        // Waiting for other streams has no result of its own: cudarc keeps the error.
        stream.context().check_err().doing(|| format!("waiting before kernel `{name}`"))?;
        let (blocks, threads) = (grid.blocks, grid.threads);
        module.device().watch().launched(self.kernel, !std::ptr::eq(stream, &**module.device().stream()));
        // SAFETY: `new`'s caller pushed what the kernel takes, and the module's kernel has the same ABI; every pointer
        // is to a value of the parameter's size, which the driver copies before it returns.
        unsafe {
            result::launch_kernel(
                kernel.function(),
                (blocks.x, blocks.y, blocks.z),
                (threads.x, threads.y, threads.z),
                grid.shared_bytes,
                stream.cu_stream(),
                &mut pointers,
            )
        }
        .doing(|| format!("launching kernel `{name}` as {grid}"))
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

/// An empty allocation may have no address, but no Rust slice begins at null.
pub(crate) fn some_address(address: u64, len: usize) -> u64 {
    if len == 0 { NO_ELEMENTS } else { address }
}

impl fmt::Debug for Launch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launch").field("kernel", &self.kernel.name).finish_non_exhaustive()
    }
}
