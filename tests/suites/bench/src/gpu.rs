//! The device with the modules that are compared, and one kernel of them.

use std::ffi::c_void;

use anyhow::{Context, Result, ensure};
use ptx::cudarc::driver::sys::{CUevent_flags, CUfunction, CUfunction_attribute as Attribute};
use ptx::cudarc::driver::{CudaEvent, result};
use ptx::{Device, Image, Linking, Module, Object};
use serde_json::{Value, json};

/// The kernels in Rust, as the build script compiled them.
pub static RUST: Image = ptx::image!("ptx-bench-kernels");

/// The same kernels, in which a panic says nothing.
static TRAP: Image = ptx::image!("trap");

/// The same kernels, whose context outlives a panic.
static EXIT: Image = ptx::image!("exit");

/// Their twins in CUDA C++.
static TWINS: &[Object] = include!(concat!(env!("OUT_DIR"), "/twins.rs"));

/// The cubin of the kernels in CUDA C++ that runs on the device.
pub fn twin(device: &Device) -> Option<&'static [u8]> {
    let (major, minor) = device.capability();
    let fits = |object: &&Object| {
        let arch = object.arch.strip_prefix("sm_").and_then(|number| number.parse::<u32>().ok());
        arch.is_some_and(|arch| arch / 10 == major && arch % 10 <= minor)
    };
    TWINS.iter().filter(fits).max_by_key(|object| object.arch).and_then(|object| object.cubin)
}

/// A device with the modules loaded.
pub struct Gpu {
    /// The first GPU.
    pub device: Device,
    rust: Module,
    cuda: Module,
    trap: Module,
    exit: Module,
}

/// A kernel of one of the modules.
pub struct Kernel<'a> {
    gpu: &'a Gpu,
    function: CUfunction,
    name: &'static str,
}

/// Blocks of the grid and threads of a block.
pub type Shape = ((u32, u32, u32), (u32, u32, u32));

impl Gpu {
    /// Opens the first device and loads the modules.
    pub fn open() -> Result<Self> {
        let missing = env!("TWINS_MISSING");
        ensure!(missing.is_empty(), "the kernels in CUDA C++ were not compiled: {missing}");
        let device = Device::first()?;
        let rust = device.load(&RUST).context("loading the kernels in Rust")?;
        // SAFETY: the build script had nvcc write both the PTX and the cubins; they are linked with nothing, and no
        // kernel is described, so that none is launched safely.
        let twins = unsafe { Image::new("twins", Linking::None, TWINS, &[]) };
        let cuda = device.load(&twins).context("loading the kernels in CUDA C++")?;
        let trap = device.load(&TRAP).context("loading the kernels in Rust with `panic = \"trap\"`")?;
        let exit = device.load(&EXIT).context("loading the kernels in Rust with `after-panic = \"exit\"`")?;
        Ok(Self { device, rust, cuda, trap, exit })
    }

    /// What was loaded, in words: Rust, CUDA C++, Rust with `panic = "trap"`, Rust with `after-panic = "exit"`.
    pub fn loaded(&self) -> [&str; 4] {
        [self.rust.loaded(), self.cuda.loaded(), self.trap.loaded(), self.exit.loaded()]
    }

    /// The Rust kernel of that name.
    pub fn rust(&self, name: &str) -> Result<Kernel<'_>> {
        Ok(Kernel { gpu: self, function: self.rust.function(name)?, name: "Rust" })
    }

    /// The CUDA C++ kernel of that name.
    pub fn cuda(&self, name: &str) -> Result<Kernel<'_>> {
        Ok(Kernel { gpu: self, function: self.cuda.function(name)?, name: "CUDA C++" })
    }

    /// The Rust kernel of that name with `panic = "trap"`.
    pub fn trap(&self, name: &str) -> Result<Kernel<'_>> {
        Ok(Kernel { gpu: self, function: self.trap.function(name)?, name: "Rust with `panic = \"trap\"`" })
    }

    /// The Rust kernel of that name with `after-panic = "exit"`.
    pub fn exit(&self, name: &str) -> Result<Kernel<'_>> {
        Ok(Kernel { gpu: self, function: self.exit.function(name)?, name: "Rust with `after-panic = \"exit\"`" })
    }

    /// An event that knows when it happened.
    pub fn event(&self) -> Result<CudaEvent> {
        Ok(self.device.context().new_event(Some(CUevent_flags::CU_EVENT_DEFAULT))?)
    }

    /// Microseconds that the device takes for what `enqueue` puts on its stream.
    pub fn time(&self, enqueue: impl FnOnce() -> Result<()>) -> Result<f64> {
        let (begin, end) = (self.event()?, self.event()?);
        begin.record(self.device.stream())?;
        enqueue()?;
        end.record(self.device.stream())?;
        end.synchronize()?;
        Ok(f64::from(begin.elapsed_ms(&end)?) * 1e3)
    }
}

impl Kernel<'_> {
    /// Puts a launch on the device's stream.
    ///
    /// # Safety
    /// There must be a pointer for every parameter, to a value of its type; memory that these name must be as large as the
    /// kernel takes it to be.
    pub unsafe fn launch(&self, (blocks, threads): Shape, parameters: &mut [*mut c_void]) -> Result<()> {
        let stream = self.gpu.device.stream().cu_stream();
        // SAFETY: the function belongs to a module that is still loaded; the rest is the caller's promise.
        unsafe { result::launch_kernel(self.function, blocks, threads, 0, stream, parameters) }
            .with_context(|| format!("launching the kernel in {}", self.name))
    }

    /// Waits until all launches have ended.
    pub fn wait(&self) -> Result<()> {
        self.gpu.device.synchronize().with_context(|| format!("running the kernel in {}", self.name))
    }

    /// What the driver says that it uses.
    pub fn resources(&self) -> Result<Value> {
        let read = |attribute| -> Result<i32> {
            // SAFETY: a function of the current context.
            unsafe { result::function::get_function_attribute(self.function, attribute) }
                .context("asking for resources")
        };
        Ok(json!({
            "registers": read(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            "local": read(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            "shared": read(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
        }))
    }
}
