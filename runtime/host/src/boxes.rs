//! Copies of parts of memory whose rows, and layers of rows, are apart: CUDA's `cudaMemcpy2DAsync` and `cudaMemcpy3DAsync`.

use std::ffi::c_void;

use cudarc::driver::sys::{self, CUDA_MEMCPY3D, CUdeviceptr, CUmemorytype};
use cudarc::driver::{CudaContext, DevicePtr, DevicePtrMut, DeviceRepr};
use ptx_device::Dim3;

use crate::device::Device;
use crate::driver::Doing;
use crate::error::{Error, Result};
use crate::launch::other_device;
use crate::pitch::Pitch;

/// One side of a copy: where it begins, and how it lies.
#[derive(Clone, Copy)]
enum Side {
    Device(CUdeviceptr, Pitch),
    FromHost(*const c_void, Pitch),
    ToHost(*mut c_void, Pitch),
}

impl Side {
    /// The kind of memory, the address, bytes from row to row, and rows from layer to layer.
    fn parts(self, size: usize, height: usize) -> (CUmemorytype, u64, usize, usize) {
        let (kind, start, pitch) = match self {
            Self::Device(start, pitch) => (CUmemorytype::CU_MEMORYTYPE_DEVICE, start, pitch),
            Self::FromHost(start, pitch) => (CUmemorytype::CU_MEMORYTYPE_HOST, start.expose_provenance() as u64, pitch),
            Self::ToHost(start, pitch) => (CUmemorytype::CU_MEMORYTYPE_HOST, start.expose_provenance() as u64, pitch),
        };
        (kind, start + (pitch.start * size) as u64, pitch.row * size, pitch.rows.unwrap_or(height).max(height))
    }
}

impl Device {
    /// Copies a box of elements, a row, a plane or a volume, from the host's memory to the device's, and waits for it. The extent
    /// is a number, a pair or a triple.
    ///
    /// ```no_run
    /// # use ptx_host::{Device, Pitch, Result};
    /// # fn run(device: &Device, picture: &[u8]) -> Result<()> {
    /// // The upper left quarter of a picture of 640 by 480, into rows of 512.
    /// let mut quarter = device.zeroed::<u8>(512 * 240)?;
    /// device.upload_box((picture, Pitch::rows(640)), (&mut quarter, Pitch::rows(512)), (320, 240))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Box`] if the box does not lie in the memory.
    pub fn upload_box<T: DeviceRepr>(
        &self,
        from: (&[T], Pitch),
        to: (&mut impl DevicePtrMut<T>, Pitch),
        extent: impl Into<Dim3>,
    ) -> Result<()> {
        let (extent, (memory, pitch)) = (extent.into(), to);
        if !self.fit::<T>((from.1, from.0.len()), (pitch, memory.len()), extent)? {
            return Ok(());
        }
        self.own_box(memory.stream().context(), "to")?;
        let (address, guard) = memory.device_ptr_mut(self.stream());
        let from = Side::FromHost(from.0.as_ptr().cast(), from.1);
        // SAFETY: `fit` has seen that the boxes lie in the memory; it is borrowed until the wait is over.
        let copied = unsafe { self.put::<T>(from, Side::Device(address, pitch), extent) };
        drop(guard);
        copied.and_then(|()| self.done(extent))
    }

    /// Copies a box of elements from the device's memory to the host's, after all work on it is done, and waits for it.
    ///
    /// # Errors
    /// As of [`upload_box`](Self::upload_box), and what kernels before it left.
    pub fn download_box<T: DeviceRepr>(
        &self,
        from: (&impl DevicePtr<T>, Pitch),
        to: (&mut [T], Pitch),
        extent: impl Into<Dim3>,
    ) -> Result<()> {
        let (extent, (memory, pitch)) = (extent.into(), from);
        if !self.fit::<T>((pitch, memory.len()), (to.1, to.0.len()), extent)? {
            return Ok(());
        }
        self.own_box(memory.stream().context(), "from")?;
        let (address, guard) = memory.device_ptr(self.stream());
        let to = Side::ToHost(to.0.as_mut_ptr().cast(), to.1);
        // SAFETY: as above.
        let copied = unsafe { self.put::<T>(Side::Device(address, pitch), to, extent) };
        drop(guard);
        copied.and_then(|()| self.done(extent))?;
        self.check()
    }

