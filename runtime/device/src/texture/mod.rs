//! Textures and surfaces: images that the texture unit reads, filters and writes, by handle.
//!
//! A kernel takes [`Texture2d<f32>`](Texture2d) and its kin as parameters; the host passes what it has bound to an
//! array, or to linear or pitched memory. `T` is what a fetch gives: `f32` of an array of `f32`, of `f16`, or of small
//! integers that are read as numbers from 0 to 1; or an integer of the array's own type; or two or four of these.
//!
//! | CUDA C++ | here | PTX |
//! |---|---|---|
//! | `tex1D`, `tex2D`, `tex3D`, `tex1DLayered`, `tex2DLayered`, `texCubemap`, `texCubemapLayered` | `fetch` | `tex.1d`, `.2d`, `.3d`, `.a1d`, `.a2d`, `.cube`, `.acube` |
//! | `tex1DLod`, … | `fetch_lod` | `tex.level` |
//! | `tex1DGrad`, … | `fetch_grad` | `tex.grad` |
//! | `tex1Dfetch` | [`TextureLinear::get`](Texture::get) | `tex.1d.v4.f32.s32` |
//! | `tex2Dgather` | [`TextureGather2d::gather`](Texture::gather) | `tld4` |
//! | `surf1Dread`, `surf2Dread`, … | `read` | `suld.b` |
//! | `surf1Dwrite`, `surf2Dwrite`, … | `write` | `sust.b` |
//!
//! Every GPU has them all. On the host they panic: only a GPU has a texture unit.
//!
//! # Coordinates
//! They are floats, and the texture's [addressing](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#texture-fetching)
//! says what they mean outside of the image, so that any are safe. Without normalised coordinates the centre of texel `i`
//! is at `i + 0.5`; with them, at `(i + 0.5) / width`. Filters weigh with 8 bits of fraction. A number of a layer that
//! is too large is that of the last.
//!
//! # Why this is safe
//! A handle lives as long as the launch's borrow of what it is bound to, which nobody writes meanwhile, but through
//! surfaces. Memory that surfaces write is an array's, to which there are no references and no pointers, and any bits
//! are a value of its elements. The PTX memory model does not order accesses through surfaces (PTX ISA, "Memory
//! Consistency Model: Scope and applicability"): if threads write an element that others write or read in the same
//! launch, what is read or stays is one of the values, or parts of several. It is the next launch that sees all that was
//! written.

mod element;
mod fetch;
mod handle;
mod surface;

pub use element::{Channel, Element, Kind, Normalized, Texel};
pub use handle::{
    Cube, CubeLayered, Gather2d, Linear, OneD, OneDLayered, Surface, Surface1d, Surface1dLayered, Surface2d,
    Surface2dLayered, Surface3d, SurfaceCube, SurfaceCubeLayered, Texture, Texture1d, Texture1dLayered, Texture2d,
    Texture2dLayered, Texture3d, TextureCube, TextureCubeLayered, TextureGather2d, TextureLinear, ThreeD, TwoD,
    TwoDLayered,
};
pub use surface::Bounds;
