//! Loads and stores of surfaces: `suld`, `sust`.

use super::element::Element;
#[cfg(not(target_arch = "nvptx64"))]
use super::handle::only_on_the_gpu;
use super::handle::{Cube, CubeLayered, OneD, OneDLayered, Surface, ThreeD, TwoD, TwoDLayered};

/// What a load or a store outside of a surface does. CUDA: `cudaSurfaceBoundaryMode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// The launch ends, and the context is lost. PTX: `.trap`.
    Trap,
    /// The nearest element is meant. PTX: `.clamp`.
    Clamp,
    /// A load gives zeros, and a store does nothing. PTX: `.zero`.
    Zero,
}

/// Chooses the instruction by size and number of the element's channels and by what is done outside.
#[cfg(target_arch = "nvptx64")]
macro_rules! each_form {
    ($element:ty, $bounds:ident, $form:ident) => {
        match (size_of::<<$element as Element>::Channel>(), <$element as Element>::CHANNELS, $bounds) {
            (1, 1, Bounds::Trap) => $form!(one, u16, "h", ".b8.trap"),
            (1, 1, Bounds::Clamp) => $form!(one, u16, "h", ".b8.clamp"),
            (1, 1, Bounds::Zero) => $form!(one, u16, "h", ".b8.zero"),
            (2, 1, Bounds::Trap) => $form!(one, u16, "h", ".b16.trap"),
            (2, 1, Bounds::Clamp) => $form!(one, u16, "h", ".b16.clamp"),
            (2, 1, Bounds::Zero) => $form!(one, u16, "h", ".b16.zero"),
            (_, 1, Bounds::Trap) => $form!(one, u32, "r", ".b32.trap"),
            (_, 1, Bounds::Clamp) => $form!(one, u32, "r", ".b32.clamp"),
            (_, 1, Bounds::Zero) => $form!(one, u32, "r", ".b32.zero"),
            (1, 2, Bounds::Trap) => $form!(two, u16, "h", ".v2.b8.trap"),
            (1, 2, Bounds::Clamp) => $form!(two, u16, "h", ".v2.b8.clamp"),
            (1, 2, Bounds::Zero) => $form!(two, u16, "h", ".v2.b8.zero"),
            (2, 2, Bounds::Trap) => $form!(two, u16, "h", ".v2.b16.trap"),
            (2, 2, Bounds::Clamp) => $form!(two, u16, "h", ".v2.b16.clamp"),
            (2, 2, Bounds::Zero) => $form!(two, u16, "h", ".v2.b16.zero"),
            (_, 2, Bounds::Trap) => $form!(two, u32, "r", ".v2.b32.trap"),
            (_, 2, Bounds::Clamp) => $form!(two, u32, "r", ".v2.b32.clamp"),
            (_, 2, Bounds::Zero) => $form!(two, u32, "r", ".v2.b32.zero"),
            (1, _, Bounds::Trap) => $form!(four, u16, "h", ".v4.b8.trap"),
            (1, _, Bounds::Clamp) => $form!(four, u16, "h", ".v4.b8.clamp"),
            (1, _, Bounds::Zero) => $form!(four, u16, "h", ".v4.b8.zero"),
            (2, _, Bounds::Trap) => $form!(four, u16, "h", ".v4.b16.trap"),
            (2, _, Bounds::Clamp) => $form!(four, u16, "h", ".v4.b16.clamp"),
            (2, _, Bounds::Zero) => $form!(four, u16, "h", ".v4.b16.zero"),
            (_, _, Bounds::Trap) => $form!(four, u32, "r", ".v4.b32.trap"),
            (_, _, Bounds::Clamp) => $form!(four, u32, "r", ".v4.b32.clamp"),
            (_, _, Bounds::Zero) => $form!(four, u32, "r", ".v4.b32.zero"),
        }
    };
}

