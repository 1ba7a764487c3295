//! How much of a device a kernel can fill, and what the device gives to kernels that launch others.

use cudarc::driver::sys::{self, CUlimit};
use ptx_device::Dim3;

use crate::device::Device;
use crate::driver::Doing;
use crate::error::Result;
use crate::extras;
use crate::grid::Grid;
use crate::module::Module;

impl Module {
    /// As many threads in a block of the kernel with this name as keep the device busiest: `cuOccupancyMaxPotentialBlockSize`,
    /// which [`Grid::items`] takes.
    ///
    /// # Errors
    /// If there is no such kernel.
    pub fn suggested_threads(&self, name: &str) -> Result<u32> {
        let kernel = self.current(name)?;
        kernel.suggested_threads(self.device().context())
    }

    /// The part of the threads that a multiprocessor can hold which blocks of so many threads fill, with so many bytes of dynamic
    /// shared memory each, from 0 to 1: what tools call occupancy.
    ///
    /// # Errors
    /// If there is no such kernel, or the block is larger than the device allows.
    pub fn occupancy(&self, name: &str, threads: impl Into<Dim3>, shared_bytes: u32) -> Result<f64> {
        let threads = threads.into();
        let blocks = self.resident_blocks(name, threads, shared_bytes)?;
        let resident = self.device().resident_threads()?.max(1);
        Ok(blocks as f64 * threads.volume() as f64 / resident as f64)
    }

    /// How many clusters of so many blocks the device runs of the kernel with this name at once:
    /// `cuOccupancyMaxActiveClusters`. 0 if such a cluster is too large.
    ///
    /// # Errors
    /// If there is no such kernel, or the device is older than sm_90.
    pub fn resident_clusters(&self, name: &str, grid: Grid, cluster: impl Into<Dim3>) -> Result<u32> {
        let kernel = self.current(name)?;
        let mut clusters = 0;
        let asked = extras::with_cluster(grid, cluster.into(), self.device().stream(), |config| {
            // SAFETY: writes one number; the function's context is current.
            unsafe { sys::cuOccupancyMaxActiveClusters(&mut clusters, kernel.function(), config) }
        });
        asked.result().doing(|| format!("asking how many clusters of kernel `{name}` run at once"))?;
        Ok(u32::try_from(clusters).unwrap_or(0))
    }

    /// How many bytes of dynamic shared memory a block may have if so many blocks are to run on a multiprocessor at once:
    /// `cuOccupancyAvailableDynamicSMemPerBlock`.
    ///
    /// # Errors
    /// If there is no such kernel, or so many blocks do not fit.
    pub fn free_shared(&self, name: &str, blocks: u32, threads: impl Into<Dim3>) -> Result<usize> {
        let kernel = self.current(name)?;
        let number = |value: u128| i32::try_from(value).unwrap_or(i32::MAX);
        let (blocks, threads) = (number(blocks.into()), number(threads.into().volume()));
        let mut bytes = 0;
        // SAFETY: writes one number; the function's context is current.
        unsafe { sys::cuOccupancyAvailableDynamicSMemPerBlock(&mut bytes, kernel.function(), blocks, threads) }
            .result()
            .doing(|| format!("asking how much shared memory is left for kernel `{name}`"))?;
        Ok(bytes)
    }
}

impl Device {
    /// Bytes of the device's memory that are free, and all: `cuMemGetInfo`. Other processes have a part, too.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn memory(&self) -> Result<(usize, usize)> {
        self.context().mem_get_info().doing(|| "asking how much memory is free".to_owned())
    }

    /// How many launches by kernels can wait to begin: `CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT`.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn pending_launches(&self) -> Result<usize> {
        let doing = || "asking how many launches by kernels can wait".to_owned();
        self.context().get_limit(CUlimit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT).doing(doing)
    }

    /// Sets [`pending_launches`](Self::pending_launches). The driver's default is 2048, and each takes device memory.
    ///
    /// # Errors
    /// If the device has not enough memory.
    pub fn set_pending_launches(&self, count: usize) -> Result<()> {
        let doing = || format!("having {count} launches by kernels wait");
        self.context().set_limit(CUlimit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, count).doing(doing)
    }
}
