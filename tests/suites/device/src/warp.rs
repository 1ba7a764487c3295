//! Warps and groups against a model of them, and integers and bits against the CPU.

use ptx::prelude::*;
use ptx_test_kernels::block_tiles::{self, OF_BLOCK_TILES};
use ptx_test_kernels::warp::{self as kernels, OF_BITS, OF_GROUPS, OF_LANES, OF_TILES, SHUFFLES};
use ptx_test_kernels::warp_model as model;

use crate::gpu::{Gpu, random, same};
use crate::record::{Test, test};

/// Whole blocks of 128, so that no thread is without a number.
const N: usize = 128 * 50;

pub fn tests() -> Vec<Test> {
    vec![
        test("warp: shuffles", |gpu| {
            let values: Vec<u64> = random(1).take(N).collect();
            let places: Vec<u32> = random(2).take(N).map(|bits| bits as u32 % 32).collect();
            let (v, p) = (gpu.device.upload(&values).unwrap(), gpu.device.upload(&places).unwrap());
            let mut out = gpu.device.upload(&vec![[0; SHUFFLES]; N]).unwrap();
            gpu.run(kernels::shuffles(&v, &p, &mut out), N);
            same(&gpu.device.download(&out).unwrap(), (0..N).map(|i| model::shuffles(&values, &places, i)));
        }),
        test("warp: groups of any lanes, in branches of their own", |gpu| {
            // Labels that many, few or all lanes of a warp share.
            for (seed, kinds) in [(3, 4), (4, 2), (5, 1)] {
                groups(gpu, seed, kinds);
            }
        }),
        test("warp: tiles", |gpu| {
            let values: Vec<u32> = random(6).take(N).map(|bits| bits as u32).collect();
            macro_rules! check {
                ($($kernel:ident $n:literal)*) => {$(
                    let device = gpu.device.upload(&values).unwrap();
                    let mut out = gpu.device.upload(&vec![[0; OF_TILES]; N]).unwrap();
                    gpu.run(kernels::$kernel(&device, &mut out), N);
                    same(&gpu.device.download(&out).unwrap(), (0..N).map(|i| model::of_tile(&values, i, $n)));
                )*};
            }
            check! { tiles_1 1 tiles_2 2 tiles_4 4 tiles_8 8 tiles_16 16 tiles_32 32 }
        }),
        test("warp: tiles of several warps", block_tiles),
        test("warp: votes of a block", |gpu| {
            // Blocks of which some are all odd, some all even.
            let values = random(7).take(N).enumerate().map(|(i, bits)| match i / 128 % 3 {
                0 => 1,
                1 => 2,
                _ => bits as u32,
            });
            let values: Vec<u32> = values.collect();
            let device = gpu.device.upload(&values).unwrap();
            let mut out = gpu.device.upload(&vec![[0; 3]; N]).unwrap();
            gpu.run(kernels::block_votes(&device, &mut out), N);
            same(&gpu.device.download(&out).unwrap(), (0..N).map(|i| model::block_votes(&values, i)));
        }),
        test("bits: words", |gpu| {
            let operands = operands();
            let device = gpu.device.upload(&operands).unwrap();
            let mut out = gpu.device.upload(&vec![[0; OF_BITS]; operands.len()]).unwrap();
            gpu.run(kernels::bits_of(&device, &mut out), operands.len());
            same(&gpu.device.download(&out).unwrap(), operands.iter().map(|[a, b, c]| kernels::words(*a, *b, *c)));
        }),
        test("bits: lanes of a word", |gpu| {
            let operands = operands();
            let device = gpu.device.upload(&operands).unwrap();
            let mut out = gpu.device.upload(&vec![[0; OF_LANES]; operands.len()]).unwrap();
            gpu.run(kernels::lanes_of(&device, &mut out), operands.len());
            same(&gpu.device.download(&out).unwrap(), operands.iter().map(|[a, b, _]| kernels::lanes(*a, *b)));
        }),
    ]
}

fn block_tiles(gpu: &Gpu) {
    let blocks = 40;
    macro_rules! check {
        ($($kernel:ident $n:literal $threads:literal;)*) => {$(
            let values: Vec<u32> = random($threads).take(blocks * $threads).map(|bits| bits as u32).collect();
            let device = gpu.device.upload(&values).unwrap();
            let mut out = gpu.device.upload(&vec![[0; OF_BLOCK_TILES]; values.len()]).unwrap();
            block_tiles::$kernel(&device, &mut out).launch(&gpu.module, Grid::new(blocks as u32, $threads)).unwrap();
            let expected = (0..values.len()).map(|i| block_tiles::of_block_tile(&values, i, $n, $threads));
            same(&gpu.device.download(&out).unwrap(), expected);
        )*};
    }
    check! {
        tiles_64_of_64 64 64;
        tiles_64_of_448 64 448;
        tiles_64_of_960 64 960;
        tiles_128_of_768 128 768;
        tiles_256_of_512 256 512;
        tiles_512_of_1024 512 1024;
    }
    let values: Vec<u32> = random(9).take(256 * blocks).map(|bits| bits as u32).collect();
    let device = gpu.device.upload(&values).unwrap();
    let mut out = gpu.device.upload(&vec![[0; 3]; values.len()]).unwrap();
    block_tiles::nested_block_tiles(&device, &mut out).launch(&gpu.module, Grid::new(blocks as u32, 256)).unwrap();
    same(&gpu.device.download(&out).unwrap(), (0..values.len()).map(|i| block_tiles::of_nested(&values, i)));
}

/// Random words, and those at the ends of ranges.
fn operands() -> Vec<[u32; 3]> {
    const ENDS: [u32; 11] = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x8080_8080, 0x7fff_ffff, 0x8000_0000, u32::MAX];
    let all = ENDS.iter().flat_map(|a| ENDS.iter().flat_map(move |b| ENDS.iter().map(move |c| [*a, *b, *c])));
    let mut numbers = random(8).map(|bits| (bits >> 16) as u32);
    let random = (0..200_000).map(move |_| std::array::from_fn(|_| numbers.next().unwrap_or(0)));
    all.chain(random).collect()
}

fn groups(gpu: &Gpu, seed: u64, kinds: u32) {
    let values: Vec<u32> = random(seed).take(N).map(|bits| bits as u32 | 1 << (bits >> 40 & 3)).collect();
    let labels: Vec<u32> = random(seed + 50).take(N).map(|bits| bits as u32 % kinds).collect();
    let (v, l) = (gpu.device.upload(&values).unwrap(), gpu.device.upload(&labels).unwrap());
    let mut out = gpu.device.upload(&vec![[0; OF_GROUPS]; N]).unwrap();
    gpu.run(kernels::label_groups(&v, &l, &mut out), N);
    same(&gpu.device.download(&out).unwrap(), (0..N).map(|i| model::of_group(&values, &labels, i)));
}
