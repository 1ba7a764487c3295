//! Texture and surface objects: what kernels take, bound to an array or to memory.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::sys::{
    self, CUDA_ARRAY3D_CUBEMAP, CUDA_RESOURCE_DESC, CUdevice_attribute as Attribute, CUresourcetype, CUsurfObject,
    CUtexObject,
};
use cudarc::driver::{CudaContext, CudaStream, DriverError};
use ptx_device::texture::{Channel as _, Element, Kind, Linear, Normalized, TwoD};

use super::core::{Core, Handle, same_device};
use super::extents::Extents;
use super::geometry::{ArrayElement as _, Geometry};
use super::limits;
use super::sampling::{Reading, Sampling};
use super::uses::{Held, Object, Uses};
use crate::device::Device;
use crate::driver::Doing;
use crate::error::Result;
use crate::memory::{DeviceMemory, DeviceRead};
use crate::texture_error::TextureError;
use crate::watch;

/// What a fetch makes of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    Elements,
    Normalized,
}

impl Reads {
    fn of<T: Element>(self, dimensions: usize) -> Reading {
        let is_float = self == Self::Normalized || T::Channel::KIND == Kind::Float;
        let bytes = T::CHANNELS == 4 && size_of::<T::Channel>() == 1 && T::Channel::KIND == Kind::Unsigned;
        Reading {
            gives_integers: !is_float,
            can_be_srgb: self == Self::Normalized && bytes,
            dimensions,
            is_cube: false,
            last_level: None,
        }
    }
}

/// A texture that a kernel's `Texture<D, T>` takes: CUDA's `cudaTextureObject_t`, bound to an array or to memory, which it
/// borrows.
///
/// To drop it waits for the launches that use it, and frees it: `cuTexObjectDestroy`.
pub struct BoundTexture<'m, D, T> {
    handle: CUtexObject,
    source: Source<'m>,
    image: PhantomData<fn() -> (D, T)>,
}

/// What is read.
enum Source<'m> {
    Array(&'m Core),
    Memory { memory: &'m dyn DeviceMemory, context: Arc<CudaContext>, uses: Uses },
}

impl<'m, D: Geometry, R: Element> BoundTexture<'m, D, R> {
    /// `R` must be what `reads` makes of a `T`.
    pub(super) fn of_array<T: Element>(core: &'m Core, sampling: &Sampling, reads: Reads) -> Result<Self> {
        let is_cube = D::FLAGS & CUDA_ARRAY3D_CUBEMAP != 0;
        let reading = Reading { is_cube, last_level: core.last_level(), ..reads.of::<T>(D::DIMENSIONS) };
        let mut resource = empty();
        match core.handle() {
            Handle::Array(array) => resource.res.array.hArray = array,
            Handle::Mipmapped(array, _) => {
                resource.resType = CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
                resource.res.mipmap.hMipmappedArray = array;
            }
        }
        let handle = create(core.context(), &resource, sampling, reading)?;
        Ok(Self { handle, source: Source::Array(core), image: PhantomData })
    }
}

impl<'m, D, R: Element> BoundTexture<'m, D, R> {
    fn of_memory(
        device: &Device,
        memory: &'m dyn DeviceMemory,
        resource: &CUDA_RESOURCE_DESC,
        sampling: &Sampling,
        reading: Reading,
    ) -> Result<Self> {
        let context = device.context().clone();
        let handle = create(&context, resource, sampling, reading)?;
        let source = Source::Memory { memory, context, uses: Uses::default() };
        Ok(Self { handle, source, image: PhantomData })
    }
}

/// Binds device memory for [`TextureLinear::get`](ptx_device::texture::TextureLinear): CUDA's `cudaResourceTypeLinear`.
pub fn linear<'m, T: Element>(
    device: &Device,
    memory: &'m dyn DeviceRead<T>,
) -> Result<BoundTexture<'m, Linear, T::Read>> {
    linear_as::<T, _>(device, memory, Reads::Elements)
}

/// The same, read as floats from 0 to 1, or −1 to 1.
pub fn linear_normalized<'m, T: Normalized>(
    device: &Device,
    memory: &'m dyn DeviceRead<T>,
) -> Result<BoundTexture<'m, Linear, T::Float>> {
    linear_as::<T, _>(device, memory, Reads::Normalized)
}

