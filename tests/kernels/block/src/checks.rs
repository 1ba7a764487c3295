//! What the kernels must give, and what compares, on any machine that runs them.

use std::fmt::Debug;

use ptx::cudarc::driver::DeviceRepr;
use ptx::{AbiType, DeviceWrite, Launch};

use crate::exchanges::{self, EXCHANGED};
use crate::models::{by, exchanged, ordered, reduced, scanned, sorted};
use crate::orders::{self, ORDERED};
use crate::sorts::{self, SORTED};
use crate::sums::{self, REDUCED, SCANNED};
use crate::tested::Tested;

/// What runs kernels: a GPU, or the CPU.
pub trait Machine {
    /// Memory that its kernels reach.
    type Memory<T>: DeviceWrite<T>;
    /// Memory with these values.
    fn upload<T: AbiType + DeviceRepr>(&self, values: &[T]) -> Self::Memory<T>;
    /// The values in it.
    fn download<T: AbiType + DeviceRepr>(&self, memory: &Self::Memory<T>) -> Vec<T>;
    /// Runs a kernel and waits for it.
    fn run(&self, launch: Launch<'_>, blocks: u32, threads: u32);
}

/// Blocks of a launch. The last one's tile is not full.
const BLOCKS: usize = 3;

/// A check and its name.
pub type Check<M> = (&'static str, fn(&M));

/// All checks of the kernels.
pub fn all<M: Machine>() -> Vec<Check<M>> {
    let mut checks: Vec<Check<M>> = Vec::new();
    macro_rules! reduction {
        ($($name:ident $ty:ident $threads:literal $items:literal;)*) => {$(
            checks.push((stringify!($name), |machine| {
                let (x, tiles) = tiles::<$ty>($threads * $items);
                let mut out = machine.upload(&vec![[<$ty>::default(); REDUCED]; BLOCKS * $threads]);
                machine.run(sums::$name(&machine.upload(&x), &mut out), BLOCKS as u32, $threads);
                let tile = $threads * $items;
                let valid = |at: usize| (x.len() - at * tile).min(tile);
                let expected = tiles.iter().enumerate().flat_map(|(at, tile)| reduced(tile, valid(at), $items));
                same(&machine.download(&out), expected);
            }));
        )*};
    }
    reductions!(reduction);
    macro_rules! scanning {
        ($($name:ident $ty:ident $threads:literal $items:literal;)*) => {$(
            checks.push((stringify!($name), |machine| {
                let (x, tiles) = tiles::<$ty>($threads * $items);
                let mut out = machine.upload(&vec![[<$ty>::default(); SCANNED]; BLOCKS * $threads * $items]);
                machine.run(sums::$name(&machine.upload(&x), &mut out), BLOCKS as u32, $threads);
                same(&machine.download(&out), tiles.iter().flat_map(|tile| scanned(tile, $items)));
            }));
        )*};
    }
    scans!(scanning);
    macro_rules! exchanging {
        ($($name:ident $ty:ident $threads:literal $items:literal;)*) => {$(
            checks.push((stringify!($name), |machine| {
                let (x, tiles) = tiles::<$ty>($threads * $items);
                let mut out = machine.upload(&vec![[<$ty>::default(); EXCHANGED]; BLOCKS * $threads * $items]);
                let mut stored = machine.upload(&vec![<$ty>::default(); x.len()]);
                let mut striped = machine.upload(&vec![<$ty>::default(); x.len()]);
                let from = machine.upload(&x);
                let launch = exchanges::$name(&from, &mut out, &mut stored, &mut striped);
                machine.run(launch, BLOCKS as u32, $threads);
                same(&machine.download(&out), tiles.iter().flat_map(|tile| exchanged(tile, $threads, $items)));
                same(&machine.download(&stored), x.iter().copied());
                same(&machine.download(&striped), x.iter().copied());
            }));
        )*};
    }
    exchanges!(exchanging);
    macro_rules! sorting {
        ($($name:ident $ty:ident $threads:literal $items:literal;)*) => {$(
            checks.push((stringify!($name), |machine| {
                let (x, tiles) = tiles::<$ty>($threads * $items);
                let mut out = machine.upload(&vec![[<$ty>::default(); SORTED]; BLOCKS * $threads * $items]);
                let mut striped = machine.upload(&vec![<$ty>::default(); BLOCKS * $threads * $items]);
                let mut numbers = machine.upload(&vec![0; BLOCKS * $threads * $items]);
                let from = machine.upload(&x);
                let launch = sorts::$name(&from, &mut out, &mut striped, &mut numbers);
                machine.run(launch, BLOCKS as u32, $threads);
                same(&machine.download(&out), tiles.iter().flat_map(|tile| sorted(tile, $threads, $items)));
                let by_key = |tile: &Vec<$ty>| by(tile, |key| key.ordered());
                same(&machine.download(&striped), tiles.iter().flat_map(|tile| by_key(tile).0));
                same(&machine.download(&numbers), tiles.iter().flat_map(|tile| by_key(tile).1));
            }));
        )*};
    }
    sorts!(sorting);
    macro_rules! ordering {
        ($($name:ident $ty:ident $threads:literal $items:literal;)*) => {$(
            checks.push((stringify!($name), |machine| {
                let (x, tiles) = tiles::<$ty>($threads * $items);
                let mut out = machine.upload(&vec![[<$ty>::default(); ORDERED]; BLOCKS * $threads * $items]);
                machine.run(orders::$name(&machine.upload(&x), &mut out), BLOCKS as u32, $threads);
                let valid = |at: usize| (x.len() - at * $threads * $items).min($threads * $items);
                let expected = tiles.iter().enumerate().flat_map(|(at, tile)| {
                    let tile: Vec<i128> = tile.iter().map(|value| i128::from(*value)).collect();
                    ordered(&tile, valid(at), $threads, $items)
                });
                same(&machine.download(&out), expected.map(|values| values.map(|value| value as $ty)));
            }));
        )*};
    }
    orders!(ordering);
    checks.push(("threads that end", |machine| {
        for stay in [1, 31, 32, 40, 127] {
            let mut out = machine.upload(&[[0_u32; 2]; 128]);
            machine.run(sums::leave(stay, &mut out), 1, 128);
            let came = machine.download(&out).iter().filter(|found| found[0] == 1).count();
            assert_eq!(came, stay as usize);
        }
    }));
    checks.push(("bins and bits that are there", |machine| {
        let mut out = machine.upload(&[0_u32; 32]);
        machine.run(sums::count_in(9, &mut out), 1, 32);
        same(&machine.download(&out), [32; 32].into_iter());
        for (first, end, expected) in [(0, 32, 0..32), (5, 32, 0..32), (0, 0, 0..32)] {
            machine.run(sums::sort_by(first, end, &mut out), 1, 32);
            // By bits of which all keys have the same, nothing moves.
            let expected = expected.map(|at| if (first, end) == (0, 32) { at } else { 31 - at });
            same(&machine.download(&out), expected);
        }
    }));
    checks
}

/// Random numbers for all blocks but part of the last's; and each block's tile, filled up with zeros.
fn tiles<T: Tested>(tile: usize) -> (Vec<T>, Vec<Vec<T>>) {
    let mut numbers = fastrand::Rng::with_seed(tile as u64);
    let x: Vec<T> = (0..tile * BLOCKS - tile / 2 - 3).map(|_| T::of(numbers.u64(..))).collect();
    let full = x.chunks(tile).map(|part| part.iter().copied().chain(std::iter::repeat(T::ZERO)).take(tile).collect());
    let tiles = full.collect();
    (x, tiles)
}

/// Both sides have the same; says which element differs first.
#[track_caller]
pub fn same<T: PartialEq + Debug>(found: &[T], expected: impl Iterator<Item = T>) {
    let expected: Vec<T> = expected.collect();
    assert_eq!(found.len(), expected.len(), "lengths");
    if let Some(at) = found.iter().zip(&expected).position(|(found, expected)| found != expected) {
        panic!("element {at}: {:?} in place of {:?}", found[at], expected[at]);
    }
}
