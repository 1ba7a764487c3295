//! Loaded device code: finds kernels, checks that host and device agree on them.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cudarc::driver::sys::{
    self, CUdevice_attribute as DeviceAttribute, CUdeviceptr, CUfunction, CUfunction_attribute as Attribute, CUmodule,
    CUresult,
};
use cudarc::driver::{CudaContext, DriverError, result};
use ptx_abi::{Descriptor, Mangling};
use ptx_device::Dim3;

use crate::device::Device;
use crate::driver::{self, Doing, Jit};
use crate::error::{Error, Panic, Result};
use crate::grid::{Grid, GridError, Limits};
use crate::image::{Code, Image, KernelRecord, Linking};
use crate::panic::{self, PanicRecord};
use crate::stack::{self, Told};
use crate::watch;

/// Device code that is loaded on a device.
pub struct Module {
    device: Device,
    /// Where its kernels are described; several if they were linked.
    images: Vec<Image>,
    object: String,
    /// The arch that the code was compiled for; none where the driver or a linker compiled it again.
    arch: Option<&'static str>,
    // Before `parts`: functions are of no use without their module.
    kernels: Mutex<HashMap<&'static str, Arc<Kernel>>>,
    checked: Checked,
    /// One at least.
    parts: Vec<Part>,
    // After `parts`, whose kernels may write it until they are gone.
    panics: Option<Arc<PanicRecord>>,
}

/// What the driver has as a module: all of the code, or some of its kernels with what they need.
struct Part {
    loaded: Loaded,
    /// If there is recursion in it.
    stack: Option<Told>,
}

/// The resources that a kernel uses on its device, as the driver reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of local memory of a thread: stack and spills.
    pub local_bytes: u32,
    /// Bytes of static shared memory of a block.
    pub shared_bytes: u32,
    /// Bytes of constant memory.
    pub constant_bytes: u32,
    /// The most threads in a block.
    pub max_threads: u32,
}

/// A kernel that was found and checked.
pub(crate) struct Kernel {
    function: CUfunction,
    name: &'static str,
    /// Which part of its module has it.
    part: usize,
    attributes: Attributes,
    limits: Limits,
    /// None if the driver knows it.
    stack: Option<stack::Need>,
    /// The most dynamic shared memory, in bytes, that the driver was told of.
    allowed_shared: AtomicU32,
    /// See [`Kernel::suggested_threads`].
    suggested: OnceLock<u32>,
    /// Whether the driver was told that clusters may have more blocks than every device allows.
    large_clusters: OnceLock<()>,
}

// SAFETY: a function's handle may be used from any thread that has its context.
unsafe impl Send for Kernel {}
// SAFETY: as above; the driver locks for itself.
unsafe impl Sync for Kernel {}

/// Kernels that were launched, by the address of what the host knows of them: a launch compares nothing else. Chains that only
/// grow, so that it locks nothing.
#[derive(Default)]
struct Checked {
    heads: [OnceLock<Box<CheckedKernel>>; 16],
}

struct CheckedKernel {
    key: usize,
    kernel: Arc<Kernel>,
    next: OnceLock<Box<CheckedKernel>>,
}

