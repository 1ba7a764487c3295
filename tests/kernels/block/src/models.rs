//! What the kernels of block algorithms must give, computed one value after the other.

use ptx::block::RadixKey;

use crate::exchanges::EXCHANGED;
use crate::orders::{BINS, ORDERED};
use crate::sorts::{BITS, SORTED};
use crate::sums::{REDUCED, SCANNED};
use crate::tested::Tested;

fn folded<T: Tested>(values: impl Iterator<Item = T>, combine: impl Fn(T, T) -> T) -> T {
    values.reduce(combine).unwrap_or(T::ZERO)
}

/// What each thread finds; `valid` values of the tile are not filled in.
pub fn reduced<T: Tested>(tile: &[T], valid: usize, items: usize) -> Vec<[T; REDUCED]> {
    let one = || tile.iter().copied().step_by(items);
    let whole = |combine: fn(T, T) -> T| folded(tile.iter().copied(), combine);
    let last = valid.div_ceil(items).checked_sub(1).map_or(T::ZERO, |thread| tile[thread * items]);
    let others = [
        whole(T::plus),
        whole(T::smaller),
        whole(T::larger),
        folded(one(), T::plus),
        whole(T::smaller),
        T::ZERO,
        T::ZERO,
        last,
    ];
    let mut found = vec![others; tile.len() / items];
    found[0][5] = folded(one(), T::plus);
    found[0][6] = whole(T::larger).larger(T::ZERO);
    found
}

/// What each item finds.
pub fn scanned<T: Tested>(tile: &[T], items: usize) -> Vec<[T; SCANNED]> {
    let sum = |values: &mut dyn Iterator<Item = T>| values.fold(T::ZERO, T::plus);
    let total = sum(&mut tile.iter().copied());
    let of_one = sum(&mut tile.iter().copied().step_by(items));
    let (mut before, mut largest, mut ones) = (T::ZERO, None::<T>, T::ZERO);
    let found = tile.iter().enumerate().map(|(at, value)| {
        let exclusive = before;
        before = before.plus(*value);
        largest = Some(largest.map_or(*value, |largest| largest.larger(*value)));
        let others = if at % items == 0 {
            // Twice the first items' total, and what stands before this one in the second.
            let second = of_one.plus(ones);
            ones = ones.plus(*value);
            [second, of_one.plus(of_one)]
        } else {
            let own = tile[at / items * items];
            let below = ones;
            // `ones` has the own first item already.
            [total.plus(*tile.last().unwrap_or(&T::ZERO)), below.plus(below.minus(own))]
        };
        let left = if at == 0 { T::ZERO } else { tile[at - 1] };
        [before, exclusive, largest.unwrap_or(*value), left, others[0], others[1]]
    });
    found.collect()
}

/// What each item becomes.
pub fn exchanged<T: Tested>(tile: &[T], threads: usize, items: usize) -> Vec<[T; EXCHANGED]> {
    let blocked = |thread: usize, item: usize| thread * items + item;
    let striped = |thread: usize, item: usize| item * threads + thread;
    let of_warps = |thread: usize, item: usize| thread / 32 * 32 * items + item * 32 + thread % 32;
    let all = || (0..threads).flat_map(|thread| (0..items).map(move |item| (thread, item)));
    // Value `item` of `thread` lies at `to` after `from` said where the values of the tile are.
    let moved = |from: &dyn Fn(usize, usize) -> usize, to: &dyn Fn(usize, usize) -> usize| {
        let mut memory = vec![T::ZERO; tile.len()];
        all().for_each(|(thread, item)| memory[from(thread, item)] = tile[blocked(thread, item)]);
        all().map(|(thread, item)| memory[to(thread, item)]).collect::<Vec<T>>()
    };
    let reversed = |thread: usize, item: usize| tile.len() - 1 - blocked(thread, item);
    let found = [
        moved(&blocked, &striped),
        moved(&striped, &blocked),
        moved(&blocked, &of_warps),
        moved(&of_warps, &blocked),
        moved(&reversed, &blocked),
        moved(&reversed, &striped),
        tile.to_vec(),
        all().map(|(t, i)| if striped(t, i) % 2 == 0 { tile[striped(t, i)] } else { T::ZERO }).collect(),
    ];
    (0..tile.len()).map(|at| std::array::from_fn(|kind| found[kind][at])).collect()
}

