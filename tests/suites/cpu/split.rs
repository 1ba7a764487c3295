//! Split barriers on the CPU: the device tests' kernels, and threads that never arrive.

use ptx::CpuMemory;
use ptx::prelude::*;
use ptx::shared::SplitBarrier;
use ptx_memory_kernels::split as kernels;

#[test]
fn a_tile_is_reversed_in_two_steps() {
    for rounds in [0, 1, 2, 7] {
        let mut host: Vec<u32> = (0..640).map(|i| i * 7 + 1).collect();
        let mut data: CpuMemory<u32> = host.iter().copied().collect();
        // The last block's threads all leave.
        kernels::split_rounds(rounds, &mut data).launch_on_cpu(Grid::new(11, 64)).unwrap();
        host.chunks_mut(64).for_each(|block| kernels::after_split_rounds(rounds, block));
        assert_eq!(data[..], host, "{rounds}");
    }
}

#[test]
fn threads_that_leave_are_not_waited_for() {
    for threads in [1, 31, 64, 250] {
        let mut out: CpuMemory<u32> = (0..3 * threads).map(|_| 99).collect();
        kernels::split_leavers(&mut out).launch_on_cpu(Grid::new(3, threads)).unwrap();
        assert!(out.iter().copied().eq((0..3 * threads).map(|i| kernels::stays(i % threads) - 1)), "{threads}");
    }
}

#[test]
fn bytes_are_waited_for() {
    let mut out: CpuMemory<[u32; 4]> = (0..50).map(|_| [9; 4]).collect();
    // SAFETY: an element for each thread.
    unsafe { kernels::split_bytes(&mut out) }.launch_on_cpu(Grid::new(1, 50)).unwrap();
    assert!(out.iter().copied().eq((0..50).map(|i| [0, 1, u32::from(i == 0), 0])), "{:?}", &out[..]);
}

/// Every other thread ends without arriving.
#[kernel]
fn half_arrives(#[shared] barrier: SplitBarrier) {
    if thread::thread_idx_x().is_multiple_of(2) {
        barrier.arrive().wait().leave();
    }
}

#[test]
fn a_thread_that_only_ends_is_waited_for() {
    let error = half_arrives().launch_on_cpu(Grid::new(1, 32)).unwrap_err();
    assert!(error.to_string().contains("split barrier (mbarrier) for arrivals that never come"), "{error}");
}
