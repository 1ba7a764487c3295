//! Floating and fixed point, and algebra.

use alloc::string::ToString;
use alloc::vec::Vec;

use crate::data::{Digest, Random};

#[inline(never)]
pub fn approx(random: &mut Random, digest: &mut Digest) {
    use approx::{abs_diff_eq, relative_eq, ulps_eq};

    for _ in 0..8 {
        let [a, b] = [random.float(), random.float() * 1e-6];
        digest.add(abs_diff_eq!(a, a + b, epsilon = 5e-7));
        digest.add(relative_eq!(a, a + b, max_relative = 1e-6));
        digest.add(ulps_eq!(a as f32, (a + b) as f32, max_ulps = 8));
    }
}

#[inline(never)]
pub fn fixed(random: &mut Random, digest: &mut Digest) {
    use fixed::types::{I16F16, U8F24};

    for _ in 0..4 {
        let [a, b] = [I16F16::from_num(random.float() * 100.0), I16F16::from_num(random.float())];
        digest.add((a + b, a * b, a.checked_div(b), a.saturating_mul(a), a.wrapping_mul(a), a.round(), a % b));
        digest.add((a.abs().sqrt(), a.to_num::<i32>(), a.to_num::<f32>().to_bits()));
        digest.add(a.to_string());
        digest.add(I16F16::from_str_binary("-101.01").ok());
        digest.add(U8F24::saturating_from_num(a));
    }
}

#[inline(never)]
pub fn glam(random: &mut Random, digest: &mut Digest) {
    use glam::{DMat4, DQuat, DVec3, Mat3, Vec3};

    let mut vector = || Vec3::from_array(core::array::from_fn(|_| random.float() as f32));
    let [a, b, c] = [vector(), vector(), vector()];
    let mut put = |floats: &[f32]| floats.iter().for_each(|float| digest.float(f64::from(*float)));
    put(&a.cross(b).normalize_or_zero().to_array());
    put(&[a.dot(c), a.distance(b), a.reject_from(c).length()]);
    put(&Mat3::from_cols(a, b, c).inverse().to_cols_array());
    let [a, b, c] = [a, b, c].map(DVec3::from);
    let mut put = |floats: &[f64]| floats.iter().for_each(|float| digest.float(*float));
    let turn = DQuat::from_xyzw(a.x, a.y, a.z, 1.0).normalize();
    put(&DMat4::from_scale_rotation_translation(DVec3::ONE + b, turn, c).inverse().to_cols_array());
    put(&(turn * c).to_array());
    put(&[a.length_squared()]);
}

#[inline(never)]
pub fn half(random: &mut Random, digest: &mut Digest) {
    use half::{bf16, f16};

    for _ in 0..6 {
        let [a, b] = [random.float() * 1000.0, random.float() * 1e-6];
        digest.add((f16::from_f64(a).to_bits(), f16::from_f64(b).to_bits(), f16::from_f32(b as f32).to_bits()));
        digest.add((bf16::from_f64(a).to_bits(), bf16::from_f32(b as f32).to_bits()));
        digest.add(((f16::from_f64(a) * f16::from_f64(b)).to_bits(), (bf16::from_f64(a) + bf16::ONE).to_bits()));
        digest.add(f16::from_bits(random.word() as u16 & 0x7bff).to_f32().to_bits());
        digest.add(f16::from_f64(a).partial_cmp(&f16::from_f64(b)));
    }
}

#[inline(never)]
pub fn libm(random: &mut Random, digest: &mut Digest) {
    // On the GPU these are libdevice's, whose last bits differ. 30 bits are the same.
    let mut rounded = |value: f64| digest.add(libm::round(value * f64::from(1 << 30)) as i64);
    for _ in 0..4 {
        let x = random.float();
        for function in [libm::sin, libm::cos, libm::tan, libm::exp, libm::atan, libm::tanh, libm::erf, libm::expm1] {
            rounded(function(x));
        }
        let [a, b] = [1.5 + x, random.float()];
        for value in
            [libm::pow(a, b), libm::log(a), libm::cbrt(b), libm::atan2(x, b), libm::tgamma(a), libm::hypot(x, b)]
        {
            rounded(value);
        }
    }
    // These are exact everywhere.
    for _ in 0..8 {
        let [a, b, c] = [random.float() * 1000.0, random.float(), random.float()];
        for value in [libm::floor(a), libm::trunc(a), libm::rint(a), libm::fma(a, b, c), libm::fmod(a, b)] {
            digest.float(value);
        }
        for value in [libm::sqrt(libm::fabs(a)), libm::scalbn(b, 900), libm::remainder(a, b), libm::nextafter(a, c)] {
            digest.float(value);
        }
        digest.add((libm::ilogb(a), libm::frexp(b).1, libm::fmaf(a as f32, b as f32, c as f32).to_bits()));
    }
}

