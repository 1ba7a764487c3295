//! What is known of values in one place, in the order in which it was learnt.

use std::cell::Cell;

use crate::llvm::IntValue;

use super::intervals::Interval;

thread_local! {
    /// The last number that facts were given.
    static LAST: Cell<u64> = const { Cell::new(0) };
}

/// Between which numbers some values lie.
#[derive(Clone, Default)]
pub struct Facts<'ctx> {
    known: Vec<(IntValue<'ctx>, Interval)>,
    /// The same for facts that were copied of each other, and never for others: what was found by some is so by their copies.
    number: u64,
}

impl<'ctx> Facts<'ctx> {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    pub fn iter(&self) -> impl Iterator<Item = &(IntValue<'ctx>, Interval)> {
        self.known.iter()
    }

    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// What these facts are told apart by, on one thread.
    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn push(&mut self, fact: (IntValue<'ctx>, Interval)) {
        self.known.push(fact);
        self.renumber();
    }

    /// Takes away what was learnt behind the first ones.
    pub fn take_behind(&mut self, first: usize) -> Vec<(IntValue<'ctx>, Interval)> {
        self.renumber();
        self.known.split_off(first)
    }

    /// Keeps the last ones.
    pub fn keep_last(&mut self, most: usize) {
        let first = self.known.len().saturating_sub(most);
        if first > 0 {
            self.known.drain(..first);
            self.renumber();
        }
    }

    fn renumber(&mut self) {
        self.number = LAST.with(|last| {
            last.set(last.get() + 1);
            last.get()
        });
    }
}