impl Checked {
    fn head(&self, key: usize) -> &OnceLock<Box<CheckedKernel>> {
        // What the host knows of a kernel has more bytes than that.
        &self.heads[key / size_of::<Descriptor<'_>>() % self.heads.len()]
    }

    fn find(&self, key: usize) -> Option<&Kernel> {
        let mut place = self.head(key);
        while let Some(entry) = place.get() {
            if entry.key == key {
                return Some(&entry.kernel);
            }
            place = &entry.next;
        }
        None
    }

    /// Adds one; another thread may have been first.
    fn add(&self, key: usize, kernel: &Arc<Kernel>) -> &Kernel {
        let mut place = self.head(key);
        loop {
            let entry =
                place.get_or_init(|| Box::new(CheckedKernel { key, kernel: kernel.clone(), next: OnceLock::new() }));
            if entry.key == key {
                return &entry.kernel;
            }
            place = &entry.next;
        }
    }
}

/// Owns the driver's module, and unloads it.
struct Loaded {
    module: CUmodule,
    context: Arc<CudaContext>,
}

// SAFETY: a module's handle may be used from any thread that has its context.
unsafe impl Send for Loaded {}
// SAFETY: as above; the driver locks for itself.
unsafe impl Sync for Loaded {}

impl Loaded {
    /// The kernel with this name, if it is there; the context must be current.
    fn function(&self, name: &CStr) -> Result<Option<CUfunction>, DriverError> {
        // SAFETY: the module is loaded, and its context current.
        found(unsafe { result::module::get_function(self.module, name.to_owned()) })
    }

    /// Where the symbol lies and how many bytes it has, if it is there; the context must be current.
    fn symbol(&self, name: &CStr) -> Result<Option<(CUdeviceptr, usize)>, DriverError> {
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is loaded, its context current, and the places are our own.
        let result = unsafe { sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, self.module, name.as_ptr()) };
        found(result.result().map(|()| (address, bytes)))
    }
}

/// None where the driver knows nothing of that name.
fn found<T>(result: Result<T, DriverError>) -> Result<Option<T>, DriverError> {
    match result {
        Err(DriverError(CUresult::CUDA_ERROR_NOT_FOUND)) => Ok(None),
        result => result.map(Some),
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if watch::is_overdue(self.context.cu_ctx()) {
            // A kernel of it may run for ever, and to wait would be for ever, too.
            return;
        }
        // Its kernels may still run. Errors are for later calls: a lost context must not end the program here.
        self.context.record_err(self.context.synchronize());
        // SAFETY: loaded by `Module::load`, and nothing of it is in use any more.
        self.context.record_err(unsafe { result::module::unload(self.module) });
    }
}

impl Device {
    /// Loads embedded device code: `device.load(&ptx::image!())`.
    pub fn load(&self, image: &Image) -> Result<Module> {
        Module::load(self, image, Jit::Optimised)
    }
}

impl Module {
    pub(crate) fn load(device: &Device, image: &Image, jit: Jit) -> Result<Self> {
        if image.linking() == Linking::AtLoad {
            return Err(Error::NotLinked { image: image.name() });
        }
        let (object, code) =
            image.pick(device.capability()).ok_or_else(|| image.nothing_for(device.name(), device.arch()))?;
        let is_ptx = matches!(code, Code::Ptx(_));
        let codes = if is_ptx { vec![code] } else { image.cubins(object.arch).map(Code::Cubin).collect() };
        let description = match codes.len() {
            _ if is_ptx => format!("`{}` (PTX for {}, compiled by the driver)", image.name(), object.arch),
            1 => format!("`{}` (cubin for {})", image.name(), object.arch),
            count => format!("`{}` ({count} cubins for {})", image.name(), object.arch),
        };
        let arch = (!is_ptx).then_some(object.arch);
        // SAFETY: whoever made the image promised that its code is whole and has the kernels that it names.
        unsafe { Self::load_code(device, vec![*image], &codes, arch, jit, description, object.ptx_path) }
    }

    /// Loads the cubin that a linker made.
    ///
    /// # Safety
    /// `cubin` must be whole, and have the kernels of `images` as they say.
    pub(crate) unsafe fn load_linked(
        device: &Device,
        images: Vec<Image>,
        cubin: &[u8],
        description: String,
    ) -> Result<Self> {
        // SAFETY: the caller's promise.
        unsafe { Self::load_code(device, images, &[Code::Cubin(cubin)], None, Jit::Optimised, description, "") }
    }

