//! Runs every thread of a grid as a coroutine of this thread of the system.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use ptx_device::Dim3;
use ptx_device::cpu::{self, Pause, Thread};

use crate::error::{Error, Result};
use crate::grid::Grid;

/// The stack of a thread, in bytes: twice what a GPU gives at most, since debug builds have larger frames. Only what is
/// used takes memory.
const STACK: usize = 1 << 20;

/// Runs `body` in every thread of the grid.
///
/// # Panics
/// As `body` does.
pub fn run(kernel: &str, grid: Grid, body: &dyn Fn()) -> Result<()> {
    // What it holds when a block begins is nothing in particular.
    let mut dynamic = vec![Aligned([0; ALIGN]); (grid.shared_bytes as usize).div_ceil(ALIGN)];
    // Shared memory is a static: blocks of two launches must not have it at the same time.
    static ONE_LAUNCH: Mutex<()> = Mutex::new(());
    let _one = ONE_LAUNCH.lock().unwrap_or_else(PoisonError::into_inner);
    let _outside = Outside;
    let mut stacks = Vec::new();
    for block in positions(grid.blocks) {
        run_block(kernel, grid, block, body, dynamic.as_mut_ptr().cast(), &mut stacks)?;
    }
    Ok(())
}

/// The alignment of dynamic shared memory.
const ALIGN: usize = ptx_abi::DYNAMIC_SHARED_ALIGN as usize;

#[derive(Clone, Copy)]
#[repr(align(128))]
#[expect(dead_code, reason = "only kernels read and write it")]
struct Aligned([u8; ALIGN]);

/// Dropped when the launch ends, by a panic too.
struct Outside;

impl Drop for Outside {
    fn drop(&mut self) {
        // SAFETY: there is nothing to call.
        unsafe { cpu::set(None) };
    }
}

/// Runs the block's threads by turns until all have ended.
fn run_block(
    kernel: &str,
    grid: Grid,
    block: Dim3,
    body: &dyn Fn(),
    dynamic_shared: *mut u8,
    stacks: &mut Vec<DefaultStack>,
) -> Result<()> {
    let (mut ready, mut at_barrier) = (Vec::new(), Vec::<(u32, Running)>::new());
    cpu::begin_block(grid.threads.volume() as usize);
    for thread in positions(grid.threads) {
        // Of a thread that has ended, which they all have before the next begins if there is no barrier.
        let stack = match stacks.pop() {
            Some(stack) => stack,
            None => DefaultStack::new(STACK).map_err(|_| Error::Cpu {
                kernel: kernel.to_owned(),
                reason: "the system gives no more memory for threads' stacks",
            })?,
        };
        // SAFETY: this function ends the threads before it returns.
        ready.push(unsafe { Running::new(grid, block, thread, stack, dynamic_shared, body) });
        let begun = ready.len() - 1;
        let mut last = ready.split_off(begun);
        turn(kernel, block, &mut last, &mut at_barrier, stacks);
        ready.append(&mut last);
    }
    while !ready.is_empty() || !at_barrier.is_empty() {
        if ready.is_empty() {
            if at_barrier.iter().any(|(number, _)| *number != at_barrier[0].0) {
                let reason = "threads of a block wait at different barriers; on a GPU they would wait for ever";
                return Err(Error::Cpu { kernel: kernel.to_owned(), reason });
            }
            ready.extend(at_barrier.drain(..).map(|(_, running)| running));
        }
        let (before, all) = (cpu::steps(), ready.len());
        let waiting = turn(kernel, block, &mut ready, &mut at_barrier, stacks);
        if waiting.all == all && cpu::steps() == before {
            let reason = if waiting.for_arrivals > 0 {
                "threads wait at a barrier of a tile or at a split barrier (mbarrier) for arrivals that never come; on a GPU \
                 they would wait for ever"
            } else {
                "threads wait in a warp's operation for lanes that never come to it; on a GPU they would wait for ever"
            };
            return Err(Error::Cpu { kernel: kernel.to_owned(), reason });
        }
    }
    Ok(())
}