/// Loads an element. The coordinates stand in brackets behind one, two or four results.
#[cfg(target_arch = "nvptx64")]
macro_rules! load {
    (
        $element:ty, $handle:expr, $bounds:ident, $geometry:literal, ($($coordinate:expr),*), $classes:literal,
        $behind_one:literal, $behind_two:literal, $behind_four:literal
    ) => {{
        macro_rules! form {
            (one, $word:ty, $class:literal, $text:literal) => {{
                let mut a = <$word>::default();
                assembly!(
                    concat!("__ptx_asm:v:=", $class, ":l,", $classes, ":suld.b.", $geometry, $text, " {$0}, ", $behind_one);
                    ($handle => u64, $($coordinate => i32,)* &mut a => *mut $word)
                );
                [a.into(), 0, 0, 0]
            }};
            (two, $word:ty, $class:literal, $text:literal) => {{
                let (mut a, mut b) = (<$word>::default(), <$word>::default());
                assembly!(
                    concat!(
                        "__ptx_asm:v:=", $class, ",=", $class, ":l,", $classes, ":suld.b.", $geometry, $text,
                        " {$0, $1}, ", $behind_two
                    );
                    ($handle => u64, $($coordinate => i32,)* &mut a => *mut $word, &mut b => *mut $word)
                );
                [a.into(), b.into(), 0, 0]
            }};
            (four, $word:ty, $class:literal, $text:literal) => {{
                let mut words = [<$word>::default(); 4];
                let [a, b, c, d] = &mut words;
                assembly!(
                    concat!(
                        "__ptx_asm:v:=", $class, ",=", $class, ",=", $class, ",=", $class, ":l,", $classes, ":suld.b.",
                        $geometry, $text, " {$0, $1, $2, $3}, ", $behind_four
                    );
                    (
                        $handle => u64, $($coordinate => i32,)*
                        a => *mut $word, b => *mut $word, c => *mut $word, d => *mut $word
                    )
                );
                words.map(u32::from)
            }};
        }
        // SAFETY: it writes the results. What it reads is no memory of Rust's (see the module).
        <$element as Element>::from_channels(unsafe { each_form!($element, $bounds, form) })
    }};
}

/// Stores an element. The channels stand in braces behind the coordinates.
#[cfg(target_arch = "nvptx64")]
macro_rules! store {
    (
        $element:ty, $value:expr, $handle:expr, $bounds:ident, $geometry:literal, ($($coordinate:expr),*),
        $classes:literal, $place:literal, $one:literal, $two:literal, $four:literal
    ) => {{
        let [a, b, c, d] = Element::to_channels($value);
        macro_rules! form {
            (one, $word:ty, $class:literal, $text:literal) => {
                assembly!(
                    concat!("__ptx_asm:v::l,", $classes, ",", $class, ":sust.b.", $geometry, $text, $place, $one);
                    ($handle => u64, $($coordinate => i32,)* a as $word => $word)
                )
            };
            (two, $word:ty, $class:literal, $text:literal) => {
                assembly!(
                    concat!(
                        "__ptx_asm:v::l,", $classes, ",", $class, ",", $class, ":sust.b.", $geometry, $text, $place, $two
                    );
                    ($handle => u64, $($coordinate => i32,)* a as $word => $word, b as $word => $word)
                )
            };
            (four, $word:ty, $class:literal, $text:literal) => {
                assembly!(
                    concat!(
                        "__ptx_asm:v::l,", $classes, ",", $class, ",", $class, ",", $class, ",", $class, ":sust.b.",
                        $geometry, $text, $place, $four
                    );
                    (
                        $handle => u64, $($coordinate => i32,)*
                        a as $word => $word, b as $word => $word, c as $word => $word, d as $word => $word
                    )
                )
            };
        }
        // SAFETY: what it writes is no memory of Rust's (see the module).
        unsafe { each_form!($element, $bounds, form) }
    }};
}

