//! What threads of a block exchange where the CPU runs them: by the warp's instructions, and at barriers that count.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::vec::Vec;

use super::thread::{Pause, pause, thread};

/// Lanes of a warp.
const LANES: usize = 32;

/// The block that runs.
#[derive(Default)]
struct Block {
    warps: Vec<Warp>,
    /// By the thread's number: at how many counting barriers it has been.
    counted: Vec<usize>,
    /// For each of these barriers how many threads came, and for how many the condition held.
    counts: Vec<(u32, u32)>,
    /// Barriers at which a part of the block meets, by their numbers.
    parts: BTreeMap<u32, Part>,
    /// Grows whenever a thread gets further.
    steps: u64,
}

/// A warp of it.
#[derive(Default)]
struct Warp {
    /// Lanes whose threads have ended, or that the block does not have.
    ended: u32,
    /// What is exchanged, by the lanes that take part.
    rounds: BTreeMap<u32, Round>,
}

/// A barrier at which so many threads meet.
#[derive(Default)]
struct Part {
    /// How often it has opened.
    phase: u64,
    arrived: u32,
    held: u32,
    /// For how many threads the condition held when it last opened.
    last: u32,
}

/// One operation, until all have its result.
#[derive(Default)]
struct Round {
    arrived: u32,
    left: u32,
    values: [u64; LANES],
}

std::thread_local! {
    static BLOCK: RefCell<Block> = RefCell::default();
}

/// A block of so many threads begins.
pub fn begin_block(threads: usize) {
    let warps = (0..threads.div_ceil(LANES)).map(|warp| {
        let lanes = (threads - warp * LANES).min(LANES) as u32;
        // 32 lanes leave none.
        Warp { ended: u32::MAX.checked_shl(lanes).unwrap_or(0), ..Warp::default() }
    });
    let block = Block { warps: warps.collect(), counted: std::vec![0; threads], ..Block::default() };
    BLOCK.set(block);
}

/// The thread of that number has ended.
pub fn ended(number: usize) {
    BLOCK.with_borrow_mut(|block| {
        block.warps[number / LANES].ended |= 1 << (number % LANES);
        block.steps += 1;
    });
}

/// A number that is another one whenever a thread got further since.
pub fn steps() -> u64 {
    BLOCK.with_borrow(|block| block.steps)
}

/// This thread gets further in what others may wait for.
#[track_caller]
pub(crate) fn further() {
    thread();
    BLOCK.with_borrow_mut(|block| block.steps += 1);
}

/// Lets others run, which may arrive at what this thread waits for.
#[track_caller]
pub(crate) fn arrivals() {
    thread();
    pause(Pause::Arrivals);
}

/// Gives a value to the lanes of `mask`, of which the caller is one, and gets theirs: none of those that have ended.
#[track_caller]
pub(crate) fn exchange(mask: u32, value: u64) -> [Option<u64>; LANES] {
    let number = thread().number();
    let (warp, lane) = (number / LANES, number % LANES);
    let own = 1_u32 << lane;
    let round = |action: &mut dyn FnMut(&mut Round, u32) -> bool| {
        BLOCK.with_borrow_mut(|block| {
            let warp = &mut block.warps[warp];
            let done = action(warp.rounds.entry(mask).or_default(), warp.ended);
            block.steps += u64::from(done);
            done
        })
    };
    // Others may not have the last one's result yet.
    let mut arrive = |round: &mut Round, _: u32| {
        if round.arrived & own != 0 {
            return false;
        }
        round.arrived |= own;
        round.values[lane] = value;
        true
    };
    while !round(&mut arrive) {
        pause(Pause::Lanes);
    }
    let mut values = [None; LANES];
    let mut leave = |round: &mut Round, ended: u32| {
        if round.left == 0 && (round.arrived | ended) & mask != mask {
            return false;
        }
        for (at, value) in values.iter_mut().enumerate() {
            *value = (round.arrived >> at & 1 != 0).then_some(round.values[at]);
        }
        round.left |= own;
        if round.left == round.arrived {
            *round = Round::default();
        }
        true
    };
    while !round(&mut leave) {
        pause(Pause::Lanes);
    }
    values
}

/// Waits at the block's barrier: how many threads came, and for how many of them the condition holds.
#[track_caller]
pub(crate) fn count(condition: bool) -> (u32, u32) {
    let number = thread().number();
    let at = BLOCK.with_borrow_mut(|block| {
        let at = block.counted[number];
        block.counted[number] += 1;
        if block.counts.len() == at {
            block.counts.push((0, 0));
        }
        let (all, held) = &mut block.counts[at];
        *all += 1;
        *held += u32::from(condition);
        at
    });
    pause(Pause::Barrier(0));
    BLOCK.with_borrow(|block| block.counts[at])
}

/// Arrives at a barrier of so many threads: which phase of it that was in.
#[track_caller]
pub(crate) fn arrive_at(number: u32, threads: u32, condition: bool) -> u64 {
    thread();
    BLOCK.with_borrow_mut(|block| {
        block.steps += 1;
        let part = block.parts.entry(number).or_default();
        let phase = part.phase;
        part.arrived += 1;
        part.held += u32::from(condition);
        if part.arrived == threads {
            *part = Part { phase: phase + 1, last: part.held, ..Part::default() };
        }
        phase
    })
}

/// Waits until so many threads have arrived, and for how many of them the condition holds.
#[track_caller]
pub(crate) fn meet_some(number: u32, threads: u32, condition: bool) -> u32 {
    let phase = arrive_at(number, threads, condition);
    loop {
        // The next phase needs this thread, so that the result is still that of this one.
        let over =
            BLOCK.with_borrow(|block| block.parts.get(&number).filter(|part| part.phase != phase).map(|p| p.last));
        match over {
            Some(held) => return held,
            None => pause(Pause::Arrivals),
        }
    }
}