    /// # Safety
    /// Cubins must be whole, and the codes must have the kernels of `images` between them as they say.
    unsafe fn load_code(
        device: &Device,
        images: Vec<Image>,
        codes: &[Code<'_>],
        arch: Option<&'static str>,
        jit: Jit,
        object: String,
        path: &str,
    ) -> Result<Self> {
        let context = device.context();
        context.bind_to_thread().doing(|| format!("loading {object}"))?;
        let (mut parts, mut panics) = (Vec::new(), None);
        for code in codes {
            // SAFETY: the context is current; the rest is the caller's promise.
            let module = unsafe { driver::load(code, jit) }
                .map_err(|(error, log)| load_error(error, &log, &object, path, device))?;
            let loaded = Loaded { module, context: context.clone() };
            // The context's, for all parts the same.
            let record = panic::attach(context, module, code).doing(|| format!("telling {object} where panics go"))?;
            panics = record.or(panics);
            let stack = Told::of(module).doing(|| format!("asking {object} about its stack"))?;
            parts.push(Part { loaded, stack });
        }
        if let Some(record) = &panics {
            device.keep_panics(record);
        }
        let (device, kernels, checked) = (device.clone(), Mutex::default(), Checked::default());
        Ok(Self { device, images, object, arch, kernels, checked, parts, panics })
    }

    /// The device that the module is loaded on.
    #[inline]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The code that was loaded, in words: `` `saxpy` (cubin for sm_90) ``.
    pub fn loaded(&self) -> &str {
        &self.object
    }

    /// The records of the module's Rust kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &'static KernelRecord> {
        self.images.iter().flat_map(|image| image.kernels())
    }

    /// A kernel that Rust knows nothing about, such as one in CUDA C++ that was linked in: for
    /// `cudarc::driver::result::launch_kernel`, which checks nothing. It is valid as long as the module lives.
    pub fn function(&self, name: &str) -> Result<CUfunction> {
        Ok(self.part_with(name)?.1)
    }

    /// The part that has a kernel, and the kernel.
    fn part_with(&self, name: &str) -> Result<(usize, CUfunction)> {
        let doing = || format!("looking for kernel `{name}` in the loaded code");
        self.device.context().bind_to_thread().doing(doing)?;
        let missing = || DriverError(CUresult::CUDA_ERROR_NOT_FOUND);
        let symbol = CString::new(name).map_err(|_| missing()).doing(doing)?;
        for (number, part) in self.parts.iter().enumerate() {
            if let Some(function) = part.loaded.function(&symbol).doing(doing)? {
                return Ok((number, function));
            }
        }
        Err(missing()).doing(doing)
    }

