//! The host's side of every type that a kernel's parameter may have.

use ptx_abi::cxx::{Cxx, Definition};
use ptx_abi::{AbiType, CxxType, DeviceParam, Referent, Type};
use ptx_device::atomic::{AtomicSlice, AtomicValue, Scope};
use ptx_device::disjoint::{DisjointParts, DisjointRows, DisjointStrided, ThreadGroup, TileOrder};
use ptx_device::ffi::{
    CChar, Char8, Char16, LongLong, Restrict, SamplerObject, SurfaceObject, TextureObject, ULongLong, WChar,
};
#[cfg(feature = "half")]
use ptx_device::float::{Bf16x2, F8E4M3, F8E4M3x2, F8E5M2, F8E5M2x2, F16x2};
use ptx_device::graph::Condition;
use ptx_device::texture::{Element, Surface, Texel, Texture};
use ptx_device::{Disjoint2d, Disjoint3d, DisjointSlice, DisjointTiles, native_vectors, vec};

use crate::condition::GraphCondition;
use crate::launch::Launch;
use crate::memory::{DevicePointer, DeviceRead, DeviceWrite};
use crate::shape::{Plane, Strided, Volume};
use crate::texture::{BoundSurface, BoundTexture};

/// A type that a kernel's parameter can have, and what the host passes for it.
///
/// # Safety
/// `push` must push exactly one argument, of the layout that [`ptx_abi::DeviceParam::TYPE`] says, and memory of the
/// elements that the type says.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel parameter",
    label = "the host cannot pass this to a kernel",
    note = "kernels take scalars, raw pointers, `&T`, `&[T]`, `DisjointSlice<T>`, and types that derive `ptx::AbiType`"
)]
pub unsafe trait HostParam: DeviceParam {
    /// The type of the host's argument.
    type Host<'a>;
    /// [`DeviceParam::TYPE`], named through this trait so that a type that lacks both is one error.
    #[doc(hidden)]
    const LAYOUT: Type = <Self as DeviceParam>::TYPE;
    /// [`DeviceParam::CXX`].
    #[doc(hidden)]
    const NAME: Cxx<'static> = <Self as DeviceParam>::CXX;
    /// [`DeviceParam::DEFINITION`].
    #[doc(hidden)]
    const HELD: &'static Definition<'static> = <Self as DeviceParam>::DEFINITION;

    /// Adds the argument to a launch.
    fn push<'a>(host: Self::Host<'a>, launch: &mut Launch<'a>);
}

macro_rules! by_value {
    // Not in rustc's lists of types that would do: they are too many.
    (@hidden $($ty:ty),*) => {$( by_value!(@one $ty, diagnostic::do_not_recommend); )*};
    (@one $ty:ty $(, $attribute:meta)?) => {
        $(#[$attribute])?
        // SAFETY: the value itself.
        unsafe impl HostParam for $ty {
            type Host<'a> = Self;
            #[inline]
            fn push<'a>(host: Self, launch: &mut Launch<'a>) {
                launch.push_value(host);
            }
        }
    };
    ($($ty:ty),*) => {$( by_value!(@one $ty); )*};
}
by_value!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, bool, char, f32, f64);
#[cfg(feature = "half")]
by_value!(@hidden half::f16, half::bf16, F16x2, Bf16x2, F8E4M3, F8E4M3x2, F8E5M2, F8E5M2x2);

macro_rules! vectors {
    ($($name:ident, $make:ident, $cuda:literal, $lane:ident, $kind:ident, $fields:tt, $align:tt;)*) => {
        by_value!(@hidden $(vec::$name),*);
    };
}
native_vectors!(vectors);
by_value!(@hidden CChar, LongLong, ULongLong, WChar, Char8, Char16, TextureObject, SurfaceObject, SamplerObject);

// SAFETY: the value itself.
unsafe impl<T: AbiType, const N: usize> HostParam for [T; N] {
    type Host<'a> = Self;
    #[inline]
    fn push<'a>(host: Self, launch: &mut Launch<'a>) {
        launch.push_value(host);
    }
}

// SAFETY: an address.
unsafe impl<T: CxxType + 'static> HostParam for *const T {
    type Host<'a> = DevicePointer<T>;
    #[inline]
    fn push<'a>(host: DevicePointer<T>, launch: &mut Launch<'a>) {
        launch.push_value(host.address());
    }
}

// SAFETY: an address.
unsafe impl<T: CxxType + 'static> HostParam for *mut T {
    type Host<'a> = DevicePointer<T>;
    #[inline]
    fn push<'a>(host: DevicePointer<T>, launch: &mut Launch<'a>) {
        launch.push_value(host.address());
    }
}

