//! Kernels that the CPU runs: every thread of the grid once, barriers, shared memory, atomics, panics, and what is refused.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use ptx::atomic::{self, Atomic, AtomicSlice, Block, Ordering};
use ptx::cooperative::{self, Group as _, WarpGroup as _};
use ptx::cudarc::driver::sys::CUdeviceptr;
use ptx::cudarc::driver::{CudaContext, CudaStream, SyncOnDrop};
use ptx::prelude::*;
use ptx::{CpuMemory, DeviceMemory, DeviceRead, Error, GridError, warp};

#[kernel]
fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += a * x[i.get()];
    }
}

#[test]
fn every_thread_has_its_element() {
    let x: CpuMemory<f32> = (0..1000_u16).map(f32::from).collect();
    let mut y = CpuMemory::from(vec![1.0; 1000]);
    saxpy(2.0, &x, &mut y).launch_on_cpu(Grid::cover(1000, 256)).unwrap();
    assert!(y.iter().zip(&*x).all(|(y, x)| *y == 1.0 + 2.0 * x));
}

macro_rules! doubles {
    ($($name:ident $ty:ty;)*) => {$(
        #[kernel]
        fn $name(mut x: DisjointSlice<$ty>, factor: $ty) {
            if let Some(x) = x.get_mut(thread::index_1d()) {
                *x *= factor;
            }
        }
    )*};
}
doubles! { doubles_u16 u16; doubles_f64 f64; }

#[test]
fn kernels_of_macros_run() {
    let (mut words, mut numbers) = (CpuMemory::from([1, 2, 3]), CpuMemory::from([1.5, 2.5]));
    doubles_u16(&mut words, 2).launch_on_cpu(Grid::new(1, 4)).unwrap();
    doubles_f64(&mut numbers, 2.0).launch_on_cpu(Grid::new(1, 4)).unwrap();
    assert_eq!((&words[..], &numbers[..]), (&[2, 4, 6][..], &[3.0, 5.0][..]));
}

/// Where a thread is, as six numbers, and its lane.
#[kernel]
fn positions(mut out: ptx::Disjoint3d<[u32; 7]>) {
    let (t, b) = (thread::thread_idx(), thread::block_idx());
    if let Some(out) = out.get_mut(thread::index_3d()) {
        *out = [t.x, t.y, t.z, b.x, b.y, b.z, thread::lane_id()];
    }
}

#[test]
fn positions_are_those_of_a_gpu() {
    let (threads, blocks) = ((4_u32, 3, 5), (3_u32, 2, 2));
    let [width, height, depth] = [threads.0 * blocks.0, threads.1 * blocks.1, threads.2 * blocks.2];
    let mut out = CpuMemory::from(vec![[u32::MAX; 7]; (width * height * depth) as usize]);
    let volume = ptx::Volume::new(&mut out, width as usize, height as usize, depth as usize);
    positions(volume).launch_on_cpu(Grid::new(blocks, threads)).unwrap();
    for (index, found) in (0_u32..).zip(&*out) {
        let (x, y, z) = (index % width, index / width % height, index / width / height);
        let [tx, ty, tz] = [x % threads.0, y % threads.1, z % threads.2];
        let lane = (tx + threads.0 * (ty + threads.1 * tz)) % 32;
        assert_eq!(*found, [tx, ty, tz, x / threads.0, y / threads.1, z / threads.2, lane]);
    }
}

#[ptx::shared]
static TILE: ptx::Shared<[u32; 128]>;

/// Reverses each block's elements.
///
/// # Safety
/// Blocks have 128 threads, and `data` an element for each.
#[kernel(launch_bounds(128))]
unsafe fn reverse(data: *mut u32) {
    let (t, block) = (thread::thread_idx_x() as usize, thread::block_idx_x() as usize);
    // SAFETY: each thread has its own element, and reads another's after the barrier.
    unsafe {
        let place = data.add(128 * block + t);
        TILE.write(t, *place);
        sync_threads();
        *place = TILE.read(127 - t);
    }
}

