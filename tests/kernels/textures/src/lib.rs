//! Kernels that fetch from textures at given places, and read and write surfaces.
#![cfg_attr(target_arch = "nvptx64", no_std)]

pub mod elements;

use ptx::Disjoint3d;
use ptx::prelude::*;
use ptx::texture::{
    Bounds, Surface1d, Surface1dLayered, Surface2d, Surface2dLayered, Surface3d, SurfaceCube, SurfaceCubeLayered,
    Texture1d, Texture1dLayered, Texture2d, Texture2dLayered, Texture3d, TextureCube, TextureCubeLayered,
    TextureGather2d,
};

/// Where to fetch: up to three coordinates, then the layer.
pub type Place = [f32; 4];

macro_rules! fetches {
    ($($(#[$doc:meta])* $name:ident($ty:ty): $texture:ident, $place:ident => $value:expr;)*) => {$(
        $(#[$doc])*
        #[kernel]
        pub fn $name($texture: $ty, places: &[Place], mut out: DisjointSlice<f32>) {
            let i = thread::index_1d();
            if let (Some(out), Some($place)) = (out.get_mut(i), places.get(i.get())) {
                *out = $value;
            }
        }
    )*};
}
fetches! {
    /// `tex1D`
    fetch_1d(Texture1d<f32>): t, p => t.fetch(p[0]);
    /// `tex2D`
    fetch_2d(Texture2d<f32>): t, p => t.fetch(p[0], p[1]);
    /// `tex3D`
    fetch_3d(Texture3d<f32>): t, p => t.fetch(p[0], p[1], p[2]);
    /// `tex1DLayered`
    fetch_1d_layered(Texture1dLayered<f32>): t, p => t.fetch(p[3] as u32, p[0]);
    /// `tex2DLayered`
    fetch_2d_layered(Texture2dLayered<f32>): t, p => t.fetch(p[3] as u32, p[0], p[1]);
    /// `texCubemap`
    fetch_cube(TextureCube<f32>): t, p => t.fetch(p[0], p[1], p[2]);
    /// `texCubemapLayered`
    fetch_cube_layered(TextureCubeLayered<f32>): t, p => t.fetch(p[3] as u32, p[0], p[1], p[2]);
    /// `tex2D` of what can be gathered
    fetch_gather(TextureGather2d<f32>): t, p => t.fetch(p[0], p[1]);
    /// `tex1DLod`: the level stands where the layer does
    lod_1d(Texture1d<f32>): t, p => t.fetch_lod(p[0], p[3]);
    /// `tex2DLod`
    lod_2d(Texture2d<f32>): t, p => t.fetch_lod(p[0], p[1], p[3]);
    /// `tex3DLod`
    lod_3d(Texture3d<f32>): t, p => t.fetch_lod(p[0], p[1], p[2], p[3]);
    /// `tex1DLayeredLod` of layer 1
    lod_1d_layered(Texture1dLayered<f32>): t, p => t.fetch_lod(1, p[0], p[3]);
    /// `tex2DLayeredLod` of layer 1
    lod_2d_layered(Texture2dLayered<f32>): t, p => t.fetch_lod(1, p[0], p[1], p[3]);
    /// `texCubemapLod`
    lod_cube(TextureCube<f32>): t, p => t.fetch_lod(p[0], p[1], p[2], p[3]);
    /// `texCubemapLayeredLod` of layer 1
    lod_cube_layered(TextureCubeLayered<f32>): t, p => t.fetch_lod(1, p[0], p[1], p[2], p[3]);
    /// `tex1DGrad` of a pixel with sides so long
    grad_1d(Texture1d<f32>): t, p => t.fetch_grad(p[0], p[3], p[3] * 0.5);
    /// `tex2DGrad`
    grad_2d(Texture2d<f32>): t, p => t.fetch_grad(p[0], p[1], [p[3], 0.0], [0.0, p[3]]);
    /// `tex3DGrad`
    grad_3d(Texture3d<f32>): t, p => t.fetch_grad(p[0], p[1], p[2], [p[3], 0.0, 0.0], [0.0, p[3], 0.0]);
    /// `tex1DLayeredGrad` of layer 1
    grad_1d_layered(Texture1dLayered<f32>): t, p => t.fetch_grad(1, p[0], p[3], p[3] * 0.5);
    /// `tex2DLayeredGrad` of layer 1
    grad_2d_layered(Texture2dLayered<f32>): t, p => t.fetch_grad(1, p[0], p[1], [p[3], 0.0], [0.0, p[3]]);
    /// `texCubemapGrad`
    grad_cube(TextureCube<f32>): t, p => t.fetch_grad(p[0], p[1], p[2], [0.0, p[3], 0.0], [0.0, 0.0, p[3]]);
    /// `texCubemapLayeredGrad` of layer 1
    grad_cube_layered(TextureCubeLayered<f32>): t, p => t.fetch_grad(1, p[0], p[1], p[2], [0.0, p[3], 0.0], [0.0, 0.0, p[3]]);
}

/// All four numbers of four texels: `tex2Dgather`.
#[kernel]
pub fn gather(t: TextureGather2d<[f32; 4]>, places: &[Place], mut out: DisjointSlice<[[f32; 4]; 4]>) {
    let i = thread::index_1d();
    if let (Some(out), Some([x, y, ..])) = (out.get_mut(i), places.get(i.get())) {
        *out = [t.gather::<0>(*x, *y), t.gather::<1>(*x, *y), t.gather::<2>(*x, *y), t.gather::<3>(*x, *y)];
    }
}

/// The same of bytes.
#[kernel]
pub fn gather_bytes(t: TextureGather2d<u8>, places: &[Place], mut out: DisjointSlice<[u8; 4]>) {
    let i = thread::index_1d();
    if let (Some(out), Some([x, y, ..])) = (out.get_mut(i), places.get(i.get())) {
        *out = t.gather::<0>(*x, *y);
    }
}

/// A pixel of four numbers: `tex2D<float4>`.
#[kernel]
pub fn fetch_pixels(t: Texture2d<[f32; 4]>, places: &[Place], mut out: DisjointSlice<[f32; 4]>) {
    let i = thread::index_1d();
    if let (Some(out), Some([x, y, ..])) = (out.get_mut(i), places.get(i.get())) {
        *out = t.fetch(*x, *y);
    }
}

/// What a store at a place must have stored: another number for each place.
pub fn stamp(x: i32, y: i32, z: i32) -> u32 {
    (x as u32) | (y as u32) << 8 | (z as u32) << 16 | 0x5A00_0000
}

macro_rules! stores {
    ($($(#[$doc:meta])* $name:ident($surface:ty): $s:ident, $x:ident, $y:ident, $z:ident => $write:expr, $read:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// The block is the image, or larger; what was there before goes to `before`, row by row, `width` and `height` of a
        /// layer.
        #[kernel(dimensions = 3)]
        pub fn $name($s: $surface, width: i32, height: i32, mut before: Disjoint3d<u32>) {
            let place = thread::thread_idx();
            let ($x, $y, $z) = (place.x as i32, place.y as i32, place.z as i32);
            let old = $read;
            if $x < width && $y < height {
                if let Some(before) = before.get_mut(thread::index_3d()) {
                    *before = old;
                }
                $write;
            }
        }
    )*};
}
stores! {
    /// `surf1Dwrite`, `surf1Dread`
    stamp_1d(Surface1d<u32>): s, x, y, z => s.write(x, stamp(x, y, z), Bounds::Trap), s.read(x, Bounds::Zero);
    /// `surf2Dwrite`, `surf2Dread`
    stamp_2d(Surface2d<u32>): s, x, y, z => s.write(x, y, stamp(x, y, z), Bounds::Trap), s.read(x, y, Bounds::Clamp);
    /// `surf3Dwrite`, `surf3Dread`
    stamp_3d(Surface3d<u32>): s, x, y, z => s.write(x, y, z, stamp(x, y, z), Bounds::Trap), s.read(x, y, z, Bounds::Zero);
    /// `surf1DLayeredwrite`, `surf1DLayeredread`
    stamp_1d_layered(Surface1dLayered<u32>): s, x, y, z =>
        s.write(z, x, stamp(x, y, z), Bounds::Trap), s.read(z, x, Bounds::Zero);
    /// `surf2DLayeredwrite`, `surf2DLayeredread`
    stamp_2d_layered(Surface2dLayered<u32>): s, x, y, z =>
        s.write(z, x, y, stamp(x, y, z), Bounds::Trap), s.read(z, x, y, Bounds::Clamp);
    /// `surfCubemapwrite`, `surfCubemapread`
    stamp_cube(SurfaceCube<u32>): s, x, y, z =>
        s.write(z, x, y, stamp(x, y, z), Bounds::Trap), s.read(z, x, y, Bounds::Zero);
    /// `surfCubemapLayeredwrite`, `surfCubemapLayeredread`
    stamp_cube_layered(SurfaceCubeLayered<u32>): s, x, y, z =>
        s.write(z, x, y, stamp(x, y, z), Bounds::Trap), s.read(z, x, y, Bounds::Clamp);
}

/// Reads at given places, clamped and with zeros outside.
#[kernel]
pub fn read_outside(s: Surface2d<f32>, places: &[[i32; 2]], mut out: DisjointSlice<[f32; 2]>) {
    let i = thread::index_1d();
    if let (Some(out), Some([x, y])) = (out.get_mut(i), places.get(i.get())) {
        *out = [s.read(*x, *y, Bounds::Clamp), s.read(*x, *y, Bounds::Zero)];
    }
}

/// Writes at given places, with nothing outside.
#[kernel]
pub fn write_outside(s: Surface2d<f32>, places: &[[i32; 2]]) {
    if let Some([x, y]) = places.get(thread::index_1d().get()) {
        s.write(*x, *y, -7.0, Bounds::Zero);
    }
}

/// Writes far outside of the image, which ends the launch.
#[kernel]
pub fn write_trapped(s: Surface2d<f32>) {
    s.write(1 << 20, 0, -7.0, Bounds::Trap);
}

/// Adds one to every element.
#[kernel(dimensions = 2)]
pub fn increment(s: Surface2d<f32>, width: i32, height: i32) {
    let (x, y) = (thread::index_2d().x() as i32, thread::index_2d().y() as i32);
    if x < width && y < height {
        s.write(x, y, s.read(x, y, Bounds::Trap) + 1.0, Bounds::Trap);
    }
}
