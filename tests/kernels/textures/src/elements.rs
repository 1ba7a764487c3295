//! A fetch, a load and a store of every type of element.

use ptx::prelude::*;
use ptx::texture::{Bounds, Surface2d, Texture2d, TextureLinear};

macro_rules! elements {
    ($($ty:ty: $fetch:ident $get:ident $through:ident;)*) => {$(
        /// Texel by texel of rows of `width`: `tex2D`.
        #[kernel]
        pub fn $fetch(t: Texture2d<$ty>, width: usize, mut out: DisjointSlice<$ty>) {
            let i = thread::index_1d();
            if let Some(out) = out.get_mut(i) {
                *out = t.fetch((i.get() % width) as f32 + 0.5, (i.get() / width) as f32 + 0.5);
            }
        }

        /// The elements of these numbers: `tex1Dfetch`.
        #[kernel]
        pub fn $get(t: TextureLinear<$ty>, numbers: &[i32], mut out: DisjointSlice<$ty>) {
            let i = thread::index_1d();
            if let (Some(out), Some(number)) = (out.get_mut(i), numbers.get(i.get())) {
                *out = t.get(*number);
            }
        }

        /// From one surface to another, each row in reverse.
        #[kernel]
        pub fn $through(from: Surface2d<$ty>, to: Surface2d<$ty>, width: i32, height: i32) {
            let i = thread::index_1d().get() as i32;
            if i < width * height {
                let (x, y) = (i % width, i / width);
                to.write(width - 1 - x, y, from.read(x, y, Bounds::Trap), Bounds::Trap);
            }
        }
    )*};
}
elements! {
    u8: fetch_u8 get_u8 through_u8;
    u16: fetch_u16 get_u16 through_u16;
    u32: fetch_u32 get_u32 through_u32;
    i8: fetch_i8 get_i8 through_i8;
    i16: fetch_i16 get_i16 through_i16;
    i32: fetch_i32 get_i32 through_i32;
    f32: fetch_f32 get_f32 through_f32;
    [u8; 2]: fetch_u8x2 get_u8x2 through_u8x2;
    [u16; 2]: fetch_u16x2 get_u16x2 through_u16x2;
    [u32; 2]: fetch_u32x2 get_u32x2 through_u32x2;
    [i8; 2]: fetch_i8x2 get_i8x2 through_i8x2;
    [i16; 2]: fetch_i16x2 get_i16x2 through_i16x2;
    [i32; 2]: fetch_i32x2 get_i32x2 through_i32x2;
    [f32; 2]: fetch_f32x2 get_f32x2 through_f32x2;
    [u8; 4]: fetch_u8x4 get_u8x4 through_u8x4;
    [u16; 4]: fetch_u16x4 get_u16x4 through_u16x4;
    [u32; 4]: fetch_u32x4 get_u32x4 through_u32x4;
    [i8; 4]: fetch_i8x4 get_i8x4 through_i8x4;
    [i16; 4]: fetch_i16x4 get_i16x4 through_i16x4;
    [i32; 4]: fetch_i32x4 get_i32x4 through_i32x4;
    [f32; 4]: fetch_f32x4 get_f32x4 through_f32x4;
}

/// The same of halves, which no fetch gives.
#[kernel]
pub fn through_f16x4(from: Surface2d<[ptx::f16; 4]>, to: Surface2d<[ptx::f16; 4]>, width: i32, height: i32) {
    let i = thread::index_1d().get() as i32;
    if i < width * height {
        let (x, y) = (i % width, i / width);
        to.write(width - 1 - x, y, from.read(x, y, Bounds::Trap), Bounds::Trap);
    }
}