#[test]
fn threads_wait_at_barriers_and_share_a_blocks_memory() {
    // Two launches at once would overwrite each other's shared memory.
    std::thread::scope(|scope| {
        for first in [0_u32, 10_000, 20_000, 30_000] {
            scope.spawn(move || {
                let mut data: CpuMemory<u32> = (first..first + 1280).collect();
                let pointer = data.pointer_mut();
                // SAFETY: 10 blocks of 128 threads have 1280 elements.
                unsafe { reverse(pointer) }.launch_on_cpu(Grid::new(10, 128)).unwrap();
                for (block, found) in (0_u32..).zip(data.chunks(128)) {
                    let begin = first + 128 * block;
                    assert!(found.iter().copied().eq((begin..begin + 128).rev()));
                }
            });
        }
    });
}

/// Threads below `stay` go through `rounds` barriers, the others leave at once.
#[kernel]
fn leave(stay: u32, rounds: u32, sum: AtomicSlice<u32, Block>) {
    if thread::thread_idx_x() >= stay {
        return;
    }
    for round in 0..rounds {
        assert_eq!(sum[0].load(Ordering::Relaxed), round * stay, "a thread is ahead");
        sync_threads();
        sum[0].fetch_add(1, Ordering::Relaxed);
        sync_threads();
    }
}

#[test]
fn barriers_wait_for_those_that_have_not_ended() {
    let mut sum = CpuMemory::from([0]);
    leave(5, 7, &mut sum).launch_on_cpu(Grid::new(1, 33)).unwrap();
    assert_eq!(sum[..], [35]);
}

/// Each thread waits for the one after it, so that none can end before the last.
#[kernel]
fn chain(turn: AtomicSlice<u32, Block>) {
    let (this, last) = (thread::thread_idx_x(), thread::block_dim_x() - 1);
    while turn[0].load(Ordering::Acquire) != last - this {}
    turn[0].fetch_add(1, Ordering::Release);
}

#[test]
fn a_thread_may_wait_for_another() {
    let mut turn = CpuMemory::from([0]);
    chain(&mut turn).launch_on_cpu(Grid::new(1, 64)).unwrap();
    assert_eq!(turn[..], [64]);
}

/// How many values are alive.
static ALIVE: AtomicUsize = AtomicUsize::new(0);

struct Counted;

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, SeqCst);
    }
}

#[kernel]
fn fail(at: u32) {
    ALIVE.fetch_add(1, SeqCst);
    let _counted = Counted;
    sync_threads();
    assert!(thread::thread_idx_x() != at, "thread {at} fails");
    sync_threads();
}

#[test]
fn a_panic_is_the_tests_and_ends_the_other_threads() {
    let panic = catch_unwind(AssertUnwindSafe(|| fail(3).launch_on_cpu(Grid::new(1, 8)))).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().map(String::as_str), Some("thread 3 fails"));
    assert_eq!(ALIVE.load(SeqCst), 0);
    // The next launch is as if nothing had happened, and outside of kernels there is no thread.
    fail(9).launch_on_cpu(Grid::new(1, 8)).unwrap();
    let panic = catch_unwind(thread::thread_idx_x).unwrap_err();
    assert!(panic.downcast_ref::<&str>().is_some_and(|text| text.contains("only runs on the GPU")));
}

#[kernel]
fn bounds(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[i.get() + 1];
    }
}

#[test]
fn what_a_gpu_would_panic_at_panics() {
    let (x, mut y) = (CpuMemory::from([1, 2]), CpuMemory::from([0, 0]));
    let panic = catch_unwind(AssertUnwindSafe(|| bounds(&x, &mut y).launch_on_cpu(Grid::new(1, 2)))).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    assert_eq!(text, "index out of bounds: the len is 2 but the index is 2");
    let text = catch_unwind(AssertUnwindSafe(|| bounds(&x, &mut y).launch_on_cpu(Grid::new(1, (1, 2))))).unwrap_err();
    assert!(text.downcast_ref::<&str>().is_some_and(|text| text.contains("more than one dimension")));
}

#[kernel]
fn first(x: &u32, y: &[u32], out: AtomicSlice<u32, Block>) {
    out[0].store(*x + y.len() as u32, Ordering::Relaxed);
}

#[test]
fn references_and_empty_slices() {
    let (x, empty, mut out) = (CpuMemory::from([7]), CpuMemory::from([]), CpuMemory::from([0]));
    first(&x, &empty, &mut out).launch_on_cpu(Grid::new(1, 1)).unwrap();
    assert_eq!(out[..], [7]);
    let error = first(&empty, &x, &mut out).launch_on_cpu(Grid::new(1, 1)).unwrap_err();
    assert!(matches!(error, Error::NoElement { ref param, .. } if param == "x"), "{error}");
}

