//! The kernels of block algorithms on the CPU, with the results that a GPU must give.

use ptx::cudarc::driver::DeviceRepr;
use ptx::{AbiType, CpuMemory, Grid, Launch};
use ptx_block_kernels::checks::{self, Machine};

/// The CPU.
struct Cpu;

impl Machine for Cpu {
    type Memory<T> = CpuMemory<T>;

    fn upload<T: AbiType + DeviceRepr>(&self, values: &[T]) -> CpuMemory<T> {
        CpuMemory::from(values)
    }

    fn download<T: AbiType + DeviceRepr>(&self, memory: &CpuMemory<T>) -> Vec<T> {
        memory.to_vec()
    }

    fn run(&self, launch: Launch<'_>, blocks: u32, threads: u32) {
        launch.launch_on_cpu(Grid::new(blocks, threads)).unwrap();
    }
}

#[test]
fn every_kernel_gives_what_its_model_says() {
    let checks = checks::all::<Cpu>();
    assert!(checks.len() > 30);
    for (name, check) in checks {
        println!("{name}");
        check(&Cpu);
    }
}
