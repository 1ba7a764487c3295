//! The thread, its multiprocessor and its launch: waiting, ending, breakpoints, dependent launches.
//!
//! | CUDA C++ | here | PTX | from |
//! |---|---|---|---|
//! | `__nanosleep(n)` | [`sleep_ns`] | `nanosleep.u32` | sm_70 |
//! | `__brkpt()` | [`breakpoint`] | `brkpt` | sm_70 |
//! | `__trap()` | a panic; `panic = "trap"` | `trap` | sm_70 |
//! | `cuda::ptx::exit()` | [`exit`] | `exit` | sm_70 |
//! | none | [`has_panicked`] | | sm_70 |
//! | `__prof_trigger(n)` | [`profiler_trigger`] | `pmevent` | sm_70 |
//! | `%smid`, `%nsmid`, `%warpid` | [`sm_id`], [`sm_count`], [`warp_id`] | special registers | sm_70 |
//! | `%globaltimer`, `clock64()` | [`thread::timer_ns`](crate::thread::timer_ns), [`thread::clock`](crate::thread::clock) | special registers | sm_70 |
//! | `cudaGridDependencySynchronize()` | [`wait_for_launch_before`] | `griddepcontrol.wait` | sm_90 |
//! | `cudaTriggerProgrammaticLaunchCompletion()` | [`let_next_launch_begin`] | `griddepcontrol.launch_dependents` | sm_90 |
//!
//! The instructions are in the PTX ISA's chapters "Miscellaneous Instructions", "Control Flow Instructions", "Special
//! Registers" and "Parallel Synchronization and Communication Instructions: griddepcontrol".

use crate::intrinsics;

/// Suspends the thread for about this long, at most twice as long and never more than a millisecond: CUDA's
/// `__nanosleep`, PTX `nanosleep.u32`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sleep_ns(nanoseconds: u32) {
    intrinsics::nanosleep(nanoseconds);
}

/// Ends the thread: PTX `exit`. Nothing is dropped; others that wait at a barrier no longer wait for it.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn exit() -> ! {
    intrinsics::exit()
}

/// Whether a thread has panicked in this context, of this launch or of another that runs, and the host has not looked yet:
/// for loops that wait for other threads, so that they end where one of those has left (`after-panic = "exit"`).
///
/// It reads the host's memory, which takes a microsecond or two; ask only every so many turns. On the CPU, where a panic
/// ends the launch, and for a host without rust-ptx's runtime, it is never so.
#[inline]
#[must_use]
pub fn has_panicked() -> bool {
    #[cfg(target_arch = "nvptx64")]
    return crate::panic::is_claimed();
    #[cfg(not(target_arch = "nvptx64"))]
    false
}

/// Stops here under a debugger; without one, the launch fails: CUDA's `__brkpt`, PTX `brkpt`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn breakpoint() {
    intrinsics::brkpt();
}

/// Counts an event of the profiler, `EVENT` from 0 to 15: CUDA's `__prof_trigger`, PTX `pmevent`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn profiler_trigger<const EVENT: u32>() {
    const { assert!(EVENT < 16, "the profiler has 16 events, 0 to 15") };
    trigger::<EVENT>();
}

macro_rules! triggers {
    ($($event:literal $symbol:ident)*) => {
        #[cfg(target_arch = "nvptx64")]
        #[inline(always)]
        fn trigger<const EVENT: u32>() {
            unsafe extern "C" {
                $(safe fn $symbol();)*
            }
            // The instruction takes a constant, so each event has a function.
            match EVENT {
                $($event => $symbol(),)*
                _ => {}
            }
        }
    };
}
triggers! {
    0 __ptx_pmevent_0 1 __ptx_pmevent_1 2 __ptx_pmevent_2 3 __ptx_pmevent_3
    4 __ptx_pmevent_4 5 __ptx_pmevent_5 6 __ptx_pmevent_6 7 __ptx_pmevent_7
    8 __ptx_pmevent_8 9 __ptx_pmevent_9 10 __ptx_pmevent_10 11 __ptx_pmevent_11
    12 __ptx_pmevent_12 13 __ptx_pmevent_13 14 __ptx_pmevent_14 15 __ptx_pmevent_15
}

#[cfg(not(target_arch = "nvptx64"))]
#[track_caller]
fn trigger<const EVENT: u32>() {
    crate::cpu::thread();
}

/// The multiprocessor that runs the thread: PTX `%smid`. A preempted thread may go on elsewhere, so this can change.
#[inline(always)]
#[must_use]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sm_id() -> u32 {
    intrinsics::smid()
}

/// One more than the largest number of a multiprocessor: PTX `%nsmid`. Not all numbers below need be in use.
#[inline(always)]
#[must_use]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sm_count() -> u32 {
    intrinsics::nsmid()
}

/// The place of the thread's warp on its multiprocessor: PTX `%warpid`. It can change, and is not the warp's number in
/// its block.
#[inline(always)]
#[must_use]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn warp_id() -> u32 {
    intrinsics::warpid()
}

/// Waits until the launches before this one on its stream are complete and their memory is visible, where the host
/// launched it to begin before (programmatic dependent launch): CUDA's `cudaGridDependencySynchronize()`, PTX
/// `griddepcontrol.wait`, from sm_90. Otherwise it does nothing.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn wait_for_launch_before() {
    intrinsics::griddepcontrol_wait();
}

/// Lets the next launch on the stream begin once all blocks of this one have called it or ended, if the host made that
/// launch such: CUDA's `cudaTriggerProgrammaticLaunchCompletion()`, PTX `griddepcontrol.launch_dependents`, from sm_90.
///
/// It says nothing of memory: the next launch waits for that by [`wait_for_launch_before`].
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn let_next_launch_begin() {
    intrinsics::griddepcontrol_launch_dependents();
}
