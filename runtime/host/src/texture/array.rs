//! Arrays and mipmapped arrays: images in the layout of the texture unit.

use std::fmt;
use std::marker::PhantomData;

use ptx_device::texture::{Element, Normalized};

use super::copy::{Memory, copy};
use super::core::Core;
use super::geometry::Geometry;
use super::object::{BoundSurface, BoundTexture, Reads};
use super::sampling::Sampling;
use crate::device::Device;
use crate::driver::Doing;
use crate::error::Result;
use crate::memory::{DeviceRead, DeviceWrite};

/// An image of elements `T` in the layout of the texture unit: CUDA's `cudaArray_t`, `CUarray`.
///
/// [`Array2d`](super::Array2d) and its kin are shorter. A kernel reads it through [`texture`](Self::texture), and writes it
/// through [`surface`](Self::surface). To drop it waits for the work that uses it, and frees it.
pub struct Array<D, T> {
    core: Core,
    image: PhantomData<fn() -> (D, T)>,
}

impl<D: Geometry, T: Element> Array<D, T> {
    /// An array with these elements, row by row, `x` first: `cuArray3DCreate`, `cuMemcpy3D`.
    pub fn upload(device: &Device, size: D::Size, data: &[T]) -> Result<Self> {
        let mut array = Self::new(device, size)?;
        array.write(data)?;
        Ok(array)
    }

    /// An array of zeros.
    pub fn zeroed(device: &Device, size: D::Size) -> Result<Self> {
        let mut array = Self::new(device, size)?;
        array.write(&vec![T::from_channels([0; 4]); array.len()])?;
        Ok(array)
    }

    fn new(device: &Device, size: D::Size) -> Result<Self> {
        Ok(Self { core: Core::new::<D, T>(device, size, None)?, image: PhantomData })
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.core.extents.len()
    }

    /// False: an array has elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Replaces all elements: `cuMemcpy3D`.
    pub fn write(&mut self, data: &[T]) -> Result<()> {
        self.core.write(0, self.core.extents, data)
    }

    /// Copies all elements to the host, after all work on them is done.
    pub fn download(&self) -> Result<Vec<T>> {
        self.core.read(0, self.core.extents)
    }

    /// Replaces all elements by those of device memory, on the device's default stream.
    pub fn copy_from(&mut self, memory: &dyn DeviceRead<T>) -> Result<()> {
        let core = &self.core;
        core.check_memory(memory)?;
        let doing = || "copying device memory to an array".to_owned();
        core.context().bind_to_thread().doing(doing)?;
        let (stream, array) = (core.device.stream(), core.level(0)?);
        core.before_writing().doing(doing)?;
        let (from, guard) = memory.read_on(stream);
        // SAFETY: the memory has all elements; cudarc notes that the stream reads it, and this that it writes the array.
        let copied = unsafe { copy(array, core.extents, core.size, Memory::FromDevice(from), stream) };
        drop(guard);
        copied.and_then(|()| core.writes.add(stream)).doing(doing)
    }

    /// Copies all elements to device memory, on the device's default stream.
    pub fn copy_to(&self, memory: &mut dyn DeviceWrite<T>) -> Result<()> {
        let core = &self.core;
        core.check_memory(memory)?;
        let doing = || "copying an array to device memory".to_owned();
        core.context().bind_to_thread().doing(doing)?;
        let (stream, array) = (core.device.stream(), core.level(0)?);
        core.writes.before(stream).doing(doing)?;
        let (to, guard) = memory.write_on(stream);
        // SAFETY: as above, the other way round.
        let copied = unsafe { copy(array, core.extents, core.size, Memory::ToDevice(to), stream) };
        drop(guard);
        copied.and_then(|()| core.reads.add(stream)).doing(doing)
    }

    /// Binds it for reading as it is; of `f16` a fetch gives `f32`. CUDA: `cudaCreateTextureObject`,
    /// `cudaReadModeElementType`.
    pub fn texture(&self, sampling: &Sampling) -> Result<BoundTexture<'_, D, T::Read>> {
        BoundTexture::of_array::<T>(&self.core, sampling, Reads::Elements)
    }

    /// Binds it for reading as floats from 0 to 1, or −1 to 1. CUDA: `cudaReadModeNormalizedFloat`.
    pub fn normalized_texture(&self, sampling: &Sampling) -> Result<BoundTexture<'_, D, T::Float>>
    where
        T: Normalized,
    {
        BoundTexture::of_array::<T>(&self.core, sampling, Reads::Normalized)
    }

    /// Binds it for reading and writing, element by element. CUDA: `cudaCreateSurfaceObject`.
    pub fn surface(&mut self) -> Result<BoundSurface<'_, D, T>> {
        const { assert!(D::SURFACE.is_some(), "an array to gather from has no surface") };
        BoundSurface::new(&self.core, 0)
    }
}

/// An image with its smaller copies, each half as large as that before: CUDA's `cudaMipmappedArray_t`.
///
/// Nothing fills the levels by itself. To drop it waits for the work that uses it, and frees it.
pub struct Mipmapped<D, T> {
    core: Core,
    image: PhantomData<fn() -> (D, T)>,
}

impl<D: Geometry, T: Element> Mipmapped<D, T> {
    /// So many levels of zeros, level 0 of that size: `cuMipmappedArrayCreate`.
    pub fn zeroed(device: &Device, size: D::Size, levels: u32) -> Result<Self> {
        const { assert!(D::SURFACE.is_some(), "an array to gather from has no mipmaps") };
        let mut all = Self { core: Core::new::<D, T>(device, size, Some(levels))?, image: PhantomData };
        for level in 0..levels {
            let len = all.level_len(level);
            all.write(level, &vec![T::from_channels([0; 4]); len])?;
        }
        Ok(all)
    }

    /// How many levels there are.
    pub fn levels(&self) -> u32 {
        self.core.last_level().map_or(1, |last| last + 1)
    }

    /// The number of elements of a level.
    pub fn level_len(&self, level: u32) -> usize {
        D::level(self.core.extents, level.min(31)).len()
    }

    /// Replaces all elements of a level.
    pub fn write(&mut self, level: u32, data: &[T]) -> Result<()> {
        self.core.write(level, D::level(self.core.extents, level.min(31)), data)
    }

    /// Copies all elements of a level to the host, after all work on them is done.
    pub fn download(&self, level: u32) -> Result<Vec<T>> {
        self.core.read(level, D::level(self.core.extents, level.min(31)))
    }

    /// As [`Array::texture`]; `fetch` reads level 0, `fetch_lod` and `fetch_grad` say which.
    pub fn texture(&self, sampling: &Sampling) -> Result<BoundTexture<'_, D, T::Read>> {
        BoundTexture::of_array::<T>(&self.core, sampling, Reads::Elements)
    }

    /// As [`Array::normalized_texture`].
    pub fn normalized_texture(&self, sampling: &Sampling) -> Result<BoundTexture<'_, D, T::Float>>
    where
        T: Normalized,
    {
        BoundTexture::of_array::<T>(&self.core, sampling, Reads::Normalized)
    }

    /// Binds a level for reading and writing.
    pub fn surface(&mut self, level: u32) -> Result<BoundSurface<'_, D, T>> {
        BoundSurface::new(&self.core, level)
    }
}

macro_rules! debug {
    ($($name:ident),*) => {$(
        impl<D, T> fmt::Debug for $name<D, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.core.extents.text())
            }
        }
    )*};
}
debug!(Array, Mipmapped);
