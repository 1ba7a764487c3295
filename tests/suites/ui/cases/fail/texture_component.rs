//! A texel of one number has no second.
//@ error-in-other-file: a texel does not have so many numbers
#![no_std]
use ptx::prelude::*;
use ptx::texture::TextureGather2d;

#[kernel]
pub fn second(texture: TextureGather2d<f32>, mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = texture.gather::<1>(0.5, 0.5)[0];
    }
}
