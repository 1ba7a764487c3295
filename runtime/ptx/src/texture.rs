//! Textures and surfaces: what kernels take and fetch from, and what the host binds to arrays and memory.
//!
//! ```
//! use ptx::prelude::*;
//! use ptx::texture::Texture2d;
//! # #[cfg(not(target_arch = "nvptx64"))]
//! use ptx::texture::{Address, Array2d, Sampling};
//!
//! #[kernel]
//! pub fn shrink(image: Texture2d<f32>, mut out: DisjointSlice<f32>) {
//!     let i = thread::index_1d();
//!     if let Some(out) = out.get_mut(i) {
//!         let (x, y) = (i.get() % 32, i.get() / 32);
//!         *out = image.fetch(2.0 * x as f32 + 1.0, 2.0 * y as f32 + 1.0);
//!     }
//! }
//!
//! # #[cfg(not(target_arch = "nvptx64"))]
//! fn half(device: &Device, module: &Module, pixels: &[u8]) -> ptx::Result<Vec<f32>> {
//!     let image = Array2d::upload(device, (64, 64), pixels)?;
//!     let sampling = Sampling::linear().address(Address::Clamp);
//!     let texture = image.normalized_texture(&sampling)?;
//!     let mut out = device.zeroed::<f32>(32 * 32)?;
//!     shrink(&texture, &mut out).launch(module, Grid::cover(32 * 32, 256))?;
//!     device.download(&out)
//! }
//! ```

pub use ptx_device::texture::*;
#[cfg(not(target_arch = "nvptx64"))]
pub use ptx_host::texture::*;
