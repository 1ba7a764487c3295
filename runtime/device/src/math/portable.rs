//! What std defines by formulas, for both sides, and formulas for what neither std nor `libm` has.

/// The methods that std defines by formulas, with std's formulas.
macro_rules! provided {
    ($float:ident) => {
        #[inline(always)]
        fn log(self, base: Self) -> Self {
            Math::ln(self) / Math::ln(base)
        }

        #[inline(always)]
        fn fract(self) -> Self {
            self - Math::trunc(self)
        }

        #[inline(always)]
        fn div_euclid(self, rhs: Self) -> Self {
            let quotient = Math::trunc(self / rhs);
            if self % rhs < 0.0 {
                return if rhs > 0.0 { quotient - 1.0 } else { quotient + 1.0 };
            }
            quotient
        }

        #[inline(always)]
        fn rem_euclid(self, rhs: Self) -> Self {
            let remainder = self % rhs;
            if remainder < 0.0 { remainder + rhs.abs() } else { remainder }
        }
    };
}

pub(super) use provided;

/// A length as C's `int`.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
pub(super) fn dimension(len: usize) -> i32 {
    if len > i32::MAX as usize { i32::MAX } else { len as i32 }
}

/// Formulas of the functions that the crate `libm` lacks.
macro_rules! formulas {
    ($float:ident $sqrt:path, $cbrt:path, $sin:path, $cos:path, $ilogb:path, $round:path, $rint:path, $scalbn:path) => {
        use core::$float::consts::PI;

        pub(in super::super) fn rsqrt(x: $float) -> $float {
            1.0 / $sqrt(x)
        }

        pub(in super::super) fn rcbrt(x: $float) -> $float {
            1.0 / $cbrt(x)
        }

        /// By the angle in -1/4 to 1/4 turns of the nearest quarter, which is exact.
        pub(in super::super) fn sincospi(x: $float) -> ($float, $float) {
            if !x.is_finite() {
                return ($float::NAN, $float::NAN);
            }
            let turn = x % 2.0;
            let quarter = $rint(turn * 2.0);
            let angle = (turn - quarter * 0.5) * PI;
            let (sine, cosine) = ($sin(angle), $cos(angle));
            // The sign of a zero that is a sine is that of `x`.
            let (sine, cosine) = match quarter as i32 & 3 {
                0 => (sine, cosine),
                1 => (cosine, -sine),
                2 => (-sine, -cosine),
                _ => (-cosine, sine),
            };
            (if sine == 0.0 { (0.0 as $float).copysign(x) } else { sine }, cosine + 0.0)
        }

        pub(in super::super) fn sinpi(x: $float) -> $float {
            sincospi(x).0
        }

        pub(in super::super) fn cospi(x: $float) -> $float {
            sincospi(x).1
        }

        /// The root of the sum of squares, scaled so that nothing overflows.
        pub(in super::super) fn norm(values: &[$float]) -> $float {
            let mut largest: $float = 0.0;
            let mut is_nan = false;
            for &value in values {
                is_nan |= value.is_nan();
                if value.abs() > largest {
                    largest = value.abs();
                }
            }
            if largest == $float::INFINITY {
                return largest;
            }
            if is_nan || largest == 0.0 {
                return if is_nan { $float::NAN } else { 0.0 };
            }
            let exponent = $ilogb(largest);
            let mut sum = 0.0;
            for &value in values {
                let value = $scalbn(value, -exponent);
                sum += value * value;
            }
            $scalbn($sqrt(sum), exponent)
        }

        pub(in super::super) fn rnorm(values: &[$float]) -> $float {
            1.0 / norm(values)
        }

        pub(in super::super) fn rhypot(x: $float, y: $float) -> $float {
            rnorm(&[x, y])
        }

        pub(in super::super) fn norm3d(x: $float, y: $float, z: $float) -> $float {
            norm(&[x, y, z])
        }

        pub(in super::super) fn rnorm3d(x: $float, y: $float, z: $float) -> $float {
            rnorm(&[x, y, z])
        }

        pub(in super::super) fn norm4d(x: $float, y: $float, z: $float, w: $float) -> $float {
            norm(&[x, y, z, w])
        }

        pub(in super::super) fn rnorm4d(x: $float, y: $float, z: $float, w: $float) -> $float {
            rnorm(&[x, y, z, w])
        }

        #[cfg(any(test, target_arch = "nvptx64"))]
        pub(in super::super) fn powi(x: $float, n: i32) -> $float {
            let (mut left, mut square, mut product) = (n.unsigned_abs(), x, 1.0);
            while left > 0 {
                if left % 2 == 1 {
                    product *= square;
                }
                square *= square;
                left /= 2;
            }
            if n < 0 { 1.0 / product } else { product }
        }

        pub(in super::super) fn logb(x: $float) -> $float {
            match x {
                _ if x.is_nan() => x,
                _ if x.is_infinite() => $float::INFINITY,
                0.0 => $float::NEG_INFINITY,
                _ => $ilogb(x) as $float,
            }
        }

        pub(in super::super) fn llround(x: $float) -> i64 {
            $round(x) as i64
        }

        pub(in super::super) fn llrint(x: $float) -> i64 {
            $rint(x) as i64
        }

        pub(in super::super) fn scalbln(x: $float, n: i64) -> $float {
            // No scale beyond these bounds makes a difference.
            $scalbn(x, n.clamp(-100_000, 100_000) as i32)
        }
    };
}

