//! The device tests' kernels of warps on the CPU, with the results that a GPU must give.

use ptx::CpuMemory;
use ptx::cooperative::{BlockTile, Group as _};
use ptx::prelude::*;
use ptx_test_kernels::block_tiles::{self as tiles, OF_BLOCK_TILES};
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

#[test]
fn tiles_of_several_warps() {
    macro_rules! check {
        ($($kernel:ident $n:literal $threads:literal;)*) => {$(
            let blocks = 2;
            let mut numbers = fastrand::Rng::with_seed($threads);
            let values: Vec<u32> = (0..blocks * $threads).map(|_| numbers.u32(..)).collect();
            let device = CpuMemory::from(&values[..]);
            let mut out = CpuMemory::from(vec![[0; OF_BLOCK_TILES]; values.len()]);
            tiles::$kernel(&device, &mut out).launch_on_cpu(Grid::new(blocks as u32, $threads)).unwrap();
            same(&out, |i| tiles::of_block_tile(&values, i, $n, $threads));
        )*};
    }
    check! { tiles_64_of_64 64 64; tiles_64_of_448 64 448; tiles_128_of_768 128 768; tiles_256_of_512 256 512; }
    let values: Vec<u32> = (0..512).map(|i: u32| i.wrapping_mul(0x9e37_79b9)).collect();
    let (device, mut out) = (CpuMemory::from(&values[..]), CpuMemory::from(vec![[0; 3]; 512]));
    tiles::nested_block_tiles(&device, &mut out).launch_on_cpu(Grid::new(2, 256)).unwrap();
    same(&out, |i| tiles::of_nested(&values, i));
}

/// Half of a tile leaves it.
#[kernel]
fn half_a_tile(#[shared] tile: BlockTile<64, 64>) {
    if thread::thread_idx_x() < 32 {
        tile.sync();
    }
}

/// The ranks differ.
#[kernel]
fn own_ranks(#[shared] tile: BlockTile<64, 64>) {
    _ = tile.shuffle(1_u32, tile.rank());
}

#[test]
fn misuse_of_tiles_of_several_warps() {
    let error = half_a_tile().launch_on_cpu(Grid::new(1, 64)).unwrap_err();
    assert!(error.to_string().contains("at a barrier of a tile"), "{error}");
    for (threads, ranks, expected) in [(64, true, "different ranks"), (32, false, "blocks of 64 threads")] {
        let grid = Grid::new(1, threads);
        let panic = std::panic::catch_unwind(|| match ranks {
            true => own_ranks().launch_on_cpu(grid),
            false => half_a_tile().launch_on_cpu(grid),
        });
        let panic = panic.expect_err("it panics");
        let text = panic.downcast_ref::<String>().cloned().or(panic.downcast_ref::<&str>().map(ToString::to_string));
        assert!(text.as_ref().is_some_and(|text| text.contains(expected)), "{text:?}");
    }
}
