//! `#[shared]` parameters on the CPU: every block has its own, phases come in turn, and mistakes are reported.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ptx::atomic::{Atomic, AtomicSlice, Block, Device, Ordering};
use ptx::prelude::*;
use ptx::shared::{Array2d, SharedBuffers, SharedTile, Slices, Transposed2d, WarpArray};
use ptx::{CpuMemory, Error, GridError};

/// Reverses the elements of every block of 64, `rounds` times.
#[kernel]
fn reverse(rounds: u32, mut data: DisjointSlice<u32>, #[shared] mut tile: SharedTile<[u32; 64]>) {
    let i = thread::index_1d();
    let Some(own) = data.get_mut(i) else { return };
    for _ in 0..rounds {
        tile.own().set(*own);
        let view = tile.publish();
        *own = view[63 - thread::thread_idx_x() as usize];
        tile = view.reclaim();
    }
}

#[test]
fn phases_come_in_turn() {
    for rounds in [1, 2, 7] {
        let mut data: CpuMemory<u32> = (0..640).collect();
        reverse(rounds, &mut data).launch_on_cpu(Grid::new(10, 64)).unwrap();
        let expected = (0..640_u32).map(|i| if rounds % 2 == 0 { i } else { i / 64 * 64 + 63 - i % 64 });
        assert!(data.iter().copied().eq(expected), "{rounds}");
    }
}

#[test]
fn threads_that_end_early_are_not_waited_for() {
    // The last block has 16 threads that go on.
    let mut data: CpuMemory<u32> = (0..16).map(|_| 7).collect();
    reverse(2, &mut data).launch_on_cpu(Grid::new(1, 64)).unwrap();
}

/// How many elements of each form are this thread's, written by their owner's rank, and read by the first.
#[kernel]
fn owners(
    mut row: DisjointSlice<[u32; 100]>,
    mut plane: DisjointSlice<[[u32; 11]; 10]>,
    mut transposed: DisjointSlice<[[u32; 11]; 10]>,
    mut warps: DisjointSlice<[u32; 4]>,
    #[shared] mut tiles: SharedTile<([u32; 100], Array2d<u32, 11, 10>, Transposed2d<u32, 11, 10>, WarpArray<u32, 4>)>,
) {
    let (at, of) = (thread::thread_idx(), thread::block_dim());
    let rank = at.x + of.x * (at.y + of.y * at.z);
    let (mut a, mut b, mut c, mut d) = tiles.own();
    a.fill(|e| e as u32 * 1000 + rank);
    b.fill(|row, column| (row * 11 + column) as u32 * 1000 + rank);
    c.fill(|row, column| (row * 11 + column) as u32 * 1000 + rank);
    d.set(rank);
    let tiles = tiles.publish();
    if rank == 0 {
        let first = thread::index_3d();
        assert_eq!((first.x(), first.y(), first.z()), (0, 0, 0));
    }
    let i = thread::thread_idx();
    if i.x == 0 && i.y == 0 && i.z == 0 {
        // SAFETY: one thread of the launch.
        unsafe {
            *row.get_unchecked_mut(0) = tiles.0;
            *plane.get_unchecked_mut(0) = *tiles.1;
            *transposed.get_unchecked_mut(0) = *tiles.2;
            *warps.get_unchecked_mut(0) = *tiles.3;
        }
    }
}

#[test]
fn every_element_has_one_owner() {
    for (x, y, z) in [(1, 1, 1), (4, 3, 1), (11, 10, 1), (32, 4, 1), (5, 4, 3), (3, 7, 2)] {
        let mut row = CpuMemory::from([[u32::MAX; 100]]);
        let mut plane = CpuMemory::from([[[u32::MAX; 11]; 10]]);
        let (mut transposed, mut warps) = (plane.clone(), CpuMemory::from([[u32::MAX; 4]]));
        let launch = owners(&mut row, &mut plane, &mut transposed, &mut warps);
        launch.launch_on_cpu(Grid::new(1, (x, y, z))).unwrap();
        let threads = x * y * z;
        for (e, found) in (0_u32..).zip(row[0]) {
            assert_eq!(found, e * 1000 + e % threads, "{x} {y} {z}");
        }
        for (r, c) in (0..10_u32).flat_map(|r| (0..11_u32).map(move |c| (r, c))) {
            let at = (r * 11 + c) * 1000;
            assert_eq!(plane[0][r as usize][c as usize], at + c % x + x * (r % y), "{x} {y} {z}");
            assert_eq!(transposed[0][r as usize][c as usize], at + r % x + x * (c % y), "{x} {y} {z}");
        }
        for (w, found) in (0..threads.div_ceil(32).min(4)).zip(warps[0]) {
            assert_eq!(found, 32 * w);
        }
    }
}