/// Memory of no CPU.
struct Elsewhere;

// SAFETY: there are no elements.
unsafe impl DeviceMemory for Elsewhere {
    fn len(&self) -> usize {
        0
    }
    fn context(&self) -> Option<&Arc<CudaContext>> {
        None
    }
    fn read_on<'s>(&'s self, _: &'s CudaStream) -> (CUdeviceptr, SyncOnDrop<'s>) {
        (0, SyncOnDrop::Sync(None))
    }
}
// SAFETY: as above.
unsafe impl DeviceRead<f32> for Elsewhere {}

#[test]
fn what_cannot_run_is_refused() {
    let mut y = CpuMemory::from([0.0]);
    let error = saxpy(1.0, &Elsewhere, &mut y).launch_on_cpu(Grid::new(1, 1)).unwrap_err().to_string();
    assert!(error.contains("parameter `x` of kernel `saxpy`") && error.contains("CpuMemory"), "{error}");

    let mut data = CpuMemory::from([0]);
    // SAFETY: it is not launched.
    let launch = unsafe { reverse(data.pointer_mut()) };
    let error = launch.launch_on_cpu(Grid::new(1, 256)).unwrap_err();
    assert!(
        matches!(error, Error::Grid { reason: GridError::LaunchBounds { limit: 128, .. }, .. })
            && error.to_string().contains("launch_bounds(256)"),
        "{error}"
    );
    for (grid, part) in [
        (Grid::new(1, 2048), "2048"),
        (Grid::new(1, (1024, 2)), "2048 threads"),
        (Grid::new((1, 70_000), 1), "65535"),
        (Grid::new(0, 1), "is 0"),
    ] {
        let error = fail(9999).launch_on_cpu(grid).unwrap_err().to_string();
        assert!(error.contains("kernel `fail` cannot be launched") && error.contains(part), "{error}");
    }
}

#[kernel]
fn timers(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let (clock, time) = (thread::clock(), thread::timer_ns());
    if let Some(out) = out.get_mut(i) {
        *out = ptx::arch() + u32::from(thread::clock() >= clock && thread::timer_ns() >= time && time > 0);
    }
}

#[test]
fn clocks_go_forward_and_no_arch_is_claimed() {
    let mut out = CpuMemory::from([0, 0]);
    timers(&mut out).launch_on_cpu(Grid::new(1, 2)).unwrap();
    assert_eq!(out.into_vec(), [1, 1]);
}

/// `Atomic` in a static, as a kernel's shared counter.
#[ptx::shared]
static COUNT: ptx::Shared<Atomic<u32, Block>>;

