//! Convolutions and Fourier transforms.

use ptx::Disjoint2d;
use ptx::prelude::*;
use ptx::vec::Float2;

/// `x` has as many more elements than `y` as there are taps but one.
#[kernel]
pub fn convolve_1d(x: &[f32], taps: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[i.get()..].iter().zip(taps).map(|(x, tap)| x * tap).sum();
    }
}

/// Rows and columns of the weights of [`convolve_2d`].
pub const SIZE: usize = 5;

/// `from` has four more columns and rows than `to`.
#[kernel(dimensions = 2)]
pub fn convolve_2d(from: &[f32], weights: &[f32], mut to: Disjoint2d<f32>) {
    let width = to.width();
    let at = thread::index_2d();
    if let Some(to) = to.get_mut(at) {
        let mut sum = 0.0;
        for row in 0..SIZE {
            for column in 0..SIZE {
                sum += weights[row * SIZE + column] * from[(at.y() + row) * (width + SIZE - 1) + at.x() + column];
            }
        }
        *to = sum;
    }
}

/// Points of a transform.
pub const POINTS: usize = 16;

/// The powers of the sixteenth root of unity: `exp(-2 π i k / 16)`.
const ROOTS: [Float2; POINTS / 2] = [
    Float2::new(1.0, 0.0),
    Float2::new(0.923_879_5, -0.382_683_43),
    Float2::new(0.707_106_77, -0.707_106_77),
    Float2::new(0.382_683_43, -0.923_879_5),
    Float2::new(0.0, -1.0),
    Float2::new(-0.382_683_43, -0.923_879_5),
    Float2::new(-0.707_106_77, -0.707_106_77),
    Float2::new(-0.923_879_5, -0.382_683_43),
];

/// Cooley and Tukey's transform of sixteen complex numbers a thread.
#[kernel]
pub fn fft_16(signals: &[[Float2; POINTS]], mut spectra: DisjointSlice<[Float2; POINTS]>) {
    let i = thread::index_1d();
    let Some(spectrum) = spectra.get_mut(i) else { return };
    let signal = &signals[i.get()];
    let mut v = [Float2::new(0.0, 0.0); POINTS];
    for (k, v) in v.iter_mut().enumerate() {
        *v = signal[k.reverse_bits() >> (usize::BITS - POINTS.ilog2())];
    }
    for stage in 0..POINTS.ilog2() {
        let half = 1 << stage;
        for pair in 0..POINTS / 2 {
            let k = pair % half;
            let first = 2 * pair - k;
            let (even, odd, root) = (v[first], v[first + half], ROOTS[k * (POINTS / 2 / half)]);
            let odd = Float2::new(odd.x * root.x - odd.y * root.y, odd.x * root.y + odd.y * root.x);
            v[first] = even + odd;
            v[first + half] = even - odd;
        }
    }
    *spectrum = v;
}

/// One stage of Stockham's transform: each thread finds its own element of the result.
///
/// `span` is the number of elements of the transforms that are ready.
#[kernel]
pub fn fft_stage(from: &[Float2], span: usize, mut to: DisjointSlice<Float2>) {
    let n = to.len();
    let i = thread::index_1d();
    if let Some(to) = to.get_mut(i) {
        let i = i.get();
        let (group, k) = (i / (2 * span), i % span);
        let source = group * span + k;
        let (even, odd) = (from[source], from[source + n / 2]);
        let (sin, cos) = (-(k as f32) / span as f32).sincospi();
        let odd = Float2::new(odd.x * cos - odd.y * sin, odd.x * sin + odd.y * cos);
        *to = if (i / span).is_multiple_of(2) { even + odd } else { even - odd };
    }
}
