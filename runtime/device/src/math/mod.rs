//! Mathematical functions under std's names: CUDA's, computed by NVIDIA's libdevice, for `f32` and `f64`.
//!
//! On the device the compiler links what is called from libdevice.10.bc, or uses the crate `libm` if that is missing.
//! On the host the methods are std's, or else `libm`'s; a few exist only on the GPU, and say so. The bounds are
//! NVIDIA's (CUDA C++ Programming Guide, "Mathematical Functions"), for nvcc's default modes.

#[cfg(target_arch = "nvptx64")]
mod device;
#[cfg(any(test, target_arch = "nvptx64"))]
mod fallback;
mod functions;
#[cfg(not(target_arch = "nvptx64"))]
mod host;
mod portable;

#[doc(hidden)]
pub use crate::__math_functions as functions;

/// Mathematical functions of `f32` and `f64`.
///
/// Inherent methods win over these: on the host `x.sin()` is std's, and `abs`, `copysign`, `max` and whatever else
/// `core` has come from `core` on both sides.
///
/// ```
/// use ptx::prelude::*;
///
/// #[kernel]
/// pub fn waves(x: &[f32], mut y: DisjointSlice<f32>) {
///     let i = thread::index_1d();
///     if let Some(y) = y.get_mut(i) {
///         *y = x[i.get()].sin() * (-x[i.get()]).exp();
///     }
/// }
/// ```
pub trait Math: Copy {
    // Trigonometry

    /// Sine of an angle in radians.
    ///
    /// CUDA: `sinf`, `sin`. Within 2 (`f32`) and 2 (`f64`) ULP.
    #[must_use]
    fn sin(self) -> Self;

    /// Cosine of an angle in radians.
    ///
    /// CUDA: `cosf`, `cos`. Within 2 (`f32`) and 2 (`f64`) ULP.
    #[must_use]
    fn cos(self) -> Self;

    /// Tangent of an angle in radians.
    ///
    /// CUDA: `tanf`, `tan`. Within 4 (`f32`) and 2 (`f64`) ULP.
    #[must_use]
    fn tan(self) -> Self;

    /// Sine and cosine, for little more than one of them.
    ///
    /// CUDA: `sincosf`, `sincos`. Within 2 (`f32`) and 2 (`f64`) ULP.
    #[must_use]
    fn sin_cos(self) -> (Self, Self);

    /// Arcsine, in -π/2 to π/2; NaN outside of -1 to 1.
    ///
    /// CUDA: `asinf`, `asin`. Within 2 (`f32`) and 2 (`f64`) ULP.
    #[must_use]
    fn asin(self) -> Self;

    /// Arccosine, in 0 to π; NaN outside of -1 to 1.
    ///
    /// CUDA: `acosf`, `acos`. Within 2 (`f32`) and 2 (`f64`) ULP.
    #[must_use]
    fn acos(self) -> Self;

    /// Arctangent, in -π/2 to π/2.
    ///
    /// CUDA: `atanf`, `atan`. Within 2 (`f32`) and 2 (`f64`) ULP.
    #[must_use]
    fn atan(self) -> Self;

    /// Angle of the point with `self` as y and `x` as x, in -π to π.
    ///
    /// CUDA: `atan2f`, `atan2`. Within 3 (`f32`) and 2 (`f64`) ULP.
    #[must_use]
    fn atan2(self, x: Self) -> Self;

    /// Sine of `self` times π, without the rounding error of that product.
    ///
    /// CUDA: `sinpif`, `sinpi`. Within 1 (`f32`) and 2 (`f64`) ULP.
    #[must_use]
    fn sinpi(self) -> Self;

    /// Cosine of `self` times π, without the rounding error of that product.
    ///
    /// CUDA: `cospif`, `cospi`. Within 1 (`f32`) and 2 (`f64`) ULP.
    #[must_use]
    fn cospi(self) -> Self;

    /// Sine and cosine of `self` times π.
    ///
    /// CUDA: `sincospif`, `sincospi`. Within 1 (`f32`) and 2 (`f64`) ULP.
    #[must_use]
    fn sincospi(self) -> (Self, Self);

    /// Hyperbolic sine.
    ///
    /// CUDA: `sinhf`, `sinh`. Within 3 (`f32`) and 2 (`f64`) ULP.
    #[must_use]
    fn sinh(self) -> Self;

