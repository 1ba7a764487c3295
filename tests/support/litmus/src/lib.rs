//! Litmus tests: programs of one to four threads on two locations, with an outcome that the memory model forbids or allows.
//!
//! [`rows!`] is the table, from which [`ROWS`] and the kernels are made. `model` says by the axioms of the PTX ISA whether
//! an outcome is allowed; a test compares it with the table.
#![cfg_attr(target_arch = "nvptx64", no_std)]

use core::sync::atomic::Ordering;

#[cfg(not(target_arch = "nvptx64"))]
mod model;
mod row;
#[macro_use]
mod table;

#[cfg(not(target_arch = "nvptx64"))]
pub use model::is_allowed;
pub use row::{Op, Place, READS, RESULTS, Row, THREADS, Verdict};

macro_rules! op {
    (R $place:ident $order:ident) => {
        Op::R(Place::$place, Ordering::$order)
    };
    (W $place:ident $value:literal $order:ident) => {
        Op::W(Place::$place, $value, Ordering::$order)
    };
    (Add $place:ident $order:ident) => {
        Op::Add(Place::$place, Ordering::$order)
    };
    (F $order:ident) => {
        Op::F(Ordering::$order)
    };
    (Barrier) => {
        Op::Barrier
    };
}

macro_rules! as_data {
    ($($id:ident $name:literal: $verdict:ident, $([$(($($op:tt)*))*])* => [$($read:literal)*] {$($place:ident $last:literal)*};)*) => {
        /// The table as data, in its order.
        pub const ROWS: &[Row] = &[$(Row {
            name: $name,
            threads: &[$(&[$(op!($($op)*)),*]),*],
            reads: &[$($read),*],
            last: &[$((Place::$place, $last)),*],
            verdict: Verdict::$verdict,
        }),*];
    };
}

rows!(as_data);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_the_axioms_say() {
        for row in ROWS {
            let verdict = if is_allowed(row) { Verdict::Allowed } else { Verdict::Forbidden };
            assert_eq!(row.verdict, verdict, "{}", row.name);
        }
    }

    #[test]
    fn rows_are_whole() {
        for row in ROWS {
            let reads: Vec<usize> = (0..row.threads.len()).map(|thread| row.reads_of(thread)).collect();
            let all = reads.iter().sum::<usize>();
            // Or the outcome is about the last values alone.
            assert!(row.reads.len() == all || row.reads.is_empty() && !row.last.is_empty(), "{}", row.name);
            assert!(reads.len() <= THREADS, "{}", row.name);
            let barriers = |ops: &&[Op]| ops.iter().filter(|op| matches!(op, Op::Barrier)).count();
            // Threads of a block play different threads of a row at a time: they must meet as often.
            assert!(row.threads.iter().all(|ops| barriers(ops) == barriers(&row.threads[0])), "{}", row.name);
            assert!(reads.iter().all(|reads| *reads <= READS), "{}", row.name);
            assert_eq!(ROWS.iter().filter(|other| other.name == row.name).count(), 1, "{}", row.name);
        }
    }
}
