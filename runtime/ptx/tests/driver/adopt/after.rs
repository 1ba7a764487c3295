//! The same with a typed kernel.

use std::error::Error;

use crate::adopt::kernels::{IMAGE, saxpy};
use ptx::cudarc::driver::CudaContext;

pub fn run(x: &[f32], y: &[f32]) -> Result<Vec<f32>, Box<dyn Error>> {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let module = ptx::Device::from_context(context)?.load(&IMAGE)?;
    let x = stream.clone_htod(x)?;
    let mut y = stream.clone_htod(y)?;
    saxpy(2.0, &x, &mut y).launch_on(&module, &stream, ptx::Grid::items(x.len()))?;
    Ok(stream.clone_dtoh(&y)?)
}
