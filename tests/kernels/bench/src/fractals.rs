//! Fractals and ray marching: long loops whose ends differ from thread to thread.

use ptx::prelude::*;

/// Iterations after which a point counts as inside.
pub const LIMIT: u32 = 256;

#[kernel]
pub fn mandelbrot(width: usize, height: usize, mut iterations: DisjointSlice<u32>) {
    let at = thread::index_2d();
    // SAFETY: all threads give the same width.
    if let Some(out) = unsafe { iterations.get_mut_2d(at, width) } {
        let cx = at.x() as f32 / width as f32 * 3.0 - 2.25;
        let cy = at.y() as f32 / height as f32 * 2.5 - 1.25;
        let (mut x, mut y, mut count) = (0.0_f32, 0.0_f32, 0);
        while x * x + y * y <= 4.0 && count < LIMIT {
            (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
            count += 1;
        }
        *out = count;
    }
}

/// In double precision.
#[kernel]
pub fn julia(width: usize, height: usize, cx: f64, cy: f64, mut iterations: DisjointSlice<u32>) {
    let at = thread::index_2d();
    // SAFETY: all threads give the same width.
    if let Some(out) = unsafe { iterations.get_mut_2d(at, width) } {
        let mut x = at.x() as f64 / width as f64 * 3.0 - 1.5;
        let mut y = at.y() as f64 / height as f64 * 3.0 - 1.5;
        let mut count = 0;
        while x * x + y * y <= 4.0 && count < LIMIT {
            (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
            count += 1;
        }
        *out = count;
    }
}

/// The distance to the nearest of endless spheres.
#[inline]
fn distance([x, y, z]: [f32; 3]) -> f32 {
    let wrap = |x: f32| x - (x * 0.25 + 0.5).floor() * 4.0;
    let (x, y, z) = (wrap(x), wrap(y), wrap(z));
    (x * x + y * y + z * z).sqrt() - 1.0
}

/// How far the ray of each pixel goes before it meets a sphere.
#[kernel]
pub fn raymarch(width: usize, height: usize, mut depths: DisjointSlice<f32>) {
    let at = thread::index_2d();
    // SAFETY: all threads give the same width.
    if let Some(depth) = unsafe { depths.get_mut_2d(at, width) } {
        let (u, v) = (at.x() as f32 / width as f32 - 0.5, at.y() as f32 / height as f32 - 0.5);
        let scale = (u * u + v * v + 1.0).rsqrt();
        let direction = [u * scale, v * scale, scale];
        let mut travelled = 0.0;
        for _ in 0..96 {
            let step = distance([
                2.0 + travelled * direction[0],
                2.0 + travelled * direction[1],
                travelled * direction[2] - 2.0,
            ]);
            if step < 1e-3 || travelled > 60.0 {
                break;
            }
            travelled += step;
        }
        *depth = travelled;
    }
}