fn linear_as<'m, T: Element, R: Element>(
    device: &Device,
    memory: &'m dyn DeviceRead<T>,
    reads: Reads,
) -> Result<BoundTexture<'m, Linear, R>> {
    let extents = Extents { width: memory.len(), height: 0, depth: 0 };
    limits::check(device.context(), "a texture of linear memory", extents, limits::LINEAR)?;
    let address = aligned(device, memory)?;
    let mut resource = empty();
    resource.resType = CUresourcetype::CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear = sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_3 {
        devPtr: address,
        format: T::FORMAT,
        numChannels: T::CHANNELS as u32,
        sizeInBytes: memory.len() * size_of::<T>(),
    };
    BoundTexture::of_memory(device, memory, &resource, &Sampling::nearest(), reads.of::<T>(1))
}

/// Binds rows of device memory as a plane, `pitch` elements from row to row ([`pitch`] gives the least): CUDA's
/// `cudaResourceTypePitch2D`. The last row need not be filled up to the pitch.
pub fn pitched<'m, T: Element>(
    device: &Device,
    memory: &'m dyn DeviceRead<T>,
    (width, height): (usize, usize),
    pitch: usize,
    sampling: &Sampling,
) -> Result<BoundTexture<'m, TwoD, T::Read>> {
    pitched_as::<T, _>(device, memory, Extents { width, height, depth: 0 }, pitch, sampling, Reads::Elements)
}

/// The same, read as floats from 0 to 1, or −1 to 1.
pub fn pitched_normalized<'m, T: Normalized>(
    device: &Device,
    memory: &'m dyn DeviceRead<T>,
    (width, height): (usize, usize),
    pitch: usize,
    sampling: &Sampling,
) -> Result<BoundTexture<'m, TwoD, T::Float>> {
    pitched_as::<T, _>(device, memory, Extents { width, height, depth: 0 }, pitch, sampling, Reads::Normalized)
}

/// The least pitch of rows of `width` elements, in elements, that a texture on the device can have.
pub fn pitch<T: Element>(device: &Device, width: usize) -> Result<usize> {
    let alignment = limits::attribute(device.context(), Attribute::CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT)?.max(1);
    Ok((width * size_of::<T>()).next_multiple_of(alignment) / size_of::<T>())
}

fn pitched_as<'m, T: Element, R: Element>(
    device: &Device,
    memory: &'m dyn DeviceRead<T>,
    extents: Extents,
    pitch: usize,
    sampling: &Sampling,
    reads: Reads,
) -> Result<BoundTexture<'m, TwoD, R>> {
    let Extents { width, height, .. } = extents;
    let what = "a texture of pitched memory";
    limits::check(device.context(), what, extents, limits::PITCHED)?;
    let alignment = limits::attribute(device.context(), Attribute::CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT)?.max(1);
    let limit = limits::attribute(device.context(), Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH)?;
    let bytes = pitch.saturating_mul(size_of::<T>());
    if pitch < width || !bytes.is_multiple_of(alignment) {
        return Err(TextureError::Pitch { width, pitch, alignment }.into());
    }
    if bytes > limit {
        let extents = extents.text();
        return Err(TextureError::Extent { what, extents, axis: "pitch in bytes", extent: bytes, limit }.into());
    }
    let needed = pitch * (height - 1) + width;
    if memory.len() < needed {
        return Err(TextureError::Len { what, extents: extents.text(), needed, found: memory.len() }.into());
    }
    let address = aligned(device, memory)?;
    let mut resource = empty();
    resource.resType = CUresourcetype::CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D = sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_4 {
        devPtr: address,
        format: T::FORMAT,
        numChannels: T::CHANNELS as u32,
        width,
        height,
        pitchInBytes: bytes,
    };
    BoundTexture::of_memory(device, memory, &resource, sampling, reads.of::<T>(2))
}

/// The address of memory of the device that a texture can begin at.
fn aligned(device: &Device, memory: &dyn DeviceMemory) -> Result<u64> {
    let Some(found) = memory.context() else { return Err(TextureError::CpuMemory.into()) };
    same_device(device.context(), found)?;
    let alignment = limits::attribute(device.context(), Attribute::CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)?.max(1);
    let (address, _guard) = memory.read_on(device.stream());
    let offset = address as usize % alignment;
    if offset > 0 { Err(TextureError::Alignment { alignment, offset }.into()) } else { Ok(address) }
}

