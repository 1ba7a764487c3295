//! The crate `libm` under names that the compiler looks for where there is no libdevice, with C's signatures.
//!
//! A program gets of these only what it calls. `erfcx`, `erfinv`, `erfcinv`, `normcdf`, `normcdfinv` and the modified
//! Bessel functions are not there: the compiler says so where they are called.

macro_rules! define {
    ($float:ident $formulas:ident: $($name:ident($($argument:ident: $ty:ty),*) -> $result:ty = $body:expr;)*) => {$(
        const _: () = {
            // `ptx_abi::MATH_FALLBACK_PREFIX`
            #[cfg_attr(target_arch = "nvptx64", unsafe(export_name = concat!("__ptx_rt_math_", stringify!($name))))]
            extern "C" fn define($($argument: $ty),*) -> $result {
                $body
            }
            // The host only compiles it.
            #[cfg(not(target_arch = "nvptx64"))]
            let _ = define as extern "C" fn($($ty),*) -> $result;
        };
    )*};
}

/// Writes `$p = value` through C's pointer.
macro_rules! write {
    ($($p:ident = $value:expr),*) => {{
        // SAFETY: C's contract: the pointers are valid for a write.
        $(unsafe { *$p = $value };)*
    }};
}

/// What C's contract of `norm` is.
macro_rules! slice {
    ($n:ident, $p:ident) => {
        // SAFETY: `p` points to as many numbers as `n` says.
        if $n > 0 { unsafe { core::slice::from_raw_parts($p, $n as usize) } } else { &[] }
    };
}

macro_rules! direct {
    ($float:ident: $($name:ident($($argument:ident),*);)*) => {
        define! { $float direct: $($name($($argument: $float),*) -> $float = libm::$name($($argument),*);)* }
    };
}

direct! { f32:
    sinf(x); cosf(x); tanf(x); asinf(x); acosf(x); atanf(x); atan2f(y, x); sinhf(x); coshf(x); tanhf(x); asinhf(x); acoshf(x);
    atanhf(x); expf(x); exp2f(x); exp10f(x); expm1f(x); logf(x); log2f(x); log10f(x); log1pf(x); powf(x, y); cbrtf(x);
    hypotf(x, y); erff(x); erfcf(x); tgammaf(x); lgammaf(x); j0f(x); j1f(x); y0f(x); y1f(x); fdimf(x, y); fmodf(x, y);
    remainderf(x, y); nextafterf(x, y);
}

direct! { f64:
    sin(x); cos(x); tan(x); asin(x); acos(x); atan(x); atan2(y, x); sinh(x); cosh(x); tanh(x); asinh(x); acosh(x);
    atanh(x); exp(x); exp2(x); exp10(x); expm1(x); log(x); log2(x); log10(x); log1p(x); pow(x, y); cbrt(x);
    hypot(x, y); erf(x); erfc(x); tgamma(x); lgamma(x); j0(x); j1(x); y0(x); y1(x); fdim(x, y); fmod(x, y);
    remainder(x, y); nextafter(x, y);
}

macro_rules! others {
    ($float:ident $formulas:ident: $jn:ident $yn:ident $ilogb:ident $ldexp:ident $scalbn:ident $sincos:ident $modf:ident
        $frexp:ident $remquo:ident $lgamma_r:ident; $rsqrt:ident $rcbrt:ident $sinpi:ident $cospi:ident $sincospi:ident
        $rhypot:ident $norm3d:ident $rnorm3d:ident $norm4d:ident $rnorm4d:ident $norm:ident $rnorm:ident $powi:ident
        $logb:ident $llround:ident $lround:ident $llrint:ident $lrint:ident $scalbln:ident) => {
        define! { $float $formulas:
            $jn(n: i32, x: $float) -> $float = libm::$jn(n, x);
            $yn(n: i32, x: $float) -> $float = libm::$yn(n, x);
            $ilogb(x: $float) -> i32 = libm::$ilogb(x);
            $ldexp(x: $float, n: i32) -> $float = libm::$ldexp(x, n);
            $scalbn(x: $float, n: i32) -> $float = libm::$scalbn(x, n);
            $sincos(x: $float, s: *mut $float, c: *mut $float) -> () = {
                let (sine, cosine) = libm::$sincos(x);
                write!(s = sine, c = cosine)
            };
            $modf(x: $float, w: *mut $float) -> $float = {
                let (fraction, whole) = libm::$modf(x);
                write!(w = whole);
                fraction
            };
            $frexp(x: $float, e: *mut i32) -> $float = {
                let (fraction, exponent) = libm::$frexp(x);
                write!(e = exponent);
                fraction
            };
            $remquo(x: $float, y: $float, q: *mut i32) -> $float = {
                let (remainder, quotient) = libm::$remquo(x, y);
                write!(q = quotient);
                remainder
            };
            $lgamma_r(x: $float, s: *mut i32) -> $float = {
                let (value, sign) = libm::$lgamma_r(x);
                write!(s = sign);
                value
            };
            $rsqrt(x: $float) -> $float = super::portable::$formulas::rsqrt(x);
            $rcbrt(x: $float) -> $float = super::portable::$formulas::rcbrt(x);
            $sinpi(x: $float) -> $float = super::portable::$formulas::sinpi(x);
            $cospi(x: $float) -> $float = super::portable::$formulas::cospi(x);
            $sincospi(x: $float, s: *mut $float, c: *mut $float) -> () = {
                let (sine, cosine) = super::portable::$formulas::sincospi(x);
                write!(s = sine, c = cosine)
            };
            $rhypot(x: $float, y: $float) -> $float = super::portable::$formulas::rhypot(x, y);
            $norm3d(x: $float, y: $float, z: $float) -> $float = super::portable::$formulas::norm3d(x, y, z);
            $rnorm3d(x: $float, y: $float, z: $float) -> $float = super::portable::$formulas::rnorm3d(x, y, z);
            $norm4d(x: $float, y: $float, z: $float, w: $float) -> $float =
                super::portable::$formulas::norm4d(x, y, z, w);
            $rnorm4d(x: $float, y: $float, z: $float, w: $float) -> $float =
                super::portable::$formulas::rnorm4d(x, y, z, w);
            $norm(n: i32, p: *const $float) -> $float = super::portable::$formulas::norm(slice!(n, p));
            $rnorm(n: i32, p: *const $float) -> $float = super::portable::$formulas::rnorm(slice!(n, p));
            $powi(x: $float, n: i32) -> $float = super::portable::$formulas::powi(x, n);
            $logb(x: $float) -> $float = super::portable::$formulas::logb(x);
            $llround(x: $float) -> i64 = super::portable::$formulas::llround(x);
            $lround(x: $float) -> i64 = super::portable::$formulas::llround(x);
            $llrint(x: $float) -> i64 = super::portable::$formulas::llrint(x);
            $lrint(x: $float) -> i64 = super::portable::$formulas::llrint(x);
            $scalbln(x: $float, n: i64) -> $float = super::portable::$formulas::scalbln(x, n);
        }
    };
}

others!(f32 single: jnf ynf ilogbf ldexpf scalbnf sincosf modff frexpf remquof lgammaf_r; rsqrtf rcbrtf sinpif cospif
    sincospif rhypotf norm3df rnorm3df norm4df rnorm4df normf rnormf powif logbf llroundf lroundf llrintf lrintf scalblnf);
others!(f64 double: jn yn ilogb ldexp scalbn sincos modf frexp remquo lgamma_r; rsqrt rcbrt sinpi cospi
    sincospi rhypot norm3d rnorm3d norm4d rnorm4d norm rnorm powi logb llround lround llrint lrint scalbln);
