//! The handles that kernels take, by dimensions and type.

use core::fmt;
use core::marker::PhantomData;

use ptx_abi::cxx::{Cxx, Definition};
use ptx_abi::{Class, CxxType, DeviceParam, Type};

use crate::ffi::{SurfaceObject, TextureObject};

use super::element::{Element, Texel};

macro_rules! dimensions {
    ($($(#[$doc:meta])* $name:ident, $texture:ident $(, $surface:ident)?;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        #[doc = concat!("A texture of [`", stringify!($name), "`].")]
        pub type $texture<'a, T> = Texture<'a, $name, T>;

        $(
            #[doc = concat!("A surface of [`", stringify!($name), "`].")]
            pub type $surface<'a, T> = Surface<'a, $name, T>;
        )?
    )*};
}
dimensions! {
    /// A row of texels.
    OneD, Texture1d, Surface1d;
    /// A plane of texels.
    TwoD, Texture2d, Surface2d;
    /// A plane whose texels can be gathered, four at once.
    Gather2d, TextureGather2d;
    /// A volume of texels.
    ThreeD, Texture3d, Surface3d;
    /// Several rows, which filters keep apart.
    OneDLayered, Texture1dLayered, Surface1dLayered;
    /// Several planes, which filters keep apart.
    TwoDLayered, Texture2dLayered, Surface2dLayered;
    /// Six square planes, the faces of a cube: +x, −x, +y, −y, +z, −z.
    Cube, TextureCube, SurfaceCube;
    /// Several cubes.
    CubeLayered, TextureCubeLayered, SurfaceCubeLayered;
    /// Linear memory, by number of the element, without filter.
    Linear, TextureLinear;
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident<$bound:ident> = $object:ident;)*) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        pub struct $name<'a, D, T> {
            pub(super) handle: u64,
            image: PhantomData<(&'a T, D)>,
        }

        impl<D, T> Clone for $name<'_, D, T> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<D, T> Copy for $name<'_, D, T> {}

        impl<D, T> fmt::Debug for $name<'_, D, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:#x})"), self.handle)
            }
        }

        impl<D, T> $name<'_, D, T> {
            /// The handle that CUDA C++ code has made.
            ///
            /// # Safety
            /// It must be that of an image of these dimensions and this type, and live as long as the result.
            #[inline(always)]
            pub const unsafe fn from_object(object: $object) -> Self {
                Self { handle: object.0, image: PhantomData }
            }

            /// The handle, for CUDA C++ code.
            #[inline(always)]
            pub const fn object(self) -> $object {
                $object(self.handle)
            }
        }

        // SAFETY: the handle, as `unsigned long long` (guide §1.4).
        unsafe impl<D, T: $bound> DeviceParam for $name<'_, D, T> {
            type Raw = u64;
            const TYPE: Type = Type::scalar::<u64>(Class::Unsigned);
            const CXX: Cxx<'static> = <$object as CxxType>::CXX;
            const DEFINITION: &'static Definition<'static> = <$object as CxxType>::DEFINITION;
            #[inline(always)]
            unsafe fn from_raw(raw: u64) -> Self {
                Self { handle: raw, image: PhantomData }
            }
            #[inline(always)]
            fn into_raw(self) -> u64 {
                self.handle
            }
        }
    )*};
}
handles! {
    /// An image that threads read through the texture unit; `T` is what a fetch gives. CUDA: `cudaTextureObject_t`.
    ///
    /// `D` is one of [`OneD`], [`TwoD`] and so on; [`Texture2d<T>`](Texture2d) and its kin are shorter.
    Texture<Texel> = TextureObject;
    /// An image that threads read and write, element by element; `T` is the array's element. CUDA: `cudaSurfaceObject_t`.
    ///
    /// `D` is one of [`OneD`], [`TwoD`] and so on; [`Surface2d<T>`](Surface2d) and its kin are shorter. Coordinates are
    /// numbers of elements, `x` from −2^27 to 2^27; a layer comes first, and of cubes 6 times the layer plus the face.
    Surface<Element> = SurfaceObject;
}

/// What the host does in place of an instruction.
#[cfg(not(target_arch = "nvptx64"))]
#[cold]
#[track_caller]
pub(super) fn only_on_the_gpu() -> ! {
    panic!("textures and surfaces need a GPU: the host has no texture unit")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texture::surface::Bounds;

    #[test]
    #[should_panic(expected = "textures and surfaces need a GPU")]
    fn a_fetch_needs_a_gpu() {
        // SAFETY: the host has no texture unit that could use the handle.
        let texture = unsafe { Texture2d::<f32>::from_object(TextureObject(0)) };
        _ = texture.fetch(0.5, 0.5);
    }

    #[test]
    #[should_panic(expected = "textures and surfaces need a GPU")]
    fn a_store_needs_a_gpu() {
        // SAFETY: as above.
        let surface = unsafe { Surface3d::<u8>::from_object(SurfaceObject(0)) };
        surface.write(0, 0, 0, 1, Bounds::Zero);
    }
}
