//! What a row of the table is.

use core::sync::atomic::Ordering;

/// The most threads of a program.
pub const THREADS: usize = 4;

/// The most values that a thread reads.
pub const READS: usize = 2;

/// Values that a try leaves: what each thread read, and what is in both locations at the end.
pub const RESULTS: usize = THREADS * READS + 2;

/// A location; both hold 0 at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(non_camel_case_types, reason = "as the table has them")]
pub enum Place {
    /// That which most programs write first.
    x,
    /// The other one.
    y,
}

/// An operation of a thread.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// Reads.
    R(Place, Ordering),
    /// Writes a value.
    W(Place, u32, Ordering),
    /// Adds 1, and reads what was there: a read-modify-write.
    Add(Place, Ordering),
    /// A fence, in the scope of the other operations.
    F(Ordering),
    /// The barrier of the block.
    Barrier,
}

/// What the axioms say of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nobody may see it.
    Forbidden,
    /// It may be seen, and a relaxed form of a program often shows it.
    Allowed,
}

/// A litmus test.
#[derive(Debug)]
pub struct Row {
    /// What it is called in the literature, and what orders it has.
    pub name: &'static str,
    /// What each thread does.
    pub threads: &'static [&'static [Op]],
    /// What the threads read in the outcome, in their order.
    pub reads: &'static [u32],
    /// What the locations hold at the end; those that are not named may hold anything.
    pub last: &'static [(Place, u32)],
    /// What the table says.
    pub verdict: Verdict,
}

impl Row {
    /// How many values each thread reads.
    pub fn reads_of(&self, thread: usize) -> usize {
        self.threads[thread].iter().filter(|op| matches!(op, Op::R(..) | Op::Add(..))).count()
    }

    /// Whether a try ended in the outcome; of `results` there are [`RESULTS`].
    pub fn is_outcome(&self, results: &[u32]) -> bool {
        let places = (0..self.threads.len()).flat_map(|t| (0..self.reads_of(t)).map(move |n| t * READS + n));
        let last = |place: Place| results[RESULTS - 2 + place as usize];
        // A row without reads looks at the last values alone.
        places.zip(self.reads).all(|(at, read)| results[at] == *read)
            && self.last.iter().all(|(place, value)| last(*place) == *value)
    }

    /// Whether its threads must be in one block.
    pub fn is_of_a_block(&self) -> bool {
        self.threads.iter().any(|ops| ops.iter().any(|op| matches!(op, Op::Barrier)))
    }
}
