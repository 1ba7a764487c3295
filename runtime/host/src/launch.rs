//! A kernel with its arguments, ready to be put on a stream.

use std::ffi::c_void;
use std::fmt;
use std::mem::MaybeUninit;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream, DriverError, result};
use ptx_abi::Descriptor;
use ptx_device::Dim3;
use smallvec::SmallVec;

use crate::condition::GraphCondition;
use crate::device::Device;
use crate::driver::Doing;
use crate::error::{Error, Result};
use crate::extents::LaunchGrid;
use crate::extras::Extras;
use crate::grid::{Grid, GridError};
use crate::l2::L2Window;
use crate::memory::{DeviceMemory, DeviceMemoryMut, some_address};
use crate::module::{Kernel, Module};
use crate::readers::Join;
use crate::shape::Shape;
use crate::stack;
use crate::texture::Object;
use crate::values::{At, Values};

/// A kernel with its arguments. It borrows the memory that the kernel works on.
///
/// The host's function for a kernel, which `#[kernel]` makes, returns this.
#[must_use = "nothing runs until `.launch(&module, grid)` is called"]
pub struct Launch<'a> {
    pub(crate) kernel: &'static Descriptor<'static>,
    pub(crate) arguments: Arguments<'a>,
    /// The dynamic shared memory that the kernel's parameters ask for, in bytes.
    pub(crate) shared_bytes: u32,
    pub(crate) values: Values,
    pub(crate) extras: Extras,
    #[cfg(feature = "cpu")]
    pub(crate) body: Option<Body>,
}

/// A kernel's body for the CPU, which reads its parameters at these places.
#[cfg(feature = "cpu")]
pub type Body = unsafe fn(&[*const ()]);

/// Most kernels have no more parameters, and their launches allocate nothing.
pub(crate) const FEW: usize = 8;

type Arguments<'a> = SmallVec<[Argument<'a>; FEW]>;

