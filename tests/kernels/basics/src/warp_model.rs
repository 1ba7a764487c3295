//! What the kernels of warps must give, of thread `i`, with blocks of 128 threads and no thread without a value.

use std::vec::Vec;

use crate::warp::{OF_GROUPS, OF_TILES, SHUFFLES, folded, quad};

/// Of the kernel `shuffles`.
pub fn shuffles(values: &[u64], places: &[u32], i: usize) -> [u64; SHUFFLES] {
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
}

/// Of the kernel `block_votes`.
pub fn block_votes(values: &[u32], i: usize) -> [u32; 3] {
    let odd = values[i / 128 * 128..][..128].iter().filter(|value| *value & 1 != 0).count() as u32;
    [odd, u32::from(odd == 128), u32::from(odd > 0)]
}

/// Of the kernel `label_groups`.
pub fn of_group(values: &[u32], labels: &[u32], i: usize) -> [u32; OF_GROUPS] {
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
        is(&|value| value.is_multiple_of(3) == own.is_multiple_of(3)) as u32,
        1,
    ]
}

/// Of the kernels `tiles_…`, of `n` threads.
pub fn of_tile(values: &[u32], i: usize, n: usize) -> [u32; OF_TILES] {
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