/// A description of an array, without the array.
fn empty() -> CUDA_RESOURCE_DESC {
    let reserved = sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_5 { reserved: [0; 32] };
    CUDA_RESOURCE_DESC {
        resType: CUresourcetype::CU_RESOURCE_TYPE_ARRAY,
        res: sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1 { reserved },
        flags: 0,
    }
}

fn create(
    context: &CudaContext,
    resource: &CUDA_RESOURCE_DESC,
    sampling: &Sampling,
    reading: Reading,
) -> Result<CUtexObject> {
    let describe = sampling.describe(reading)?;
    let doing = || "making a texture".to_owned();
    context.bind_to_thread().doing(doing)?;
    let mut handle = 0;
    // SAFETY: writes one handle; the context is current, and the descriptions name what lives.
    unsafe { sys::cuTexObjectCreate(&mut handle, resource, &describe, std::ptr::null()) }.result().doing(doing)?;
    Ok(handle)
}

impl<D, T> BoundTexture<'_, D, T> {
    fn uses(&self) -> &Uses {
        match &self.source {
            Source::Array(core) => &core.reads,
            Source::Memory { uses, .. } => uses,
        }
    }
}

impl<D, T> Object for BoundTexture<'_, D, T> {
    fn context(&self) -> &Arc<CudaContext> {
        match &self.source {
            Source::Array(core) => core.context(),
            Source::Memory { context, .. } => context,
        }
    }

    fn hold<'s>(&'s self, stream: &'s CudaStream) -> Result<(u64, Held<'s>), DriverError> {
        let memory = match &self.source {
            Source::Array(core) => {
                core.writes.before(stream)?;
                None
            }
            Source::Memory { memory, .. } => Some(memory.read_on(stream).1),
        };
        Ok((self.handle, Held { uses: self.uses(), stream, memory }))
    }
}

impl<D, T> Drop for BoundTexture<'_, D, T> {
    fn drop(&mut self) {
        let context = self.context();
        if watch::is_overdue(context.cu_ctx()) {
            // A kernel that uses it may run for ever, and to wait would be for ever, too.
            return;
        }
        self.uses().wait(context);
        context.record_err(context.bind_to_thread());
        // SAFETY: made by `create`, and nothing uses it any more.
        context.record_err(unsafe { sys::cuTexObjectDestroy(self.handle) }.result());
    }
}

/// A surface that a kernel's `Surface<D, T>` takes: CUDA's `cudaSurfaceObject_t`, bound to an array, which it borrows.
///
/// To drop it waits for the launches that use it, and frees it: `cuSurfObjectDestroy`.
pub struct BoundSurface<'m, D, T> {
    handle: CUsurfObject,
    core: &'m Core,
    image: PhantomData<fn() -> (D, T)>,
}

impl<'m, D, T> BoundSurface<'m, D, T> {
    /// The caller must have the array for itself.
    pub(super) fn new(core: &'m Core, level: u32) -> Result<Self> {
        core.check_surface()?;
        let mut resource = empty();
        resource.res.array.hArray = core.level(level)?;
        let doing = || "making a surface".to_owned();
        core.context().bind_to_thread().doing(doing)?;
        let mut handle = 0;
        // SAFETY: writes one handle; the context is current.
        unsafe { sys::cuSurfObjectCreate(&mut handle, &resource) }.result().doing(doing)?;
        Ok(Self { handle, core, image: PhantomData })
    }
}

impl<D, T> Object for BoundSurface<'_, D, T> {
    fn context(&self) -> &Arc<CudaContext> {
        self.core.context()
    }

    fn hold<'s>(&'s self, stream: &'s CudaStream) -> Result<(u64, Held<'s>), DriverError> {
        self.core.reads.before(stream)?;
        self.core.writes.before(stream)?;
        Ok((self.handle, Held { uses: &self.core.writes, stream, memory: None }))
    }
}

impl<D, T> Drop for BoundSurface<'_, D, T> {
    fn drop(&mut self) {
        let context = self.core.context();
        if watch::is_overdue(context.cu_ctx()) {
            // As of a texture.
            return;
        }
        self.core.writes.wait(context);
        context.record_err(context.bind_to_thread());
        // SAFETY: made by `new`, and nothing uses it any more.
        context.record_err(unsafe { sys::cuSurfObjectDestroy(self.handle) }.result());
    }
}

macro_rules! debug {
    ($($name:ident),*) => {$(
        impl<D, T> fmt::Debug for $name<'_, D, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:#x})"), self.handle)
            }
        }
    )*};
}
debug!(BoundTexture, BoundSurface);