    /// Where a symbol of the code lies and how many bytes it has; none if there is no such symbol.
    pub(crate) fn symbol(&self, name: &str) -> Result<Option<(CUdeviceptr, usize)>> {
        let doing = || format!("looking for `{name}` in the loaded code");
        self.device.context().bind_to_thread().doing(doing)?;
        let symbol = CString::new(name).map_err(|_| DriverError(CUresult::CUDA_ERROR_NOT_FOUND)).doing(doing)?;
        // One part alone has what kernels can write or the host can look for.
        for part in &self.parts {
            if let Some(place) = part.loaded.symbol(&symbol).doing(doing)? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// The names of the images that it was made of.
    pub(crate) fn images(&self) -> String {
        self.images.iter().map(|image| image.name()).collect::<Vec<_>>().join("` + `")
    }

    /// The panic that a kernel left which ended without losing the context, and room for the next.
    pub(crate) fn take_panic(&self) -> Option<Panic> {
        self.panics.as_ref()?.take(true)
    }

    /// How many blocks of so many threads, with so many bytes of dynamic shared memory each, the device runs of the kernel with
    /// this name at once: the most that a cooperative launch can have.
    pub fn resident_blocks(&self, name: &str, threads: impl Into<Dim3>, shared_bytes: u32) -> Result<u64> {
        let record = self.record(name)?;
        let context = self.device.context();
        context.bind_to_thread().doing(|| format!("looking for kernel `{name}`"))?;
        self.find(record.name)?.resident_blocks(threads.into(), shared_bytes, context)
    }

    /// The kernel with this name; its context is current then.
    pub(crate) fn current(&self, name: &str) -> Result<Arc<Kernel>> {
        let record = self.record(name)?;
        self.device.context().bind_to_thread().doing(|| format!("looking for kernel `{name}`"))?;
        self.find(record.name)
    }

    /// Whether it was made of this image alone.
    pub(crate) fn is_of(&self, image: &Image) -> bool {
        matches!(&self.images[..], [own] if own.is_same(image))
    }

    /// The resources that the kernel with this name uses.
    pub fn attributes(&self, name: &str) -> Result<Attributes> {
        let record = self.record(name)?;
        Ok(self.find(record.name)?.attributes)
    }

    /// Gives threads the stack that the kernel needs. The context must be current.
    pub(crate) fn prepare_stack(&self, kernel: &Kernel) -> Result<()> {
        let Some(need) = kernel.stack else { return Ok(()) };
        let told = self.parts[kernel.part].stack.as_ref();
        stack::prepare(&self.device, kernel.name, need.or_estimated(kernel.local_bytes(), told), told)
    }

    /// Tells code that has no record where its stack ends. The context must be current.
    pub(crate) fn prepare_stack_as_it_is(&self, kernel: &str) -> Result<()> {
        let mut parts = self.parts.iter();
        parts.try_for_each(|part| stack::prepare(&self.device, kernel, stack::Need::default(), part.stack.as_ref()))
    }

    /// The kernel that `host` describes, if the device's signature is the same.
    pub(crate) fn kernel(&self, host: &'static Descriptor<'static>) -> Result<&Kernel> {
        let key = std::ptr::from_ref(host) as usize;
        match self.checked.find(key) {
            Some(kernel) => Ok(kernel),
            None => Ok(self.checked.add(key, &self.check_kernel(host)?)),
        }
    }

    /// The kernel that `host` describes, if it was asked for before.
    #[inline]
    pub(crate) fn known_kernel(&self, host: &'static Descriptor<'static>) -> Option<&Kernel> {
        self.checked.find(std::ptr::from_ref(host) as usize)
    }

    /// See [`Kernel::suggested_threads`].
    #[doc(hidden)]
    pub fn suggested_threads_of(&self, host: &'static Descriptor<'static>) -> Result<u32> {
        self.kernel(host)?.suggested_threads(self.device.context())
    }

    fn check_kernel(&self, host: &Descriptor<'static>) -> Result<Arc<Kernel>> {
        let record = match host.mangling {
            Mangling::C => self.record(host.name)?,
            Mangling::Cxx => self.record(&host.symbol())?,
        };
        if record.abi_hash != host.abi_hash() {
            return Err(Error::Signature {
                name: host.name.to_owned(),
                device: record.signature.to_owned(),
                host: signature(host),
                difference: difference(record, host),
            });
        }
        self.find(record.name)
    }

    fn record(&self, name: &str) -> Result<&'static KernelRecord> {
        self.images.iter().find_map(|image| image.kernel(name)).ok_or_else(|| {
            let known: Vec<_> = self.kernels().map(|k| format!("`{}`", k.name)).collect();
            Error::UnknownKernel {
                name: name.to_owned(),
                image: self.images(),
                known: if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) },
            }
        })
    }

    fn find(&self, name: &'static str) -> Result<Arc<Kernel>> {
        // A thread that panicked while it held the lock left the table whole: entries are put in at once.
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(name) {
            return Ok(kernel.clone());
        }
        let record = self.record(name)?;
        let (part, function) = self.part_with(name)?;
        // The driver's compiler and linkers count like ptxas, but say nothing about recursion.
        let unknown =
            self.parts[part].stack.is_some() || self.images.iter().any(|image| image.linking() != Linking::None);
        let need = stack::Need::of(record, self.arch, unknown);
        let kernel = Arc::new(Kernel::of(name, part, function, *self.device.limits(), need)?);
        kernels.insert(name, kernel.clone());
        Ok(kernel)
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Module({} on {:?})", self.object, self.device)
    }
}

