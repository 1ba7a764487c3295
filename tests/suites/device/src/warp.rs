//! Warps and groups against a model of them, and integers and bits against the CPU.

use ptx::prelude::*;
use ptx_test_kernels::warp::{self as kernels, OF_BITS, OF_GROUPS, OF_LANES, OF_TILES, SHUFFLES, folded, quad};

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
            let host = (0..N).map(|i| {
                let (warp, lane, place) = (&values[i / 32 * 32..][..32], i % 32, places[i] as usize);
                let there = warp[place];
                [
                    there,
                    warp[lane.checked_sub(place).unwrap_or(lane)],
                    warp[if lane + place < 32 { lane + place } else { lane }],
                    warp[lane ^ place],
                    u64::from(there as u8),
                    u64::from(there as u16),
                    f64::from(there as u32).to_bits(),
                    folded(quad(there)),
                    u64::from(there as u8) + 7 + u64::from((there >> 8) as u8),
                ]
            });
            same(&gpu.device.download(&out).unwrap(), host);
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
                    same(&gpu.device.download(&out).unwrap(), (0..N).map(|i| of_tile(&values, i, $n)));
                )*};
            }
            check! { tiles_1 1 tiles_2 2 tiles_4 4 tiles_8 8 tiles_16 16 tiles_32 32 }
        }),
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
            let host = (0..N).map(|i| {
                let odd = values[i / 128 * 128..][..128].iter().filter(|value| *value & 1 != 0).count() as u32;
                [odd, u32::from(odd == 128), u32::from(odd > 0)]
            });
            same(&gpu.device.download(&out).unwrap(), host);
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

/// Random words, and those at the ends of ranges.
fn operands() -> Vec<[u32; 3]> {
    let ends = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x8080_8080, 0x7fff_ffff, 0x8000_0000, u32::MAX];
    let all = ends.iter().flat_map(|a| ends.iter().flat_map(move |b| ends.iter().map(move |c| [*a, *b, *c])));
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
    same(&gpu.device.download(&out).unwrap(), (0..N).map(|i| of_group(&values, &labels, i)));
}

fn of_group(values: &[u32], labels: &[u32], i: usize) -> [u32; OF_GROUPS] {
    let warp = i / 32 * 32;
    let members: Vec<usize> = (warp..warp + 32).filter(|other| labels[*other] == labels[i]).collect();
    let all: Vec<u32> = members.iter().map(|member| values[*member]).collect();
    let mask = |keep: &dyn Fn(u32) -> bool| {
        members.iter().filter(|member| keep(values[**member])).map(|member| 1 << (member - warp)).sum::<u32>()
    };
    let (own, rank) = (values[i], members.iter().position(|member| *member == i).expect("a member"));
    let sum = |values: &[u32]| values.iter().fold(0, |sum: u32, value| sum.wrapping_add(*value));
    let reduced = |combine: fn(u32, u32) -> u32| all.iter().copied().reduce(combine).expect("a member");
    let is = |condition: &dyn Fn(u32) -> bool| all.iter().filter(|value| condition(**value)).count();
    [
        mask(&|_| true),
        mask(&|value| value & 1 != 0),
        u32::from(is(&|value| value & 7 != 0) == all.len()),
        u32::from(is(&|value| value & 7 == 0) > 0),
        u32::from([0, all.len()].contains(&is(&|value| value & 16 == 0))),
        mask(&|value| value % 4 == own % 4),
        u32::from(is(&|value| value % 2 == own % 2) == all.len()),
        all.len() as u32,
        rank as u32,
        sum(&all),
        all.iter().map(|value| *value as i32).min().expect("a member") as u32,
        reduced(u32::max),
        reduced(|a, b| a & b),
        reduced(|a, b| a | b),
        reduced(|a, b| a ^ b),
        all.iter().map(|value| value.rotate_left(1)).max().expect("a member").rotate_right(1),
        sum(&all[..=rank]),
        sum(&all[..rank]),
        all[all.len() - 1 - rank],
        rank.checked_sub(2).map_or(77, |rank| all[rank]),
        is(&|value| (value % 3 == 0) == (own % 3 == 0)) as u32,
        1,
    ]
}

fn of_tile(values: &[u32], i: usize, n: usize) -> [u32; OF_TILES] {
    let tile = &values[i / n * n..][..n];
    let rank = i % n;
    let sum = |values: &[u32]| values.iter().fold(0, |sum: u32, value| sum.wrapping_add(*value));
    [
        n as u32,
        rank as u32,
        (i % 128 / n) as u32,
        (128 / n) as u32,
        tile[n - 1],
        tile[rank ^ (n / 2)],
        rank.checked_sub(1).map_or(1, |rank| tile[rank]),
        tile.get(rank + 3).copied().unwrap_or(3),
        (0..n).filter(|at| tile[*at] & 1 != 0).map(|at| 1 << at).sum::<u32>(),
        u32::from(tile.iter().all(|value| value & 3 != 0)),
        sum(tile),
        *tile.iter().max().expect("a member"),
        sum(&tile[..=rank]),
        if rank == 0 { 9 } else { sum(&tile[..rank]) },
    ]
}
