//! Tiles of several warps, and what their operations must give.

use ptx::cooperative::{BlockTile, Group as _};
use ptx::prelude::*;

pub const OF_BLOCK_TILES: usize = 20;

/// What does not commute: first the function `x * a[0] + a[1]`, then that of `b`.
fn after(a: [u16; 2], b: [u16; 2]) -> [u16; 2] {
    [a[0].wrapping_mul(b[0]), a[1].wrapping_mul(b[0]).wrapping_add(b[1])]
}

fn function(value: u32) -> [u16; 2] {
    [value as u16 | 1, (value >> 16) as u16]
}

fn folded([a, b]: [u16; 2]) -> u64 {
    u64::from(a) << 16 | u64::from(b)
}

/// Three words of a value.
fn triple(value: u32) -> [u32; 3] {
    [value, !value, value.rotate_left(7)]
}

fn less(a: [u32; 3], b: [u32; 3]) -> [u32; 3] {
    [a[0].min(b[0]), a[1].min(b[1]), a[2].min(b[2])]
}

fn operations<const N: u32, const THREADS: u32>(tile: &BlockTile<N, THREADS>, value: u32) -> [u64; OF_BLOCK_TILES] {
    let mut results = [0_u64; OF_BLOCK_TILES];
    // Each tile takes its own number of rounds, so that tiles wait apart; the last one's results count.
    for round in 0..1 + tile.number() % 3 {
        tile.sync();
        let value = value.wrapping_add(round);
        let chosen = tile.invoke_one(|| 1_u32).unwrap_or(0);
        results = [
            tile.size().into(),
            tile.rank().into(),
            tile.number().into(),
            tile.count().into(),
            tile.all(value & 1023 != 5).into(),
            tile.any(value & 127 == 5).into(),
            tile.count_of(value & 1 != 0).into(),
            tile.shuffle(u64::from(value) * 3, value_rank::<N>(round)),
            tile.reduce_add(value).into(),
            tile.reduce_min(value as i32) as u64,
            tile.reduce_max(f64::from(value)) as u64,
            tile.reduce_and(value | 0xf0).into(),
            tile.reduce_or(value & 0xff).into(),
            tile.reduce_xor(value).into(),
            tile.reduce(triple(value), less).map(u64::from).iter().sum(),
            folded(tile.inclusive_scan(function(value), after)),
            folded(tile.exclusive_scan(function(value), [1, 0], after)),
            tile.exclusive_scan(u64::from(value), 0, |a, b| a + b),
            tile.reduce_add(chosen).into(),
            tile.invoke_one_broadcast(|| u64::from(value) << 8),
        ];
    }
    results
}

const fn value_rank<const N: u32>(round: u32) -> u32 {
    (round * 37 + 33) % N
}

macro_rules! kernels {
    ($($name:ident $n:literal $threads:literal;)*) => {$(
        #[kernel(launch_bounds($threads))]
        pub fn $name(
            values: &[u32],
            mut out: DisjointSlice<[u64; OF_BLOCK_TILES]>,
            #[shared] tile: BlockTile<$n, $threads>,
        ) {
            let i = thread::index_1d();
            let results = operations(&tile, values.get(i.get()).copied().unwrap_or(0));
            if let Some(out) = out.get_mut(i) {
                *out = results;
            }
        }
    )*};
}
kernels! {
    tiles_64_of_64 64 64;
    tiles_64_of_448 64 448;
    tiles_64_of_960 64 960;
    tiles_128_of_768 128 768;
    tiles_256_of_512 256 512;
    tiles_512_of_1024 512 1024;
}

/// Tiles of two sizes at once.
#[kernel(launch_bounds(256))]
pub fn nested_block_tiles(
    values: &[u32],
    mut out: DisjointSlice<[u32; 3]>,
    #[shared] pairs: BlockTile<64, 256>,
    #[shared] halves: BlockTile<128, 256>,
) {
    let i = thread::index_1d();
    let value = values.get(i.get()).copied().unwrap_or(0);
    let one = pairs.reduce_add(value);
    let two = halves.reduce_add(one);
    let late = pairs.exclusive_scan(two, 0, u32::wrapping_add);
    if let Some(out) = out.get_mut(i) {
        *out = [one, two, late];
    }
}

/// What [`nested_block_tiles`] leaves for a thread, of all values.
pub fn of_nested(values: &[u32], thread: usize) -> [u32; 3] {
    let sum = |of: usize, n: usize| values[of / n * n..][..n].iter().fold(0_u32, |a, b| a.wrapping_add(*b));
    let two = sum(thread, 128).wrapping_mul(64);
    [sum(thread, 64), two, two.wrapping_mul(thread as u32 % 64)]
}

/// What the operations give a thread, in blocks of `threads` parted into tiles of `n`.
pub fn of_block_tile(values: &[u32], thread: usize, n: usize, threads: usize) -> [u64; OF_BLOCK_TILES] {
    let (number, rank) = (thread % threads / n, thread % n);
    let mut results = [0_u64; OF_BLOCK_TILES];
    for round in 0..1 + number as u32 % 3 {
        let of = |at: usize| values[thread / n * n + at].wrapping_add(round);
        let all = || (0..n).map(of);
        results = [
            n as u64,
            rank as u64,
            number as u64,
            (threads / n) as u64,
            all().all(|value| value & 1023 != 5).into(),
            all().any(|value| value & 127 == 5).into(),
            all().filter(|value| value & 1 != 0).count() as u64,
            u64::from(of((round as usize * 37 + 33) % n)) * 3,
            all().fold(0_u32, u32::wrapping_add).into(),
            all().map(|value| value as i32).fold(i32::MAX, i32::min) as u64,
            all().fold(0, u32::max).into(),
            all().fold(u32::MAX, |a, b| a & (b | 0xf0)).into(),
            all().fold(0, |a, b| a | b & 0xff).into(),
            all().fold(0, |a, b| a ^ b).into(),
            all().map(triple).fold([u32::MAX; 3], less).map(u64::from).iter().sum(),
            folded((0..=rank).map(|at| function(of(at))).fold([1, 0], after)),
            folded((0..rank).map(|at| function(of(at))).fold([1, 0], after)),
            (0..rank).map(|at| u64::from(of(at))).sum(),
            1,
            u64::from(of(0)) << 8,
        ];
    }
    results
}
