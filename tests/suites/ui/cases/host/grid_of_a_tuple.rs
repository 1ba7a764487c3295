//! A launch with a pair in place of a grid, as between CUDA C++'s `<<<` and `>>>`.
use ptx::prelude::*;

#[kernel]
pub fn scale(factor: f32) {
    let _ = factor;
}

pub fn host(module: &Module) -> ptx::Result<()> {
    scale(2.0).launch(module, (4, 256)) //~ ERROR: is not a `Grid`
}
