//! The functions on the device: calls that the compiler replaces by libdevice's, or by instructions.

use super::{Math, portable};

/// Calls C's function of this name, with C's signature.
macro_rules! call {
    ($name:ident($($argument:ident: $ty:ty),*) $(-> $result:ty)?) => {{
        unsafe extern "C" {
            // `ptx_abi::MATH_PREFIX`
            #[link_name = concat!("__ptx_math_", stringify!($name))]
            fn call($($argument: $ty),*) $(-> $result)?;
        }
        // SAFETY: the compiler puts a function of this signature in its place; pointers are those of local variables, or
        // of slices with their length.
        unsafe { call($($argument),*) }
    }};
}

/// The implementation for one type; `$pick` chooses CUDA's name for it.
macro_rules! implement {
    (
        $float:ident $pick:ident
        unary { $($unary:ident = $($unary_c:ident)*;)* }
        unary_of_libdevice { $($unary_of_libdevice:ident = $($unary_of_libdevice_c:ident)*;)* }
        binary { $($binary:ident = $($binary_c:ident)*;)* }
        ternary { $($ternary:ident = $($ternary_c:ident)*;)* }
        quaternary { $($quaternary:ident = $($quaternary_c:ident)*;)* }
        with_int { $($with_int:ident = $($with_int_c:ident)*;)* }
        with_long { $($with_long:ident = $($with_long_c:ident)*;)* }
        int_with { $($int_with:ident = $($int_with_c:ident)*;)* }
        to_int { $($to_int:ident = $($to_int_c:ident)*;)* }
        to_long { $($to_long:ident = $($to_long_c:ident)*;)* }
        sine_and_cosine { $($sine_and_cosine:ident = $($sine_and_cosine_c:ident)*;)* }
        modf { $($modf:ident = $($modf_c:ident)*;)* }
        frexp { $($frexp:ident = $($frexp_c:ident)*;)* }
        remquo { $($remquo:ident = $($remquo_c:ident)*;)* }
        slice { $($slice:ident = $($slice_c:ident)*;)* }
    ) => {
        impl Math for $float {
            $(
                #[inline(always)]
                fn $unary(self) -> Self {
                    let x = self;
                    $pick!(call ($($unary_c)*) (x: $float) -> $float)
                }
            )*
            $(
                #[inline(always)]
                fn $unary_of_libdevice(self) -> Self {
                    let x = self;
                    $pick!(call ($($unary_of_libdevice_c)*) (x: $float) -> $float)
                }
            )*
            $(
                #[inline(always)]
                fn $binary(self, y: Self) -> Self {
                    let x = self;
                    $pick!(call ($($binary_c)*) (x: $float, y: $float) -> $float)
                }
            )*
            $(
                #[inline(always)]
                fn $ternary(self, y: Self, z: Self) -> Self {
                    let x = self;
                    $pick!(call ($($ternary_c)*) (x: $float, y: $float, z: $float) -> $float)
                }
            )*
            $(
                #[inline(always)]
                fn $quaternary(self, y: Self, z: Self, w: Self) -> Self {
                    let x = self;
                    $pick!(call ($($quaternary_c)*) (x: $float, y: $float, z: $float, w: $float) -> $float)
                }
            )*
            $(
                #[inline(always)]
                fn $with_int(self, n: i32) -> Self {
                    let x = self;
                    $pick!(call ($($with_int_c)*) (x: $float, n: i32) -> $float)
                }
            )*
            $(
                #[inline(always)]
                fn $with_long(self, n: i64) -> Self {
                    let x = self;
                    $pick!(call ($($with_long_c)*) (x: $float, n: i64) -> $float)
                }
            )*
            $(
                #[inline(always)]
                fn $int_with(self, n: i32) -> Self {
                    let x = self;
                    $pick!(call ($($int_with_c)*) (n: i32, x: $float) -> $float)
                }
            )*
            $(
                #[inline(always)]
                fn $to_int(self) -> i32 {
                    let x = self;
                    $pick!(call ($($to_int_c)*) (x: $float) -> i32)
                }
            )*
            $(
                #[inline(always)]
                fn $to_long(self) -> i64 {
                    let x = self;
                    $pick!(call ($($to_long_c)*) (x: $float) -> i64)
                }
            )*
            $(
                #[inline(always)]
                fn $sine_and_cosine(self) -> (Self, Self) {
                    let (x, mut sine, mut cosine) = (self, 0.0, 0.0);
                    let (s, c): (*mut $float, *mut $float) = (&mut sine, &mut cosine);
                    $pick!(call ($($sine_and_cosine_c)*) (x: $float, s: *mut $float, c: *mut $float));
                    (sine, cosine)
                }
            )*
            $(
                #[inline(always)]
                fn $modf(self) -> (Self, Self) {
                    let (x, mut whole) = (self, 0.0);
                    let w: *mut $float = &mut whole;
                    let fraction = $pick!(call ($($modf_c)*) (x: $float, w: *mut $float) -> $float);
                    (fraction, whole)
                }
            )*
            $(
                #[inline(always)]
                fn $frexp(self) -> (Self, i32) {
                    let (x, mut exponent) = (self, 0);
                    let e: *mut i32 = &mut exponent;
                    let fraction = $pick!(call ($($frexp_c)*) (x: $float, e: *mut i32) -> $float);
                    (fraction, exponent)
                }
            )*
            $(
                #[inline(always)]
                fn $remquo(self, y: Self) -> (Self, i32) {
                    let (x, mut quotient) = (self, 0);
                    let q: *mut i32 = &mut quotient;
                    let remainder = $pick!(call ($($remquo_c)*) (x: $float, y: $float, q: *mut i32) -> $float);
                    (remainder, quotient)
                }
            )*
            $(
                #[inline(always)]
                fn $slice(values: &[Self]) -> Self {
                    let (n, p) = (portable::dimension(values.len()), values.as_ptr());
                    $pick!(call ($($slice_c)*) (n: i32, p: *const $float) -> $float)
                }
            )*
            portable::provided!($float);
        }
    };
}

macro_rules! double {
    ($call:ident ($double:ident $single:ident) ($($signature:tt)*) $(-> $result:ty)?) => {
        $call!($double($($signature)*) $(-> $result)?)
    };
}

macro_rules! single {
    ($call:ident ($double:ident $single:ident) ($($signature:tt)*) $(-> $result:ty)?) => {
        $call!($single($($signature)*) $(-> $result)?)
    };
}

crate::__math_functions!(implement [f32 single]);
crate::__math_functions!(implement [f64 double]);
