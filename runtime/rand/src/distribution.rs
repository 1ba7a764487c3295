//! How random bits become uniform numbers, and those normal ones.

use core::f32::consts::TAU;

use ptx_device::float::Approx as _;
use ptx_device::math::Math as _;

/// 2^-32.
const UNIT: f32 = 1.0 / 4_294_967_296.0;

/// 2^-32.
const UNIT_F64: f64 = 1.0 / 4_294_967_296.0;

/// 2^-53.
const FINE: f64 = 1.0 / 9_007_199_254_740_992.0;

/// From 2^-33 to 1.
#[inline]
pub fn uniform(bits: u32) -> f32 {
    bits as f32 * UNIT + UNIT / 2.0
}

/// From 2^-32 to 1.
#[inline]
pub fn uniform_f64(bits: u32) -> f64 {
    f64::from(bits) * UNIT_F64 + UNIT_F64
}

/// From 2^-54 to 1.
#[inline]
pub fn uniform_fine(low: u32, high: u32) -> f64 {
    fine(low, high) * FINE + FINE / 2.0
}

/// 53 bits as a number.
#[inline]
fn fine(low: u32, high: u32) -> f64 {
    (u64::from(low) ^ (u64::from(high) << (53 - 32))) as f64
}

/// Box and Muller 1958, of 32 bits each.
#[inline]
pub fn box_muller(x: u32, y: u32) -> [f32; 2] {
    const TURN: f32 = UNIT * TAU;
    polar(uniform(x), y as f32 * TURN + TURN / 2.0)
}

/// Of a uniform number and an angle. Sine and cosine are the GPU's own instructions, as CURAND's.
#[inline]
pub fn polar(uniform: f32, angle: f32) -> [f32; 2] {
    let radius = (-2.0 * uniform.ln()).sqrt();
    let (sin, cos) = angle.sin_cos_approx();
    [sin * radius, cos * radius]
}

/// Of 64 bits each, of which 53 count.
#[inline]
pub fn box_muller_f64([x0, x1, y0, y1]: [u32; 4]) -> [f64; 2] {
    polar_f64(uniform_fine(x0, x1), fine(y0, y1) * (2.0 * FINE) + FINE)
}

/// Of a uniform number and an angle in half turns.
#[inline]
pub fn polar_f64(uniform: f64, angle: f64) -> [f64; 2] {
    let radius = (-2.0 * uniform.ln()).sqrt();
    let (sin, cos) = angle.sincospi();
    [sin * radius, cos * radius]
}