    /// Hyperbolic cosine.
    ///
    /// CUDA: `coshf`, `cosh`. Within 2 (`f32`) and 1 (`f64`) ULP.
    #[must_use]
    fn cosh(self) -> Self;

    /// Hyperbolic tangent.
    ///
    /// CUDA: `tanhf`, `tanh`. Within 2 (`f32`) and 1 (`f64`) ULP.
    #[must_use]
    fn tanh(self) -> Self;

    /// Inverse hyperbolic sine.
    ///
    /// CUDA: `asinhf`, `asinh`. Within 3 (`f32`) and 3 (`f64`) ULP.
    #[must_use]
    fn asinh(self) -> Self;

    /// Inverse hyperbolic cosine; NaN below 1.
    ///
    /// CUDA: `acoshf`, `acosh`. Within 4 (`f32`) and 3 (`f64`) ULP.
    #[must_use]
    fn acosh(self) -> Self;

    /// Inverse hyperbolic tangent; NaN outside of -1 to 1.
    ///
    /// CUDA: `atanhf`, `atanh`. Within 3 (`f32`) and 2 (`f64`) ULP.
    #[must_use]
    fn atanh(self) -> Self;

    // Exponentials and logarithms

    /// e to the power of `self`.
    ///
    /// CUDA: `expf`, `exp`. Within 2 (`f32`) and 1 (`f64`) ULP.
    #[must_use]
    fn exp(self) -> Self;

    /// 2 to the power of `self`. In single precision one instruction, `ex2.approx`.
    ///
    /// CUDA: `exp2f`, `exp2`. Within 2 (`f32`) and 1 (`f64`) ULP.
    #[must_use]
    fn exp2(self) -> Self;

    /// 10 to the power of `self`.
    ///
    /// CUDA: `exp10f`, `exp10`. Within 2 (`f32`) and 1 (`f64`) ULP.
    #[must_use]
    fn exp10(self) -> Self;

    /// e to the power of `self`, minus 1, also exact near 0.
    ///
    /// CUDA: `expm1f`, `expm1`. Within 1 (`f32`) and 1 (`f64`) ULP.
    #[must_use]
    fn exp_m1(self) -> Self;

    /// Natural logarithm.
    ///
    /// CUDA: `logf`, `log`. Within 1 (`f32`) and 1 (`f64`) ULP.
    #[must_use]
    fn ln(self) -> Self;

    /// Logarithm to base 2.
    ///
    /// CUDA: `log2f`, `log2`. Within 1 (`f32`) and 1 (`f64`) ULP.
    #[must_use]
    fn log2(self) -> Self;

    /// Logarithm to base 10.
    ///
    /// CUDA: `log10f`, `log10`. Within 2 (`f32`) and 1 (`f64`) ULP.
    #[must_use]
    fn log10(self) -> Self;

    /// Natural logarithm of `self` plus 1, also exact near 0.
    ///
    /// CUDA: `log1pf`, `log1p`. Within 1 (`f32`) and 1 (`f64`) ULP.
    #[must_use]
    fn ln_1p(self) -> Self;

    /// Logarithm to any base: `self.ln() / base.ln()`, as in std.
    #[must_use]
    fn log(self, base: Self) -> Self;

    /// The exponent of the number as a float: the largest integer n with 2ⁿ ≤ |self|.
    ///
    /// CUDA: `logbf`, `logb`. Exact.
    #[must_use]
    fn logb(self) -> Self;

    /// The same as an integer; `i32::MIN` for 0 and NaN, `i32::MAX` for infinities.
    ///
    /// CUDA: `ilogbf`, `ilogb`. Exact.
    #[must_use]
    fn ilogb(self) -> i32;

    // Powers and roots

    /// `self` to the power of `n`.
    ///
    /// CUDA: `powf`, `pow`. Within 4 (`f32`) and 2 (`f64`) ULP.
    #[must_use]
    fn powf(self, n: Self) -> Self;

    /// `self` to the power of `n`, by repeated multiplication.
    ///
    /// CUDA: `powif`, `powi`. CUDA gives no bound.
    #[must_use]
    fn powi(self, n: i32) -> Self;