/// How many threads wait for what others do, and how many of those for arrivals.
#[derive(Default)]
struct Waiting {
    all: usize,
    for_arrivals: usize,
}

/// Gives each of the threads that are ready one turn; says how many wait then.
fn turn(
    kernel: &str,
    block: Dim3,
    ready: &mut Vec<Running>,
    at_barrier: &mut Vec<(u32, Running)>,
    stacks: &mut Vec<DefaultStack>,
) -> Waiting {
    let mut waiting = Waiting::default();
    for mut running in std::mem::take(ready) {
        match running.resume() {
            Ok(None) => {
                cpu::ended(running.number);
                stacks.push(running.coroutine.into_stack());
            }
            Ok(Some(Pause::Barrier(number))) => at_barrier.push((number, running)),
            Ok(Some(Pause::Turn)) => ready.push(running),
            Ok(Some(why @ (Pause::Lanes | Pause::Arrivals))) => {
                waiting.all += 1;
                waiting.for_arrivals += usize::from(why == Pause::Arrivals);
                ready.push(running);
            }
            Err(panic) => {
                let Dim3 { x, y, z } = running.thread;
                eprintln!(
                    "kernel `{kernel}` panicked on the CPU, block [{},{},{}], thread [{x},{y},{z}]",
                    block.x, block.y, block.z
                );
                resume_unwind(panic);
            }
        }
    }
    waiting
}

/// A thread of the grid that has not ended.
struct Running {
    thread: Dim3,
    /// In its block, x first.
    number: usize,
    coroutine: Coroutine<(), Pause, (), DefaultStack>,
}

impl Running {
    /// A thread that begins when it is resumed.
    ///
    /// # Safety
    /// It must be dropped before the borrow of `body` ends.
    unsafe fn new(
        grid: Grid,
        block: Dim3,
        thread: Dim3,
        stack: DefaultStack,
        dynamic_shared: *mut u8,
        body: &dyn Fn(),
    ) -> Self {
        let begin = move |yielder: &Yielder<(), Pause>, ()| {
            let this = Thread {
                thread,
                block,
                threads: grid.threads,
                blocks: grid.blocks,
                dynamic_shared,
                pause,
                with: (&raw const *yielder).cast(),
            };
            // SAFETY: the yielder lives as long as the coroutine.
            unsafe { cpu::set(Some(this)) };
            match catch_unwind(AssertUnwindSafe(body)) {
                Err(payload) if !payload.is::<cpu::Exit>() => resume_unwind(payload),
                _ => {}
            }
        };
        // SAFETY: the caller's promise.
        let coroutine = unsafe { Coroutine::with_stack_unchecked(stack, begin) };
        let number = thread.x + grid.threads.x * (thread.y + grid.threads.y * thread.z);
        Self { thread, number: number as usize, coroutine }
    }

    /// Runs it until it pauses, ends or panics.
    fn resume(&mut self) -> std::result::Result<Option<Pause>, Box<dyn Any + Send>> {
        match catch_unwind(AssertUnwindSafe(|| self.coroutine.resume(())))? {
            CoroutineResult::Yield(why) => Ok(Some(why)),
            CoroutineResult::Return(()) => Ok(None),
        }
    }
}

/// # Safety
/// `with` must be a coroutine's `Yielder`, and this its stack.
unsafe fn pause(with: *const (), why: Pause) {
    // SAFETY: the caller's promise.
    unsafe { &*with.cast::<Yielder<(), Pause>>() }.suspend(why);
}

/// All positions below these extents, x first.
fn positions(extents: Dim3) -> impl Iterator<Item = Dim3> {
    let Dim3 { x, y, z } = extents;
    (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| Dim3::new(x, y, z))))
}
