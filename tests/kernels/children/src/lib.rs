//! Kernels that launch kernels: each way to do so, each kind of argument, and what goes wrong.
#![cfg_attr(target_arch = "nvptx64", no_std)]

use core::ops::MulAssign;

use ptx::atomic::{Atomic, AtomicSlice, Device as OnDevice, Ordering};
use ptx::children::{ChildError, ChildGrid, Children};
use ptx::prelude::*;
use ptx::shared::SharedTile;
use ptx::{Dim3, Plain, Shared};

/// A struct with padding.
#[derive(Clone, Copy, Debug, PartialEq, AbiType)]
#[repr(C)]
pub struct Pair {
    /// In the first byte.
    pub small: u8,
    /// Behind seven that are nothing.
    pub large: f64,
}

/// A struct with the largest alignment that a child's parameter may have.
#[derive(Clone, Copy, Debug, PartialEq, AbiType)]
#[repr(C, align(16))]
pub struct Aligned {
    /// In the first bytes.
    pub value: u32,
}

/// Writes what it got, as numbers.
#[kernel(child)]
#[expect(clippy::too_many_arguments, reason = "one of each kind")]
pub fn arguments(
    small: u8,
    flag: bool,
    pair: Pair,
    short: i16,
    wide: u64,
    three: [u8; 3],
    aligned: Aligned,
    words: &[u16],
    pointer: *const f32,
    letter: char,
    one: &i64,
    out: AtomicSlice<'_, u64, OnDevice>,
) {
    // SAFETY: the host passes a pointer to an `f32`.
    let float = unsafe { *pointer };
    let values = [
        small.into(),
        flag.into(),
        pair.small.into(),
        pair.large.to_bits(),
        short as u64,
        wide,
        u64::from(three[0]) | u64::from(three[1]) << 8 | u64::from(three[2]) << 16,
        aligned.value.into(),
        words.len() as u64,
        words.iter().map(|word| u64::from(*word)).sum(),
        float.to_bits().into(),
        u64::from(u32::from(letter)),
        *one as u64,
    ];
    for (place, value) in out.iter().zip(values) {
        place.store(value, Ordering::Relaxed);
    }
}

/// Hands on what it got.
#[kernel]
pub fn hand_on<'grid>(
    #[children] children: Children<'grid>,
    pair: Pair,
    words: &'grid [u16],
    pointer: *const f32,
    one: &'grid i64,
    out: AtomicSlice<'grid, u64, OnDevice>,
) {
    let (stream, grid, aligned) = (children.fire_and_forget(), ChildGrid::new(1, 1), Aligned { value: 77 });
    let launched =
        arguments::launch(stream, grid, 5, true, pair, -2, 1 << 40, [1, 2, 3], aligned, words, pointer, 'é', one, out);
    launched.expect("one launch");
}

/// Writes each thread's position in the grid to its element.
#[kernel(child)]
pub fn positions(out: AtomicSlice<'_, u32, OnDevice>) {
    let (grid, block) = (thread::grid_dim(), thread::block_dim());
    let (at, inner) = (thread::block_idx(), thread::thread_idx());
    let number = |at: Dim3, of: Dim3| at.x + of.x * (at.y + of.y * at.z);
    let index = number(at, grid) * block.volume() as u32 + number(inner, block);
    let words = [at.x, at.y, at.z, inner.x, inner.y, inner.z];
    let value = words.into_iter().fold(0, |value, word| value << 5 | word);
    if let Some(place) = out.get(index as usize) {
        place.store(value, Ordering::Relaxed);
    }
}

/// Launches such a grid.
#[kernel]
pub fn launch_positions<'grid>(
    blocks: [u32; 3],
    threads: [u32; 3],
    out: AtomicSlice<'grid, u32, OnDevice>,
    #[children] children: Children<'grid>,
) {
    let extents = |[x, y, z]: [u32; 3]| Dim3::new(x, y, z);
    let grid = ChildGrid::new(extents(blocks), extents(threads));
    positions::launch(children.in_order(), grid, out).expect("one launch");
}