#[inline(never)]
pub fn micromath(random: &mut Random, digest: &mut Digest) {
    use micromath::F32Ext;
    use micromath::vector::{F32x3, Vector};

    for _ in 0..6 {
        let [a, b] = [random.float() as f32, random.float() as f32];
        // The CPU's build has std's functions of these names, too.
        for function in [F32Ext::sin, F32Ext::cos, F32Ext::tan, F32Ext::exp, F32Ext::floor, F32Ext::invsqrt] {
            digest.add(F32Ext::abs(function(a)).to_bits());
        }
        let positive = F32Ext::abs(a);
        for value in [F32Ext::sqrt(positive), F32Ext::ln(positive), F32Ext::atan2(a, b), F32Ext::powf(positive, b)] {
            digest.add(value.to_bits());
        }
        let [v, w] = [F32x3::from((a, b, 1.0)), F32x3::from((b, a, 0.5))];
        digest.add((v.dot(w).to_bits(), v.magnitude().to_bits()));
    }
}

#[inline(never)]
pub fn nalgebra(random: &mut Random, digest: &mut Digest) {
    use nalgebra::{DMatrix, Matrix3, Matrix4, SymmetricEigen, Vector4};

    let matrix = Matrix4::from_fn(|_, _| random.float());
    let vector = Vector4::from_fn(|_, _| random.float());
    let mut put = |floats: &[f64]| floats.iter().for_each(|float| digest.float(*float));
    put(&[matrix.determinant(), vector.norm()]);
    put((matrix * vector).as_slice());
    if let Some(solution) = matrix.lu().solve(&vector) {
        put(solution.as_slice());
    }
    put(matrix.qr().r().as_slice());
    let positive = matrix * matrix.transpose() + Matrix4::identity();
    if let Some(cholesky) = positive.cholesky() {
        put(cholesky.l().as_slice());
    }
    put(SymmetricEigen::new(Matrix3::new(2.0, 1.0, vector.x, 1.0, 3.0, 0.5, vector.x, 0.5, 1.0))
        .eigenvalues
        .as_slice());
    let long = DMatrix::from_fn(5, 3, |_, _| random.float());
    put((long.transpose() * &long).as_slice());
}

#[inline(never)]
pub fn num_complex(random: &mut Random, digest: &mut Digest) {
    use num_complex::Complex;

    let [a, b] = core::array::from_fn(|_| Complex::new(random.float(), random.float()));
    for value in [a * b, a / b, a.conj() - b, a.powi(5), a.inv(), a.scale(3.0)] {
        digest.float(value.re);
        digest.float(value.im);
    }
    digest.float(a.norm_sqr());
    digest.add(Complex::new(random.below(50) as i64, -7) * Complex::i());
    digest.add("1.5-2i".parse::<Complex<f64>>().is_ok_and(|read| read == Complex::new(1.5, -2.0)));
}

#[inline(never)]
pub fn num_traits(random: &mut Random, digest: &mut Digest) {
    use num_traits::{CheckedMul, Euclid, Float, FromPrimitive, Num, PrimInt, ToPrimitive, clamp, pow};

    fn product<T: PrimInt + CheckedMul>(numbers: &[T]) -> Option<T> {
        numbers.iter().try_fold(T::one(), |product, number| product.checked_mul(number))
    }
    let numbers: Vec<u32> = random.numbers(4, 400);
    digest.add((product(&numbers), product(&numbers.iter().map(|number| *number as u8 as i16).collect::<Vec<_>>())));
    for number in numbers {
        let float = f64::from(number) / 7.0 - 20.0;
        digest.add((float.to_u8(), i16::from_f64(float * 1e3), u64::from_i32(-3), clamp(number, 20, 200)));
        digest.add((float.integer_decode(), pow(u64::from(number), 5), (-7_i32).rem_euclid(number as i32 + 1)));
        digest.add(Euclid::div_euclid(&-(number as i64), &9));
        digest.float(Float::mul_add(float, float, -1.0));
        digest.float(Float::powi(float, 3) + Float::fract(float) + Float::round(float));
    }
    digest.add((u32::from_str_radix("7zz", 36).ok(), <f64 as Num>::from_str_radix("1a.8", 16).map(f64::to_bits).ok()));
}

#[inline(never)]
pub fn ordered_float(random: &mut Random, digest: &mut Digest) {
    use ordered_float::{NotNan, OrderedFloat};

    let mut floats: Vec<_> = (0..16).map(|_| OrderedFloat(random.float())).collect();
    floats.extend([f64::NAN, -0.0, f64::INFINITY, 0.0].map(OrderedFloat));
    floats.sort();
    digest.add(&floats);
    digest.add(floats.binary_search(&OrderedFloat(0.0)).is_ok());
    digest.add(NotNan::new(f32::NAN).is_err());
    let sum: Option<NotNan<f64>> = floats[..5].iter().map(|float| NotNan::new(float.0).ok()).sum();
    digest.add(sum);
}
