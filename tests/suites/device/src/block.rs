//! Block algorithms against models of them.

use std::sync::OnceLock;

use ptx::cudarc::driver::DeviceRepr;
use ptx::prelude::*;
use ptx::{AbiType, Image, Launch};
use ptx_block_kernels::checks::{self, Check, Machine};

use crate::record::{Test, test};

/// The kernels, a module of their own.
static IMAGE: Image = ptx::image!("ptx-block-kernels");

/// A GPU with the kernels loaded.
struct WithKernels {
    device: Device,
    module: &'static Module,
}

impl Machine for WithKernels {
    type Memory<T> = CudaSlice<T>;

    fn upload<T: AbiType + DeviceRepr>(&self, values: &[T]) -> CudaSlice<T> {
        self.device.upload(values).unwrap()
    }

    fn download<T: AbiType + DeviceRepr>(&self, memory: &CudaSlice<T>) -> Vec<T> {
        self.device.download(memory).unwrap()
    }

    fn run(&self, launch: Launch<'_>, blocks: u32, threads: u32) {
        launch.launch(self.module, Grid::new(blocks, threads)).unwrap_or_else(|error| panic!("{error}"));
        self.device.synchronize().unwrap_or_else(|error| panic!("{error}"));
    }
}

pub fn tests() -> Vec<Test> {
    let one = |(name, check): Check<WithKernels>| {
        test(&format!("block: {name}"), move |gpu| {
            static MODULE: OnceLock<Module> = OnceLock::new();
            let module = MODULE.get_or_init(|| gpu.device.load(&IMAGE).unwrap_or_else(|error| panic!("{error}")));
            check(&WithKernels { device: gpu.device.clone(), module });
        })
    };
    checks::all().into_iter().map(one).collect()
}
