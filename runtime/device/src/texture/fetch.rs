//! Fetches from textures: `tex`, `tex.level`, `tex.grad`, `tld4`.

use super::element::Texel;
#[cfg(target_arch = "nvptx64")]
use super::element::{Channel, Kind};
#[cfg(not(target_arch = "nvptx64"))]
use super::handle::only_on_the_gpu;
use super::handle::{Cube, CubeLayered, Gather2d, Linear, OneD, OneDLayered, Texture, ThreeD, TwoD, TwoDLayered};

/// The four numbers that an instruction gives: its name up to the type, what follows the type, and the operands, whose
/// classes of registers stand first.
#[cfg(target_arch = "nvptx64")]
macro_rules! four {
    ($channel:ty; $classes:literal, $begin:expr, $end:expr; ($($operand:expr => $ty:ty),*)) => {{
        macro_rules! typed {
            ($word:ty, $class:literal, $kind:literal, $bits:expr) => {{
                let mut words = [<$word>::default(); 4];
                let [a, b, c, d] = &mut words;
                // SAFETY: it writes four numbers and has no other effect. What it reads nobody writes (see the module).
                unsafe {
                    assembly!(
                        concat!(
                            "__ptx_asm:p:=", $class, ",=", $class, ",=", $class, ",=", $class, ":l,", $classes, ":",
                            $begin, $kind, $end
                        );
                        (
                            $($operand => $ty,)*
                            a => *mut $word, b => *mut $word, c => *mut $word, d => *mut $word,
                        )
                    );
                }
                words.map($bits)
            }};
        }
        match <$channel as Channel>::KIND {
            Kind::Float => typed!(f32, "f", ".f32", f32::to_bits),
            Kind::Signed => typed!(u32, "r", ".s32", |word| word),
            Kind::Unsigned => typed!(u32, "r", ".u32", |word| word),
        }
    }};
}

/// Functions of one name for all dimensions: what the documentation says of them, the instruction's name up to the
/// dimension, and of each dimension its parameters, its operands, their classes of registers, and their places behind the
/// results.
macro_rules! fetches {
    ($name:ident, $doc:literal, $begin:literal, $ending:literal; $(
        $dimension:ty, $geometry:literal, $cuda:literal, ($($param:ident: $param_ty:ty),*),
        ($($operand:expr => $ty:ty),*), $classes:literal, $places:literal;
    )*) => {$(
        impl<T: Texel> Texture<'_, $dimension, T> {
            #[doc = concat!($doc, " CUDA: `", $cuda, $ending, "`; PTX: `", $begin, $geometry, "`.")]
            #[must_use]
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            pub fn $name(self, $($param: $param_ty),*) -> T {
                #[cfg(target_arch = "nvptx64")]
                {
                    T::from_channels(four!(
                        T::Channel; $classes, concat!($begin, $geometry, ".v4"), concat!(".f32 {$0, $1, $2, $3}, ", $places);
                        (self.handle => u64, $($operand => $ty),*)
                    ))
                }
                #[cfg(not(target_arch = "nvptx64"))]
                {
                    _ = ($($param,)*);
                    only_on_the_gpu()
                }
            }
        }
    )*};
}

// Operands: the four results, the handle, and from `$5` on the coordinates. Where they are three, a fourth is ignored.
fetches! {
    fetch, "The texel there, or what the filter makes of those around.", "tex.", "";
    OneD, "1d", "tex1D", (x: f32), (x => f32), "f", "[$4, {$5}];";
    TwoD, "2d", "tex2D", (x: f32, y: f32), (x => f32, y => f32), "f,f", "[$4, {$5, $6}];";
    Gather2d, "2d", "tex2D", (x: f32, y: f32), (x => f32, y => f32), "f,f", "[$4, {$5, $6}];";
    ThreeD, "3d", "tex3D", (x: f32, y: f32, z: f32), (x => f32, y => f32, z => f32), "f,f,f",
        "[$4, {$5, $6, $7, $7}];";
    OneDLayered, "a1d", "tex1DLayered", (layer: u32, x: f32), (layer => u32, x => f32), "r,f", "[$4, {$5, $6}];";
    TwoDLayered, "a2d", "tex2DLayered", (layer: u32, x: f32, y: f32), (layer => u32, x => f32, y => f32), "r,f,f",
        "[$4, {$5, $6, $7, $7}];";
    Cube, "cube", "texCubemap", (x: f32, y: f32, z: f32), (x => f32, y => f32, z => f32), "f,f,f",
        "[$4, {$5, $6, $7, $7}];";
    CubeLayered, "acube", "texCubemapLayered", (layer: u32, x: f32, y: f32, z: f32),
        (layer => u32, x => f32, y => f32, z => f32), "r,f,f,f", "[$4, {$5, $6, $7, $8}];";
}

fetches! {
    fetch_lod, "The same of the mipmap level `lod`, with a fraction between two.", "tex.level.", "Lod";
    OneD, "1d", "tex1D", (x: f32, lod: f32), (x => f32, lod => f32), "f,f", "[$4, {$5}], $6;";
    TwoD, "2d", "tex2D", (x: f32, y: f32, lod: f32), (x => f32, y => f32, lod => f32), "f,f,f",
        "[$4, {$5, $6}], $7;";
    ThreeD, "3d", "tex3D", (x: f32, y: f32, z: f32, lod: f32), (x => f32, y => f32, z => f32, lod => f32), "f,f,f,f",
        "[$4, {$5, $6, $7, $7}], $8;";
    OneDLayered, "a1d", "tex1DLayered", (layer: u32, x: f32, lod: f32), (layer => u32, x => f32, lod => f32), "r,f,f",
        "[$4, {$5, $6}], $7;";
    TwoDLayered, "a2d", "tex2DLayered", (layer: u32, x: f32, y: f32, lod: f32),
        (layer => u32, x => f32, y => f32, lod => f32), "r,f,f,f", "[$4, {$5, $6, $7, $7}], $8;";
    Cube, "cube", "texCubemap", (x: f32, y: f32, z: f32, lod: f32), (x => f32, y => f32, z => f32, lod => f32),
        "f,f,f,f", "[$4, {$5, $6, $7, $7}], $8;";
    CubeLayered, "acube", "texCubemapLayered", (layer: u32, x: f32, y: f32, z: f32, lod: f32),
        (layer => u32, x => f32, y => f32, z => f32, lod => f32), "r,f,f,f,f", "[$4, {$5, $6, $7, $8}], $9;";
}

