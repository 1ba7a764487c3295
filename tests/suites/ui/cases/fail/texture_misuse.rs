//! What textures and surfaces cannot hold or do.
#![no_std]
use ptx::prelude::*;
use ptx::texture::{Bounds, Surface2d, Texture2d, TextureGather2d};

#[kernel]
pub fn doubles(texture: Texture2d<f64>) { //~ ERROR: a texture does not give `f64`
    let _ = texture;
}

#[kernel]
pub fn three(surface: Surface2d<[f32; 3]>) { //~ ERROR: `[f32; 3]` cannot be an element of a texture or surface
    let _ = surface;
}

pub fn written(texture: Texture2d<f32>) {
    texture.write(0, 0, 1.0, Bounds::Zero); //~ ERROR: no method named `write` found
}

pub fn layer(texture: Texture2d<f32>) -> f32 {
    texture.fetch(3, 0.5, 0.5) //~ ERROR: this method takes 2 arguments but 3 arguments were supplied
}

pub fn not_gathered(texture: Texture2d<f32>, other: TextureGather2d<f32>) -> f32 {
    let [sum, ..] = other.gather::<0>(0.5, 0.5);
    sum + texture.gather::<0>(0.5, 0.5)[0] //~ ERROR: no method named `gather` found
}