    /// Square root. One instruction, `sqrt.rn`; in single precision by the mode `prec-sqrt`.
    ///
    /// CUDA: `sqrtf`, `sqrt`. Exact.
    #[must_use]
    fn sqrt(self) -> Self;

    /// 1 over the square root. One instruction, `rsqrt.approx`, in single precision.
    ///
    /// CUDA: `rsqrtf`, `rsqrt`. Within 2 (`f32`) and 1 (`f64`) ULP.
    #[must_use]
    fn rsqrt(self) -> Self;

    /// Cube root.
    ///
    /// CUDA: `cbrtf`, `cbrt`. Within 1 (`f32`) and 1 (`f64`) ULP.
    #[must_use]
    fn cbrt(self) -> Self;

    /// 1 over the cube root.
    ///
    /// CUDA: `rcbrtf`, `rcbrt`. Within 1 (`f32`) and 1 (`f64`) ULP.
    #[must_use]
    fn rcbrt(self) -> Self;

    /// Square root of the sum of two squares, without overflow on the way.
    ///
    /// CUDA: `hypotf`, `hypot`. Within 3 (`f32`) and 2 (`f64`) ULP.
    #[must_use]
    fn hypot(self, y: Self) -> Self;

    /// 1 over [`hypot`](Math::hypot).
    ///
    /// CUDA: `rhypotf`, `rhypot`. Within 2 (`f32`) and 1 (`f64`) ULP.
    #[must_use]
    fn rhypot(self, y: Self) -> Self;

    /// Length of a vector of three, without overflow on the way.
    ///
    /// CUDA: `norm3df`, `norm3d`. Within 3 (`f32`) and 2 (`f64`) ULP.
    #[must_use]
    fn norm3d(self, y: Self, z: Self) -> Self;

    /// 1 over [`norm3d`](Math::norm3d).
    ///
    /// CUDA: `rnorm3df`, `rnorm3d`. Within 2 (`f32`) and 1 (`f64`) ULP.
    #[must_use]
    fn rnorm3d(self, y: Self, z: Self) -> Self;

    /// Length of a vector of four, without overflow on the way.
    ///
    /// CUDA: `norm4df`, `norm4d`. Within 3 (`f32`) and 2 (`f64`) ULP.
    #[must_use]
    fn norm4d(self, y: Self, z: Self, w: Self) -> Self;

    /// 1 over [`norm4d`](Math::norm4d).
    ///
    /// CUDA: `rnorm4df`, `rnorm4d`. Within 2 (`f32`) and 1 (`f64`) ULP.
    #[must_use]
    fn rnorm4d(self, y: Self, z: Self, w: Self) -> Self;

    /// Length of a vector of any dimension.
    ///
    /// CUDA: `normf`, `norm`. CUDA gives no bound.
    #[must_use]
    fn norm(values: &[Self]) -> Self;

    /// 1 over [`norm`](Math::norm).
    ///
    /// CUDA: `rnormf`, `rnorm`. CUDA gives no bound.
    #[must_use]
    fn rnorm(values: &[Self]) -> Self;

    // Error functions and distributions

    /// Error function. On the host rustc warns that std may get a method of this name.
    ///
    /// CUDA: `erff`, `erf`. Within 2 (`f32`) and 2 (`f64`) ULP.
    #[must_use]
    fn erf(self) -> Self;

    /// 1 minus the error function, also exact where that is near 1.
    ///
    /// CUDA: `erfcf`, `erfc`. Within 4 (`f32`) and 5 (`f64`) ULP.
    #[must_use]
    fn erfc(self) -> Self;

    /// The scaled complementary error function: `erfc` times e to the power of the square. Only on the GPU.
    ///
    /// CUDA: `erfcxf`, `erfcx`. Within 4 (`f32`) and 4 (`f64`) ULP.
    #[must_use]
    fn erfcx(self) -> Self;

    /// Inverse of the error function. Only on the GPU.
    ///
    /// CUDA: `erfinvf`, `erfinv`. Within 2 (`f32`) and 5 (`f64`) ULP.
    #[must_use]
    fn erfinv(self) -> Self;

    /// Inverse of `erfc`. Only on the GPU.
    ///
    /// CUDA: `erfcinvf`, `erfcinv`. Within 4 (`f32`) and 6 (`f64`) ULP.
    #[must_use]
    fn erfcinv(self) -> Self;

