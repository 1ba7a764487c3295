//! Textures and surfaces on the host: arrays, what reads them, and objects that kernels take.
//!
//! An [`Array`] is an image in the layout that the texture unit likes. `.texture(…)` binds it for reading, `.surface()` for
//! writing; both borrow it, and are passed to a kernel's `Texture2d<T>` or `Surface2d<T>`.
//! [`linear`] and [`pitched`] bind a `CudaSlice` without a copy.
//!
//! What a driver would refuse with "invalid value" is refused before, by [`TextureError`], which says why.

mod array;
mod copy;
mod core;
mod extents;
mod geometry;
mod limits;
mod object;
mod sampling;
mod uses;

pub use array::{Array, Mipmapped};
pub use geometry::{ArrayElement, Geometry};
pub use object::{BoundSurface, BoundTexture, linear, linear_normalized, pitch, pitched, pitched_normalized};
use ptx_device::texture::{Cube, CubeLayered, Gather2d, OneD, OneDLayered, ThreeD, TwoD, TwoDLayered};
pub use sampling::{Address, Filter, Sampling};

pub use crate::texture_error::TextureError;
pub(crate) use uses::Object;

/// A row of texels.
pub type Array1d<T> = Array<OneD, T>;
/// A plane of texels.
pub type Array2d<T> = Array<TwoD, T>;
/// A plane of texels that kernels gather: `cudaArrayTextureGather`. It has no surface.
pub type ArrayGather2d<T> = Array<Gather2d, T>;
/// A volume of texels.
pub type Array3d<T> = Array<ThreeD, T>;
/// Several rows: `cudaArrayLayered`.
pub type Array1dLayered<T> = Array<OneDLayered, T>;
/// Several planes: `cudaArrayLayered`.
pub type Array2dLayered<T> = Array<TwoDLayered, T>;
/// Six square planes: `cudaArrayCubemap`.
pub type ArrayCube<T> = Array<Cube, T>;
/// Several cubes: `cudaArrayCubemap | cudaArrayLayered`.
pub type ArrayCubeLayered<T> = Array<CubeLayered, T>;