macro_rules! surfaces {
    ($(
        $dimension:ty, $geometry:literal, ($($coordinate:ident),*), [$($operand:expr),*], $classes:literal,
        [$behind_one:literal, $behind_two:literal, $behind_four:literal],
        [$place:literal, $one:literal, $two:literal, $four:literal], $cuda:literal;
    )*) => {$(
        impl<T: Element> Surface<'_, $dimension, T> {
            #[doc = concat!("The element there. CUDA: `", $cuda, "read`, whose `x` is in bytes; PTX: `suld.b.", $geometry, "`.")]
            #[must_use]
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            pub fn read(self, $($coordinate: i32,)* bounds: Bounds) -> T {
                #[cfg(target_arch = "nvptx64")]
                {
                    load!(
                        T, self.handle, bounds, $geometry, ($($operand),*), $classes, $behind_one, $behind_two, $behind_four
                    )
                }
                #[cfg(not(target_arch = "nvptx64"))]
                {
                    _ = ($($coordinate,)* bounds);
                    only_on_the_gpu()
                }
            }

            #[doc = concat!("Writes the element there. CUDA: `", $cuda, "write`, whose `x` is in bytes; PTX: `sust.b.", $geometry, "`.")]
            ///
            /// If threads write the same element, what stays is of one of them, or parts of several.
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            pub fn write(self, $($coordinate: i32,)* value: T, bounds: Bounds) {
                #[cfg(target_arch = "nvptx64")]
                {
                    store!(
                        T, value, self.handle, bounds, $geometry, ($($operand),*), $classes, $place, $one, $two, $four
                    );
                }
                #[cfg(not(target_arch = "nvptx64"))]
                {
                    _ = ($($coordinate,)* bounds, value.to_channels());
                    only_on_the_gpu()
                }
            }
        }
    )*};
}

/// Where element `x` of a row begins, in bytes.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
const fn bytes<T>(x: i32) -> i32 {
    x.wrapping_mul(size_of::<T>() as i32)
}

// Faces and layers of cubes are layers of planes. Where coordinates are three, a fourth is ignored.
surfaces! {
    OneD, "1d", (x), [bytes::<T>(x)], "r", ["[$1, {$2}];", "[$2, {$3}];", "[$4, {$5}];"],
        [" [$0, {$1}], ", "{$2};", "{$2, $3};", "{$2, $3, $4, $5};"], "surf1D";
    TwoD, "2d", (x, y), [bytes::<T>(x), y], "r,r", ["[$1, {$2, $3}];", "[$2, {$3, $4}];", "[$4, {$5, $6}];"],
        [" [$0, {$1, $2}], ", "{$3};", "{$3, $4};", "{$3, $4, $5, $6};"], "surf2D";
    ThreeD, "3d", (x, y, z), [bytes::<T>(x), y, z], "r,r,r",
        ["[$1, {$2, $3, $4, $4}];", "[$2, {$3, $4, $5, $5}];", "[$4, {$5, $6, $7, $7}];"],
        [" [$0, {$1, $2, $3, $3}], ", "{$4};", "{$4, $5};", "{$4, $5, $6, $7};"], "surf3D";
    OneDLayered, "a1d", (layer, x), [layer, bytes::<T>(x)], "r,r",
        ["[$1, {$2, $3}];", "[$2, {$3, $4}];", "[$4, {$5, $6}];"],
        [" [$0, {$1, $2}], ", "{$3};", "{$3, $4};", "{$3, $4, $5, $6};"], "surf1DLayered";
    TwoDLayered, "a2d", (layer, x, y), [layer, bytes::<T>(x), y], "r,r,r",
        ["[$1, {$2, $3, $4, $4}];", "[$2, {$3, $4, $5, $5}];", "[$4, {$5, $6, $7, $7}];"],
        [" [$0, {$1, $2, $3, $3}], ", "{$4};", "{$4, $5};", "{$4, $5, $6, $7};"], "surf2DLayered";
    Cube, "a2d", (face, x, y), [face, bytes::<T>(x), y], "r,r,r",
        ["[$1, {$2, $3, $4, $4}];", "[$2, {$3, $4, $5, $5}];", "[$4, {$5, $6, $7, $7}];"],
        [" [$0, {$1, $2, $3, $3}], ", "{$4};", "{$4, $5};", "{$4, $5, $6, $7};"], "surfCubemap";
    CubeLayered, "a2d", (layer_face, x, y), [layer_face, bytes::<T>(x), y], "r,r,r",
        ["[$1, {$2, $3, $4, $4}];", "[$2, {$3, $4, $5, $5}];", "[$4, {$5, $6, $7, $7}];"],
        [" [$0, {$1, $2, $3, $3}], ", "{$4};", "{$4, $5};", "{$4, $5, $6, $7};"], "surfCubemapLayered";
}