    /// Distribution function of the standard normal distribution. Only on the GPU.
    ///
    /// CUDA: `normcdff`, `normcdf`. Within 5 (`f32`) and 5 (`f64`) ULP.
    #[must_use]
    fn normcdf(self) -> Self;

    /// Inverse of [`normcdf`](Math::normcdf). Only on the GPU.
    ///
    /// CUDA: `normcdfinvf`, `normcdfinv`. Within 5 (`f32`) and 8 (`f64`) ULP.
    #[must_use]
    fn normcdfinv(self) -> Self;

    // Gamma and Bessel functions

    /// Gamma function.
    ///
    /// CUDA: `tgammaf`, `tgamma`. Within 5 (`f32`) and 10 (`f64`) ULP.
    #[must_use]
    fn tgamma(self) -> Self;

    /// Natural logarithm of the absolute value of the gamma function.
    ///
    /// CUDA: `lgammaf`, `lgamma`. ULP: 6 outside of -10.001 to -2.264 (`f32`); 4 outside of -23.0001 to -2.2637 (`f64`).
    #[must_use]
    fn lgamma(self) -> Self;

    /// Bessel function of the first kind, of order 0.
    ///
    /// CUDA: `j0f`, `j0`. Within, in ULP: 9 below 8, else 2.2e-6 absolute (`f32`); 7 below 8, else 5e-12 (`f64`).
    #[must_use]
    fn j0(self) -> Self;

    /// Bessel function of the first kind, of order 1.
    ///
    /// CUDA: `j1f`, `j1`. Within, in ULP: 9 below 8, else 2.2e-6 absolute (`f32`); 7 below 8, else 5e-12 (`f64`).
    #[must_use]
    fn j1(self) -> Self;

    /// Bessel function of the first kind, of order `n`.
    ///
    /// CUDA: `jnf`, `jn`. Within, in ULP: 2.2e-6 absolute (`f32`); 5e-12 absolute (`f64`).
    #[must_use]
    fn jn(self, n: i32) -> Self;

    /// Bessel function of the second kind, of order 0; NaN below 0.
    ///
    /// CUDA: `y0f`, `y0`. Within, in ULP: 9 below 8, else 2.2e-6 absolute (`f32`); 7 below 8, else 5e-12 (`f64`).
    #[must_use]
    fn y0(self) -> Self;

    /// Bessel function of the second kind, of order 1; NaN below 0.
    ///
    /// CUDA: `y1f`, `y1`. Within, in ULP: 9 below 8, else 2.2e-6 absolute (`f32`); 7 below 8, else 5e-12 (`f64`).
    #[must_use]
    fn y1(self) -> Self;

    /// Bessel function of the second kind, of order `n`; NaN below 0.
    ///
    /// CUDA: `ynf`, `yn`. Within, in ULP: 2 + 2.5 n below n, else 2.2e-6 absolute (`f32`); 5e-12 above 1.5 n (`f64`).
    #[must_use]
    fn yn(self, n: i32) -> Self;

    /// Modified Bessel function of the first kind, of order 0. Only on the GPU.
    ///
    /// CUDA: `cyl_bessel_i0f`, `cyl_bessel_i0`. Within 6 (`f32`) and 6 (`f64`) ULP.
    #[must_use]
    fn cyl_bessel_i0(self) -> Self;

    /// Modified Bessel function of the first kind, of order 1. Only on the GPU.
    ///
    /// CUDA: `cyl_bessel_i1f`, `cyl_bessel_i1`. Within 6 (`f32`) and 6 (`f64`) ULP.
    #[must_use]
    fn cyl_bessel_i1(self) -> Self;

    // Rounding

    /// Towards negative infinity. One instruction, `cvt.rmi`.
    ///
    /// CUDA: `floorf`, `floor`. Exact.
    #[must_use]
    fn floor(self) -> Self;

    /// Towards positive infinity. One instruction, `cvt.rpi`.
    ///
    /// CUDA: `ceilf`, `ceil`. Exact.
    #[must_use]
    fn ceil(self) -> Self;

    /// Towards zero. One instruction, `cvt.rzi`.
    ///
    /// CUDA: `truncf`, `trunc`. Exact.
    #[must_use]
    fn trunc(self) -> Self;

