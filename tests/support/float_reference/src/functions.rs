//! CUDA's mathematical functions by MPFR, to about 100 bits.

use ptx_host::compare::Exact;
use rug::ops::Pow;

use crate::number::{exact, number};
use crate::special;

/// A function of one to four numbers.
pub type Function = fn(&[f64]) -> Exact;

/// The function with that name in double precision, as in `sin`; nothing for one that has no entry here.
pub fn function(name: &str) -> Option<Function> {
    // Its sums have more bits than the others' results.
    if name == "fma" {
        return Some(|x| special::fma(x[0], x[1], x[2]));
    }
    TABLE.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
}

macro_rules! table {
    ($($name:literal |$x:ident $(, $more:ident)*| $body:expr;)*) => {
        const TABLE: &[(&str, Function)] = &[$(
            ($name, |arguments| {
                let &[$x $(, $more)*] = arguments else { panic!("{} has other arguments", $name) };
                exact(&$body)
            })
        ),*];
    };
}

table! {
    "sin" |x| number(x).sin();
    "cos" |x| number(x).cos();
    "tan" |x| number(x).tan();
    "sinpi" |x| number(x).sin_pi();
    "cospi" |x| number(x).cos_pi();
    "asin" |x| number(x).asin();
    "acos" |x| number(x).acos();
    "atan" |x| number(x).atan();
    "sinh" |x| number(x).sinh();
    "cosh" |x| number(x).cosh();
    "tanh" |x| number(x).tanh();
    "asinh" |x| number(x).asinh();
    "acosh" |x| number(x).acosh();
    "atanh" |x| number(x).atanh();
    "exp" |x| number(x).exp();
    "exp2" |x| number(x).exp2();
    "exp10" |x| number(x).exp10();
    "expm1" |x| number(x).exp_m1();
    "log" |x| number(x).ln();
    "log2" |x| number(x).log2();
    "log10" |x| number(x).log10();
    "log1p" |x| number(x).ln_1p();
    "sqrt" |x| number(x).sqrt();
    "rsqrt" |x| special::rsqrt(x);
    "cbrt" |x| number(x).cbrt();
    "rcbrt" |x| number(x).cbrt().recip();
    "erf" |x| number(x).erf();
    "erfc" |x| number(x).erfc();
    "erfcx" |x| special::erfcx(x);
    "erfinv" |x| special::erfinv(x);
    "erfcinv" |x| special::erfcinv(number(x));
    "normcdf" |x| special::normcdf(x);
    "normcdfinv" |x| special::normcdfinv(x);
    "lgamma" |x| number(x).ln_abs_gamma().0;
    "tgamma" |x| number(x).gamma();
    "j0" |x| number(x).j0();
    "j1" |x| number(x).j1();
    "y0" |x| number(x).y0();
    "y1" |x| number(x).y1();
    "cyl_bessel_i0" |x| special::bessel_i(0, x);
    "cyl_bessel_i1" |x| special::bessel_i(1, x);
    "logb" |x| special::logb(x);
    "ldexp" |x, n| number(x) << n as i32;
    "scalbn" |x, n| number(x) << n as i32;
    "scalbln" |x, n| number(x) << n as i32;
    "jn" |n, x| special::jn(n, x);
    "yn" |n, x| number(x).yn(n as i32);
    "pow" |x, y| number(x).pow(number(y));
    "atan2" |y, x| number(y).atan2(&number(x));
    "hypot" |x, y| number(x).hypot(&number(y));
    "rhypot" |x, y| number(x).hypot(&number(y)).recip();
    "fmod" |x, y| number(x) % number(y);
    "remainder" |x, y| number(x).remainder(&number(y));
    "fdim" |x, y| number(x).positive_diff(&number(y));
    "norm3d" |x, y, z| special::norm(&[x, y, z]);
    "rnorm3d" |x, y, z| special::norm(&[x, y, z]).recip();
    "norm4d" |x, y, z, t| special::norm(&[x, y, z, t]);
    "rnorm4d" |x, y, z, t| special::norm(&[x, y, z, t]).recip();
}

#[cfg(test)]
mod tests {
    use ptx_host::compare::{ulp_distance, ulp_error};

    use super::*;

    fn value(name: &str, arguments: &[f64]) -> f64 {
        function(name).unwrap_or_else(|| panic!("{name}"))(arguments).high
    }

