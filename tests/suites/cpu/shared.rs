//! `#[shared]` parameters on the CPU: the device tests' kernels, what a launch refuses, and what debug builds report.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ptx::prelude::*;
use ptx::shared::SharedTile;
use ptx::{CpuMemory, Error, GridError};
use ptx_test_kernels::shared::{self as kernels, Owners, SHAPES};

#[test]
fn phases_come_in_turn() {
    for rounds in [1, 2, 7] {
        let mut data: CpuMemory<u32> = (0..640).collect();
        kernels::shared_rounds(rounds, &mut data).launch_on_cpu(Grid::new(10, 64)).unwrap();
        assert!(data.iter().copied().eq((0..640).map(|i| kernels::after_rounds(rounds, i))), "{rounds}");
    }
}

#[test]
fn threads_that_end_early_are_not_waited_for() {
    // The block has 16 threads that go on. What nobody wrote is any value.
    let mut data: CpuMemory<u32> = (0..16).map(|_| 7).collect();
    kernels::shared_rounds(2, &mut data).launch_on_cpu(Grid::new(1, 64)).unwrap();
}

#[test]
fn every_element_has_one_owner() {
    let none =
        Owners { row: [0; 100], wide: [[0; 3]; 20], plane: [[0; 11]; 10], transposed: [[0; 11]; 10], warps: [0; 8] };
    for block in SHAPES {
        let mut out = CpuMemory::from([none; 2]);
        kernels::shared_owners(&mut out).launch_on_cpu(Grid::new(2, block)).unwrap();
        for found in &*out {
            assert_eq!(*found, kernels::owners(block, found), "{block:?}");
        }
    }
}

#[test]
fn atomics_are_counted_in_the_readable_phase() {
    let data: CpuMemory<u8> = (0..5000_u32).map(|i| (i * i % 251) as u8).collect();
    let mut counts = CpuMemory::from([0_u32; 256]);
    kernels::shared_histogram(&data, &mut counts).launch_on_cpu(Grid::new(3, 96)).unwrap();
    let mut expected = [0; 256];
    data.iter().for_each(|byte| expected[usize::from(*byte)] += 1);
    assert_eq!(counts[..], expected);
}

#[test]
fn buffers_change_places() {
    let mut data: CpuMemory<u32> = (0..512).collect();
    kernels::shared_scan(&mut data).launch_on_cpu(Grid::new(4, 128)).unwrap();
    for (block, found) in data.chunks(128).enumerate() {
        let first = 128 * block as u32;
        assert!((first..).zip(found).all(|(i, found)| *found == (first..=i).sum()));
    }
}

#[test]
fn the_launch_gives_memory() {
    for len in [20, 50, 10_000] {
        let mut data: CpuMemory<u64> = (0..100).collect();
        kernels::shared_dynamic(&mut data, [len], 5).launch_on_cpu(Grid::new(5, 20)).unwrap();
        assert!(data.iter().copied().eq((0..100).map(|i| i / 20 * 20 + 19 - i % 20 + 5)));
    }
    let mut data = CpuMemory::from([0_u64; 7]);
    kernels::shared_parts(&mut data, [7, 5, 3]).launch_on_cpu(Grid::new(1, 7)).unwrap();
    assert_eq!(data[..], kernels::PARTS);
    let mut data = CpuMemory::from([0]);
    let too_much = kernels::shared_dynamic(&mut data, [1 << 20], 5).launch_on_cpu(Grid::new(1, 20)).unwrap_err();
    let Error::Grid { kernel, reason, .. } = &too_much else { panic!("{too_much}") };
    assert_eq!(kernel, "shared_dynamic");
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

/// The last line of a debug build's message, if the kernel panics.
fn report(launch: ptx::Launch<'_>) -> Option<String> {
    let panic = catch_unwind(AssertUnwindSafe(|| launch.launch_on_cpu(Grid::new(1, 32)).unwrap())).err()?;
    panic.downcast_ref::<String>().cloned()
}

#[track_caller]
fn reports(launch: ptx::Launch<'_>, line: u32) {
    let text = report(launch);
    if cfg!(debug_assertions) {
        let place = format!("another at {}:{line}:", file!());
        let is_right = |text: &String| text.contains("wait at different barriers") && text.contains(&place);
        assert!(text.as_ref().is_some_and(is_right), "{text:?}: {place}");
    } else {
        assert_eq!(text, None);
    }
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
const SECOND_PLACE: u32 = line!() - 2;

#[test]
fn debug_builds_see_where_threads_come_from() {
    reports(diverge(), SECOND_PLACE);
}

/// The same with the block's barrier, of which one counts.
#[kernel]
fn diverge_at_sync() {
    for round in 0..3 {
        sync_threads();
        if round == 1 && thread::thread_idx_x() < 16 {
            sync_threads();
        } else {
            ptx::sync::sync_threads_count(true);
        }
    }
}
const SECOND_SYNC: u32 = line!() - 4;

#[test]
fn debug_builds_see_where_threads_wait() {
    reports(diverge_at_sync(), SECOND_SYNC);
}
