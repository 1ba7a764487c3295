//! Pools of device memory: what is freed is kept for the next allocation, in the order of streams.

use std::fmt;
use std::sync::Arc;

use cudarc::driver::result::{self, mem_pool};
use cudarc::driver::sys::{
    self, CUmemAllocationHandleType, CUmemAllocationType, CUmemLocation, CUmemLocationType, CUmemPool_attribute,
    CUmemPoolProps, CUmemoryPool,
};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DeviceRepr, ValidAsZeroBits};

use crate::device::Device;
use crate::driver::Doing;
use crate::error::Result;

/// A pool of device memory: CUDA's `CUmemoryPool`.
///
/// All of cudarc's memory comes from the device's default pool, so [`keep`](Self::keep) speeds up [`Device::zeroed`] and
/// [`Device::upload`], too. What a stream frees, it gets again without a wait; another stream gets it after an event or a wait that
/// both know of.
pub struct Pool {
    pool: CUmemoryPool,
    context: Arc<CudaContext>,
    is_own: bool,
}

// SAFETY: the driver locks for itself.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

impl Device {
    /// The pool that all memory of the device comes from unless another is named: `cuDeviceGetMemPool`.
    ///
    /// # Errors
    /// If the device has no pools.
    pub fn pool(&self) -> Result<Pool> {
        let context = self.context().clone();
        // SAFETY: the context's device.
        let pool = unsafe { result::device::get_mem_pool(context.cu_device()) }
            .doing(|| "asking for the device's pool of memory".to_owned())?;
        Ok(Pool { pool, context, is_own: false })
    }

    /// Makes a pool of its own, of device memory: `cuMemPoolCreate`. Memory from it may outlive it.
    ///
    /// # Errors
    /// If the device has no pools.
    pub fn new_pool(&self) -> Result<Pool> {
        let context = self.context().clone();
        let doing = || "making a pool of memory".to_owned();
        context.bind_to_thread().doing(doing)?;
        // SAFETY: all fields are numbers or pointers that may be null.
        let mut wanted: CUmemPoolProps = unsafe { std::mem::zeroed() };
        wanted.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        wanted.handleTypes = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE;
        wanted.location =
            CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: context.cu_device() };
        // SAFETY: what is wanted lives until the call is over.
        let pool = unsafe { mem_pool::create(&wanted) }.doing(doing)?;
        Ok(Pool { pool, context, is_own: true })
    }
}

impl Pool {
    /// The driver's handle, which lives as long as `self`.
    pub fn handle(&self) -> CUmemoryPool {
        self.pool
    }

    /// Allocates `len` elements with all bits zero, in the order of the stream: `cuMemAllocFromPoolAsync`. They go back to the pool
    /// when they are dropped.
    ///
    /// # Errors
    /// If there is not enough memory, or the stream is another device's.
    pub fn zeroed<T: DeviceRepr + ValidAsZeroBits>(
        &self,
        stream: &Arc<CudaStream>,
        len: usize,
    ) -> Result<CudaSlice<T>> {
        let bytes = len.saturating_mul(size_of::<T>());
        let doing = || format!("making {bytes} zero bytes on the device");
        if !crate::launch::is_same(stream.context(), &self.context) {
            return Err(crate::launch::other_device("the stream".to_owned(), stream.context(), &self.context));
        }
        self.context.bind_to_thread().doing(doing)?;
        // SAFETY: the pool and the stream are alive; cudarc's slice frees the memory on the stream, as any.
        let mut memory = unsafe {
            let address = mem_pool::alloc_async(self.pool, bytes, stream.cu_stream()).doing(doing)?;
            stream.upgrade_device_ptr::<T>(address, len)
        };
        stream.memset_zeros(&mut memory).doing(doing)?;
        Ok(memory)
    }

    /// Keeps so many bytes when the device is idle, rather than to give them back to the system: `CU_MEMPOOL_ATTR_RELEASE_THRESHOLD`.
    /// The driver's default is 0, and [`u64::MAX`] keeps all.
    ///
    /// # Errors
    /// If the context is lost.
    pub fn keep(&self, bytes: u64) -> Result<()> {
        let mut value = bytes;
        let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the attribute is a number of 64 bits.
        unsafe { mem_pool::set_attribute(self.pool, attribute, (&raw mut value).cast()) }
            .doing(|| format!("having a pool keep {bytes} bytes"))
    }

    /// Gives back to the system what is not used, but for so many bytes: `cuMemPoolTrimTo`.
    ///
    /// # Errors
    /// If the context is lost.
    pub fn trim(&self, keep: usize) -> Result<()> {
        // SAFETY: the pool is alive.
        unsafe { mem_pool::trim_to(self.pool, keep) }.doing(|| "trimming a pool of memory".to_owned())
    }

    /// Bytes that are allocated from the pool now: `CU_MEMPOOL_ATTR_USED_MEM_CURRENT`.
    ///
    /// # Errors
    /// If the context is lost.
    pub fn used(&self) -> Result<u64> {
        self.read(CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)
    }

    /// Bytes that the pool has of the system, used or not: `CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT`.
    ///
    /// # Errors
    /// If the context is lost.
    pub fn reserved(&self) -> Result<u64> {
        self.read(CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
    }

    fn read(&self, attribute: CUmemPool_attribute) -> Result<u64> {
        let mut value = 0_u64;
        // SAFETY: the attributes that are asked for are numbers of 64 bits.
        unsafe { mem_pool::get_attribute(self.pool, attribute, (&raw mut value).cast()) }
            .doing(|| "asking how much memory a pool has".to_owned())?;
        Ok(value)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.is_own {
            self.context.record_err(self.context.bind_to_thread());
            // SAFETY: made by `new_pool`; the driver keeps it until all of its memory is freed.
            self.context.record_err(unsafe { sys::cuMemPoolDestroy(self.pool) }.result());
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pool({:?})", self.pool)
    }
}
