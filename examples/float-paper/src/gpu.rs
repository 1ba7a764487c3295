//! The GPU, if there is one: launches a kernel and brings its results back.

use anyhow::Result;
use ptx::Launch;
use ptx::cudarc::driver::DeviceRepr;
use ptx::prelude::*;

/// Whether products and sums are fused: in optimised code only, with nvcc too.
pub const OPTIMISED: bool = cfg!(optimised);

/// A device with this program's kernels.
pub struct Gpu {
    pub device: Device,
    pub module: Module,
}

impl Gpu {
    /// What a kernel of one thread puts out.
    pub fn one<T: DeviceRepr + Default>(
        gpu: Option<&Self>,
        kernel: impl FnOnce(&mut CudaSlice<T>) -> Launch<'_>,
    ) -> Result<Option<T>> {
        Ok(Self::many(gpu, vec![T::default()], kernel)?.and_then(|mut all| all.pop()))
    }

    /// What a kernel puts out that has one thread for each element of `out`.
    pub fn many<T: DeviceRepr>(
        gpu: Option<&Self>,
        out: Vec<T>,
        kernel: impl FnOnce(&mut CudaSlice<T>) -> Launch<'_>,
    ) -> Result<Option<Vec<T>>> {
        let Some(gpu) = gpu else { return Ok(None) };
        let threads = out.len();
        let mut memory = gpu.device.upload(&out)?;
        kernel(&mut memory).launch(&gpu.module, Grid::cover(threads, 64))?;
        Ok(Some(gpu.device.download(&memory)?))
    }

    /// What a kernel makes of each pair of numbers.
    pub fn pairs(
        &self,
        a: &[f32],
        b: &[f32],
        kernel: impl for<'l> FnOnce(&'l CudaSlice<f32>, &'l CudaSlice<f32>, &'l mut CudaSlice<f32>) -> Launch<'l>,
    ) -> Result<Vec<f32>> {
        let (a, b) = (self.device.upload(a)?, self.device.upload(b)?);
        let mut memory = self.device.zeroed(a.len())?;
        let grid = Grid::cover(memory.len(), 256);
        kernel(&a, &b, &mut memory).launch(&self.module, grid)?;
        Ok(self.device.download(&memory)?)
    }
}