    /// Abramowitz and Stegun, tables 7.1, 9.1, 9.8, 6.1, 26.5; OEIS A002193, A001620 and others for the constants.
    #[test]
    fn published_values() {
        let near = |name: &str, arguments: &[f64], expected: f64| {
            let got = value(name, arguments);
            assert!(ulp_distance(got, expected) <= 1, "{name}({arguments:?}) = {got:?}, published {expected:?}");
        };
        near("sin", &[1.0], 0.841_470_984_807_896_5);
        near("exp", &[1.0], std::f64::consts::E);
        near("log", &[2.0], std::f64::consts::LN_2);
        near("atan2", &[1.0, 1.0], std::f64::consts::FRAC_PI_4);
        near("sqrt", &[2.0], std::f64::consts::SQRT_2);
        near("erf", &[0.5], 0.520_499_877_813_046_5);
        near("erfinv", &[0.5], 0.476_936_276_204_469_9);
        near("erfcinv", &[0.5], 0.476_936_276_204_469_9);
        near("normcdf", &[1.0], 0.841_344_746_068_542_9);
        near("normcdfinv", &[0.75], 0.674_489_750_196_081_7);
        near("erfcx", &[1.0], 0.427_583_576_155_807);
        near("tgamma", &[0.5], 1.772_453_850_905_516);
        near("lgamma", &[0.5], 0.572_364_942_924_700_1);
        near("j0", &[1.0], 0.765_197_686_557_966_6);
        near("j1", &[1.0], 0.440_050_585_744_933_5);
        near("y0", &[1.0], 0.088_256_964_215_676_96);
        near("y1", &[1.0], -0.781_212_821_300_288_7);
        near("cyl_bessel_i0", &[1.0], 1.266_065_877_752_008_4);
        near("cyl_bessel_i1", &[1.0], 0.565_159_103_992_485);
        near("cyl_bessel_i0", &[10.0], 2_815.716_628_466_254_5);
        near("jn", &[2.0, 1.0], 0.114_903_484_931_900_47);
        // The white paper's example, §4.1, where one library is wrong in the tenth digit.
        assert!((value("cos", &[5_992_555.0]) / 3.320_904_615_1e-7 - 1.0).abs() < 1e-11);
    }

    #[test]
    fn special_arguments() {
        let all_nan = ["sin", "erfinv", "lgamma", "cyl_bessel_i0", "erfcx", "normcdfinv", "y0", "rcbrt"];
        assert!(all_nan.iter().all(|name| value(name, &[f64::NAN]).is_nan()));
        for name in ["erfinv", "erfcinv", "normcdfinv", "acosh", "log", "sqrt"] {
            assert!(value(name, &[-1.5]).is_nan(), "{name}");
        }
        let infinity = f64::INFINITY;
        let cases = [
            ("erfinv", 1.0, infinity),
            ("erfinv", -1.0, -infinity),
            ("erfcinv", 0.0, infinity),
            ("erfcinv", 2.0, -infinity),
            ("normcdfinv", 0.0, -infinity),
            ("normcdfinv", 1.0, infinity),
            ("normcdf", -infinity, 0.0),
            ("erfcx", infinity, 0.0),
            ("erfcx", -infinity, infinity),
            ("cyl_bessel_i0", -infinity, infinity),
            ("cyl_bessel_i1", -infinity, -infinity),
            ("rcbrt", -infinity, 0.0),
            ("cyl_bessel_i0", 0.0, 1.0),
            ("cyl_bessel_i1", -0.0, 0.0),
        ];
        for (name, x, expected) in cases {
            assert_eq!(value(name, &[x]), expected, "{name}({x})");
        }
        assert_eq!(value("norm3d", &[f64::NAN, infinity, 0.0]), infinity);
        assert_eq!(value("rhypot", &[0.0, 0.0]), infinity);
        assert_eq!((value("rsqrt", &[0.0]), value("rsqrt", &[-0.0])), (infinity, -infinity));
        assert!(value("rsqrt", &[-1.0]).is_nan() && value("rsqrt", &[infinity]) == 0.0);
    }

    /// What double precision rounds away decides between two numbers of single precision.
    #[test]
    fn fused_sums_are_rounded_once() {
        use crate::inputs::{operands, special_operands};
        let fma = function("fma").unwrap();
        let mut decided = 0;
        for [x, y, z] in [special_operands::<f32>(), operands(9, 60_000)].concat() {
            let wide = [x, y, z].map(f64::from);
            let exact = fma(&wide);
            let (got, expected): (f32, f32) = (exact.round(), x.mul_add(y, z));
            assert!(got == expected || got.is_nan() && expected.is_nan(), "{x:e} {y:e} {z:e}: {got:e}, {expected:e}");
            decided += u32::from(expected.is_finite() && exact.high as f32 != expected);
        }
        assert!(decided > 0);
        let far = fma(&[1.0, 1.0, 1e-300]);
        assert_eq!((far.high, far.low), (1.0, 1e-300));
    }

    /// The two numbers of an exact result are more than one.
    #[test]
    fn results_have_more_than_double_precision() {
        let third = function("rcbrt").unwrap()(&[27.0]);
        assert_eq!(third.high, 1.0 / 3.0);
        assert!((third.low - 1.850_371_707_708_594e-17).abs() < 1e-32, "{third:?}");
        assert!((ulp_error(1.0_f64 / 3.0, third) - 1.0 / 3.0).abs() < 1e-9);
    }
}