fetches! {
    fetch_grad,
    "The same of the mipmap level that fits a pixel whose sides are `dx` and `dy`: how the coordinates change from it to its \
     neighbours.",
    "tex.grad.", "Grad";
    OneD, "1d", "tex1D", (x: f32, dx: f32, dy: f32), (x => f32, dx => f32, dy => f32), "f,f,f",
        "[$4, {$5}], {$6}, {$7};";
    TwoD, "2d", "tex2D", (x: f32, y: f32, dx: [f32; 2], dy: [f32; 2]),
        (x => f32, y => f32, dx[0] => f32, dx[1] => f32, dy[0] => f32, dy[1] => f32), "f,f,f,f,f,f",
        "[$4, {$5, $6}], {$7, $8}, {$9, $10};";
    ThreeD, "3d", "tex3D", (x: f32, y: f32, z: f32, dx: [f32; 3], dy: [f32; 3]),
        (
            x => f32, y => f32, z => f32,
            dx[0] => f32, dx[1] => f32, dx[2] => f32, dy[0] => f32, dy[1] => f32, dy[2] => f32
        ), "f,f,f,f,f,f,f,f,f",
        "[$4, {$5, $6, $7, $7}], {$8, $9, $10, $10}, {$11, $12, $13, $13};";
    OneDLayered, "a1d", "tex1DLayered", (layer: u32, x: f32, dx: f32, dy: f32),
        (layer => u32, x => f32, dx => f32, dy => f32), "r,f,f,f", "[$4, {$5, $6}], {$7}, {$8};";
    TwoDLayered, "a2d", "tex2DLayered", (layer: u32, x: f32, y: f32, dx: [f32; 2], dy: [f32; 2]),
        (layer => u32, x => f32, y => f32, dx[0] => f32, dx[1] => f32, dy[0] => f32, dy[1] => f32), "r,f,f,f,f,f,f",
        "[$4, {$5, $6, $7, $7}], {$8, $9}, {$10, $11};";
    Cube, "cube", "texCubemap", (x: f32, y: f32, z: f32, dx: [f32; 3], dy: [f32; 3]),
        (
            x => f32, y => f32, z => f32,
            dx[0] => f32, dx[1] => f32, dx[2] => f32, dy[0] => f32, dy[1] => f32, dy[2] => f32
        ), "f,f,f,f,f,f,f,f,f",
        "[$4, {$5, $6, $7, $7}], {$8, $9, $10, $10}, {$11, $12, $13, $13};";
    CubeLayered, "acube", "texCubemapLayered", (layer: u32, x: f32, y: f32, z: f32, dx: [f32; 3], dy: [f32; 3]),
        (
            layer => u32, x => f32, y => f32, z => f32,
            dx[0] => f32, dx[1] => f32, dx[2] => f32, dy[0] => f32, dy[1] => f32, dy[2] => f32
        ), "r,f,f,f,f,f,f,f,f,f",
        "[$4, {$5, $6, $7, $8}], {$9, $10, $11, $11}, {$12, $13, $14, $14};";
}

impl<T: Texel> Texture<'_, Linear, T> {
    /// The element of that number; zero if there is none. CUDA: `tex1Dfetch`; PTX: `tex.1d.v4.f32.s32`.
    #[must_use]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn get(self, index: i32) -> T {
        #[cfg(target_arch = "nvptx64")]
        {
            T::from_channels(four!(
                T::Channel; "r", "tex.1d.v4", ".s32 {$0, $1, $2, $3}, [$4, {$5}];";
                (self.handle => u64, index => i32)
            ))
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            _ = index;
            only_on_the_gpu()
        }
    }
}

impl<T: Texel> Texture<'_, Gather2d, T> {
    /// One number of each of the four texels that a linear filter would weigh: `COMPONENT` 0 is the first of a texel. They
    /// come counter-clockwise from the lower left: (x, y + 1), (x + 1, y + 1), (x + 1, y), (x, y). CUDA: `tex2Dgather`;
    /// PTX: `tld4.r.2d`, `.g`, `.b`, `.a`.
    #[must_use]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn gather<const COMPONENT: usize>(self, x: f32, y: f32) -> [T::Channel; 4] {
        const { assert!(COMPONENT < T::CHANNELS, "a texel does not have so many numbers") };
        #[cfg(target_arch = "nvptx64")]
        {
            macro_rules! component {
                ($begin:literal) => {
                    four!(
                        T::Channel; "f,f", $begin, ".f32 {$0, $1, $2, $3}, [$4, {$5, $6}];";
                        (self.handle => u64, x => f32, y => f32)
                    )
                };
            }
            let words = match COMPONENT {
                0 => component!("tld4.r.2d.v4"),
                1 => component!("tld4.g.2d.v4"),
                2 => component!("tld4.b.2d.v4"),
                _ => component!("tld4.a.2d.v4"),
            };
            words.map(Channel::from_bits)
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            _ = (x, y);
            only_on_the_gpu()
        }
    }
}
