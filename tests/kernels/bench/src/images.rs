//! Image filters.

use ptx::Disjoint2d;
use ptx::prelude::*;

#[kernel]
pub fn rgb_to_gray(pixels: &[[u8; 3]], mut gray: DisjointSlice<u8>) {
    let i = thread::index_1d();
    if let Some(gray) = gray.get_mut(i) {
        let [red, green, blue] = pixels[i.get()].map(u32::from);
        *gray = ((77 * red + 150 * green + 29 * blue) >> 8) as u8;
    }
}

/// The mean of the pixels at most two columns and rows away, as far as there are such.
#[kernel(dimensions = 2)]
pub fn box_blur(from: &[f32], mut to: Disjoint2d<f32>) {
    let (width, height) = (to.width(), to.height());
    let at = thread::index_2d();
    if let Some(to) = to.get_mut(at) {
        let columns = at.x().saturating_sub(2)..(at.x() + 3).min(width);
        let rows = at.y().saturating_sub(2)..(at.y() + 3).min(height);
        let count = columns.len() * rows.len();
        let mut sum = 0.0;
        for row in rows {
            sum += from[row * width..(row + 1) * width][columns.clone()].iter().sum::<f32>();
        }
        *to = sum / count as f32;
    }
}

/// The strength of edges; 0 at the image's own.
#[kernel(dimensions = 2)]
pub fn sobel(from: &[u8], mut to: Disjoint2d<u8>) {
    let (width, height) = (to.width(), to.height());
    let at = thread::index_2d();
    let Some(to) = to.get_mut(at) else { return };
    let (x, y) = (at.x(), at.y());
    if x == 0 || y == 0 || x + 1 == width || y + 1 == height {
        *to = 0;
        return;
    }
    let pixel = |row: usize, column: usize| i32::from(from[(y + row - 1) * width + x + column - 1]);
    let horizontal = pixel(0, 2) + 2 * pixel(1, 2) + pixel(2, 2) - pixel(0, 0) - 2 * pixel(1, 0) - pixel(2, 0);
    let vertical = pixel(2, 0) + 2 * pixel(2, 1) + pixel(2, 2) - pixel(0, 0) - 2 * pixel(0, 1) - pixel(0, 2);
    *to = (horizontal.abs() + vertical.abs()).min(255) as u8;
}
