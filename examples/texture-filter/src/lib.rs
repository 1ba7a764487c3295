//! Two filters of pictures that leave the arithmetic between texels to the texture unit.
#![cfg_attr(target_arch = "nvptx64", no_std)]

use ptx::Disjoint2d;
use ptx::prelude::*;
use ptx::texture::{Bounds, Surface2d, Texture2d};
use ptx::vec::UChar4;

/// Turns a picture around its middle, by the angle with this sine and cosine. Coordinates run from 0 to 1, and the picture
/// repeats outside.
#[kernel(dimensions = 2)]
pub fn turn(picture: Texture2d<f32>, sine: f32, cosine: f32, mut out: Disjoint2d<f32>) {
    let (width, height) = (out.width(), out.height());
    let at = thread::index_2d();
    if let Some(pixel) = out.get_mut(at) {
        let (u, v) = turned(at.x() as usize, at.y() as usize, width, height, sine, cosine);
        *pixel = picture.fetch(u, v);
    }
}

/// Where the turned picture's pixel comes from.
pub fn turned(x: usize, y: usize, width: usize, height: usize, sine: f32, cosine: f32) -> (f32, f32) {
    let u = (x as f32 + 0.5) / width as f32 - 0.5;
    let v = (y as f32 + 0.5) / height as f32 - 0.5;
    (u * cosine - v * sine + 0.5, v * cosine + u * sine + 0.5)
}

/// How far from the middle the four fetches of [`blur`] are: there a linear filter gives 3 parts of one texel and one of
/// the next, so that four fetches weigh the nine texels around.
pub const OFF: f32 = 0.75;

/// Blurs a picture of four bytes a pixel, which are numbers from 0 to 1 in a fetch, into a surface of bytes.
#[kernel(dimensions = 2)]
pub fn blur(picture: Texture2d<[f32; 4]>, out: Surface2d<UChar4>, width: i32, height: i32) {
    let at = thread::index_2d();
    let (x, y) = (at.x() as i32, at.y() as i32);
    if x < width && y < height {
        let (u, v) = (x as f32 + 0.5, y as f32 + 0.5);
        let corners = [(-OFF, -OFF), (OFF, -OFF), (-OFF, OFF), (OFF, OFF)];
        let fetched = corners.map(|(i, j)| picture.fetch(u + i, v + j));
        let mean = |k: usize| fetched.iter().map(|pixel| pixel[k]).sum::<f32>() * 0.25;
        let byte = |k| (mean(k) * 255.0 + 0.5) as u8;
        out.write(x, y, UChar4::new(byte(0), byte(1), byte(2), byte(3)), Bounds::Trap);
    }
}
