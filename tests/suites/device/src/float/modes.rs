//! Modes of functions in one module: they reach libdevice's bodies, and stay where they belong.

use ptx::cudarc::driver::CudaSlice;
use ptx::{Grid, Image, Launch, Module};
use ptx_float_kernels::modes as kernels;
use ptx_float_kernels::modes::Results;

use super::images::loaded;
use crate::gpu::Gpu;
use crate::record::{Test, test};

/// By the modes of the build.
static IMAGES: [(&str, Image); 2] =
    [("default", ptx::image!("float_explicit")), ("fast", ptx::image!("float_explicit_fast"))];

fn run(gpu: &Gpu, index: usize, launch: Launch<'_>, count: usize) {
    let module: &Module = loaded!(IMAGES)(gpu, index);
    launch.launch(module, Grid::cover(count, 128)).unwrap_or_else(|error| panic!("{error}"));
    gpu.device.synchronize().unwrap_or_else(|error| panic!("{error}"));
}

type Kernel = for<'a> fn(&'a CudaSlice<f32>, &'a mut CudaSlice<Results>) -> Launch<'a>;

/// What a kernel makes of subnormal numbers, in that build.
fn of_subnormal(gpu: &Gpu, index: usize, kernel: Kernel) -> Vec<Results> {
    let x: Vec<f32> = [1_u32, 2, 0x1234, 0x40_0000, 0x7f_ffff, 0x8000_0001, 0x807f_fffe].map(f32::from_bits).to_vec();
    let uploaded = gpu.device.upload(&x).unwrap();
    let mut out = gpu.device.zeroed::<Results>(x.len()).unwrap();
    run(gpu, index, kernel(&uploaded, &mut out), x.len());
    gpu.device.download(&out).unwrap()
}

/// Every result is a zero, or none is but those that round to it.
#[track_caller]
fn all_flushed(results: &[Results], flushed: bool, what: &str) {
    for (row, results) in results.iter().enumerate() {
        for (column, result) in results.iter().enumerate() {
            // Half and a third of the smallest number round to zero.
            let may_be_zero = flushed || (row == 0 || row == 5) && column >= 4;
            assert!(!flushed || *result == 0.0, "{what}: result {column} of number {row} is {result:e}, not flushed");
            assert!(may_be_zero || *result != 0.0, "{what}: result {column} of number {row} is flushed");
        }
    }
}

pub fn tests() -> Vec<Test> {
    vec![
        test("float modes: ftz reaches sinf and kin, and stays in its function", |gpu| {
            for (index, (build, _)) in IMAGES.iter().enumerate() {
                let what = |kernel: &str| format!("{kernel} in the build `{build}`");
                all_flushed(&of_subnormal(gpu, index, |x, out| kernels::flushed(x, out)), true, &what("flushed"));
                all_flushed(
                    &of_subnormal(gpu, index, |x, out| kernels::of_the_build(x, out)),
                    *build == "fast",
                    &what("of_the_build"),
                );
                if *build == "default" {
                    all_flushed(&of_subnormal(gpu, index, |x, out| kernels::kept(x, out)), false, &what("kept"));
                }
            }
        }),
        test("float modes: fused and not fused in one kernel", |gpu| {
            // Floating Point and IEEE 754 12.8, §1.3.
            let (x, y) = (vec![f32::from_bits(0x3f80_0001)], vec![f32::from_bits(0x3f80_0002)]);
            let (on_x, on_y) = (gpu.device.upload(&x).unwrap(), gpu.device.upload(&y).unwrap());
            for index in 0..IMAGES.len() {
                let mut out = gpu.device.zeroed::<[f32; 3]>(1).unwrap();
                run(gpu, index, kernels::fused_and_not(&on_x, &on_y, &mut out), 1);
                let out = gpu.device.download(&out).unwrap();
                assert_eq!(out[0], [2_f32.powi(-46), 0.0, 0.0]);
            }
        }),
    ]
}