/// Counts bytes: cleared, counted by all, and added up by the bins' owners.
#[kernel]
fn histogram(data: &[u8], counts: AtomicSlice<u32, Device>, #[shared] mut bins: SharedTile<[Atomic<u32, Block>; 256]>) {
    bins.own().fill(|_| Atomic::new(0));
    let counting = bins.publish();
    for i in thread::grid_stride(data.len()) {
        counting[usize::from(data[i])].fetch_add(1, Ordering::Relaxed);
    }
    let mut counted = counting.reclaim();
    for (bin, count) in counted.own().iter_mut() {
        counts[bin].fetch_add(count.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

#[test]
fn atomics_are_counted_in_the_readable_phase() {
    let data: CpuMemory<u8> = (0..5000_u32).map(|i| (i * i % 251) as u8).collect();
    let mut counts = CpuMemory::from([0_u32; 256]);
    histogram(&data, &mut counts).launch_on_cpu(Grid::new(3, 96)).unwrap();
    let mut expected = [0; 256];
    data.iter().for_each(|byte| expected[usize::from(*byte)] += 1);
    assert_eq!(counts[..], expected);
}

/// Sums up to each element of a block.
#[kernel]
fn scan(mut data: DisjointSlice<u32>, #[shared] mut sums: SharedBuffers<[u32; 128]>) {
    let t = thread::thread_idx_x() as usize;
    let Some(own) = data.get_mut(thread::index_1d()) else { return };
    for distance in [1, 2, 4, 8, 16, 32, 64] {
        sums.own().set(*own);
        sums.swap();
        *own += if t >= distance { sums[t - distance] } else { 0 };
    }
    // Front and back at once.
    let (mut back, front) = sums.both();
    back.set(front[t] + 1);
    assert_eq!(*back.get_mut().unwrap(), front[t] + 1);
}

#[test]
fn buffers_change_places() {
    let mut data: CpuMemory<u32> = (0..512).collect();
    scan(&mut data).launch_on_cpu(Grid::new(4, 128)).unwrap();
    for (block, found) in data.chunks(128).enumerate() {
        let first = 128 * block as u32;
        assert!((first..).zip(found).all(|(i, found)| *found == (first..=i).sum()));
    }
}

/// Reverses each block's elements by memory that the launch gives.
#[kernel]
fn reverse_all(
    mut data: DisjointSlice<u64>,
    #[shared(dynamic)] mut memory: SharedTile<[u64]>,
    #[shared] mut offsets: SharedTile<[u64; 1]>,
    add: u64,
) {
    let Some(own) = data.get_mut(thread::index_1d()) else { return };
    memory.own().set(*own);
    offsets.own().set(add);
    let (memory, offsets) = (memory.publish(), offsets.publish());
    *own = memory[memory.len() - 1 - thread::thread_idx_x() as usize] + offsets[0];
}

/// Three parts of different types.
#[kernel]
fn parts(mut data: DisjointSlice<u64>, #[shared(dynamic)] mut memory: SharedTile<Slices<(u8, u64, [u32; 3])>>) {
    let t = thread::thread_idx_x();
    let (mut a, mut b, mut c) = memory.own();
    a.fill(|i| i as u8);
    b.fill(|i| i as u64 * 1000);
    c.fill(|i| [i as u32; 3]);
    let memory = memory.publish();
    let (a, b, c) = memory.get();
    let wide = |i: usize| c.get(i).map_or(0, |words| u64::from(words.iter().sum::<u32>()));
    if let Some(data) = data.get_mut(thread::index_1d()) {
        let t = t as usize;
        *data = u64::from(a[t]) + b.get(t).copied().unwrap_or(0) + 1_000_000 * wide(t);
    }
}

#[test]
fn the_launch_gives_memory() {
    let mut data: CpuMemory<u64> = (0..100).collect();
    reverse_all(&mut data, [20], 5).launch_on_cpu(Grid::new(5, 20)).unwrap();
    assert!(data.iter().copied().eq((0..100).map(|i| i / 20 * 20 + 19 - i % 20 + 5)));
    let mut data = CpuMemory::from([0_u64; 7]);
    parts(&mut data, [7, 5, 3]).launch_on_cpu(Grid::new(1, 7)).unwrap();
    assert_eq!(data[..], [0, 3_001_001, 6_002_002, 3003, 4004, 5, 6]);
    let too_much = reverse_all(&mut data, [1 << 20], 5).launch_on_cpu(Grid::new(1, 20)).unwrap_err();
    let Error::Grid { kernel, reason, .. } = &too_much else { panic!("{too_much}") };
    assert_eq!(kernel, "reverse_all");
    assert_eq!(*reason, GridError::SharedMemory { dynamic: 8 << 20, fixed: 0, limit: 227 << 10 });
}

/// Half of the threads wait at each of two barriers.
#[kernel]
fn cross(#[shared] a: SharedTile<[u32; 1]>, #[shared] b: SharedTile<[u32; 1]>) {
    if thread::thread_idx_x() < 16 {
        let _a = a.publish();
        let _b = b.publish();
    } else {
        let _b = b.publish();
        let _a = a.publish();
    }
}

#[test]
fn threads_at_different_barriers_wait_for_ever() {
    let error = cross().launch_on_cpu(Grid::new(1, 32)).unwrap_err();
    assert!(error.to_string().contains("wait at different barriers"), "{error}");
}

/// Two places with the same barrier.
#[kernel]
fn diverge(#[shared] tile: SharedTile<[u32; 1]>) {
    if thread::thread_idx_x() < 16 {
        let _view = tile.publish();
        return;
    }
    let _view = tile.publish();
}

#[test]
fn debug_builds_see_where_threads_come_from() {
    let second = line!() - 5;
    let launched = catch_unwind(AssertUnwindSafe(|| diverge().launch_on_cpu(Grid::new(1, 32))));
    if !cfg!(debug_assertions) {
        return launched.unwrap().unwrap();
    }
    let panic = launched.unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    let place = format!("another at {}:{second}:", file!());
    assert!(text.contains("wait at different barriers") && text.contains(&place), "{text}: {place}");
}
