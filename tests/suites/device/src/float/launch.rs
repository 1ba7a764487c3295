//! Launches by name: one shape of arguments for all kernels of functions, and for their twins in CUDA C++.

use std::ffi::{CString, c_void};

use ptx::Module;
use ptx::cudarc::driver::sys::{CUfunction, CUmodule};
use ptx::cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut, DeviceRepr, ValidAsZeroBits, result};

use crate::gpu::Gpu;

/// A number of either precision, in device memory.
pub trait Number: DeviceRepr + ValidAsZeroBits + ptx_float_reference::Format {}

impl Number for f32 {}
impl Number for f64 {}

/// Where slices without elements begin: not null.
const NOWHERE: u64 = 0x1000;

/// Code that is not from our linker, loaded for as long as the program runs.
#[derive(Debug)]
pub struct Twin(CUmodule);

// SAFETY: a module's handle may be used from any thread that has its context.
unsafe impl Send for Twin {}
// SAFETY: as above; the driver locks for itself.
unsafe impl Sync for Twin {}

impl Twin {
    /// Loads a cubin, or PTX that ends with a zero.
    pub fn load(gpu: &Gpu, cubin: &[u8]) -> Result<Self, String> {
        gpu.device.context().bind_to_thread().map_err(|error| error.to_string())?;
        // SAFETY: the context is current, and the cubin or PTX is whole.
        let module = unsafe { result::module::load_data(cubin.as_ptr().cast()) };
        module.map(Self).map_err(|error| format!("the code does not load: {error}"))
    }

    /// A kernel of it.
    pub fn function(&self, gpu: &Gpu, name: &str) -> CUfunction {
        gpu.device.context().bind_to_thread().expect("the context is there");
        let symbol = CString::new(name).expect("names have no zeros");
        // SAFETY: the module is loaded, and its context current.
        unsafe { result::module::get_function(self.0, symbol) }.unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

/// Launches with so many blocks of 256 threads.
///
/// # Safety
/// The parameters must be those of the function, and the memory that they name there.
pub unsafe fn launch(gpu: &Gpu, function: CUfunction, blocks: u32, parameters: &mut [*mut c_void]) {
    gpu.device.context().bind_to_thread().expect("the context is there");
    let stream = gpu.device.stream().cu_stream();
    // SAFETY: the caller's promise.
    unsafe { result::launch_kernel(function, (blocks, 1, 1), (256, 1, 1), 0, stream, parameters) }
        .unwrap_or_else(|error| panic!("launching: {error}"));
    gpu.device.synchronize().unwrap_or_else(|error| panic!("{error}"));
}

/// Applies Rust's kernel of a function to the inputs; without inputs, to the encodings from `first` on.
pub fn apply<T: Number>(
    gpu: &Gpu,
    module: &Module,
    kernel: &str,
    first: u32,
    inputs: &[CudaSlice<T>],
    results: &mut CudaSlice<T>,
) {
    let function = module.function(kernel).unwrap_or_else(|error| panic!("{error}"));
    let stream = gpu.device.stream().clone();
    let mut first = first;
    let mut words = [[NOWHERE, 0]; 5];
    let count = results.len() as u64;
    let mut guards = Vec::new();
    for (word, input) in words.iter_mut().zip(inputs) {
        let (pointer, guard) = input.device_ptr(&stream);
        *word = [pointer, input.len() as u64];
        guards.push(guard);
    }
    let (pointer, _guard) = results.device_ptr_mut(&stream);
    words[4] = [pointer, count];
    let mut parameters: Vec<*mut c_void> = vec![(&raw mut first).cast()];
    parameters.extend(words.iter_mut().flatten().map(|word| std::ptr::from_mut(word).cast::<c_void>()));
    let blocks = u32::try_from(count.div_ceil(256)).expect("few enough");
    // SAFETY: the parameters of all kernels of `functions.rs`: the first encoding, four slices, and the results.
    unsafe { launch(gpu, function, blocks, &mut parameters) };
}

/// `Inputs` of `judge.cuh`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Inputs {
    numbers: [u64; 4],
    first: u64,
}

/// `Bound` of `judge.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct JudgeBound {
    pub kind: i32,
    pub ulps: u32,
    pub a: f64,
    pub b: f64,
    pub absolute: f64,
}