/// In single precision.
pub(super) mod single {
    formulas!(
        f32 libm::sqrtf, libm::cbrtf, libm::sinf, libm::cosf, libm::ilogbf, libm::roundf, libm::rintf, libm::scalbnf
    );
}

/// In double precision.
pub(super) mod double {
    formulas!(f64 libm::sqrt, libm::cbrt, libm::sin, libm::cos, libm::ilogb, libm::round, libm::rint, libm::scalbn);
}

#[cfg(test)]
mod tests {
    use super::double::{logb, norm, powi, rnorm, scalbln, sincospi};
    use super::single;

    #[test]
    fn quarters_of_a_turn_are_exact() {
        for (x, sine, cosine) in
            [(0.0, 0.0, 1.0), (0.5, 1.0, 0.0), (1.0, 0.0, -1.0), (-0.5, -1.0, 0.0), (1e16, 0.0, 1.0)]
        {
            assert_eq!(sincospi(x), (sine, cosine), "{x}");
        }
        assert!(sincospi(-0.0).0.is_sign_negative() && sincospi(f64::INFINITY).0.is_nan());
        for i in -400..400 {
            let x = f64::from(i) / 64.0;
            let (sine, cosine) = sincospi(x);
            let angle = x * std::f64::consts::PI;
            assert!((sine - angle.sin()).abs() < 4e-15 && (cosine - angle.cos()).abs() < 4e-15, "{x}");
            assert!((single::sincospi(x as f32).0 - sine as f32).abs() < 2e-7, "{x}");
        }
    }

    #[test]
    fn lengths_do_not_overflow() {
        assert!((norm(&[3e200, 4e200]) / 5e200 - 1.0).abs() <= 2.0 * f64::EPSILON);
        assert_eq!(norm(&[3e-320, 4e-320]), 5e-320);
        assert_eq!((norm(&[]), rnorm(&[]), norm(&[f64::NAN, f64::INFINITY])), (0.0, f64::INFINITY, f64::INFINITY));
        assert!(norm(&[f64::NAN, 1.0]).is_nan());
    }

    #[test]
    fn powers_and_scales_are_those_of_std() {
        for n in [-7, -1, 0, 1, 2, 10] {
            assert_eq!(powi(3.0, n), 3_f64.powi(n), "{n}");
        }
        assert_eq!((scalbln(1.0, i64::MAX), scalbln(1.0, i64::MIN)), (f64::INFINITY, 0.0));
        assert_eq!((logb(10.0), logb(0.0), logb(5e-324)), (3.0, f64::NEG_INFINITY, -1074.0));
    }
}
