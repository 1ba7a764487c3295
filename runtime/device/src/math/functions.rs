//! The functions as data: what the implementations and the tests are made of.

/// Calls the macro `$callback` with every method of [`Math`](super::Math) that is a CUDA function, by the form of its
/// signature: the method, CUDA's name in double and in single precision. The contents of `[]` come first.
///
/// | group | Rust | CUDA in double precision |
/// |---|---|---|
/// | `unary` | `x.f() -> x` | `double f(double)` |
/// | `unary_of_libdevice` | the same, on the GPU with libdevice only | the same |
/// | `binary`, `ternary`, `quaternary` | `x.f(y, …) -> x` | `double f(double, double, …)` |
/// | `with_int`, `with_long` | `x.f(n) -> x` | `double f(double, int)`, `double f(double, long)` |
/// | `int_with` | `x.f(n) -> x` | `double f(int, double)` |
/// | `to_int`, `to_long` | `x.f() -> i32`, `-> i64` | `int f(double)`, `long f(double)` |
/// | `sine_and_cosine` | `x.f() -> (x, x)` | `void f(double, double *, double *)` |
/// | `modf` | `x.f() -> (x, x)` | `double f(double, double *)` |
/// | `frexp` | `x.f() -> (x, i32)` | `double f(double, int *)` |
/// | `remquo` | `x.f(y) -> (x, i32)` | `double f(double, double, int *)` |
/// | `slice` | `f(&[x]) -> x` | `double f(int, const double *)` |
#[doc(hidden)]
#[macro_export]
macro_rules! __math_functions {
    ($callback:ident $([$($first:tt)*])?) => {
        $callback! {
            $($($first)*)?
            unary {
                sin = sin sinf;
                cos = cos cosf;
                tan = tan tanf;
                asin = asin asinf;
                acos = acos acosf;
                atan = atan atanf;
                sinpi = sinpi sinpif;
                cospi = cospi cospif;
                sinh = sinh sinhf;
                cosh = cosh coshf;
                tanh = tanh tanhf;
                asinh = asinh asinhf;
                acosh = acosh acoshf;
                atanh = atanh atanhf;
                exp = exp expf;
                exp2 = exp2 exp2f;
                exp10 = exp10 exp10f;
                exp_m1 = expm1 expm1f;
                ln = log logf;
                log2 = log2 log2f;
                log10 = log10 log10f;
                ln_1p = log1p log1pf;
                logb = logb logbf;
                sqrt = sqrt sqrtf;
                rsqrt = rsqrt rsqrtf;
                cbrt = cbrt cbrtf;
                rcbrt = rcbrt rcbrtf;
                erf = erf erff;
                erfc = erfc erfcf;
                tgamma = tgamma tgammaf;
                lgamma = lgamma lgammaf;
                j0 = j0 j0f;
                j1 = j1 j1f;
                y0 = y0 y0f;
                y1 = y1 y1f;
                floor = floor floorf;
                ceil = ceil ceilf;
                trunc = trunc truncf;
                round = round roundf;
                round_ties_even = rint rintf;
                rint = rint rintf;
                nearbyint = nearbyint nearbyintf;
            }
            unary_of_libdevice {
                erfcx = erfcx erfcxf;
                erfinv = erfinv erfinvf;
                erfcinv = erfcinv erfcinvf;
                normcdf = normcdf normcdff;
                normcdfinv = normcdfinv normcdfinvf;
                cyl_bessel_i0 = cyl_bessel_i0 cyl_bessel_i0f;
                cyl_bessel_i1 = cyl_bessel_i1 cyl_bessel_i1f;
            }
            binary {
                atan2 = atan2 atan2f;
                powf = pow powf;
                hypot = hypot hypotf;
                rhypot = rhypot rhypotf;
                fmod = fmod fmodf;
                remainder = remainder remainderf;
                fdim = fdim fdimf;
                nextafter = nextafter nextafterf;
            }
            ternary {
                norm3d = norm3d norm3df;
                rnorm3d = rnorm3d rnorm3df;
                mul_add = fma fmaf;
            }
            quaternary {
                norm4d = norm4d norm4df;
                rnorm4d = rnorm4d rnorm4df;
            }
            with_int {
                powi = powi powif;
                ldexp = ldexp ldexpf;
                scalbn = scalbn scalbnf;
            }
            with_long {
                scalbln = scalbln scalblnf;
            }
            int_with {
                jn = jn jnf;
                yn = yn ynf;
            }
            to_int {
                ilogb = ilogb ilogbf;
            }
            to_long {
                lround = lround lroundf;
                llround = llround llroundf;
                lrint = lrint lrintf;
                llrint = llrint llrintf;
            }
            sine_and_cosine {
                sin_cos = sincos sincosf;
                sincospi = sincospi sincospif;
            }
            modf {
                modf = modf modff;
            }
            frexp {
                frexp = frexp frexpf;
            }
            remquo {
                remquo = remquo remquof;
            }
            slice {
                norm = norm normf;
                rnorm = rnorm rnormf;
            }
        }
    };
}
