//! What the device can do at most: how fast it copies, and how fast it multiplies and adds.

use std::ffi::c_void;

use anyhow::{Context, Result};
use ptx::cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use ptx::cudarc::driver::{DevicePtr, DevicePtrMut, result};
use ptx_bench_table::statistics::median;
use serde_json::{Value, json};

use crate::gpu::Gpu;

/// Samples of each figure.
const SAMPLES: usize = 11;

/// Numbers that are copied.
const COPIED: usize = 1 << 26;

/// Fused operations of each of a thread's chains, and how many there are of these in `ceilings.cu`.
const STEPS: u32 = 8192;
const CHAINS: f64 = 8.0;

/// Measures, and says what the device is.
pub fn measure() -> Result<Value> {
    let gpu = Gpu::open()?;
    let [rust, cuda, trap, exit] = gpu.loaded();
    Ok(json!({
        "gpu": gpu.device.name(),
        "compute_capability": gpu.device.capability(),
        "cuda": gpu.device.driver_version().map(|(major, minor)| format!("{major}.{minor}"))?,
        "loaded": { "rust": rust, "cuda": cuda, "trap": trap, "exit": exit },
        "copy_gb_s": copy(&gpu)?,
        "f32_gflop_s": peak(&gpu, "peak_f32", size_of::<f32>())?,
        "f64_gflop_s": peak(&gpu, "peak_f64", size_of::<f64>())?,
    }))
}

/// The median of a few samples after one that warms up.
fn best(mut sample: impl FnMut() -> Result<f64>) -> Result<f64> {
    sample()?;
    Ok(median(&(0..SAMPLES).map(|_| sample()).collect::<Result<Vec<_>>>()?))
}

/// Gigabytes a second that are read and written, by the driver's copy or by a kernel, whichever is faster.
fn copy(gpu: &Gpu) -> Result<f64> {
    let from = gpu.device.zeroed::<f32>(COPIED)?;
    let mut to = gpu.device.zeroed::<f32>(COPIED)?;
    let stream = gpu.device.stream();
    let (source, target) = (from.device_ptr(stream).0, to.device_ptr_mut(stream).0);
    let bytes = size_of::<f32>() * COPIED;
    let by_driver = best(|| {
        gpu.time(|| {
            // SAFETY: both have that many bytes.
            unsafe { result::memcpy_dtod_async(target, source, bytes, stream.cu_stream()) }.context("copying")
        })
    })?;
    let kernel = gpu.cuda("copy")?;
    let mut cells = [source, COPIED as u64, target, COPIED as u64];
    let mut parameters: Vec<*mut c_void> = cells.iter_mut().map(|cell| std::ptr::from_mut(cell).cast()).collect();
    let shape = ((COPIED as u32 / 256, 1, 1), (256, 1, 1));
    // SAFETY: two slices of that length.
    let by_kernel = best(|| gpu.time(|| unsafe { kernel.launch(shape, &mut parameters) }))?;
    Ok(2.0 * bytes as f64 / by_driver.min(by_kernel) / 1e3)
}

/// Billions of operations a second of a kernel that does nothing but fused ones.
fn peak(gpu: &Gpu, name: &str, size: usize) -> Result<f64> {
    let processors = gpu.device.context().attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
    let (blocks, threads) = (8 * processors as u32, 256);
    let count = blocks as usize * threads as usize;
    let mut results = gpu.device.zeroed::<u8>(size * count)?;
    let address = results.device_ptr_mut(gpu.device.stream()).0;
    let kernel = gpu.cuda(name)?;
    let mut cells = [u64::from(STEPS), address, count as u64];
    let mut parameters: Vec<*mut c_void> = cells.iter_mut().map(|cell| std::ptr::from_mut(cell).cast()).collect();
    // SAFETY: a number and a slice with a number for each thread.
    let time = best(|| gpu.time(|| unsafe { kernel.launch(((blocks, 1, 1), (threads, 1, 1)), &mut parameters) }))?;
    Ok(2.0 * CHAINS * f64::from(STEPS) * count as f64 / time / 1e3)
}