#[diagnostic::do_not_recommend]
// SAFETY: an address.
unsafe impl<T: CxxType + 'static> HostParam for Restrict<*const T> {
    type Host<'a> = DevicePointer<T>;
    #[inline]
    fn push<'a>(host: DevicePointer<T>, launch: &mut Launch<'a>) {
        launch.push_value(host.address());
    }
}

#[diagnostic::do_not_recommend]
// SAFETY: an address.
unsafe impl<T: CxxType + 'static> HostParam for Restrict<*mut T> {
    type Host<'a> = DevicePointer<T>;
    #[inline]
    fn push<'a>(host: DevicePointer<T>, launch: &mut Launch<'a>) {
        launch.push_value(host.address());
    }
}

// SAFETY: the address of at least one `T`, which `Launch` checks; or address and length.
unsafe impl<T: ?Sized + Referent<Element: AbiType>> HostParam for &T {
    type Host<'a> = &'a dyn DeviceRead<T::Element>;
    #[inline]
    fn push<'a>(host: &'a dyn DeviceRead<T::Element>, launch: &mut Launch<'a>) {
        if T::IS_SLICE { launch.push_slice(host) } else { launch.push_reference(host) }
    }
}

// SAFETY: address and length of memory that is borrowed exclusively.
unsafe impl<T: AbiType> HostParam for DisjointSlice<'_, T> {
    type Host<'a> = &'a mut dyn DeviceWrite<T>;
    #[inline]
    fn push<'a>(host: &'a mut dyn DeviceWrite<T>, launch: &mut Launch<'a>) {
        launch.push_slice_mut(host);
    }
}

#[diagnostic::do_not_recommend]
// SAFETY: address and length of memory that is borrowed exclusively.
unsafe impl<T: AbiType, G: ThreadGroup, const N: usize> HostParam for DisjointParts<'_, T, G, N> {
    type Host<'a> = &'a mut dyn DeviceWrite<T>;
    #[inline]
    fn push<'a>(host: &'a mut dyn DeviceWrite<T>, launch: &mut Launch<'a>) {
        launch.push_slice_mut(host);
    }
}

macro_rules! shaped {
    ($([$($generics:tt)*] $ty:ty = $host:ident;)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: address and extents of memory that is borrowed exclusively; `Launch` checks that it has the elements.
        unsafe impl<$($generics)*> HostParam for $ty {
            type Host<'a> = $host<'a, T>;
            #[inline]
            fn push<'a>(host: $host<'a, T>, launch: &mut Launch<'a>) {
                let (memory, shape) = host.into_parts();
                launch.push_shaped(memory, shape);
            }
        }
    )*};
}
shaped! {
    [T: AbiType] Disjoint2d<'_, T> = Plane;
    [T: AbiType] Disjoint3d<'_, T> = Volume;
    [T: AbiType, G: ThreadGroup] DisjointRows<'_, T, G> = Plane;
    [T: AbiType, const TILE: usize, const ROWS: usize, O: TileOrder] DisjointTiles<'_, T, TILE, ROWS, O> = Plane;
    [T: AbiType, const N: usize] DisjointStrided<'_, T, N> = Strided;
}

// SAFETY: a handle of an image of these dimensions whose texels are read as `T`.
unsafe impl<D: 'static, T: Texel> HostParam for Texture<'_, D, T> {
    type Host<'a> = &'a BoundTexture<'a, D, T>;
    fn push<'a>(host: Self::Host<'a>, launch: &mut Launch<'a>) {
        launch.push_object(host);
    }
}

// SAFETY: a handle of an array of these dimensions and elements.
unsafe impl<D: 'static, T: Element> HostParam for Surface<'_, D, T> {
    type Host<'a> = &'a BoundSurface<'a, D, T>;
    fn push<'a>(host: Self::Host<'a>, launch: &mut Launch<'a>) {
        launch.push_object(host);
    }
}

// SAFETY: address and length of memory that is borrowed exclusively.
unsafe impl<T: AtomicValue + AbiType, S: Scope> HostParam for AtomicSlice<'_, T, S> {
    type Host<'a> = &'a mut dyn DeviceWrite<T>;
    #[inline]
    fn push<'a>(host: &'a mut dyn DeviceWrite<T>, launch: &mut Launch<'a>) {
        launch.push_slice_mut(host);
    }
}

#[diagnostic::do_not_recommend]
// SAFETY: the handle of a condition, which a graph looks at that the launch is added to: all others refuse it.
unsafe impl HostParam for Condition<'_> {
    type Host<'a> = &'a GraphCondition;
    fn push<'a>(host: &'a GraphCondition, launch: &mut Launch<'a>) {
        launch.push_condition(host);
    }
}
