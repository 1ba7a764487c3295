//! The dimensions and elements of arrays, as the driver describes them.

use cudarc::driver::sys::{CUDA_ARRAY3D_CUBEMAP, CUDA_ARRAY3D_LAYERED, CUDA_ARRAY3D_TEXTURE_GATHER, CUarray_format};
use ptx_device::texture::{
    Channel as _, Cube, CubeLayered, Element, Gather2d, Kind, OneD, OneDLayered, ThreeD, TwoD, TwoDLayered,
};

use super::extents::Extents;
use super::limits::{self, Limit};

/// The dimensions of an array: [`OneD`], [`TwoD`], [`ThreeD`], those in layers, and cubes.
pub trait Geometry: 'static + sealed::Sealed {
    /// The extents, as in `(width, height)`; layers come last, and a cube has one side.
    type Size: Copy;
    /// What it is, for messages.
    #[doc(hidden)]
    const NAME: &'static str;
    #[doc(hidden)]
    const FLAGS: u32;
    /// How many coordinates have an address mode.
    #[doc(hidden)]
    const DIMENSIONS: usize;
    #[doc(hidden)]
    const TEXTURE: &'static [Limit];
    /// None if there are no surfaces.
    #[doc(hidden)]
    const SURFACE: Option<&'static [Limit]>;
    #[doc(hidden)]
    fn extents(size: Self::Size) -> Extents;
    /// Level `level` of extents: each half of that before, but not its layers.
    #[doc(hidden)]
    fn level(extents: Extents, level: u32) -> Extents {
        let half = |extent: usize| if extent == 0 { 0 } else { (extent >> level).max(1) };
        let depth = if Self::FLAGS & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP) == 0 {
            half(extents.depth)
        } else {
            extents.depth
        };
        Extents { width: half(extents.width), height: half(extents.height), depth }
    }
    /// The most levels.
    #[doc(hidden)]
    fn levels(extents: Extents) -> u32 {
        let mut level = 0;
        while Self::level(extents, level) != Self::level(extents, level + 1) {
            level += 1;
        }
        level + 1
    }
}

mod sealed {
    /// Keeps the traits to this file's types.
    pub trait Sealed {}
}

macro_rules! geometries {
    ($(
        $name:ident, $text:literal, $flags:expr, $dimensions:literal, $texture:ident, $surface:expr,
        $size:pat => $ty:ty, ($width:expr, $height:expr, $depth:expr);
    )*) => {$(
        impl sealed::Sealed for $name {}
        impl Geometry for $name {
            type Size = $ty;
            const NAME: &'static str = $text;
            const FLAGS: u32 = $flags;
            const DIMENSIONS: usize = $dimensions;
            const TEXTURE: &'static [Limit] = limits::$texture;
            const SURFACE: Option<&'static [Limit]> = $surface;
            fn extents($size: $ty) -> Extents {
                Extents { width: $width, height: $height, depth: $depth }
            }
        }
    )*};
}
geometries! {
    OneD, "a row of texels", 0, 1, TEXTURE_1D, Some(limits::SURFACE_1D), w => usize, (w, 0, 0);
    TwoD, "a plane of texels", 0, 2, TEXTURE_2D, Some(limits::SURFACE_2D), (w, h) => (usize, usize), (w, h, 0);
    Gather2d, "a plane of texels to gather", CUDA_ARRAY3D_TEXTURE_GATHER, 2, TEXTURE_GATHER, None,
        (w, h) => (usize, usize), (w, h, 0);
    ThreeD, "a volume of texels", 0, 3, TEXTURE_3D, Some(limits::SURFACE_3D),
        (w, h, d) => (usize, usize, usize), (w, h, d);
    OneDLayered, "a row of texels in layers", CUDA_ARRAY3D_LAYERED, 1, TEXTURE_1D_LAYERED,
        Some(limits::SURFACE_1D_LAYERED), (w, layers) => (usize, usize), (w, 0, layers);
    TwoDLayered, "a plane of texels in layers", CUDA_ARRAY3D_LAYERED, 2, TEXTURE_2D_LAYERED,
        Some(limits::SURFACE_2D_LAYERED), (w, h, layers) => (usize, usize, usize), (w, h, layers);
    Cube, "a cube", CUDA_ARRAY3D_CUBEMAP, 2, TEXTURE_CUBE, Some(limits::SURFACE_CUBE), w => usize, (w, w, 6);
    CubeLayered, "a cube in layers", CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED, 2, TEXTURE_CUBE_LAYERED,
        Some(limits::SURFACE_CUBE_LAYERED), (w, layers) => (usize, usize), (w, w, layers.saturating_mul(6));
}

