//! Several GPUs of one machine: all of them, who reaches whose memory, and copies between them.

use cudarc::driver::sys::{self, CUmemAccess_flags, CUmemAccessDesc, CUmemLocation, CUmemLocationType, CUresult};
use cudarc::driver::{DevicePtr, DevicePtrMut};

use crate::device::Device;
use crate::driver::Doing;
use crate::error::Result;

impl Device {
    /// All devices, in the order of their numbers. The variable CUDA_VISIBLE_DEVICES chooses and orders them.
    ///
    /// # Errors
    /// As of [`Device::open`].
    pub fn all() -> Result<Vec<Self>> {
        (0..Self::count()?).map(Self::open).collect()
    }

    /// Whether kernels on this device can reach the other's memory, by NVLink or the bus: `cuDeviceCanAccessPeer`.
    ///
    /// # Errors
    /// If the driver does not answer.
    pub fn can_reach(&self, other: &Self) -> Result<bool> {
        let mut can = 0;
        // SAFETY: writes one number; both devices are open.
        unsafe { sys::cuDeviceCanAccessPeer(&mut can, self.context().cu_device(), other.context().cu_device()) }
            .result()
            .doing(|| self.about(other, "asking whether"))?;
        Ok(can != 0)
    }

    /// Lets kernels on this device reach the other's memory, and copies between the two go straight: `cuCtxEnablePeerAccess`.
    /// So that it holds for the memory of [`upload`](Self::upload) and [`zeroed`](Self::zeroed), too, the other's default pool is
    /// opened to this device (`cuMemPoolSetAccess`). A kernel gets such an address as a [`DevicePointer`](crate::DevicePointer);
    /// slices are of the launch's own device. A second call does nothing.
    ///
    /// # Errors
    /// If the devices cannot reach each other: see [`can_reach`](Self::can_reach).
    pub fn reach(&self, other: &Self) -> Result<()> {
        let doing = || self.about(other, "letting");
        self.context().bind_to_thread().doing(doing)?;
        // SAFETY: both contexts are alive, and this one is current.
        match unsafe { sys::cuCtxEnablePeerAccess(other.context().cu_ctx(), 0) } {
            CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => Ok(()),
            code => code.result(),
        }
        .doing(doing)?;
        if !other.context().has_async_alloc() {
            return Ok(());
        }
        let pool = other.pool()?;
        let access = CUmemAccessDesc {
            location: CUmemLocation {
                type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                id: self.context().cu_device(),
            },
            flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        // SAFETY: the pool is alive, and there is one description.
        unsafe { sys::cuMemPoolSetAccess(pool.handle(), &access, 1) }.result().doing(doing)
    }

    /// Copies memory of any device into memory of this one, on its default stream: `cuMemcpyPeerAsync`. It waits for the work on
    /// both, and keeps no thread. Without access to each other the driver goes through the host.
    ///
    /// # Errors
    /// If the driver refuses it.
    ///
    /// # Panics
    /// If `to` has fewer elements.
    pub fn copy<T>(&self, from: &impl DevicePtr<T>, to: &mut impl DevicePtrMut<T>) -> Result<()> {
        let bytes = from.num_bytes();
        self.stream().memcpy_dtod(from, to).doing(|| format!("copying {bytes} bytes to CUDA device {}", self.number()))
    }

    /// The number by which [`open`](Self::open) opens it.
    pub fn number(&self) -> usize {
        self.context().ordinal()
    }

    fn about(&self, other: &Self, doing: &str) -> String {
        format!("{doing} CUDA device {} reach the memory of device {}", self.number(), other.number())
    }
}