impl Kernel {
    /// The context must be current.
    fn of(
        name: &'static str,
        part: usize,
        function: CUfunction,
        limits: Limits,
        stack: Option<stack::Need>,
    ) -> Result<Self> {
        let doing = || format!("looking for kernel `{name}` in the loaded code");
        let read = |attribute| -> Result<u32> {
            // SAFETY: a function of the current context.
            let value = unsafe { result::function::get_function_attribute(function, attribute) }.doing(doing)?;
            Ok(value.try_into().unwrap_or(0))
        };
        let attributes = Attributes {
            registers: read(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            local_bytes: read(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            shared_bytes: read(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            constant_bytes: read(Attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)?,
            max_threads: read(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        };
        let allowed = read(Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)?;
        let (allowed_shared, suggested, large_clusters) = (AtomicU32::new(allowed), OnceLock::new(), OnceLock::new());
        Ok(Self { function, name, part, attributes, limits, stack, allowed_shared, suggested, large_clusters })
    }

    pub(crate) fn function(&self) -> CUfunction {
        self.function
    }

    /// Bytes of stack that ptxas counted.
    pub(crate) fn local_bytes(&self) -> u64 {
        self.attributes.local_bytes.into()
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Checks `grid` against the limits of the device and of the kernel.
    pub(crate) fn check(&self, grid: &Grid, limits: &Limits) -> Result<(), GridError> {
        grid.check(limits)?;
        if grid.threads.volume() > u128::from(self.attributes.max_threads) {
            return Err(GridError::KernelThreads {
                block: grid.threads,
                limit: self.attributes.max_threads,
                registers: self.attributes.registers,
            });
        }
        let fixed = self.attributes.shared_bytes;
        let limit = limits.shared_bytes_per_block_optin;
        if grid.shared_bytes > 0 && u64::from(grid.shared_bytes) + u64::from(fixed) > u64::from(limit) {
            return Err(GridError::SharedMemory { dynamic: grid.shared_bytes, fixed, limit });
        }
        Ok(())
    }

    /// Whether nothing must be made ready for a launch with so much dynamic shared memory, in bytes.
    #[inline]
    pub(crate) fn is_ready(&self, shared: u32) -> bool {
        self.stack.is_none() && shared <= self.allowed_shared.load(Ordering::Relaxed)
    }

    /// Whether [`check`](Self::check) and the promised dimensions find nothing wrong with the grid, and nothing must be made ready.
    #[inline]
    pub(crate) fn takes(&self, grid: &Grid, limits: &Limits, dimensions: u32) -> bool {
        let shared = u64::from(grid.shared_bytes) + u64::from(self.attributes.shared_bytes);
        self.is_ready(grid.shared_bytes)
            && (grid.shared_bytes == 0 || shared <= u64::from(limits.shared_bytes_per_block_optin))
            && grid.fits(limits, self.attributes.max_threads)
            && grid.check_dimensions(dimensions).is_ok()
    }

    /// As many threads in a block as keep the device busiest.
    pub(crate) fn suggested_threads(&self, context: &CudaContext) -> Result<u32> {
        if let Some(threads) = self.suggested.get() {
            return Ok(*threads);
        }
        let doing = || format!("asking for the best block of kernel `{}`", self.name);
        context.bind_to_thread().doing(doing)?;
        let (mut blocks, mut threads) = (0, 0);
        // SAFETY: writes two numbers; the function's context is current.
        unsafe { sys::cuOccupancyMaxPotentialBlockSize(&mut blocks, &mut threads, self.function, None, 0, 0) }
            .result()
            .doing(doing)?;
        Ok(*self.suggested.get_or_init(|| u32::try_from(threads).unwrap_or(0)))
    }

    /// How many blocks of so many threads, with so many bytes of dynamic shared memory, the device runs at once. The context
    /// must be current.
    pub(crate) fn resident_blocks(&self, threads: Dim3, shared: u32, context: &CudaContext) -> Result<u64> {
        let doing = || format!("asking how many blocks of kernel `{}` run at once", self.name);
        let (mut blocks, size) = (0, i32::try_from(threads.volume()).unwrap_or(i32::MAX));
        // SAFETY: writes one number; the function's context is current.
        let asked = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, self.function, size, shared as usize)
        };
        asked.result().doing(doing)?;
        let count = context.attribute(DeviceAttribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).doing(doing)?;
        Ok(u64::try_from(blocks).unwrap_or(0) * u64::try_from(count).unwrap_or(0))
    }

    /// Tells the driver that clusters may have more blocks than every device allows. The context must be current.
    pub(crate) fn allow_large_clusters(&self) -> Result<()> {
        if self.large_clusters.get().is_none() {
            let attribute = Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
            // SAFETY: a function of a module that is loaded.
            unsafe { result::function::set_function_attribute(self.function, attribute, 1) }
                .doing(|| format!("allowing kernel `{}` large clusters", self.name))?;
            _ = self.large_clusters.set(());
        }
        Ok(())
    }

    /// Tells the driver of `bytes` of dynamic shared memory, which it requires above the usual limit. The context must
    /// be current.
    pub(crate) fn allow_shared(&self, bytes: u32) -> Result<()> {
        if bytes <= self.allowed_shared.load(Ordering::Relaxed) {
            return Ok(());
        }
        // Two threads may tell the driver the same.
        let most = self.limits.shared_bytes_per_block_optin.saturating_sub(self.attributes.shared_bytes);
        // SAFETY: a function of a module that is loaded; the value was checked against the device's limit.
        unsafe {
            result::function::set_function_attribute(
                self.function,
                Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                most.try_into().unwrap_or(i32::MAX),
            )
        }
        .doing(|| format!("allowing kernel `{}` {bytes} bytes of dynamic shared memory", self.name))?;
        self.allowed_shared.store(most, Ordering::Relaxed);
        Ok(())
    }
}

fn load_error(error: DriverError, log: &str, object: &str, path: &str, device: &Device) -> Error {
    let remedy = match error.0 {
        CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => {
            "\nThe driver is older than the PTX: update it, or build where ptxas is found, so that machine code is embedded"
                .to_owned()
        }
        CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND => {
            "\nThe driver's just-in-time compiler is missing: build where ptxas is found, so that machine code is embedded"
                .to_owned()
        }
        CUresult::CUDA_ERROR_INVALID_PTX => format!("\nThe PTX is in {path}; `ptxas` on it shows the same errors"),
        _ => String::new(),
    };
    let log = if log.is_empty() { String::new() } else { format!("\n{log}") };
    Error::Load {
        object: object.to_owned(),
        device: device.name().to_owned(),
        reason: format!("{} ({})", driver::text(&error), driver::name(&error)),
        log: log.into(),
        remedy,
    }
}

/// The signature as in the source: `saxpy(a: f32, x: &[f32])`.
fn signature(kernel: &Descriptor<'_>) -> String {
    let params: Vec<_> = kernel.params.iter().map(|p| format!("{}: {}", p.name, p.rust_type)).collect();
    format!("{}({})", kernel.name, params.join(", "))
}

fn difference(record: &KernelRecord, host: &Descriptor<'_>) -> String {
    let rebuild = "Build the program again: the device code that it embeds is of other sources";
    if record.signature == signature(host) {
        let sizes: Vec<_> =
            host.params.iter().map(|p| format!("{}: {} bytes, aligned to {}", p.name, p.ty.size, p.ty.align)).collect();
        format!("The types have the same names and other layouts (on the host: {}). {rebuild}", sizes.join("; "))
    } else {
        rebuild.to_owned()
    }
}