/// What an array can hold: [`Element`], in the driver's words.
pub trait ArrayElement: Element {
    /// `CUarray_format`.
    #[doc(hidden)]
    const FORMAT: CUarray_format = match (Self::Channel::KIND, size_of::<Self::Channel>()) {
        (Kind::Unsigned, 1) => CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8,
        (Kind::Unsigned, 2) => CUarray_format::CU_AD_FORMAT_UNSIGNED_INT16,
        (Kind::Unsigned, _) => CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32,
        (Kind::Signed, 1) => CUarray_format::CU_AD_FORMAT_SIGNED_INT8,
        (Kind::Signed, 2) => CUarray_format::CU_AD_FORMAT_SIGNED_INT16,
        (Kind::Signed, _) => CUarray_format::CU_AD_FORMAT_SIGNED_INT32,
        (Kind::Float, 2) => CUarray_format::CU_AD_FORMAT_HALF,
        (Kind::Float, _) => CUarray_format::CU_AD_FORMAT_FLOAT,
    };
}

impl<T: Element> ArrayElement for T {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_are_the_drivers() {
        let extents = |extents: Extents| (extents.width, extents.height, extents.depth);
        assert_eq!(extents(OneD::extents(5)), (5, 0, 0));
        assert_eq!(extents(TwoD::extents((5, 4))), (5, 4, 0));
        assert_eq!(extents(OneDLayered::extents((5, 3))), (5, 0, 3));
        assert_eq!(extents(Cube::extents(5)), (5, 5, 6));
        assert_eq!(extents(CubeLayered::extents((5, 2))), (5, 5, 12));
        assert_eq!(Cube::extents(5).len(), 150);
        assert_eq!(OneDLayered::extents((5, 3)).rows(), 3);
        assert_eq!(ThreeD::extents((5, 4, 3)).text(), "5 × 4 × 3");
        assert_eq!(OneDLayered::extents((5, 3)).text(), "5 × 3");
    }

    #[test]
    fn levels_halve_what_is_no_layer() {
        assert_eq!(TwoD::levels(TwoD::extents((64, 16))), 7);
        assert_eq!(TwoD::levels(TwoD::extents((1, 1))), 1);
        assert_eq!(OneDLayered::levels(OneDLayered::extents((5, 300))), 3);
        assert_eq!(ThreeD::level(ThreeD::extents((8, 5, 4)), 1).text(), "4 × 2 × 2");
        assert_eq!(TwoDLayered::level(TwoDLayered::extents((8, 5, 4)), 3).text(), "1 × 1 × 4");
        assert_eq!(Cube::level(Cube::extents(8), 2).text(), "2 × 2 × 6");
    }

    #[test]
    fn formats_are_the_drivers() {
        assert_eq!(<[u8; 4]>::FORMAT as u32, 1);
        assert_eq!(<[i16; 2]>::FORMAT as u32, 9);
        assert_eq!(u32::FORMAT as u32, 3);
        assert_eq!(f32::FORMAT as u32, 32);
        #[cfg(feature = "half")]
        assert_eq!(half::f16::FORMAT as u32, 16);
    }
}
