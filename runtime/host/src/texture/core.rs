//! What the driver gives for an array, and the work that uses it.

use std::sync::Arc;

use cudarc::driver::sys::{
    self, CUDA_ARRAY3D_DESCRIPTOR, CUDA_ARRAY3D_SURFACE_LDST, CUarray, CUdevice_attribute as Attribute,
    CUmipmappedArray,
};
use cudarc::driver::{CudaContext, DriverError};
use ptx_device::texture::{Element, TwoD};

use super::copy::{Memory, copy};
use super::extents::Extents;
use super::geometry::{ArrayElement as _, Geometry};
use super::limits;
use super::uses::Uses;
use crate::device::Device;
use crate::driver::Doing;
use crate::error::{Error, Result};
use crate::memory::DeviceMemory;
use crate::texture_error::TextureError;
use crate::watch;

/// An array of the driver's, or one with mipmaps, with what uses it.
pub(super) struct Core {
    pub(super) device: Device,
    handle: Handle,
    pub(super) extents: Extents,
    /// The element's bytes.
    pub(super) size: usize,
    has_surfaces: bool,
    pub(super) reads: Uses,
    pub(super) writes: Uses,
}

/// What the driver gave.
#[derive(Clone, Copy)]
pub(super) enum Handle {
    Array(CUarray),
    Mipmapped(CUmipmappedArray, u32),
}

// SAFETY: the driver's objects may be used by any thread.
unsafe impl Send for Core {}
// SAFETY: as above, and what changes is behind a lock.
unsafe impl Sync for Core {}

impl Core {
    pub(super) fn new<D: Geometry, T: Element>(device: &Device, size: D::Size, levels: Option<u32>) -> Result<Self> {
        let (context, extents) = (device.context(), D::extents(size));
        limits::check(context, D::NAME, extents, D::TEXTURE)?;
        if let Some(levels) = levels {
            mipmap_limit::<D>(context, extents)?;
            let limit = D::levels(extents);
            if levels == 0 || levels > limit {
                return Err(TextureError::Levels { extents: extents.text(), levels, limit }.into());
            }
        }
        let has_surfaces = match D::SURFACE.map(|surface| limits::check(context, D::NAME, extents, surface)) {
            Some(Err(Error::Texture(_))) | None => false,
            Some(other) => other.map(|()| true)?,
        };
        let doing = || format!("making {} of {}", D::NAME, extents.text());
        context.bind_to_thread().doing(doing)?;
        let describe = CUDA_ARRAY3D_DESCRIPTOR {
            Width: extents.width,
            Height: extents.height,
            Depth: extents.depth,
            Format: T::FORMAT,
            NumChannels: T::CHANNELS as u32,
            Flags: D::FLAGS | if has_surfaces { CUDA_ARRAY3D_SURFACE_LDST } else { 0 },
        };
        let handle = match levels {
            None => {
                let mut array = std::ptr::null_mut();
                // SAFETY: writes one handle; the context is current.
                unsafe { sys::cuArray3DCreate_v2(&mut array, &describe) }.result().doing(doing)?;
                Handle::Array(array)
            }
            Some(levels) => {
                let mut array = std::ptr::null_mut();
                // SAFETY: as above.
                unsafe { sys::cuMipmappedArrayCreate(&mut array, &describe, levels) }.result().doing(doing)?;
                Handle::Mipmapped(array, levels)
            }
        };
        let (reads, writes) = (Uses::default(), Uses::default());
        Ok(Self { device: device.clone(), handle, extents, size: size_of::<T>(), has_surfaces, reads, writes })
    }

    pub(super) fn context(&self) -> &Arc<CudaContext> {
        self.device.context()
    }

    pub(super) fn handle(&self) -> Handle {
        self.handle
    }

    /// The last mipmap level.
    pub(super) fn last_level(&self) -> Option<u32> {
        match self.handle {
            Handle::Array(_) => None,
            Handle::Mipmapped(_, levels) => Some(levels - 1),
        }
    }

    /// The array of a level.
    pub(super) fn level(&self, level: u32) -> Result<CUarray> {
        match self.handle {
            Handle::Array(array) => Ok(array),
            Handle::Mipmapped(_, levels) if level >= levels => {
                Err(TextureError::Level { level, last: levels - 1 }.into())
            }
            Handle::Mipmapped(mipmapped, _) => {
                let doing = || format!("asking for mipmap level {level}");
                self.context().bind_to_thread().doing(doing)?;
                let mut array = std::ptr::null_mut();
                // SAFETY: there is such a level; it is freed with the whole.
                unsafe { sys::cuMipmappedArrayGetLevel(&mut array, mipmapped, level) }.result().doing(doing)?;
                Ok(array)
            }
        }
    }

