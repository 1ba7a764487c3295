//! Which thread of a kernel runs here, and how it lets others run.

use std::cell::Cell;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::dim::Dim3;

/// Why a thread lets others run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// It waits until all threads of the block have come to the barrier of this number or have ended.
    Barrier(u32),
    /// It may be waiting for what another thread writes.
    Turn,
    /// It waits until others of its warp have come to the same operation.
    Lanes,
    /// It waits until others have arrived at a barrier in memory.
    Arrivals,
}

/// A thread of a launch.
#[derive(Clone, Copy)]
pub struct Thread {
    /// Its position in its block.
    pub thread: Dim3,
    /// Its block's position in the grid.
    pub block: Dim3,
    /// The threads of a block.
    pub threads: Dim3,
    /// The blocks of the grid.
    pub blocks: Dim3,
    /// The block's dynamic shared memory.
    pub dynamic_shared: *mut u8,
    /// Lets others run; called with the field `with`.
    pub pause: unsafe fn(*const (), Pause),
    /// For `pause`.
    pub with: *const (),
}

impl Thread {
    /// Its number in its block: threads are counted with x first (CUDA C++ Programming Guide, "Thread Hierarchy").
    pub(super) fn number(&self) -> usize {
        let Self { thread, threads, .. } = self;
        (thread.x + threads.x * (thread.y + threads.y * thread.z)) as usize
    }
}

std::thread_local! {
    static CURRENT: Cell<Option<Thread>> = const { Cell::new(None) };
    /// Atomic operations since the last turn of another thread.
    static ATOMICS: Cell<u32> = const { Cell::new(0) };
}

/// After so many atomic operations another thread has its turn: a loop may be waiting for what that one writes.
const ATOMICS_IN_A_TURN: u32 = 64;

/// Says which thread runs from here on; none outside of kernels.
///
/// # Safety
/// [`Thread::pause`] must be sound to call with [`Thread::with`] until another thread or none is set.
pub unsafe fn set(thread: Option<Thread>) {
    CURRENT.set(thread);
}

/// Whether a kernel runs.
pub fn is_in_kernel() -> bool {
    CURRENT.get().is_some()
}

/// The thread that runs.
#[track_caller]
pub(crate) fn thread() -> Thread {
    CURRENT.get().unwrap_or_else(|| only_on_the_gpu())
}

pub(super) fn pause(why: Pause) {
    let thread = thread();
    ATOMICS.set(0);
    // SAFETY: the promise of who set it.
    unsafe { (thread.pause)(thread.with, why) };
    // Others ran since.
    CURRENT.set(Some(thread));
}

/// Waits for the block's threads at the barrier of that number.
#[track_caller]
pub(crate) fn barrier(number: u32) {
    if !is_in_kernel() {
        only_on_the_gpu();
    }
    pause(Pause::Barrier(number));
}

/// The dynamic shared memory of the launch.
#[track_caller]
pub(crate) fn dynamic_shared() -> *mut u8 {
    thread().dynamic_shared
}

/// Lets the block's other threads run.
#[track_caller]
pub(crate) fn turn() {
    if !is_in_kernel() {
        only_on_the_gpu();
    }
    pause(Pause::Turn);
}

/// Called before an atomic operation.
#[inline]
pub(crate) fn before_atomic() {
    if !is_in_kernel() {
        return;
    }
    let count = ATOMICS.get() + 1;
    ATOMICS.set(count);
    if count == ATOMICS_IN_A_TURN {
        pause(Pause::Turn);
    }
}

/// The thread's number in its warp.
#[track_caller]
pub(crate) fn lane() -> u32 {
    thread().number() as u32 % 32
}

/// The warp's number in its block.
#[track_caller]
pub(crate) fn warp_number() -> u32 {
    thread().number() as u32 / 32
}

/// What a thread ends with that asks for it.
#[derive(Debug)]
pub struct Exit;

/// Ends the thread.
#[track_caller]
pub(crate) fn exit() -> ! {
    thread();
    std::panic::resume_unwind(std::boxed::Box::new(Exit))
}

/// Nanoseconds: the CPU has no counter of cycles that every machine shows.
#[track_caller]
pub(crate) fn clock() -> u64 {
    std::thread_local!(static FIRST: Instant = Instant::now());
    thread();
    FIRST.with(|first| nanoseconds(first.elapsed()))
}

#[track_caller]
pub(crate) fn timer() -> u64 {
    thread();
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, nanoseconds)
}

fn nanoseconds(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The end of what needs a kernel around it, or a GPU.
#[cold]
#[track_caller]
pub(crate) fn only_on_the_gpu() -> ! {
    panic!("this function only runs on the GPU: call it in a `#[kernel]`, and launch that from the host")
}