/// The kind of [`JudgeBound`] that bounds nothing.
pub const UNBOUNDED: i32 = 6;

/// `Outcome` of `judge.cuh`, as it lies in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome(Vec<u64>);

/// Results outside the bound whose indices are kept: `KEPT` of `judge.cuh`.
pub const KEPT: usize = 1024;

/// Words of an [`Outcome`].
const WORDS: usize = 5 + KEPT + 2 * 64;

impl Outcome {
    /// Before the first launch.
    pub fn new() -> Self {
        let mut words = vec![0; WORDS];
        words[2] = u64::MAX;
        Self(words)
    }

    pub fn checked(&self) -> u64 {
        self.0[0]
    }

    /// Results that are not those of the twin.
    pub fn different(&self) -> u64 {
        self.0[1]
    }

    /// The smallest index of one.
    pub fn first_different(&self) -> u64 {
        self.0[2]
    }

    /// Results outside the bound, as far as double precision can tell.
    pub fn outside(&self) -> u64 {
        self.0[3]
    }

    /// Indices whose results are to be judged again: those outside, as many as were kept, and the worst.
    pub fn candidates(&self) -> Vec<u64> {
        let kept = self.outside().min(KEPT as u64) as usize;
        let mut indices = self.0[4..4 + kept].to_vec();
        indices.extend(self.0[4 + KEPT..].iter().filter(|word| **word != 0).map(|word| word & 0xffff_ffff));
        indices.sort_unstable();
        indices.dedup();
        indices
    }
}

fn twin_inputs<T: Number>(gpu: &Gpu, first: u32, inputs: &[CudaSlice<T>]) -> Inputs {
    let stream = gpu.device.stream().clone();
    let mut numbers = [0; 4];
    for (number, input) in numbers.iter_mut().zip(inputs) {
        *number = input.device_ptr(&stream).0;
    }
    Inputs { numbers, first: first.into() }
}

/// Has the judge compare results with those of CUDA's function, and adds what it finds.
#[expect(clippy::too_many_arguments, reason = "they are those of the kernel")]
pub fn judge(
    gpu: &Gpu,
    twin: &Twin,
    kernel: &str,
    first: u32,
    inputs: &[CudaSlice<f32>],
    results: &CudaSlice<f32>,
    bound: JudgeBound,
    outcome: &mut Outcome,
) {
    let function = twin.function(gpu, kernel);
    let stream = gpu.device.stream().clone();
    let mut memory = gpu.device.upload(&outcome.0).unwrap();
    {
        let mut inputs = twin_inputs(gpu, first, inputs);
        let (mut count, mut bound) = (results.len() as u64, bound);
        let (mut pointer, _guard) = results.device_ptr(&stream);
        let (mut out, _written) = memory.device_ptr_mut(&stream);
        let mut parameters = [
            (&raw mut inputs).cast(),
            (&raw mut count).cast(),
            (&raw mut pointer).cast(),
            (&raw mut bound).cast(),
            (&raw mut out).cast::<c_void>(),
        ];
        // SAFETY: the parameters of `SINGLE` in judge.cuh.
        unsafe { launch(gpu, function, 1056, &mut parameters) };
    }
    outcome.0 = gpu.device.download(&memory).unwrap();
}

/// What CUDA's function makes of the inputs in double precision.
pub fn apply_twin(gpu: &Gpu, twin: &Twin, kernel: &str, inputs: &[CudaSlice<f64>], results: &mut CudaSlice<f64>) {
    let function = twin.function(gpu, kernel);
    let stream = gpu.device.stream().clone();
    let mut inputs = twin_inputs(gpu, 0, inputs);
    let mut count = results.len() as u64;
    let (mut pointer, _guard) = results.device_ptr_mut(&stream);
    let mut parameters = [(&raw mut inputs).cast(), (&raw mut count).cast(), (&raw mut pointer).cast::<c_void>()];
    // SAFETY: the parameters of `DOUBLE` in judge.cuh.
    unsafe { launch(gpu, function, 1056, &mut parameters) };
}
