//! Litmus tests: little programs of two to four threads, whose outcome tells what order memory is seen in.
//!
//! Every thread of a launch takes part in as many programs as one has roles, each with other partners, so that a launch
//! tries as many programs as it has threads. A program's two locations are as far apart as different programs' are.
//!
//! | program | roles | what its strong orders forbid |
//! |---|---|---|
//! | message passing | x = 1, y = 1 · r0 = y, r1 = x | r0 = 1, r1 = 0 |
//! | store buffering | x = 1, r0 = y · y = 1, r1 = x | r0 = 0, r1 = 0 |
//! | load buffering | r0 = x, y = 1 · r1 = y, x = 1 | r0 = 1, r1 = 1 |
//! | independent reads of independent writes | x = 1 · y = 1 · r0 = x, r1 = y · r2 = y, r3 = x | r0 = 1, r1 = 0, r2 = 1, r3 = 0 |

use ptx::Shared;
use ptx::atomic::{Atomic, AtomicSlice, Block, Device, Ordering, Scope, System};
use ptx::prelude::*;

/// Threads of a block.
pub const THREADS: usize = 256;

/// Results of one try.
pub const RESULTS: usize = 4;

/// Between two locations, in elements: 32 bytes, the unit of the caches.
pub const STRIDE: usize = 8;

/// The two locations of a program.
struct Places<'a, S> {
    x: &'a Atomic<u32, S>,
    y: &'a Atomic<u32, S>,
}

