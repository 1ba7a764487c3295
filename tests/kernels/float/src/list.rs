//! The mathematical functions under test, once for Rust's kernels and once for their twins in CUDA C++.
//!
//! A row is: kernel, CUDA's name in double precision, its arguments in C, and the same in Rust. Where the name is that of
//! no function of CUDA's, `judge.cuh` defines one. All arguments are numbers of the precision at hand.

/// Calls the macro `$callback` with every row.
#[macro_export]
macro_rules! for_each_function {
    ($callback:ident) => {
        $callback! {
            k_sin "sin" "x" |x| x.sin();
            k_cos "cos" "x" |x| x.cos();
            k_tan "tan" "x" |x| x.tan();
            k_sinpi "sinpi" "x" |x| x.sinpi();
            k_cospi "cospi" "x" |x| x.cospi();
            k_sincos_sin "sincos_sin" "x" |x| x.sin_cos().0;
            k_sincos_cos "sincos_cos" "x" |x| x.sin_cos().1;
            k_sincospi_sin "sincospi_sin" "x" |x| x.sincospi().0;
            k_sincospi_cos "sincospi_cos" "x" |x| x.sincospi().1;
            k_asin "asin" "x" |x| x.asin();
            k_acos "acos" "x" |x| x.acos();
            k_atan "atan" "x" |x| x.atan();
            k_sinh "sinh" "x" |x| x.sinh();
            k_cosh "cosh" "x" |x| x.cosh();
            k_tanh "tanh" "x" |x| x.tanh();
            k_asinh "asinh" "x" |x| x.asinh();
            k_acosh "acosh" "x" |x| x.acosh();
            k_atanh "atanh" "x" |x| x.atanh();
            k_exp "exp" "x" |x| x.exp();
            k_exp2 "exp2" "x" |x| x.exp2();
            k_exp10 "exp10" "x" |x| x.exp10();
            k_expm1 "expm1" "x" |x| x.exp_m1();
            k_log "log" "x" |x| x.ln();
            k_log2 "log2" "x" |x| x.log2();
            k_log10 "log10" "x" |x| x.log10();
            k_log1p "log1p" "x" |x| x.ln_1p();
            k_sqrt "sqrt" "x" |x| x.sqrt();
            k_rsqrt "rsqrt" "x" |x| x.rsqrt();
            k_cbrt "cbrt" "x" |x| x.cbrt();
            k_rcbrt "rcbrt" "x" |x| x.rcbrt();
            k_erf "erf" "x" |x| Math::erf(x);
            k_erfc "erfc" "x" |x| Math::erfc(x);
            k_erfcx "erfcx" "x" |x| x.erfcx();
            k_erfinv "erfinv" "x" |x| x.erfinv();
            k_erfcinv "erfcinv" "x" |x| x.erfcinv();
            k_normcdf "normcdf" "x" |x| x.normcdf();
            k_normcdfinv "normcdfinv" "x" |x| x.normcdfinv();
            k_lgamma "lgamma" "x" |x| x.lgamma();
            k_tgamma "tgamma" "x" |x| x.tgamma();
            k_j0 "j0" "x" |x| x.j0();
            k_j1 "j1" "x" |x| x.j1();
            k_y0 "y0" "x" |x| x.y0();
            k_y1 "y1" "x" |x| x.y1();
            k_cyl_bessel_i0 "cyl_bessel_i0" "x" |x| x.cyl_bessel_i0();
            k_cyl_bessel_i1 "cyl_bessel_i1" "x" |x| x.cyl_bessel_i1();
            k_trunc "trunc" "x" |x| x.trunc();
            k_floor "floor" "x" |x| x.floor();
            k_ceil "ceil" "x" |x| x.ceil();
            k_round "round" "x" |x| x.round();
            k_rint "rint" "x" |x| x.round_ties_even();
            k_logb "logb" "x" |x| x.logb();
            k_nearbyint "nearbyint" "x" |x| x.nearbyint();
            k_ilogb "op_ilogb" "x" |x| x.ilogb() as Number;
            k_lround "op_lround" "x" |x| x.lround() as Number;
            k_lrint "op_lrint" "x" |x| x.lrint() as Number;
            k_llround "op_llround" "x" |x| x.llround() as Number;
            k_llrint "op_llrint" "x" |x| x.llrint() as Number;
            k_frexp_fraction "frexp_fraction" "x" |x| x.frexp().0;
            k_frexp_exponent "frexp_exponent" "x" |x| x.frexp().1 as Number;
            k_modf_fraction "modf_fraction" "x" |x| Math::modf(x).0;
            k_modf_whole "modf_whole" "x" |x| Math::modf(x).1;
            k_ldexp "ldexp" "x, int(y)" |x, y| x.ldexp(y as i32);
            k_scalbn "scalbn" "x, int(y)" |x, y| x.scalbn(y as i32);
            k_scalbln "scalbln" "x, long(y)" |x, y| x.scalbln(y as i64);
            k_nextafter "nextafter" "x, y" |x, y| x.nextafter(y);
            k_remquo_remainder "remquo_remainder" "x, y" |x, y| x.remquo(y).0;
            k_remquo_quotient "remquo_quotient" "x, y" |x, y| (x.remquo(y).1 & 7) as Number;
            k_powi "powi" "x, int(y)" |x, y| x.powi(y as i32);
            k_pow "pow" "x, y" |x, y| x.powf(y);
            k_atan2 "atan2" "x, y" |x, y| x.atan2(y);
            k_hypot "hypot" "x, y" |x, y| x.hypot(y);
            k_rhypot "rhypot" "x, y" |x, y| x.rhypot(y);
            k_fmod "fmod" "x, y" |x, y| x.fmod(y);
            k_remainder "remainder" "x, y" |x, y| x.remainder(y);
            k_fdim "fdim" "x, y" |x, y| x.fdim(y);
            k_jn "jn" "int(x), y" |x, y| y.jn(x as i32);
            k_yn "yn" "int(x), y" |x, y| y.yn(x as i32);
            k_norm3d "norm3d" "x, y, z" |x, y, z| x.norm3d(y, z);
            k_rnorm3d "rnorm3d" "x, y, z" |x, y, z| x.rnorm3d(y, z);
            k_norm4d "norm4d" "x, y, z, t" |x, y, z, t| x.norm4d(y, z, t);
            k_rnorm4d "rnorm4d" "x, y, z, t" |x, y, z, t| x.rnorm4d(y, z, t);
            k_norm "op_norm" "x, y, z, t" |x, y, z, t| Math::norm(&[x, y, z, t]);
            k_rnorm "op_rnorm" "x, y, z, t" |x, y, z, t| Math::rnorm(&[x, y, z, t]);
            k_add "op_add" "x, y" |x, y| x + y;
            k_mul "op_mul" "x, y" |x, y| x * y;
            k_div "op_div" "x, y" |x, y| x / y;
            k_rcp "op_rcp" "x" |x| 1.0 / x;
            k_mul_add "op_mul_add" "x, y, z" |x, y, z| x * y + z;
            k_mul_sub "op_mul_sub" "x, y, z" |x, y, z| x * y - z;
            k_sum_of_products "op_sum_of_products" "x, y, z, t" |x, y, z, t| x * y + z * t;
            k_fma "fma" "x, y, z" |x, y, z| x.mul_add(y, z);
        }
    };
}

/// Calls the macro `$callback` with every approximate function of single precision that CUDA documents a bound of. A row is:
/// kernel, CUDA's name, the exact function's in double precision, arguments in C, and the same in Rust.
#[macro_export]
macro_rules! for_each_approximation {
    ($callback:ident) => {
        $callback! {
            k_sin_approx "__sinf" "sin" "x" |x| x.sin_approx();
            k_cos_approx "__cosf" "cos" "x" |x| x.cos_approx();
            k_exp_approx "__expf" "exp" "x" |x| x.exp_approx();
            k_exp10_approx "__exp10f" "exp10" "x" |x| x.exp10_approx();
            k_ln_approx "__logf" "log" "x" |x| x.ln_approx();
            k_log2_approx "__log2f" "log2" "x" |x| x.log2_approx();
            k_log10_approx "__log10f" "log10" "x" |x| x.log10_approx();
            k_tanh_approx "__tanhf" "tanh" "x" |x| x.tanh_approx();
            k_div_approx "__fdividef" "op_div" "x, y" |x, y| x.div_approx(y);
        }
    };
}