#[kernel]
fn count(x: &[u32], out: AtomicSlice<u32, Block>) {
    let t = thread::thread_idx_x();
    if t == 0 {
        COUNT.store(0, Ordering::Relaxed);
    }
    sync_threads();
    let i = (thread::block_idx_x() * thread::block_dim_x() + t) as usize;
    if x[i].is_multiple_of(3) {
        COUNT.fetch_add(1, Ordering::Relaxed);
    }
    sync_threads();
    if t == 0 {
        out[thread::block_idx_x() as usize].store(COUNT.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

#[test]
fn a_shared_counter_is_each_blocks_own() {
    let x: CpuMemory<u32> = (0..300).collect();
    let mut out = CpuMemory::from([0; 3]);
    count(&x, &mut out).launch_on_cpu(Grid::new(3, 100)).unwrap();
    assert_eq!(out[..], [34, 33, 33]);
}

/// Every thread counts itself in each round, and then sees all of them.
#[kernel]
fn rounds(
    barrier: AtomicSlice<u32, atomic::Device>,
    counts: AtomicSlice<u32, atomic::Device>,
    mut out: DisjointSlice<u32>,
) {
    let all = cooperative::grid(&barrier[0]);
    let mut right = 0;
    for count in &counts[..] {
        count.fetch_add(1, Ordering::Relaxed);
        all.sync();
        right += u32::from(count.load(Ordering::Relaxed) == all.size());
    }
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = right + 100 * all.rank() + u32::from(ptx::control::has_panicked());
    }
}

#[test]
fn a_grid_of_one_block_meets() {
    let (mut barrier, mut counts, mut out) =
        (CpuMemory::from([0; 1]), CpuMemory::from([0; 5]), CpuMemory::from([0; 40]));
    rounds(&mut barrier, &mut counts, &mut out).cooperative().launch_on_cpu(Grid::new(1, 40)).unwrap();
    assert!(out.iter().copied().eq((0..40).map(|rank| 5 + 100 * rank)), "{:?}", &out[..]);
}

#[test]
fn blocks_that_wait_for_each_other_need_a_gpu() {
    let (mut barrier, mut counts, mut out) =
        (CpuMemory::from([0; 1]), CpuMemory::from([0; 5]), CpuMemory::from([0; 80]));
    let error = rounds(&mut barrier, &mut counts, &mut out).cooperative().launch_on_cpu(Grid::new(2, 40)).unwrap_err();
    assert!(error.to_string().contains("`rounds` cannot run on the CPU: its launch is cooperative"), "{error}");
    let error = rounds(&mut barrier, &mut counts, &mut out).cluster(2).launch_on_cpu(Grid::new(2, 40)).unwrap_err();
    assert!(error.to_string().contains("or in clusters"), "{error}");
}

/// What warps compute, for partial warps too.
#[kernel]
fn warps(x: &[u32], mut out: DisjointSlice<[u32; 6]>) {
    let i = thread::index_1d();
    let own = x[i.get()];
    let tile = cooperative::tile::<8>();
    let found = [
        warp::ALL.ballot(own.is_multiple_of(3)).bits(),
        warp::ALL.reduce_add(own),
        tile.reduce(own, u32::max),
        tile.inclusive_scan(own, |a, b| a + b),
        tile.shuffle_up(own, 2).unwrap_or(99),
        ptx::sync::sync_threads_count(own.is_multiple_of(5)),
    ];
    if let Some(out) = out.get_mut(i) {
        *out = found;
    }
}

#[test]
fn warps_exchange_values() {
    let numbers: Vec<u32> = (0..80).map(|i| i * i % 31).collect();
    let x = CpuMemory::from(numbers.clone());
    let mut out = CpuMemory::from(vec![[0; 6]; 80]);
    // The last warp of each block has eight lanes.
    warps(&x, &mut out).launch_on_cpu(Grid::new(2, 40)).unwrap();
    for (i, found) in out.iter().enumerate() {
        let (block, in_block) = (&numbers[i / 40 * 40..][..40], i % 40);
        let warp: Vec<u32> = block.chunks(32).nth(in_block / 32).unwrap().to_vec();
        let (tile, rank) = (&block[in_block / 8 * 8..][..8], in_block % 8);
        let ballot = warp.iter().enumerate().filter(|(_, x)| *x % 3 == 0).map(|(lane, _)| 1 << lane).sum();
        let count = block.iter().filter(|x| *x % 5 == 0).count() as u32;
        let expected = [
            ballot,
            warp.iter().sum(),
            *tile.iter().max().unwrap(),
            tile[..=rank].iter().sum(),
            rank.checked_sub(2).map_or(99, |rank| tile[rank]),
            count,
        ];
        assert_eq!(*found, expected, "thread {i}");
    }
}

/// Lanes below `stay` wait for all; the others end.
#[kernel]
fn lanes_end(stay: u32, out: AtomicSlice<u32, Block>) {
    if thread::lane_id() >= stay {
        ptx::control::exit();
    }
    out[thread::lane_id() as usize].store(warp::ALL.ballot(true).bits(), Ordering::Relaxed);
}

/// Odd lanes never come to the operation, and do not end.
#[kernel]
fn lanes_miss() {
    if thread::lane_id().is_multiple_of(2) {
        _ = warp::ALL.ballot(true);
    } else {
        sync_threads();
    }
}

#[test]
fn lanes_that_end_are_not_waited_for_and_those_that_stay_away_are_told_of() {
    let mut out = CpuMemory::from([0; 32]);
    lanes_end(5, &mut out).launch_on_cpu(Grid::new(1, 32)).unwrap();
    assert_eq!(out[..6], [31, 31, 31, 31, 31, 0]);
    let error = lanes_miss().launch_on_cpu(Grid::new(1, 32)).unwrap_err().to_string();
    assert!(error.contains("kernel `lanes_miss`") && error.contains("never come"), "{error}");
    lanes_end(32, &mut out).launch_on_cpu(Grid::new(1, 32)).unwrap();
    assert_eq!(out[..], [u32::MAX; 32]);
}
