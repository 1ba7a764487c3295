//! Computations whose results are bit-identical on CPU and GPU where multiplications and additions are not fused: integers,
//! and + - × ÷ √, each of which IEEE 754 defines to the last bit. One source for both sides.

use core::ops::{Add, Div, Mul, Sub};

#[cfg(target_arch = "nvptx64")]
use ptx::math::Math as _;
use ptx::prelude::*;

/// What both precisions have.
pub trait Real:
    Copy + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    fn of(value: f32) -> Self;
    fn root(self) -> Self;
}

impl Real for f32 {
    fn of(value: f32) -> Self {
        value
    }

    fn root(self) -> Self {
        self.sqrt()
    }
}

impl Real for f64 {
    fn of(value: f32) -> Self {
        value.into()
    }

    fn root(self) -> Self {
        self.sqrt()
    }
}

/// The acceleration of body `i` by all bodies, three coordinates and a mass each.
pub fn acceleration<T: Real>(bodies: &[[T; 4]], i: usize) -> [T; 3] {
    let mut sum = [T::of(0.0); 3];
    let [x, y, z, _] = bodies[i];
    for [x2, y2, z2, mass] in bodies {
        let (dx, dy, dz) = (*x2 - x, *y2 - y, *z2 - z);
        let square = dx * dx + dy * dy + dz * dz + T::of(0.01);
        let factor = *mass / (square * square.root());
        sum = [sum[0] + dx * factor, sum[1] + dy * factor, sum[2] + dz * factor];
    }
    sum
}

/// A polynomial by Horner's rule.
pub fn horner<T: Real>(coefficients: &[T], x: T) -> T {
    coefficients.iter().fold(T::of(0.0), |sum, coefficient| sum * x + *coefficient)
}

/// How many steps the Mandelbrot iteration takes, and where it ends.
pub fn mandelbrot<T: Real>(cx: T, cy: T) -> (u32, T) {
    let (mut x, mut y) = (T::of(0.0), T::of(0.0));
    for step in 0..200 {
        let (xx, yy) = (x * x, y * y);
        if xx + yy > T::of(4.0) {
            return (step, xx + yy);
        }
        (x, y) = (xx - yy + cx, T::of(2.0) * x * y + cy);
    }
    (200, x * x + y * y)
}

/// A dot product in the order of the elements.
pub fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).fold(T::of(0.0), |sum, (a, b)| sum + *a * *b)
}

/// The cube root of a positive number by Newton's method.
pub fn newton<T: Real>(a: T) -> T {
    let mut x = T::of(1.0) + a / T::of(3.0);
    for _ in 0..40 {
        x = x - (x * x * x - a) / (T::of(3.0) * x * x);
    }
    x
}

/// The triangular factors of a 4×4 matrix in one, without exchanging rows, and its determinant.
pub fn lu<T: Real>(mut m: [[T; 4]; 4]) -> ([[T; 4]; 4], T) {
    let mut determinant = T::of(1.0);
    for k in 0..4 {
        determinant = determinant * m[k][k];
        for i in k + 1..4 {
            m[i][k] = m[i][k] / m[k][k];
            for j in k + 1..4 {
                m[i][j] = m[i][j] - m[i][k] * m[k][j];
            }
        }
    }
    (m, determinant)
}

/// One element of the product of two square matrices.
pub fn element<T: Real>(a: &[T], b: &[T], width: usize, row: usize, column: usize) -> T {
    let mut sum = T::of(0.0);
    for k in 0..width {
        sum = sum + a[row * width + k] * b[k * width + column];
    }
    sum
}

/// FNV-1a over the words, with a rotation.
pub fn hash(words: &[u64], seed: u64) -> u64 {
    words.iter().fold(0xcbf2_9ce4_8422_2325 ^ seed, |hash, word| {
        (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
    })
}

/// How many numbers a polynomial or a row of a dot product has.
pub const TERMS: usize = 32;

/// The side of the square matrices.
pub const WIDTH: usize = 48;

macro_rules! kernels {
    ($ty:ident: $nbody:ident $horner:ident $mandelbrot:ident $dot:ident $newton:ident $lu:ident $matmul:ident) => {
        #[kernel]
        pub fn $nbody(bodies: &[[$ty; 4]], mut out: DisjointSlice<[$ty; 3]>) {
            let i = thread::index_1d();
            if let Some(out) = out.get_mut(i) {
                *out = acceleration(bodies, i.get());
            }
        }

        #[kernel]
        pub fn $horner(coefficients: &[$ty], x: &[$ty], mut out: DisjointSlice<$ty>) {
            let i = thread::index_1d();
            if let Some(out) = out.get_mut(i) {
                *out = horner(coefficients, x[i.get()]);
            }
        }

        #[kernel]
        pub fn $mandelbrot(points: &[[$ty; 2]], mut steps: DisjointSlice<u32>, mut ends: DisjointSlice<$ty>) {
            let i = thread::index_1d();
            if let (Some(steps), Some(end)) = (steps.get_mut(i), ends.get_mut(i)) {
                let [x, y] = points[i.get()];
                (*steps, *end) = mandelbrot(x, y);
            }
        }

        #[kernel]
        pub fn $dot(a: &[[$ty; TERMS]], b: &[[$ty; TERMS]], mut out: DisjointSlice<$ty>) {
            let i = thread::index_1d();
            if let Some(out) = out.get_mut(i) {
                *out = dot(&a[i.get()], &b[i.get()]);
            }
        }

        #[kernel]
        pub fn $newton(a: &[$ty], mut out: DisjointSlice<$ty>) {
            let i = thread::index_1d();
            if let Some(out) = out.get_mut(i) {
                *out = newton(a[i.get()]);
            }
        }

        #[kernel]
        pub fn $lu(
            matrices: &[[[$ty; 4]; 4]],
            mut factors: DisjointSlice<[[$ty; 4]; 4]>,
            mut determinants: DisjointSlice<$ty>,
        ) {
            let i = thread::index_1d();
            if let (Some(factors), Some(determinant)) = (factors.get_mut(i), determinants.get_mut(i)) {
                (*factors, *determinant) = lu(matrices[i.get()]);
            }
        }

        #[kernel]
        pub fn $matmul(a: &[$ty], b: &[$ty], mut out: DisjointSlice<$ty>) {
            let i = thread::index_1d();
            if let Some(out) = out.get_mut(i) {
                *out = element(a, b, WIDTH, i.get() / WIDTH, i.get() % WIDTH);
            }
        }
    };
}
kernels!(f32: nbody_f32 horner_f32 mandelbrot_f32 dot_f32 newton_f32 lu_f32 matmul_f32);
kernels!(f64: nbody_f64 horner_f64 mandelbrot_f64 dot_f64 newton_f64 lu_f64 matmul_f64);

#[kernel]
pub fn hash_words(words: &[u64], mut out: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = hash(words, i.get() as u64);
    }
}
