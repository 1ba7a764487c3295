//! Kernels that come to their mathematics by crates that know nothing of GPUs: num-traits and glam, both through `libm`.

use glam::{Mat3, Quat, Vec3};
use num_traits::{Float, FloatConst};
use ptx::math::Math;
use ptx::{DisjointSlice, kernel, thread};

/// Generic code, of every function of num-traits that `libm` computes.
fn everything<T: Float + FloatConst>(x: T, y: T) -> T {
    let trigonometry = x.sin() + x.cos() * x.tan() + x.asin() + x.acos() + x.atan() + x.atan2(y);
    let hyperbolic = x.sinh() + x.cosh() + x.tanh() + x.asinh() + x.acosh() + x.atanh();
    let exponential = x.exp() + x.exp2() + x.exp_m1() + x.ln() + x.log2() + x.log10() + x.ln_1p() + x.log(y);
    let (sine, cosine) = (x * T::PI()).sin_cos();
    let power = x.powf(y) + x.sqrt() + x.cbrt() + x.hypot(y) + x.mul_add(y, sine);
    let rounding = x.floor() + x.ceil() + x.round() + x.trunc() + x.fract();
    trigonometry + hyperbolic + exponential + power + rounding + cosine
}

/// num-traits in single precision.
#[kernel]
pub fn num_traits_f32(x: &[f32], y: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = everything(x[i.get()], y[i.get()]);
    }
}

/// num-traits in double precision.
#[kernel]
pub fn num_traits_f64(x: &[f64], y: &[f64], mut out: DisjointSlice<f64>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = everything(x[i.get()], y[i.get()]);
    }
}

/// What `libm` computes in a few lines each, by num-traits.
#[kernel]
pub fn short_by_num_traits(x: &[f32], y: &[f64], mut out: DisjointSlice<f64>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let (x, y) = (x[i.get()], y[i.get()]);
        *out = f64::from(Float::ln(x) + Float::log2(x) + Float::log10(x) + Float::cbrt(x)) + Float::ln(y);
    }
}

/// The same by the crate `ptx`.
#[kernel]
pub fn short_by_ptx(x: &[f32], y: &[f64], mut out: DisjointSlice<f64>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let (x, y) = (x[i.get()], y[i.get()]);
        *out = f64::from(Math::ln(x) + Math::log2(x) + Math::log10(x) + Math::cbrt(x)) + Math::ln(y);
    }
}

/// Rotations by glam: sines, cosines, arcs and roots.
#[kernel]
pub fn glam_rotation(axes: &[[f32; 3]], angles: &[f32], mut out: DisjointSlice<[f32; 3]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let axis = Vec3::from_array(axes[i.get()]).normalize();
        let turn = Quat::from_axis_angle(axis, angles[i.get()]);
        let (yaw, pitch, roll) = turn.to_euler(glam::EulerRot::YXZ);
        let back = Mat3::from_euler(glam::EulerRot::YXZ, yaw, pitch, roll);
        *out = (back * (turn * Vec3::X).powf(1.5)).exp().to_array();
    }
}