/// A stable sort: values, and where they were.
pub fn by<T: Copy, K: Ord>(tile: &[T], key: impl Fn(T) -> K) -> (Vec<T>, Vec<u32>) {
    let mut numbers: Vec<u32> = (0..tile.len() as u32).collect();
    numbers.sort_by_key(|at| key(tile[*at as usize]));
    (numbers.iter().map(|at| tile[*at as usize]).collect(), numbers)
}

/// What each item becomes.
pub fn sorted<T: Tested + RadixKey>(tile: &[T], threads: usize, items: usize) -> Vec<[T; SORTED]> {
    let up = by(tile, |key| key.ordered()).0;
    let down = by(tile, |key| std::cmp::Reverse(key.ordered())).0;
    let digit = by(tile, |key| key.ordered() >> BITS.start & ((1 << (BITS.end - BITS.start)) - 1)).0;
    let largest = |at: usize| {
        let index = at % items * threads + at / items;
        if index < 5 { down[index] } else { T::ZERO }
    };
    (0..tile.len()).map(|at| [up[at], down[at], digit[at], digit[at], down[at], largest(at)]).collect()
}

/// What each item becomes; `valid` values of the tile are not filled in.
pub fn ordered(tile: &[i128], valid: usize, threads: usize, items: usize) -> Vec<[i128; ORDERED]> {
    let merged = by(tile, |value| value / 8).0;
    let chosen: Vec<i128> = tile.iter().copied().filter(|value| value % 3 == 0).collect();
    let parted: Vec<i128> = chosen.iter().copied().chain(tile.iter().copied().filter(|value| value % 3 != 0)).collect();
    let striped = |at: usize| at % items * threads + at / items;
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let mut sums: Vec<(i128, i128)> = Vec::new();
    for (at, value) in tile.iter().enumerate() {
        let is_new = at == 0 || tile[at - 1] & 1 != value & 1;
        if is_new {
            sums.push((value & 1, 0));
        }
        sums.last_mut().expect("the first is new").1 += value;
        if is_new && at < valid {
            runs.push((at, 0));
        }
        if at < valid {
            runs.last_mut().expect("the first is new").1 += 1;
        }
    }
    // Of bits as the kernel's type has them without a sign.
    let bin = |value: i128| (value as u64 % BINS as u64) as usize;
    let mut counts = [0; BINS];
    tile.iter().for_each(|value| counts[bin(*value)] += 1);
    let of_thread = |thread: usize| (thread..BINS).step_by(threads).map(|bin| counts[bin]).sum::<i128>();
    let item = |at: usize| {
        let parity = |at: usize| tile[at] & 1;
        let is_head = if at == 0 { parity(0) != 0 } else { parity(at) != parity(at - 1) };
        let is_tail = at + 1 == tile.len() || parity(at) != parity(at + 1);
        let (run, sum) = (runs.get(striped(at)), sums.get(striped(at)));
        [
            merged[at],
            chosen.get(striped(at)).copied().unwrap_or(chosen.len() as i128),
            parted[striped(at)],
            if at == 0 { tile[0] } else { tile[at] - tile[at - 1] },
            tile.get(at + 1).unwrap_or(&7) - tile[at] + chosen.len() as i128,
            i128::from(is_head) | i128::from(is_tail) << 1,
            run.map_or(9, |(start, _)| parity(*start)),
            run.map_or(9, |(start, _)| *start as i128),
            run.map_or(9, |(_, len)| *len as i128),
            sum.map_or(9, |(key, _)| *key),
            sum.map_or(9, |(_, sum)| *sum),
            counts[at % BINS] + of_thread(at / items),
        ]
    };
    (0..tile.len()).map(item).collect()
}
