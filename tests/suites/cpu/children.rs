//! Kernels that launch kernels, on the CPU: children run when their parents have ended, those of the tail last.

use ptx::prelude::*;
use ptx::{CpuMemory, Error};
use ptx_children_kernels::{self as kernels, Pair};

#[test]
fn arguments_arrive() {
    let words = CpuMemory::from([1_u16, 20, 300]);
    let (float, one) = (CpuMemory::from([1.5_f32]), CpuMemory::from([-9_i64]));
    let mut out = CpuMemory::from(vec![0_u64; 13]);
    let pair = Pair { small: 9, large: 0.25 };
    kernels::hand_on(pair, &words, float.pointer(), &one, &mut out).launch_on_cpu(Grid::new(1, 1)).unwrap();
    assert_eq!(out[..], kernels::ARGUMENTS);
}

#[test]
fn grids_have_the_extents_that_were_asked_for() {
    let mut out = CpuMemory::from(vec![0_u32; 4 * 3 * 2 * 8 * 2 * 2]);
    kernels::launch_positions([4, 3, 2], [8, 2, 2], &mut out).launch_on_cpu(Grid::new(1, 1)).unwrap();
    assert!(out.iter().copied().eq(kernels::expected_positions([4, 3, 2], [8, 2, 2])));
}

#[test]
fn children_have_children() {
    let mut count = CpuMemory::from([0_u32]);
    kernels::tree(5, &mut count).launch_on_cpu(Grid::new(3, 1)).unwrap();
    assert_eq!(count[0], 3 * 63);
    let mut log = CpuMemory::from([0_u32; 8]);
    kernels::ping(5, &mut log).launch_on_cpu(Grid::new(1, 1)).unwrap();
    assert_eq!(log[..7], [6, 105, 4, 103, 2, 101, 0]);
}

#[test]
fn the_tail_comes_last() {
    let mut x: CpuMemory<u32> = (0..100).collect();
    kernels::rounds(6, &mut x).launch_on_cpu(Grid::cover(100, 32)).unwrap();
    assert!(x.iter().copied().eq((0..100).map(|x| (0..6).fold(x, |x, _| x * 3 + 1))));
    let mut log = CpuMemory::from([0_u32; 16]);
    kernels::streams(&mut log).launch_on_cpu(Grid::new(1, 1)).unwrap();
    kernels::check_streams(&log);
}

#[test]
fn a_long_tail_takes_no_stack() {
    let mut x = CpuMemory::from([0_u32]);
    kernels::rounds(20_000, &mut x).launch_on_cpu(Grid::new(1, 1)).unwrap();
    assert_eq!(x[0], (0..20_000).fold(0_u32, |x, _| x.wrapping_mul(3).wrapping_add(1)));
}

#[test]
fn dynamic_shared_memory() {
    let mut x: CpuMemory<u32> = (0..256).collect();
    kernels::launch_reverse(64, &mut x).launch_on_cpu(Grid::new(1, 1)).unwrap();
    assert!(x.iter().copied().eq((0..256).map(|i| i / 64 * 64 + 63 - i % 64)));
}

#[test]
fn instances_of_generic_kernels() {
    let mut words: CpuMemory<u32> = (0..128).collect();
    let mut numbers: CpuMemory<f64> = (0..192).map(f64::from).collect();
    kernels::launch_scale(&mut words, &mut numbers).launch_on_cpu(Grid::new(1, 1)).unwrap();
    let reversed = |i: u32| i / 64 * 64 + 63 - i % 64;
    assert!(words.iter().copied().eq((0..128).map(|i| 125 * reversed(i))));
    assert!(numbers.iter().copied().eq((0..192).map(|i| 0.25 * f64::from(reversed(i)))));
}

#[test]
fn what_goes_wrong_is_the_launch_s() {
    let mut out = CpuMemory::from([7_u32]);
    let error = kernels::refused(2000, 0, &mut out).launch_on_cpu(Grid::new(1, 1)).unwrap_err();
    assert!(matches!(&error, Error::Grid { kernel, .. } if kernel == "positions"), "{error}");
    // What did not run is forgotten.
    let mut count = CpuMemory::from([0_u32]);
    kernels::tree(0, &mut count).launch_on_cpu(Grid::new(1, 1)).unwrap();
    assert_eq!((count[0], out[0]), (1, 0));
}

#[test]
#[should_panic(expected = "62 is not below 62")]
fn a_child_s_panic_is_the_launch_s() {
    _ = kernels::launch_panics(62).launch_on_cpu(Grid::new(1, 1));
}
