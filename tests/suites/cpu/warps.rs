//! The device tests' kernels of warps on the CPU, with the results that a GPU must give.

use ptx::CpuMemory;
use ptx::prelude::*;
use ptx_test_kernels::warp::{self as kernels, OF_GROUPS, OF_TILES, SHUFFLES};
use ptx_test_kernels::warp_model as model;

/// Blocks of 128 threads, each with a value.
const N: usize = 128 * 6;

fn grid() -> Grid {
    Grid::cover(N, 128)
}

fn random<T>(seed: u64, number: impl Fn(u64) -> T) -> Vec<T> {
    let mut numbers = fastrand::Rng::with_seed(seed);
    (0..N).map(|_| number(numbers.u64(..))).collect()
}

fn same<T: PartialEq + std::fmt::Debug>(found: &[T], expected: impl Fn(usize) -> T) {
    for (i, found) in found.iter().enumerate() {
        assert_eq!(*found, expected(i), "thread {i}");
    }
}

#[test]
fn shuffles() {
    let (values, places) = (random(1, |bits| bits), random(2, |bits| bits as u32 % 32));
    let (v, p) = (CpuMemory::from(&values[..]), CpuMemory::from(&places[..]));
    let mut out = CpuMemory::from(vec![[0; SHUFFLES]; N]);
    kernels::shuffles(&v, &p, &mut out).launch_on_cpu(grid()).unwrap();
    same(&out, |i| model::shuffles(&values, &places, i));
}

#[test]
fn groups_of_any_lanes() {
    for (seed, kinds) in [(3, 4), (4, 2), (5, 1)] {
        let values = random(seed, |bits| bits as u32 | 1 << (bits >> 40 & 3));
        let labels = random(seed + 50, |bits| bits as u32 % kinds);
        let (v, l) = (CpuMemory::from(&values[..]), CpuMemory::from(&labels[..]));
        let mut out = CpuMemory::from(vec![[0; OF_GROUPS]; N]);
        kernels::label_groups(&v, &l, &mut out).launch_on_cpu(grid()).unwrap();
        same(&out, |i| model::of_group(&values, &labels, i));
    }
}

#[test]
fn tiles() {
    let values = random(6, |bits| bits as u32);
    let v = CpuMemory::from(&values[..]);
    macro_rules! check {
        ($($kernel:ident $n:literal)*) => {$(
            let mut out = CpuMemory::from(vec![[0; OF_TILES]; N]);
            kernels::$kernel(&v, &mut out).launch_on_cpu(grid()).unwrap();
            same(&out, |i| model::of_tile(&values, i, $n));
        )*};
    }
    check! { tiles_1 1 tiles_2 2 tiles_4 4 tiles_8 8 tiles_16 16 tiles_32 32 }
}

#[test]
fn votes_of_a_block() {
    let mut values = random(7, |bits| bits as u32);
    values[..128].fill(1);
    values[128..256].fill(2);
    let v = CpuMemory::from(&values[..]);
    let mut out = CpuMemory::from(vec![[0; 3]; N]);
    kernels::block_votes(&v, &mut out).launch_on_cpu(grid()).unwrap();
    same(&out, |i| model::block_votes(&values, i));
}
