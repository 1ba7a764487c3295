//! A surface of what a texture borrows, and a texture that outlives its array.
use ptx::prelude::*;
use ptx::texture::{Array2d, BoundTexture, Sampling, Surface2d, Texture2d, TwoD};

#[kernel]
pub fn fetch(texture: Texture2d<f32>, surface: Surface2d<f32>) {
    let _ = (texture, surface);
}

pub fn both(plane: &mut Array2d<f32>) -> ptx::Result<()> {
    let texture = plane.texture(&Sampling::nearest())?;
    let surface = plane.surface()?; //~ ERROR: cannot borrow `*plane` as mutable
    let _ = fetch(&texture, &surface);
    Ok(())
}

pub fn outlives(device: &Device) -> ptx::Result<BoundTexture<'static, TwoD, f32>> {
    let plane = Array2d::<f32>::zeroed(device, (4, 4))?;
    plane.texture(&Sampling::nearest()) //~ ERROR: cannot return value referencing local variable `plane`
}
