//! A texture of other dimensions or elements than the kernel's, and one in place of a surface.
use ptx::prelude::*;
use ptx::texture::{Array1d, Array2d, Sampling, Surface2d, Texture2d};

#[kernel]
pub fn fetch(texture: Texture2d<f32>, surface: Surface2d<f32>) {
    let _ = (texture, surface);
}

pub fn host(rows: &Array1d<f32>, bytes: &mut Array2d<u8>, plane: &mut Array2d<f32>) -> ptx::Result<()> {
    let sampling = Sampling::nearest();
    let row = rows.texture(&sampling)?;
    let _ = fetch(&row, &plane.surface()?); //~ ERROR: mismatched types
    let byte = bytes.texture(&sampling)?;
    let _ = fetch(&byte, &plane.surface()?); //~ ERROR: mismatched types
    let normalized = bytes.normalized_texture(&sampling)?;
    let _ = fetch(&normalized, &plane.surface()?);
    let texture = plane.texture(&sampling)?;
    let _ = fetch(&texture, &texture); //~ ERROR: mismatched types
    Ok(())
}

pub fn wide(plane: &Array2d<u32>) {
    let _ = plane.normalized_texture(&Sampling::nearest()); //~ ERROR: the method `normalized_texture` exists
}