    /// Whether surfaces may be that large; the array then is made for them.
    pub(super) fn check_surface(&self) -> Result<()> {
        if self.has_surfaces { Ok(()) } else { Err(TextureError::SurfaceLimit { extents: self.extents.text() }.into()) }
    }

    fn check_len(&self, extents: Extents, found: usize) -> Result<()> {
        let needed = extents.len();
        if needed == found {
            return Ok(());
        }
        Err(TextureError::Len { what: "the image", extents: extents.text(), needed, found }.into())
    }

    pub(super) fn write<T: Element>(&self, level: u32, extents: Extents, data: &[T]) -> Result<()> {
        let array = self.level(level)?;
        self.check_len(extents, data.len())?;
        let doing = || format!("copying {} bytes to an array", size_of_val(data));
        self.context().bind_to_thread().doing(doing)?;
        let stream = self.device.stream();
        self.before_writing().doing(doing)?;
        // SAFETY: the data has all elements, and this waits for the copy.
        unsafe { copy(array, extents, self.size, Memory::FromHost(data.as_ptr().cast()), stream) }.doing(doing)?;
        stream.synchronize().doing(doing)
    }

    pub(super) fn read<T: Element>(&self, level: u32, extents: Extents) -> Result<Vec<T>> {
        let array = self.level(level)?;
        let doing = || format!("copying {} bytes from an array", extents.len() * self.size);
        let mut data = Vec::<T>::with_capacity(extents.len());
        if let Some(limit) = self.device.deadline() {
            self.device.synchronize_within(limit)?;
        }
        self.context().bind_to_thread().doing(doing)?;
        let stream = self.device.stream();
        self.writes.before(stream).doing(doing)?;
        // SAFETY: there is room for all elements, and this waits for the copy.
        unsafe { copy(array, extents, self.size, Memory::ToHost(data.as_mut_ptr().cast()), stream) }.doing(doing)?;
        stream.synchronize().doing(doing)?;
        // SAFETY: all of them were copied; any bits are an element.
        unsafe { data.set_len(extents.len()) };
        self.device.check()?;
        Ok(data)
    }

    pub(super) fn before_writing(&self) -> Result<(), DriverError> {
        let stream = self.device.stream();
        self.reads.before(stream)?;
        self.writes.before(stream)
    }

    pub(super) fn check_memory(&self, memory: &dyn DeviceMemory) -> Result<()> {
        let Some(found) = memory.context() else { return Err(TextureError::CpuMemory.into()) };
        same_device(self.context(), found)?;
        self.check_len(self.extents, memory.len())
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        let context = self.device.context();
        if watch::is_overdue(context.cu_ctx()) {
            // A kernel that uses it may run for ever, and to wait would be for ever, too.
            return;
        }
        self.reads.wait(context);
        self.writes.wait(context);
        context.record_err(context.bind_to_thread());
        // SAFETY: made by `new`, and nothing uses it any more.
        let freed = unsafe {
            match self.handle {
                Handle::Array(array) => sys::cuArrayDestroy(array),
                Handle::Mipmapped(array, _) => sys::cuMipmappedArrayDestroy(array),
            }
        };
        context.record_err(freed.result());
    }
}

/// Memory and image must be on one device.
pub(super) fn same_device(context: &Arc<CudaContext>, found: &Arc<CudaContext>) -> Result<()> {
    if **found == **context {
        return Ok(());
    }
    let (found, expected) = (found.ordinal(), context.ordinal());
    Err(Error::OtherDevice { what: "the image's memory".to_owned(), found, expected })
}

/// Planes with mipmaps have limits of their own.
fn mipmap_limit<D: Geometry>(context: &CudaContext, extents: Extents) -> Result<()> {
    if D::NAME != TwoD::NAME {
        return Ok(());
    }
    for (axis, extent, attribute) in [
        ("width", extents.width, Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH),
        ("height", extents.height, Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT),
    ] {
        let limit = limits::attribute(context, attribute)?;
        if extent > limit {
            let what = "a plane with mipmaps";
            return Err(TextureError::Extent { what, extents: extents.text(), axis, extent, limit }.into());
        }
    }
    Ok(())
}