/// Counts itself, and launches two of itself while `depth` is above 0.
#[kernel(child)]
pub fn tree<'grid>(#[children] children: Children<'grid>, depth: u32, count: AtomicSlice<'grid, u32, OnDevice>) {
    count[0].fetch_add(1, Ordering::Relaxed);
    if depth > 0 {
        for _ in 0..2 {
            tree::launch(children.fire_and_forget(), ChildGrid::new(1, 1), depth - 1, count).expect("few launches");
        }
    }
}

/// Writes what the kernel `ping` left, and back: both launch each other.
#[kernel(child)]
pub fn pong<'grid>(#[children] children: Children<'grid>, left: u32, log: AtomicSlice<'grid, u32, OnDevice>) {
    note(log, left);
    if left > 0 {
        ping::launch(children.in_order(), ChildGrid::new(1, 1), left - 1, log).expect("few launches");
    }
}

/// The other one.
#[kernel(child)]
pub fn ping<'grid>(#[children] children: Children<'grid>, left: u32, log: AtomicSlice<'grid, u32, OnDevice>) {
    note(log, 100 + left);
    if left > 0 {
        pong::launch(children.fire_and_forget(), ChildGrid::new(1, 1), left - 1, log).expect("few launches");
    }
}

/// Appends to a log whose first word is its length.
fn note(log: AtomicSlice<'_, u32, OnDevice>, value: u32) {
    let at = log[0].fetch_add(1, Ordering::Relaxed);
    if let Some(place) = log.get(at as usize + 1) {
        place.store(value, Ordering::Relaxed);
    }
}

/// Three times each element and one more, as often as `rounds` says, in a grid for each round: only children of the tail may
/// write what their parents' threads write, too.
#[kernel(child)]
pub fn rounds<'grid>(#[children] children: Children<'grid>, rounds: u32, mut x: DisjointSlice<'grid, u32>) {
    let i = thread::index_1d();
    if let Some(x) = x.get_mut(i) {
        *x = x.wrapping_mul(3).wrapping_add(1);
    }
    if rounds > 1 && i.get() == 0 {
        let grid = ChildGrid::new(thread::grid_dim(), thread::block_dim());
        rounds::launch(children.tail(), grid, rounds - 1, x).expect("one launch");
    }
}

/// Notes `value`.
#[kernel(child)]
pub fn write_note(log: AtomicSlice<'_, u32, OnDevice>, value: u32) {
    note(log, value);
}

/// Children of all streams: those of the tail come last, in order.
#[kernel]
pub fn streams<'grid>(#[children] children: Children<'grid>, log: AtomicSlice<'grid, u32, OnDevice>) {
    let one = ChildGrid::new(1, 1);
    write_note::launch(children.tail(), one, log, 10).expect("few launches");
    write_note::launch(children.fire_and_forget(), one, log, 1).expect("few launches");
    write_note::launch(children.tail(), one, log, 11).expect("few launches");
    for value in 20..24 {
        write_note::launch(children.in_order(), one, log, value).expect("few launches");
    }
    write_note::launch(children.tail(), one, log, 12).expect("few launches");
    note(log, 0);
}

/// Reverses the elements of each block, by way of dynamic shared memory.
#[kernel(child)]
pub fn reverse(mut x: DisjointSlice<u32>, #[shared(dynamic)] mut tile: SharedTile<[u32]>) {
    let (i, at) = (thread::index_1d(), thread::thread_idx_x() as usize);
    let own = x.get_mut(i);
    tile.own().set(own.map_or(0, |own| *own));
    let tile = tile.publish();
    if let Some(own) = x.get_mut(i) {
        *own = tile[thread::block_dim_x() as usize - 1 - at];
    }
}

/// Launches it, alone with its slice.
#[kernel]
pub fn launch_reverse<'grid>(#[children] children: Children<'grid>, threads: u32, x: DisjointSlice<'grid, u32>) {
    let grid = ChildGrid::cover(x.len() as u32, threads);
    // SAFETY: the host launches one thread, and this is its last use of the slice.
    let stream = unsafe { children.fire_and_forget().assume_alone() };
    reverse::launch(stream, grid, x, [threads]).expect("one launch");
}

