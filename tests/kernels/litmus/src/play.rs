//! Who plays which thread of which try, where, and when.

use core::any::TypeId;

use ptx::atomic::{Atomic, Device, Ordering, Scope};
use ptx::prelude::thread;
use ptx_litmus::{READS, RESULTS};

use crate::program::{Cell, Locations, Program};

/// Threads of a block.
pub const THREADS: usize = 256;

/// Of so many blocks, the last one loads memory.
pub const PERIOD: usize = 5;

/// Between two locations in shared memory, in words; the unit of the caches.
pub const STRIDE: usize = 8;

/// What a launch is about. The host chooses sizes that are powers of two.
#[derive(Clone, Copy)]
pub struct Launch<'a, S> {
    /// Which of the table.
    pub row: u32,
    /// Both locations of all tries.
    pub memory: &'a [Atomic<u32, S>],
    /// Between two locations, in words.
    pub stride: usize,
    /// Decides who meets whom.
    pub seed: u32,
    /// What is loaded for the sake of the load.
    pub noise: &'a [Atomic<u32, Device>],
    /// The results of all tries.
    pub out: &'a [Atomic<u32, Device>],
}

/// A thread among those that it shares tries with.
#[derive(Clone, Copy)]
pub struct Member {
    /// Its number among them.
    pub number: usize,
    /// How many there are, and tries.
    pub count: usize,
    /// The number of their first try among all.
    pub first: usize,
}

/// A number that looks random.
fn mixed(a: usize, b: u32) -> u32 {
    let mixed = (a as u32 ^ b.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b);
    mixed ^ (mixed >> 15)
}

/// Odd, so that with a power of two of tries each thread of a program has another partner.
const FACTORS: [usize; ptx_litmus::THREADS] = [1, 419, 1031, 2053];

/// Where the two locations of a try are, in strides; apart from each other, too.
fn places(count: usize, number: usize) -> [usize; 2] {
    [number, count + ((number * 37 + 11) & (count - 1))]
}

/// The number of this thread among those that try; none in a block that loads memory.
pub fn number(noise: &[Atomic<u32, Device>], seed: u32) -> Option<usize> {
    let (block, thread) = (thread::block_idx_x() as usize, thread::thread_idx_x() as usize);
    if block % PERIOD != PERIOD - 1 {
        return Some((block - block / PERIOD) * THREADS + thread);
    }
    for round in 0..64 {
        let at = mixed(block * THREADS + thread + round, seed) as usize & (noise.len() - 1);
        let Some(place) = noise.get(at) else { break };
        match round % 3 {
            0 => place.store(seed, Ordering::Relaxed),
            1 => drop(place.load(Ordering::Relaxed)),
            _ => drop(place.fetch_add(1, Ordering::Relaxed)),
        }
    }
    None
}

/// Plays all threads of a program: the second and fourth in scope `T`. Warps begin with different ones. No index is checked:
/// panics would make ptxas slow.
#[inline(always)]
pub fn play<P: Program, X: Cell, Y: Cell, S: Scope, T: Scope>(launch: Launch<'_, S>, me: Member) {
    let warp = thread::thread_idx_x() / 32 + thread::block_idx_x();
    for turn in 0..P::THREADS {
        let role = (turn + (warp + launch.seed) as usize) % P::THREADS;
        let number = (me.number * FACTORS[role] + role * (launch.seed as usize + me.count / 2 + 17)) & (me.count - 1);
        let [x, y] = places(me.count, number);
        let (Some(x), Some(y)) = (launch.memory.get(x * launch.stride), launch.memory.get(y * launch.stride)) else {
            return;
        };
        // A while of its own for each.
        for step in 0..mixed(me.number, launch.seed + turn as u32) & 3 {
            let at = mixed(me.number, step) as usize & (launch.noise.len() - 1);
            if let Some(place) = launch.noise.get(at) {
                place.load(Ordering::Relaxed);
            }
        }
        let (x, y) = (x.as_ptr(), y.as_ptr());
        // One scope needs the code once.
        let read = if role.is_multiple_of(2) || TypeId::of::<S>() == TypeId::of::<T>() {
            // SAFETY: strides are aligned to the widest cell and hold it; nobody accesses the memory otherwise.
            P::run(role, unsafe { locations::<X, Y, S>(x, y) })
        } else {
            // SAFETY: as above.
            P::run(role, unsafe { locations::<X, Y, T>(x, y) })
        };
        for (index, value) in read.into_iter().enumerate() {
            if let Some(out) = launch.out.get((me.first + number) * RESULTS + role * READS + index) {
                out.store(value, Ordering::Relaxed);
            }
        }
    }
}

/// The locations at these addresses.
///
/// # Safety
/// They hold the cells, which only atomics of this program access.
#[inline(always)]
unsafe fn locations<'a, X: Cell, Y: Cell, S: Scope>(x: *mut u32, y: *mut u32) -> Locations<'a, X, Y, S> {
    // SAFETY: as the caller promises.
    unsafe { Locations { x: Atomic::from_ptr(x.cast()), y: Atomic::from_ptr(y.cast()) } }
}

/// Notes what is in both locations of a try now.
pub fn note<S: Scope>(launch: Launch<'_, S>, me: Member) {
    for (index, place) in places(me.count, me.number).into_iter().enumerate() {
        let at = (me.first + me.number) * RESULTS + RESULTS - 2 + index;
        if let (Some(place), Some(out)) = (launch.memory.get(place * launch.stride), launch.out.get(at)) {
            out.store(place.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
}
