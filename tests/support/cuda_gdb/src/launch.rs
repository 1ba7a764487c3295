//! Loads a case's cubin as the runtime loads any, and launches its kernel once.

use std::ffi::c_void;
use std::path::Path;

use ptx::cudarc::driver::{CudaSlice, DevicePtr, result};
use ptx::{Device, Image, Linking, Object};
use ptx_test_cases::debugger::{Arg, Case};

/// Bytes of stack that the runtime gives threads whose kernels' need ptxas cannot say. A launch by the driver's function alone
/// leaves them with 1 KiB.
const STACK: usize = 8 << 10;

/// Launches the case and waits. Everything is freed in the end, so that a leak is the kernel's.
pub fn launch(source: &Path, cubin: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(source).map_err(|error| format!("{}: {error}", source.display()))?;
    let bytes = std::fs::read(cubin).map_err(|error| format!("{}: {error}", cubin.display()))?;
    let case = Case::parse(&text).map_err(|fault| format!("{}: {fault}", source.display()))?;
    run(&case, bytes)
}

fn run(case: &Case, cubin: Vec<u8>) -> Result<(), String> {
    let text = |error: ptx::Error| error.to_string();
    let device = Device::first().map_err(text)?;
    device.set_stack_size(STACK).map_err(text)?;
    // An image lives as long as the program that it is embedded in.
    let object = Object { arch: "sm_90", ptx: "", ptx_path: "", cubin: Some(cubin.leak()) };
    // SAFETY: ptxas wrote the cubin for sm_90. No kernel is described: the launch below is the only one.
    let image = unsafe { Image::new("case", Linking::None, vec![object].leak(), &[]) };
    let module = device.load(&image).map_err(text)?;
    let function = module.function(&case.launch.kernel).map_err(text)?;
    let mut memory: Vec<CudaSlice<u8>> = Vec::new();
    let mut values: Vec<Box<[u64]>> = Vec::new();
    for arg in &case.launch.args {
        match arg {
            Arg::Value(bytes) => values.push(words(bytes)),
            Arg::Memory { bytes, len, leaked } => {
                let uploaded = device.upload(bytes).map_err(text)?;
                let address = uploaded.device_ptr(device.stream()).0;
                values.push(Box::new([address]));
                values.extend(len.map(|len| Box::from([len])));
                if *leaked {
                    uploaded.leak();
                } else {
                    memory.push(uploaded);
                }
            }
        }
    }
    let mut params: Vec<*mut c_void> = values.iter_mut().map(|value| value.as_mut_ptr().cast()).collect();
    let [grid, block] = [case.launch.grid, case.launch.block].map(|[x, y, z]| (x, y, z));
    // SAFETY: the case says what its kernel takes; the memory lives until the kernel has ended.
    let launched = unsafe { result::launch_kernel(function, grid, block, 0, device.stream().cu_stream(), &mut params) };
    launched.map_err(|error| format!("launching: {error:?}"))?;
    device.synchronize().map_err(text)
}

/// A value's bytes, aligned for everything that is passed by value here.
fn words(bytes: &[u8]) -> Box<[u64]> {
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    };
    bytes.chunks(8).map(word).collect()
}