/// One argument, by the parameter's class.
pub(crate) enum Argument<'a> {
    Value(At),
    Reference(&'a dyn DeviceMemory),
    Slice(&'a dyn DeviceMemory),
    SliceMut(&'a mut dyn DeviceMemoryMut),
    Shaped(&'a mut dyn DeviceMemoryMut, Shape),
    /// A texture or a surface.
    Object(&'a dyn Object),
    /// What a branch or a loop of a graph depends on.
    Condition(&'a GraphCondition),
}

impl Argument<'_> {
    /// None for a value or a handle.
    pub(crate) fn memory(&self) -> Option<&dyn DeviceMemory> {
        match self {
            Self::Value(_) | Self::Object(_) | Self::Condition(_) => None,
            Self::Reference(memory) | Self::Slice(memory) => Some(*memory),
            Self::SliceMut(memory) | Self::Shaped(memory, _) => Some(&**memory),
        }
    }
}

impl<'a> Launch<'a> {
    /// A launch without arguments.
    ///
    /// # Safety
    /// One argument must be pushed for every parameter of `kernel`, in order and of its type.
    #[doc(hidden)]
    #[inline]
    pub unsafe fn new(kernel: &'static Descriptor<'static>) -> Self {
        Self {
            kernel,
            arguments: SmallVec::new(),
            shared_bytes: 0,
            values: Values::new(),
            extras: Extras::of(&kernel.bounds),
            #[cfg(feature = "cpu")]
            body: None,
        }
    }

    /// What the host knows of the kernel.
    #[doc(hidden)]
    pub fn descriptor(&self) -> &'static Descriptor<'static> {
        self.kernel
    }

    /// A parameter needs so many bytes of dynamic shared memory.
    #[doc(hidden)]
    pub fn need_shared(&mut self, bytes: u64) {
        // What is too large for a `u32` is too large for the device, and the check reports it.
        self.shared_bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    }

    #[doc(hidden)]
    #[inline]
    pub fn push_value<T: Copy + 'static>(&mut self, value: T) {
        let at = if size_of::<T>() == 0 {
            // In C++ an empty struct takes its alignment, and the driver reads so much.
            self.values.push([0_u8; ptx_abi::MAX_PARAM_ALIGN as usize])
        } else {
            self.values.push(value)
        };
        self.arguments.push(Argument::Value(at));
    }

    #[inline]
    pub(crate) fn push_reference(&mut self, memory: &'a dyn DeviceMemory) {
        self.arguments.push(Argument::Reference(memory));
    }

    #[inline]
    pub(crate) fn push_slice(&mut self, memory: &'a dyn DeviceMemory) {
        self.arguments.push(Argument::Slice(memory));
    }

    #[inline]
    pub(crate) fn push_slice_mut(&mut self, memory: &'a mut dyn DeviceMemoryMut) {
        self.arguments.push(Argument::SliceMut(memory));
    }

    #[inline]
    pub(crate) fn push_shaped(&mut self, memory: &'a mut dyn DeviceMemoryMut, shape: Shape) {
        self.arguments.push(Argument::Shaped(memory, shape));
    }

    pub(crate) fn push_object(&mut self, object: &'a dyn Object) {
        self.arguments.push(Argument::Object(object));
    }

    pub(crate) fn push_condition(&mut self, condition: &'a GraphCondition) {
        self.arguments.push(Argument::Condition(condition));
    }

    /// Has the blocks run in clusters of so many, a number, a pair or a triple, which can wait for each other
    /// ([`ptx::cluster`](ptx_device::cluster)): CUDA's `cudaLaunchAttributeClusterDimension`, from sm_90. Up to eight blocks
    /// run everywhere; more where the device allows. Each extent of the grid must be a multiple of the cluster's. Of a kernel
    /// with `#[kernel(cluster(..))]` every launch has its clusters, and must not ask for others.
    pub fn cluster(mut self, blocks: impl Into<Dim3>) -> Self {
        self.extras.cluster = Some(blocks.into());
        self
    }

    /// Has all blocks run at the same time, so that they can wait for each other: CUDA's `cudaLaunchCooperativeKernel`. The
    /// device must have room for all of them at once. Every launch of a kernel with `#[kernel(cooperative)]` is so.
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

    /// Has L2 keep a share of that memory when this launch uses it: CUDA's `cudaLaunchAttributeAccessPolicyWindow`, from sm_80.
    /// [`Device::l2_window`](crate::Device::l2_window) makes it, of no bytes on older devices, and then nothing happens.
    pub fn l2_window(mut self, window: L2Window) -> Self {
        self.extras.window = Some(window);
        self
    }

    /// Launches the kernel on the default stream of the module's device. It runs after everything that was put there
    /// before; `download` and `synchronize` wait for it.
    #[inline]
    pub fn launch(self, module: &Module, grid: impl LaunchGrid) -> Result<()> {
        self.launch_on(module, module.device().stream(), grid)
    }

    /// Launches the kernel on `stream`. It waits for work on other streams that uses the same memory, as cudarc does.
    // Launch and grid are large, so that to move them costs as much as all the checks: what is called gets references.
    #[inline]
    pub fn launch_on(mut self, module: &Module, stream: &CudaStream, grid: impl LaunchGrid) -> Result<()> {
        let kernel = self.kernel;
        let grid = grid.grid(&mut || module.suggested_threads_of(kernel))?;
        self.run(module, stream, grid)
    }

    /// Starts what was checked.
    pub(crate) fn put(&mut self, module: &Module, kernel: &Kernel, stream: &CudaStream, grid: &Grid) -> Result<()> {
        let count = self.arguments.len();
        let mut room = MaybeUninit::<[[u64; 2]; FEW]>::uninit();
        let mut pointers = MaybeUninit::<[*mut c_void; 2 * FEW]>::uninit();
        let (mut more, mut more_pointers);
        let (words, pointers): (*mut [u64; 2], *mut *mut c_void) = if count <= FEW {
            (room.as_mut_ptr().cast(), pointers.as_mut_ptr().cast())
        } else {
            more = vec![[0; 2]; count];
            more_pointers = vec![std::ptr::null_mut(); 2 * count];
            (more.as_mut_ptr(), more_pointers.as_mut_ptr())
        };
        // SAFETY: there is room for the words of all arguments, and for twice as many pointers.
        unsafe { self.pointers(words, pointers) };
        self.start(module, kernel, stream, grid, words, pointers)
    }

    /// How many arguments there are.
    pub(crate) fn len(&self) -> usize {
        self.arguments.len()
    }

    /// Finds the kernel, checks the arguments, and makes the context current.
    pub(crate) fn find<'m>(&self, module: &'m Module, stream: &CudaStream) -> Result<&'m Kernel> {
        if self.arguments.iter().filter_map(Argument::memory).any(|memory| memory.graph().is_some()) {
            let reason =
                "it is given memory of a graph, and is not added to it: `Graph::memory` gives the memory itself";
            return Err(Error::Graph { kernel: self.kernel.name.to_owned(), reason });
        }
        if self.arguments.iter().any(|argument| matches!(argument, Argument::Condition(_))) {
            let reason = "it is given a condition, which only a graph looks at: `GraphBuilder::add` takes it";
            return Err(Error::Graph { kernel: self.kernel.name.to_owned(), reason });
        }
        self.find_for_graph(module, stream)
    }

    /// As [`find`](Self::find), for launches that may be given memory of a graph.
    pub(crate) fn find_for_graph<'m>(&self, module: &'m Module, stream: &CudaStream) -> Result<&'m Kernel> {
        let kernel = module.kernel(self.kernel)?;
        self.check_arguments(module, stream)?;
        bind(stream.context()).doing(|| format!("launching kernel `{}`", self.kernel.name))?;
        Ok(kernel)
    }

    /// Adds the shared memory that the parameters ask for, and checks the grid.
    pub(crate) fn check(&self, module: &Module, kernel: &Kernel, grid: &mut Grid) -> Result<()> {
        grid.shared_bytes = grid.shared_bytes.max(self.shared_bytes);
        let checked = grid
            .check_dimensions(self.kernel.bounds.dimensions)
            .and_then(|()| kernel.check(grid, module.device().limits()));
        if let Err(reason) = checked {
            return Err(self.refused(grid, reason));
        }
        if self.extras.are_any() {
            self.extras.agree(&self.kernel.bounds).map_err(|reason| self.refused(grid, reason))?;
            self.extras.check(*grid, kernel, module.device())?.map_err(|reason| self.refused(grid, reason))?;
        }
        kernel.allow_shared(grid.shared_bytes)
    }

    #[cold]
    fn refused(&self, grid: &Grid, reason: GridError) -> Error {
        Error::Grid { kernel: self.kernel.name.to_owned(), grid: *grid, reason }
    }

    /// Writes pointers to all that the kernel takes, in order. An address and what stands behind it are those of the same
    /// number in `words`, which are written when the launch starts, and must not move.
    ///
    /// # Safety
    /// There must be room for twice as many pointers as arguments.
    pub(crate) unsafe fn pointers(&self, words: *mut [u64; 2], pointers: *mut *mut c_void) {
        let words = words.cast::<u64>();
        let mut next = pointers;
        let mut push = |pointer: *mut c_void| {
            // SAFETY: each argument has at most two.
            unsafe { next.write(pointer) };
            next = next.wrapping_add(1);
        };
        for (index, argument) in self.arguments.iter().enumerate() {
            // Inside the slice, or just behind it.
            let first = words.wrapping_add(2 * index);
            match argument {
                Argument::Value(at) => push(self.values.address(*at).cast_mut()),
                Argument::Reference(_) | Argument::Object(_) | Argument::Condition(_) => push(first.cast()),
                _ => {
                    push(first.cast());
                    push(first.wrapping_add(1).cast());
                }
            }
        }
    }

    /// Starts the kernel, which `find` found. The pointers are those of `pointers`, and `words` those that it was given.
    pub(crate) fn start(
        &mut self,
        module: &Module,
        kernel: &Kernel,
        stream: &CudaStream,
        grid: &Grid,
        words: *mut [u64; 2],
        pointers: *mut *mut c_void,
    ) -> Result<()> {
        module.prepare_stack(kernel)?;
        let device = module.device();
        device.watch().launched(self.kernel, grid, !std::ptr::eq(stream, &**device.stream()));
        let Self { arguments, extras, .. } = self;
        // SAFETY: as many words as arguments.
        let launched = if unsafe { unguarded(arguments, words) } {
            // SAFETY: `new`'s caller pushed what the kernel takes, and the module's kernel has the same ABI; every pointer is to a
            // value of the parameter's size, which the driver copies before it returns.
            unsafe { extras.start(kernel, grid, stream, pointers) }
        } else {
            let mut launch = || {
                // Waiting for other streams has no result of its own: cudarc keeps the error.
                stream.context().check_err()?;
                // SAFETY: as above.
                unsafe { extras.start(kernel, grid, stream, pointers) }
            };
            hold(arguments, words, stream, device, &mut launch)
        };
        launched.or_else(|error| self.failed(error, module, kernel, stream, grid))
    }

    /// Writes the words of all arguments, if no memory must be held while its context has one stream: that of the module.
    ///
    /// # Safety
    /// There must be room for them.
    pub(crate) unsafe fn write_unguarded(&self, module: &Module, words: *mut [u64; 2]) -> bool {
        let context = module.device().context();
        let known = |argument: &Argument<'_>| {
            argument.memory().is_none_or(|memory| memory.context().is_some_and(|found| Arc::ptr_eq(found, context)))
        };
        // SAFETY: the caller's promise.
        self.arguments.iter().all(known) && unsafe { unguarded(&self.arguments, words) }
    }

    /// Writes the words of all arguments, of which all memory is a graph's; false if some is not.
    ///
    /// # Safety
    /// There must be room for them.
    pub(crate) unsafe fn write_for_graph(&self, words: *mut [u64; 2]) -> bool {
        // SAFETY: the caller's promise.
        unsafe { unguarded(&self.arguments, words) }
    }

    /// What the driver's error means.
    #[cold]
    pub(crate) fn failed(
        &self,
        error: DriverError,
        module: &Module,
        kernel: &Kernel,
        stream: &CudaStream,
        grid: &Grid,
    ) -> Result<()> {
        let name = self.kernel.name;
        match self.extras.reason(error, kernel, *grid, stream) {
            Some(reason) => Err(self.refused(grid, reason)),
            None => match Err(error).doing(|| format!("launching kernel `{name}` as {grid}")) {
                // The driver makes room for the stacks of what ptxas counted when it launches that.
                Err(Error::OutOfMemory { .. }) if kernel.local_bytes() > stack::DEFAULT => {
                    Err(stack::no_room(module.device(), name, kernel.local_bytes()))
                }
                other => other,
            },
        }
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

    /// Checks that everything is on the module's device, where an address of another device is an illegal one, and has the
    /// elements that are asked for.
    fn check_arguments(&self, module: &Module, stream: &CudaStream) -> Result<()> {
        let context = module.device().context();
        if !is_same(stream.context(), context) {
            return Err(other_device("the stream".to_owned(), stream.context(), context));
        }
        let mut has_shapes = false;
        for (index, argument) in self.arguments.iter().enumerate() {
            if let Argument::Object(object) = argument
                && !is_same(object.context(), context)
            {
                let (param, kernel) = (self.kernel.params[index].name, self.kernel.name);
                let what = format!("the texture or surface for parameter `{param}` of kernel `{kernel}`");
                return Err(other_device(what, object.context(), context));
            }
            if let Argument::Condition(condition) = argument
                && !is_same(&condition.context, context)
            {
                let (param, kernel) = (self.kernel.params[index].name, self.kernel.name);
                let what = format!("the condition for parameter `{param}` of kernel `{kernel}`");
                return Err(other_device(what, &condition.context, context));
            }
            let Some(memory) = argument.memory() else { continue };
            match memory.context() {
                Some(found) if is_same(found, context) => {}
                Some(found) => {
                    let param = self.kernel.params[index].name;
                    let what = format!("the memory for parameter `{param}` of kernel `{}`", self.kernel.name);
                    return Err(other_device(what, found, context));
                }
                None => return Err(self.other_place(index, "memory of the CPU", "`upload` it, or `launch_on_cpu`")),
            }
            if memory.bound_to().is_some_and(|bound| bound.cu_stream() != stream.cu_stream()) {
                let (param, kernel) = (self.kernel.params[index].name, self.kernel.name);
                let what = format!("the memory for parameter `{param}` of kernel `{kernel}`");
                return Err(Error::OtherStream { what });
            }
            match argument {
                Argument::Reference(memory) if memory.is_empty() => return Err(self.no_element(index)),
                Argument::Shaped(..) => has_shapes = true,
                _ => {}
            }
        }
        if has_shapes { self.check_shapes() } else { Ok(()) }
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

/// Makes the context current, as `CudaContext::bind_to_thread` does, but leaves alone the errors that cudarc keeps: to look
/// for one costs as much as all the checks.
///
/// The driver is asked each time. What it said last is no answer, because any library may set another context meanwhile.
pub(crate) fn bind(context: &CudaContext) -> Result<Bound, DriverError> {
    if result::ctx::get_current()? == Some(context.cu_ctx()) {
        return Ok(Bound::Before);
    }
    context.bind_to_thread().map(|()| Bound::Now)
}

/// Since when the context is current.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    Before,
    Now,
}

#[cold]
pub(crate) fn other_device(what: String, found: &CudaContext, expected: &CudaContext) -> Error {
    Error::OtherDevice { what, found: found.ordinal(), expected: expected.ordinal() }
}

/// Whether both are the same context, which two objects may stand for.
pub(crate) fn is_same(a: &Arc<CudaContext>, b: &Arc<CudaContext>) -> bool {
    Arc::ptr_eq(a, b) || **a == **b
}

/// Writes the words of the arguments, two for each: its address, and what stands behind it. False if some memory must be held
/// meanwhile.
///
/// # Safety
/// There must be room for the words of all arguments.
unsafe fn unguarded(arguments: &[Argument<'_>], words: *mut [u64; 2]) -> bool {
    for (index, argument) in arguments.iter().enumerate() {
        if matches!(argument, Argument::Object(_)) {
            return false;
        }
        if let Argument::Condition(condition) = argument {
            // SAFETY: the caller's promise.
            unsafe { words.add(index).write([condition.handle, 0]) };
            continue;
        }
        let Some(memory) = argument.memory() else { continue };
        let Some(address) = memory.unguarded() else { return false };
        let len = memory.len();
        let second = if let Argument::Shaped(_, shape) = argument { shape.word() } else { len as u64 };
        // SAFETY: the caller's promise.
        unsafe { words.add(index).write([some_address(address, len), second]) };
    }
    true
}

/// Writes the words of the arguments from here on, which `words` points to, and launches while all of their memory is held:
/// when that ends, cudarc notes that the stream uses it.
fn hold(
    arguments: &mut [Argument<'_>],
    words: *mut [u64; 2],
    stream: &CudaStream,
    device: &Device,
    launch: &mut dyn FnMut() -> Result<(), DriverError>,
) -> Result<(), DriverError> {
    let Some((argument, rest)) = arguments.split_first_mut() else { return launch() };
    let next = words.wrapping_add(1);
    // SAFETY: as many words as arguments, which nobody else accesses meanwhile.
    let write = |address, len, second| unsafe { words.write([some_address(address, len), second]) };
    // What the memory returns stays where it is until it is dropped at the end: to move it costs more than all else here.
    match argument {
        Argument::Value(_) => hold(rest, next, stream, device, launch),
        Argument::Condition(condition) => {
            // SAFETY: as of `write`.
            unsafe { words.write([condition.handle, 0]) };
            hold(rest, next, stream, device, launch)
        }
        Argument::Object(object) => {
            let held = object.hold(stream)?;
            // SAFETY: as below.
            unsafe { words.write([held.0, 0]) };
            hold(rest, next, stream, device, launch)
        }
        Argument::Reference(memory) | Argument::Slice(memory) => {
            let len = memory.len();
            let held = memory.read_on(stream);
            write(held.0, len, len as u64);
            let join = device.watch().readers().reads(|| device.joining_stream(), &held.1, stream)?;
            let launched = hold(rest, next, stream, device, launch);
            drop(held);
            join.map_or(Ok(()), Join::join).and(launched)
        }
        Argument::SliceMut(memory) => {
            let len = memory.len();
            let held = memory.write_on(stream);
            write(held.0, len, len as u64);
            hold(rest, next, stream, device, launch)
        }
        Argument::Shaped(memory, shape) => {
            let len = memory.len();
            let held = memory.write_on(stream);
            write(held.0, len, shape.word());
            hold(rest, next, stream, device, launch)
        }
    }
}

impl fmt::Debug for Launch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launch").field("kernel", &self.kernel.name).finish_non_exhaustive()
    }
}