    /// To the nearest integer, halves away from zero.
    ///
    /// CUDA: `roundf`, `round`. Exact.
    #[must_use]
    fn round(self) -> Self;

    /// To the nearest integer, halves to the even one. One instruction, `cvt.rni`.
    ///
    /// CUDA: `roundevenf`, `roundeven`. Exact.
    #[must_use]
    fn round_ties_even(self) -> Self;

    /// The same by its name in C.
    ///
    /// CUDA: `rintf`, `rint`. Exact.
    #[must_use]
    fn rint(self) -> Self;

    /// The same by its other name in C.
    ///
    /// CUDA: `nearbyintf`, `nearbyint`. Exact.
    #[must_use]
    fn nearbyint(self) -> Self;

    /// `self - self.trunc()`, as in std.
    #[must_use]
    fn fract(self) -> Self;

    /// To the nearest integer, halves away from zero, as an integer.
    ///
    /// CUDA: `lroundf`, `lround`. Exact.
    #[must_use]
    fn lround(self) -> i64;

    /// The same: C has it for each of its types.
    ///
    /// CUDA: `llroundf`, `llround`. Exact.
    #[must_use]
    fn llround(self) -> i64;

    /// To the nearest integer, halves to the even one, as an integer.
    ///
    /// CUDA: `lrintf`, `lrint`. Exact.
    #[must_use]
    fn lrint(self) -> i64;

    /// The same: C has it for each of its types.
    ///
    /// CUDA: `llrintf`, `llrint`. Exact.
    #[must_use]
    fn llrint(self) -> i64;

    // Parts, remainders and neighbours

    /// `self * a + b`, rounded once whatever the mode `fmad`. One instruction, `fma.rn`.
    ///
    /// CUDA: `fmaf`, `fma`. Exact.
    #[must_use]
    fn mul_add(self, a: Self, b: Self) -> Self;

    /// Quotient of the division with a remainder that is not negative, as in std.
    #[must_use]
    fn div_euclid(self, rhs: Self) -> Self;

    /// Remainder that is not negative, as in std.
    #[must_use]
    fn rem_euclid(self, rhs: Self) -> Self;

    /// Remainder with the sign of `self`: what `%` gives.
    ///
    /// CUDA: `fmodf`, `fmod`. Exact.
    #[must_use]
    fn fmod(self, y: Self) -> Self;

    /// Remainder of the division whose quotient is rounded to the nearest, halves to even.
    ///
    /// CUDA: `remainderf`, `remainder`. Exact.
    #[must_use]
    fn remainder(self, y: Self) -> Self;

    /// The same, and the last three bits of the quotient with its sign.
    ///
    /// CUDA: `remquof`, `remquo`. Exact.
    #[must_use]
    fn remquo(self, y: Self) -> (Self, i32);

    /// The positive difference: `self - y`, or 0 if that is negative.
    ///
    /// CUDA: `fdimf`, `fdim`. Exact.
    #[must_use]
    fn fdim(self, y: Self) -> Self;

    /// A fraction in 0.5 to 1 and a power of two whose product is `self`.
    ///
    /// CUDA: `frexpf`, `frexp`. Exact.
    #[must_use]
    fn frexp(self) -> (Self, i32);

    /// The fraction and the integer that `self` is the sum of, both with its sign.
    ///
    /// CUDA: `modff`, `modf`. Exact.
    #[must_use]
    fn modf(self) -> (Self, Self);

    /// `self` times 2 to the power of `n`.
    ///
    /// CUDA: `ldexpf`, `ldexp`. Exact.
    #[must_use]
    fn ldexp(self, n: i32) -> Self;

    /// The same by its other name in C.
    ///
    /// CUDA: `scalbnf`, `scalbn`. Exact.
    #[must_use]
    fn scalbn(self, n: i32) -> Self;

    /// The same for a `long`.
    ///
    /// CUDA: `scalblnf`, `scalbln`. Exact.
    #[must_use]
    fn scalbln(self, n: i64) -> Self;

    /// The next number from `self` towards `y`.
    ///
    /// CUDA: `nextafterf`, `nextafter`. Exact.
    #[must_use]
    fn nextafter(self, y: Self) -> Self;
}
