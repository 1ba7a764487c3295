//! The host's side in CUDA C++, `cuda/host.cpp`: a library that nvcc compiled, loaded from a file of its own.

use std::ffi::{c_int, c_uint, c_void};

use anyhow::{Context, Result, ensure};
use libloading::{Library, Symbol};
use ptx::Device;

use crate::gpu;

/// What nvcc made.
static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/host.so"));

/// The program, and the device code that it launches.
pub struct Program {
    library: Library,
    cubin: Vec<u8>,
}

/// Something that the program made, which goes by the function of this name.
pub struct Made<'p> {
    program: &'p Program,
    object: *mut c_void,
    end: &'static str,
}

impl Program {
    /// Loads it.
    pub fn load(device: &Device) -> Result<Self> {
        ensure!(!LIBRARY.is_empty(), "the program in CUDA C++ was not compiled: {}", env!("TWINS_MISSING"));
        let file = tempfile::Builder::new().suffix(".so").tempfile()?;
        std::fs::write(file.path(), LIBRARY)?;
        // SAFETY: our own library, whose initialisers are C++'s.
        let library = unsafe { Library::new(file.path()) }.context("loading the program in CUDA C++")?;
        let cubin = gpu::twin(device).context("no CUDA C++ kernel runs on this device")?.to_vec();
        Ok(Self { library, cubin })
    }

    fn function<F>(&self, name: &str) -> Result<Symbol<'_, F>> {
        // SAFETY: the functions of `cuda/host.cpp`, with the types that it gives them.
        unsafe { self.library.get(name.as_bytes()) }.with_context(|| format!("the program has no {name}"))
    }

    fn make(&self, begin: &str, end: &'static str, count: u32, elements: usize) -> Result<Made<'_>> {
        type Make = unsafe extern "C" fn(*mut *mut c_void, *const c_void, c_uint, usize) -> c_int;
        let mut object = std::ptr::null_mut();
        // SAFETY: it writes one address, and reads the whole cubin.
        let code = unsafe { (self.function::<Make>(begin)?)(&mut object, self.cubin.as_ptr().cast(), count, elements) };
        ensure!(code == 0, "{begin} of the program in CUDA C++ failed: CUDA error {code}");
        Ok(Made { program: self, object, end })
    }

    /// A graph of so many nodes.
    pub fn graph(&self, nodes: u32, elements: usize) -> Result<Made<'_>> {
        self.make("graph_make", "graph_drop", nodes, elements)
    }

    /// Streams with their memory.
    pub fn overlap(&self, streams: u32, elements: usize) -> Result<Made<'_>> {
        self.make("overlap_make", "overlap_drop", streams, elements)
    }
}

impl Made<'_> {
    /// Starts the graph so often.
    pub fn launch(&self, times: u32) -> Result<()> {
        type Launch = unsafe extern "C" fn(*mut c_void, c_uint) -> c_int;
        // SAFETY: `graph_make` made it.
        let code = unsafe { (self.program.function::<Launch>("graph_launch")?)(self.object, times) };
        ensure!(code == 0, "launching the graph in CUDA C++ failed: CUDA error {code}");
        Ok(())
    }

    /// Copies and launches, and waits for all.
    pub fn run(&self, parts: u32, kernels: u32) -> Result<()> {
        type Run = unsafe extern "C" fn(*mut c_void, c_uint, c_uint) -> c_int;
        // SAFETY: `overlap_make` made it.
        let code = unsafe { (self.program.function::<Run>("overlap_run")?)(self.object, parts, kernels) };
        ensure!(code == 0, "copies and kernels in CUDA C++ failed: CUDA error {code}");
        Ok(())
    }
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        type End = unsafe extern "C" fn(*mut c_void) -> c_int;
        if let Ok(end) = self.program.function::<End>(self.end) {
            // SAFETY: made by the other function, and not used any more.
            unsafe { end(self.object) };
        }
    }
}
