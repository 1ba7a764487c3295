//! The functions on the host: std's, or those of the crate `libm`, or formulas; the rest exist only on the GPU.

extern crate std;

use super::{Math, portable};
use crate::cpu::only_on_the_gpu;

macro_rules! implement {
    (
        $float:ident $formulas:ident;
        std: $($std:ident)*;
        libm: $($method:ident = $libm:ident,)*;
        formulas: $($formula:ident)*;
        gpu: $($gpu:ident)*;
        $jn:ident $yn:ident $ilogb:ident $ldexp:ident $scalbn:ident $modf:ident $frexp:ident $remquo:ident $remainder:ident
        $fdim:ident $nextafter:ident
    ) => {
        impl Math for $float {
            $(
                #[inline]
                fn $std(self) -> Self {
                    <$float>::$std(self)
                }
            )*
            $(
                #[inline]
                fn $method(self) -> Self {
                    libm::$libm(self)
                }
            )*
            $(
                #[inline]
                fn $formula(self) -> Self {
                    portable::$formulas::$formula(self)
                }
            )*
            $(
                #[track_caller]
                fn $gpu(self) -> Self {
                    only_on_the_gpu()
                }
            )*
            fn sin_cos(self) -> (Self, Self) {
                <$float>::sin_cos(self)
            }
            fn sincospi(self) -> (Self, Self) {
                portable::$formulas::sincospi(self)
            }
            fn atan2(self, x: Self) -> Self {
                <$float>::atan2(self, x)
            }
            fn powf(self, n: Self) -> Self {
                <$float>::powf(self, n)
            }
            fn powi(self, n: i32) -> Self {
                <$float>::powi(self, n)
            }
            fn hypot(self, y: Self) -> Self {
                <$float>::hypot(self, y)
            }
            fn mul_add(self, a: Self, b: Self) -> Self {
                <$float>::mul_add(self, a, b)
            }
            fn rhypot(self, y: Self) -> Self {
                portable::$formulas::rhypot(self, y)
            }
            fn norm3d(self, y: Self, z: Self) -> Self {
                portable::$formulas::norm3d(self, y, z)
            }
            fn rnorm3d(self, y: Self, z: Self) -> Self {
                portable::$formulas::rnorm3d(self, y, z)
            }
            fn norm4d(self, y: Self, z: Self, w: Self) -> Self {
                portable::$formulas::norm4d(self, y, z, w)
            }
            fn rnorm4d(self, y: Self, z: Self, w: Self) -> Self {
                portable::$formulas::rnorm4d(self, y, z, w)
            }
            fn norm(values: &[Self]) -> Self {
                portable::$formulas::norm(values)
            }
            fn rnorm(values: &[Self]) -> Self {
                portable::$formulas::rnorm(values)
            }
            fn jn(self, n: i32) -> Self {
                libm::$jn(n, self)
            }
            fn yn(self, n: i32) -> Self {
                libm::$yn(n, self)
            }
            fn ilogb(self) -> i32 {
                libm::$ilogb(self)
            }
            fn lround(self) -> i64 {
                portable::$formulas::llround(self)
            }
            fn llround(self) -> i64 {
                portable::$formulas::llround(self)
            }
            fn lrint(self) -> i64 {
                portable::$formulas::llrint(self)
            }
            fn llrint(self) -> i64 {
                portable::$formulas::llrint(self)
            }
            fn fmod(self, y: Self) -> Self {
                self % y
            }
            fn remainder(self, y: Self) -> Self {
                libm::$remainder(self, y)
            }
            fn remquo(self, y: Self) -> (Self, i32) {
                libm::$remquo(self, y)
            }
            fn fdim(self, y: Self) -> Self {
                libm::$fdim(self, y)
            }
            fn frexp(self) -> (Self, i32) {
                libm::$frexp(self)
            }
            fn modf(self) -> (Self, Self) {
                libm::$modf(self)
            }
            fn ldexp(self, n: i32) -> Self {
                libm::$ldexp(self, n)
            }
            fn scalbn(self, n: i32) -> Self {
                libm::$scalbn(self, n)
            }
            fn scalbln(self, n: i64) -> Self {
                portable::$formulas::scalbln(self, n)
            }
            fn nextafter(self, y: Self) -> Self {
                libm::$nextafter(self, y)
            }
            portable::provided!($float);
        }
    };
}

implement!(
    f32 single;
    std: sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 exp_m1 ln log2 log10 ln_1p sqrt cbrt floor ceil trunc round round_ties_even;
    libm: exp10 = exp10f, erf = erff, erfc = erfcf, tgamma = tgammaf, lgamma = lgammaf, j0 = j0f, j1 = j1f, y0 = y0f, y1 = y1f, rint = rintf, nearbyint = rintf,;
    formulas: sinpi cospi rsqrt rcbrt logb;
    gpu: erfcx erfinv erfcinv normcdf normcdfinv cyl_bessel_i0 cyl_bessel_i1;
    jnf ynf ilogbf ldexpf scalbnf modff frexpf remquof remainderf fdimf nextafterf
);
implement!(
    f64 double;
    std: sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 exp_m1 ln log2 log10 ln_1p sqrt cbrt floor ceil trunc round round_ties_even;
    libm: exp10 = exp10, erf = erf, erfc = erfc, tgamma = tgamma, lgamma = lgamma, j0 = j0, j1 = j1, y0 = y0, y1 = y1, rint = rint, nearbyint = rint,;
    formulas: sinpi cospi rsqrt rcbrt logb;
    gpu: erfcx erfinv erfcinv normcdf normcdfinv cyl_bessel_i0 cyl_bessel_i1;
    jn yn ilogb ldexp scalbn modf frexp remquo remainder fdim nextafter
);