/// Multiplies `TIMES` times, and reverses the elements of each block.
#[kernel(child, instantiate((u32, 3), (f64, 2)))]
pub fn scale<T: AbiType + Plain + Copy + Default + MulAssign, const TIMES: usize>(
    by: T,
    mut x: DisjointSlice<'_, T>,
    #[shared(dynamic)] mut tile: SharedTile<[T]>,
) {
    let (i, at) = (thread::index_1d(), thread::thread_idx_x() as usize);
    let mut own = x.get_mut(i).map_or_else(T::default, |own| *own);
    (0..TIMES).for_each(|_| own *= by);
    tile.own().set(own);
    let tile = tile.publish();
    if let Some(own) = x.get_mut(i) {
        *own = tile[thread::block_dim_x() as usize - 1 - at];
    }
}

/// Launches both instances, in blocks of 64 threads: one that its value tells, and one that is named.
#[kernel]
pub fn launch_scale<'grid>(
    #[children] children: Children<'grid>,
    words: DisjointSlice<'grid, u32>,
    numbers: DisjointSlice<'grid, f64>,
) {
    let (first, second) = (ChildGrid::cover(words.len() as u32, 64), ChildGrid::cover(numbers.len() as u32, 64));
    scale::launch::<_, 3>(children.tail(), first, 5_u32, words, [64]).expect("two launches");
    scale::launch::<f64, 2>(children.tail(), second, 0.5, numbers, [64]).expect("two launches");
}

/// Launches blocks of so many threads, or with so much shared memory, and writes CUDA's error, or 0.
#[kernel]
pub fn refused<'grid>(
    #[children] children: Children<'grid>,
    threads: u32,
    shared_bytes: u32,
    out: AtomicSlice<'grid, u32, OnDevice>,
) {
    let grid = ChildGrid::new(1, threads).shared_bytes(shared_bytes);
    let launched = positions::launch(children.fire_and_forget(), grid, out);
    out[0].store(launched.map_or_else(ChildError::code, |()| 0), Ordering::Relaxed);
}

/// Panics in its last thread.
#[kernel(child)]
pub fn panics(limit: u32) {
    let i = thread::index_1d().get() as u32;
    assert!(i < limit, "{i} is not below {limit}");
}

/// Launches it.
#[kernel]
pub fn launch_panics(#[children] children: Children<'_>, limit: u32) {
    panics::launch(children.fire_and_forget(), ChildGrid::new(2, 32), limit).expect("one launch");
}

/// What [`hand_on`] writes of the tests' arguments.
pub const ARGUMENTS: [u64; 13] = [
    5,
    1,
    9,
    0.25_f64.to_bits(),
    -2_i64 as u64,
    1 << 40,
    0x03_0201,
    77,
    3,
    321,
    1.5_f32.to_bits() as u64,
    'é' as u64,
    -9_i64 as u64,
];

/// What [`positions`] writes.
#[cfg(not(target_arch = "nvptx64"))]
pub fn expected_positions(blocks: [u32; 3], threads: [u32; 3]) -> Vec<u32> {
    let all = |[x, y, z]: [u32; 3]| (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])));
    let word = |at: [u32; 3], first: u32| at.into_iter().fold(first, |value, word| value << 5 | word);
    all(blocks).flat_map(|block| all(threads).map(move |thread| word(thread, word(block, 0)))).collect()
}

/// Checks what [`streams`] notes.
#[cfg(not(target_arch = "nvptx64"))]
#[track_caller]
pub fn check_streams(log: &[u32]) {
    assert_eq!(log[0], 9, "{log:?}");
    let notes = &log[1..10];
    // The last three are the tail's. Before, each block's stream is in order, and nothing else is.
    assert_eq!(notes[6..], [10, 11, 12], "{log:?}");
    let ordered: Vec<u32> = notes[..6].iter().copied().filter(|note| *note >= 20).collect();
    assert_eq!(ordered, [20, 21, 22, 23], "{log:?}");
    assert!(notes[..6].contains(&0) && notes[..6].contains(&1), "{log:?}");
}

#[ptx::shared]
static OWN: Shared<[Atomic<u32, OnDevice>; 4]>;

/// Tries to give a child the parent's shared memory.
#[kernel]
pub fn lends_shared_memory(#[children] children: Children<'_>) {
    let shared: &'static [Atomic<u32, OnDevice>; 4] = &OWN;
    let grid = ChildGrid::new(1, 1);
    positions::launch(children.fire_and_forget(), grid, AtomicSlice::from(&shared[..])).expect("one launch");
}
