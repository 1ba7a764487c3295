//! Launches kernels by name out of code that no build script embedded: cubins and PTX that come as files.
//!
//! Nothing checks the parameters; who packs such a file has to.

use std::ffi::{CString, c_void};

use ptx::cudarc::driver::{DriverError, result, sys};

use crate::gpu::Gpu;

/// Code that is loaded, until it is dropped.
pub struct Loaded<'a> {
    gpu: &'a Gpu,
    module: sys::CUmodule,
}

impl<'a> Loaded<'a> {
    /// Loads a whole cubin, or a PTX text.
    pub fn new(gpu: &'a Gpu, code: &[u8]) -> Self {
        gpu.device.context().bind_to_thread().expect("the device's context");
        // An ELF file has fields of eight bytes, and a `Vec<u8>` is aligned to one. A text ends in NUL.
        let mut words = vec![0_u64; code.len() / 8 + 1];
        for (word, chunk) in words.iter_mut().zip(code.chunks(8)) {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            *word = u64::from_le_bytes(bytes);
        }
        // SAFETY: a context is current; the code is whole, and NUL stands behind it.
        let module = unsafe { result::module::load_data(words.as_ptr().cast()) };
        Self { gpu, module: module.unwrap_or_else(|error| panic!("loading: {error:?}")) }
    }

    /// Launches a kernel as so many blocks of so many threads, and waits for it.
    ///
    /// # Safety
    /// `params` point to values of just the types that the kernel's parameters have, and these to memory that it may use.
    pub unsafe fn run(&self, name: &str, grid: u32, block: u32, params: &mut [*mut c_void]) {
        let mut run = || -> Result<(), DriverError> {
            // SAFETY: the module is loaded; the rest is the caller's promise.
            unsafe {
                let function = result::module::get_function(self.module, CString::new(name).expect("no NUL"))?;
                let stream = self.gpu.device.stream().cu_stream();
                result::launch_kernel(function, (grid, 1, 1), (block, 1, 1), 0, stream, params)?;
            }
            self.gpu.device.context().synchronize()
        };
        run().unwrap_or_else(|error| panic!("{name}: {error:?}"));
    }
}

impl Drop for Loaded<'_> {
    fn drop(&mut self) {
        // SAFETY: loaded by `new`, and nothing of it runs any more. After a lost context there is nothing to unload.
        let _ = unsafe { result::module::unload(self.module) };
    }
}