    /// Copies a box of elements within the device's memory, on the default stream, and keeps no thread.
    ///
    /// # Errors
    /// As of [`upload_box`](Self::upload_box).
    pub fn copy_box<T: DeviceRepr>(
        &self,
        from: (&impl DevicePtr<T>, Pitch),
        to: (&mut impl DevicePtrMut<T>, Pitch),
        extent: impl Into<Dim3>,
    ) -> Result<()> {
        let (extent, (source, pitch), (target, to_pitch)) = (extent.into(), from, to);
        if !self.fit::<T>((pitch, source.len()), (to_pitch, target.len()), extent)? {
            return Ok(());
        }
        self.own_box(source.stream().context(), "from")?;
        self.own_box(target.stream().context(), "to")?;
        let (from, reads) = source.device_ptr(self.stream());
        let (to, writes) = target.device_ptr_mut(self.stream());
        // SAFETY: as above; cudarc notes that the stream uses the memory.
        let copied = unsafe { self.put::<T>(Side::Device(from, pitch), Side::Device(to, to_pitch), extent) };
        drop((reads, writes));
        copied
    }

    /// Whether there is something to copy, of what lies in the memory on both sides.
    fn fit<T>(&self, from: (Pitch, usize), to: (Pitch, usize), extent: Dim3) -> Result<bool> {
        if extent.volume() == 0 || size_of::<T>() == 0 {
            return Ok(false);
        }
        for (side, (pitch, len)) in [("from", from), ("to", to)] {
            pitch.check(extent, len).map_err(|reason| Error::Box { side, reason })?;
        }
        Ok(true)
    }

    fn own_box(&self, found: &CudaContext, side: &str) -> Result<()> {
        if *found == **self.context() {
            return Ok(());
        }
        Err(other_device(format!("the memory to copy a box {side}"), found, self.context()))
    }

    /// # Safety
    /// The boxes must lie in memory of `T`s, which stays until the copy is done.
    unsafe fn put<T>(&self, from: Side, to: Side, extent: Dim3) -> Result<()> {
        let doing = || doing(extent);
        self.context().bind_to_thread().doing(doing)?;
        let (size, height) = (size_of::<T>(), extent.y as usize);
        let (from_kind, from, from_pitch, from_rows) = from.parts(size, height);
        let (to_kind, to, to_pitch, to_rows) = to.parts(size, height);
        let copy = CUDA_MEMCPY3D {
            srcXInBytes: 0,
            srcY: 0,
            srcZ: 0,
            srcLOD: 0,
            srcMemoryType: from_kind,
            srcHost: std::ptr::with_exposed_provenance(from as usize),
            srcDevice: from,
            srcArray: std::ptr::null_mut(),
            reserved0: std::ptr::null_mut(),
            srcPitch: from_pitch.max(extent.x as usize * size),
            srcHeight: from_rows,
            dstXInBytes: 0,
            dstY: 0,
            dstZ: 0,
            dstLOD: 0,
            dstMemoryType: to_kind,
            dstHost: std::ptr::with_exposed_provenance_mut(to as usize),
            dstDevice: to,
            dstArray: std::ptr::null_mut(),
            reserved1: std::ptr::null_mut(),
            dstPitch: to_pitch.max(extent.x as usize * size),
            dstHeight: to_rows,
            WidthInBytes: extent.x as usize * size,
            Height: height,
            Depth: extent.z as usize,
        };
        // SAFETY: the caller's promise; the driver reads the description before it returns.
        unsafe { sys::cuMemcpy3DAsync_v2(&copy, self.stream().cu_stream()) }.result().doing(doing)
    }

    fn done(&self, extent: Dim3) -> Result<()> {
        self.stream().synchronize().doing(|| doing(extent))
    }
}

fn doing(Dim3 { x, y, z }: Dim3) -> String {
    format!("copying a box of {x} by {y} by {z} elements")
}
