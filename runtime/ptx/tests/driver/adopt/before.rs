//! A program of cudarc's, which is read and not compiled: it would need cudarc's feature `nvrtc`.

use std::error::Error;

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

pub fn run(x: &[f32], y: &[f32]) -> Result<Vec<f32>, Box<dyn Error>> {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let module = context.load_module(Ptx::from_file("saxpy.ptx"))?;
    let function = module.load_function("saxpy")?;
    let x = stream.clone_htod(x)?;
    let mut y = stream.clone_htod(y)?;
    let (factor, len) = (2.0_f32, x.len());
    let config = LaunchConfig::for_num_elems(len as u32);
    // SAFETY: I have counted the arguments.
    unsafe { stream.launch_builder(&function).arg(&factor).arg(&x).arg(&len).arg(&mut y).arg(&len).launch(config) }?;
    Ok(stream.clone_dtoh(&y)?)
}
