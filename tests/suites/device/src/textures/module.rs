//! The kernels of these tests, as a module of their own.

use ptx::{Grid, Image, Launch, Module};

use crate::gpu::Gpu;

static IMAGE: Image = ptx::image!("ptx-texture-kernels");

/// Loads them.
pub fn load(gpu: &Gpu) -> Module {
    gpu.device.load(&IMAGE).unwrap_or_else(|error| panic!("{error}"))
}

/// Launches over `n` elements and waits.
#[track_caller]
pub fn run(gpu: &Gpu, module: &Module, launch: Launch<'_>, n: usize) {
    launch.launch(module, Grid::cover(n, 64)).unwrap_or_else(|error| panic!("{error}"));
    gpu.device.synchronize().unwrap_or_else(|error| panic!("{error}"));
}
