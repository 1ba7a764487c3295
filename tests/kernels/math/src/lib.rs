//! Kernels that call every method of `ptx::math::Math`, one a kernel and precision: `sin_f32`, `sin_f64`, and so on.
#![cfg_attr(target_arch = "nvptx64", no_std)]

mod crates;

use ptx::math::Math;
use ptx::prelude::*;

/// A kernel that puts `$body`, which may read `x`, `y`, `z`, `w` and `n`, into an element of `out`.
macro_rules! kernel {
    ($space:literal $name:ident $float:ident $result:ty: |$x:ident, $y:ident, $z:ident, $w:ident, $n:ident| $body:expr) => {
        /// Calls the function of its name.
        #[kernel(export = "C++", namespace = $space)]
        pub fn $name(values: &[[$float; 4]], integers: &[i32], mut out: DisjointSlice<$result>) {
            let i = thread::index_1d();
            if let Some(out) = out.get_mut(i) {
                let [$x, $y, $z, $w] = values[i.get()];
                let $n = integers[i.get()];
                let _ = ($x, $y, $z, $w, $n);
                *out = $body;
            }
        }
    };
}

macro_rules! kernels {
    (
        $float:ident $space:literal
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
        /// In this precision.
        pub mod $float {
            use super::*;
            $(kernel!($space $unary $float $float: |x, y, z, w, n| Math::$unary(x));)*
            $(
                #[cfg(not(feature = "without-libdevice"))]
                kernel!($space $unary_of_libdevice $float $float: |x, y, z, w, n| Math::$unary_of_libdevice(x));
            )*
            $(kernel!($space $binary $float $float: |x, y, z, w, n| Math::$binary(x, y));)*
            $(kernel!($space $ternary $float $float: |x, y, z, w, n| Math::$ternary(x, y, z));)*
            $(kernel!($space $quaternary $float $float: |x, y, z, w, n| Math::$quaternary(x, y, z, w));)*
            $(kernel!($space $with_int $float $float: |x, y, z, w, n| Math::$with_int(x, n));)*
            $(kernel!($space $with_long $float $float: |x, y, z, w, n| Math::$with_long(x, i64::from(n) << 8));)*
            $(kernel!($space $int_with $float $float: |x, y, z, w, n| Math::$int_with(x, n));)*
            $(kernel!($space $to_int $float i32: |x, y, z, w, n| Math::$to_int(x));)*
            $(kernel!($space $to_long $float i64: |x, y, z, w, n| Math::$to_long(x));)*
            $(kernel!($space $sine_and_cosine $float [$float; 2]: |x, y, z, w, n| Math::$sine_and_cosine(x).into());)*
            $(kernel!($space $modf $float [$float; 2]: |x, y, z, w, n| Math::$modf(x).into());)*
            $(kernel!($space $frexp $float [$float; 2]: |x, y, z, w, n| pair(Math::$frexp(x)));)*
            $(kernel!($space $remquo $float [$float; 2]: |x, y, z, w, n| pair(Math::$remquo(x, y)));)*
            $(kernel!($space $slice $float $float: |x, y, z, w, n| Math::$slice(&[x, y, z, w]));)*
            kernel!($space log $float $float: |x, y, z, w, n| Math::log(x, y));
            kernel!($space fract $float $float: |x, y, z, w, n| Math::fract(x));
            kernel!($space div_euclid $float $float: |x, y, z, w, n| Math::div_euclid(x, y));
            kernel!($space rem_euclid $float $float: |x, y, z, w, n| Math::rem_euclid(x, y));

            fn pair((x, n): ($float, i32)) -> [$float; 2] {
                [x, n as $float]
            }
        }
    };
}

ptx::math::functions!(kernels [f32 "single"]);
ptx::math::functions!(kernels [f64 "double"]);