/// A program: how many roles, and what each does; two results a role at most.
trait Program {
    const ROLES: usize;
    fn run<S: Scope>(role: usize, at: Places<'_, S>) -> [Option<(usize, u32)>; 2];
}

macro_rules! program {
    ($name:ident, $roles:literal, $store:ident, $load:ident, |$at:ident, $set:ident, $get:ident| [$($role:expr),*]) => {
        struct $name;
        impl Program for $name {
            const ROLES: usize = $roles;
            #[inline(always)]
            fn run<S: Scope>(role: usize, $at: Places<'_, S>) -> [Option<(usize, u32)>; 2] {
                let $set = |place: &Atomic<u32, S>| place.store(1, Ordering::$store);
                let $get = |place: &Atomic<u32, S>, result: usize| Some((result, place.load(Ordering::$load)));
                let mut number = 0..;
                $(if Some(role) == number.next() {
                    return $role;
                })*
                [None, None]
            }
        }
    };
}

macro_rules! programs {
    ($($weak:ident $strong:ident, $roles:literal, $store:ident, $load:ident, |$at:ident, $set:ident, $get:ident| $body:tt;)*) => {$(
        program!($weak, $roles, Relaxed, Relaxed, |$at, $set, $get| $body);
        program!($strong, $roles, $store, $load, |$at, $set, $get| $body);
    )*};
}

programs! {
    MessagePassingWeak MessagePassing, 2, Release, Acquire, |at, set, get| [
        { set(at.x); set(at.y); [None, None] },
        [get(at.y, 0), get(at.x, 1)]
    ];
    StoreBufferingWeak StoreBuffering, 2, SeqCst, SeqCst, |at, set, get| [
        { set(at.x); [get(at.y, 0), None] },
        { set(at.y); [get(at.x, 1), None] }
    ];
    LoadBufferingWeak LoadBuffering, 2, Release, Acquire, |at, set, get| [
        { let r = get(at.x, 0); set(at.y); [r, None] },
        { let r = get(at.y, 1); set(at.x); [r, None] }
    ];
    IndependentReadsWeak IndependentReads, 4, SeqCst, SeqCst, |at, set, get| [
        { set(at.x); [None, None] },
        { set(at.y); [None, None] },
        [get(at.x, 0), get(at.y, 1)],
        [get(at.y, 2), get(at.x, 3)]
    ];
}

/// Odd, so that with a power of two of programs each role has another partner.
const FACTORS: [usize; 4] = [1, 419, 1031, 2053];

/// Plays all roles, in programs `0..count`, a power of two; `me` is this thread's number, and `first` that of the first
/// program among all results. Warps begin with different roles. No index is checked: panics would make ptxas slow.
#[inline(always)]
fn play<P: Program, S: Scope>(
    memory: &[Atomic<u32, S>],
    count: usize,
    me: usize,
    seed: u32,
    first: usize,
    out: AtomicSlice<'_, u32, Device>,
) {
    let warp = thread::thread_idx_x() / 32 + thread::block_idx_x();
    for turn in 0..P::ROLES {
        let role = (turn + warp as usize + seed as usize) % P::ROLES;
        let program = (me * FACTORS[role] + role * (seed as usize + count / 2 + 17)) & (count - 1);
        // x and y of a program lie apart, too.
        let y = (program * 37 + 11) & (count - 1);
        let (Some(x), Some(y)) = (memory.get(program * STRIDE), memory.get((count + y) * STRIDE)) else { return };
        let at = Places { x, y };
        for (index, value) in P::run(role, at).into_iter().flatten() {
            if let Some(out) = out.get((first + program) * RESULTS + index) {
                out.store(value, Ordering::Relaxed);
            }
        }
    }
}

/// This thread's number; [`thread::index_1d`] would look at the grid's shape, and could panic.
fn number() -> usize {
    (thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x()) as usize
}

macro_rules! kernels {
    ($($name:ident: $program:ident, $device:ident $system:ident $block:ident $shared:ident;)*) => {$(
        pub mod $name {
            use super::*;

            /// Partners in other blocks.
            #[kernel]
            pub fn $device(memory: AtomicSlice<u32, Device>, seed: u32, out: AtomicSlice<u32, Device>) {
                let count = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
                play::<$program, _>(&memory, count, number(), seed, 0, out);
            }

            /// The same with system scope.
            #[kernel]
            pub fn $system(memory: AtomicSlice<u32, System>, seed: u32, out: AtomicSlice<u32, Device>) {
                let count = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
                play::<$program, _>(&memory, count, number(), seed, 0, out);
            }

            /// Partners in the same block.
            #[kernel]
            pub fn $block(memory: AtomicSlice<u32, Block>, seed: u32, out: AtomicSlice<u32, Device>) {
                let (block, t) = (thread::block_idx_x() as usize, thread::thread_idx_x() as usize);
                let all = block * 2 * STRIDE * THREADS;
                let Some(memory) = memory.get(all..all + 2 * STRIDE * THREADS) else { return };
                play::<$program, _>(memory, THREADS, t, seed, block * THREADS, out);
            }

            #[ptx::shared]
            static MEMORY: Shared<[Atomic<u32, Block>; 2 * STRIDE * THREADS]>;

            /// Partners in the same block, locations in its shared memory.
            #[kernel]
            pub fn $shared(seed: u32, out: AtomicSlice<u32, Device>) {
                let (block, t) = (thread::block_idx_x() as usize, thread::thread_idx_x() as usize);
                MEMORY.iter().skip(t).step_by(THREADS).for_each(|place| place.store(0, Ordering::Relaxed));
                sync_threads();
                play::<$program, _>(&MEMORY[..], THREADS, t, seed, block * THREADS, out);
            }
        }
    )*};
}

kernels! {
    message_passing_weak: MessagePassingWeak, mp_weak_device mp_weak_system mp_weak_block mp_weak_shared;
    message_passing: MessagePassing, mp_device mp_system mp_block mp_shared;
    store_buffering_weak: StoreBufferingWeak, sb_weak_device sb_weak_system sb_weak_block sb_weak_shared;
    store_buffering: StoreBuffering, sb_device sb_system sb_block sb_shared;
    load_buffering_weak: LoadBufferingWeak, lb_weak_device lb_weak_system lb_weak_block lb_weak_shared;
    load_buffering: LoadBuffering, lb_device lb_system lb_block lb_shared;
    independent_reads_weak: IndependentReadsWeak, iriw_weak_device iriw_weak_system iriw_weak_block iriw_weak_shared;
    independent_reads: IndependentReads, iriw_device iriw_system iriw_block iriw_shared;
}
