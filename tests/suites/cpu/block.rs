//! The kernels of block algorithms on the CPU, with the results that a GPU must give.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ptx::cudarc::driver::DeviceRepr;
use ptx::{AbiType, CpuMemory, Grid, Launch};
use ptx_block_kernels::checks::{self, Machine};
use ptx_block_kernels::sums;

/// Runs kernels as coroutines.
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

/// Kernels in which hundreds of threads take turns at every vote: some seconds each.
const SLOW: [&str; 11] = [
    "sort_i32_256",
    "sort_f32_256",
    "sort_f64_512",
    "sort_u32_1024",
    "sort_u64_128",
    "reduce_i32_1024",
    "scan_f64_384",
    "scan_i32_1024",
    "order_i32_256",
    "order_u64_128",
    "order_u32_512",
];

fn check(is_asked_for: impl Fn(&str) -> bool) {
    let mut count = 0;
    for (name, check) in checks::all::<Cpu>() {
        if is_asked_for(name) {
            println!("{name}");
            check(&Cpu);
            count += 1;
        }
    }
    assert!(count >= SLOW.len());
}

#[test]
fn every_kernel_gives_what_its_model_says() {
    check(|name| !SLOW.contains(&name));
}

#[test]
#[ignore = "half a minute: sorts in larger blocks"]
fn the_slow_kernels_give_what_their_models_say() {
    check(|name| SLOW.contains(&name));
}

/// The sums that the threads of one block find: up to each, before it, and of all.
fn float_sums(threads: usize, launch: impl FnOnce(&CpuMemory<f32>, &mut CpuMemory<[f32; 3]>)) -> Vec<[f32; 3]> {
    let x: Vec<f32> = (0..threads).map(|thread| 0.1 + (thread * 7919 % 1000) as f32 / 3.0).collect();
    let (x, mut out) = (CpuMemory::from(&x[..]), CpuMemory::from(&vec![[0.0; 3]; threads][..]));
    launch(&x, &mut out);
    out.to_vec()
}

#[test]
fn scans_of_rounded_floats_agree_with_each_other() {
    let few = float_sums(256, |x, out| sums::float_sums_256(x, out).launch_on_cpu(Grid::new(1, 256)).unwrap());
    let many = float_sums(384, |x, out| sums::float_sums_384(x, out).launch_on_cpu(Grid::new(1, 384)).unwrap());
    for found in [few, many] {
        let mut before = 0.0_f32;
        for [inclusive, exclusive, total] in &found {
            assert_eq!(exclusive.to_bits(), before.to_bits());
            assert_eq!(total.to_bits(), found[found.len() - 1][0].to_bits());
            before = *inclusive;
        }
    }
}

/// The message with which a launch panics.
fn panic_of(launch: Launch<'_>, threads: u32) -> String {
    let run = AssertUnwindSafe(|| launch.launch_on_cpu(Grid::new(1, threads)));
    let panic = catch_unwind(run).unwrap_err();
    panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap()
}

#[test]
fn misuse_panics() {
    let mut out = CpuMemory::from([0_u32; 128]);
    let text = panic_of(sums::count_in(10, &mut out), 32);
    assert_eq!(text, "a histogram of 10 bins has no bin 10");
    let text = panic_of(sums::sort_by(0, 33, &mut out), 32);
    assert_eq!(text, "a key does not have these bits");
    let mut out = CpuMemory::from([[0_u32; 2]; 128]);
    let text = panic_of(sums::leave(128, &mut out), 96);
    assert_eq!(text, "a block algorithm for 128 threads was launched with blocks of 96");
}
