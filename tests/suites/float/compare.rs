//! Every expression under every set of modes: our instructions are nvcc's.

use libtest_mimic::Trial;

use crate::compiled::{both, with_nvcc};
use crate::deviations::{self, differences};
use crate::row::Row;
use crate::table::rows;

/// A test for every row, and one for every deviation.
pub fn trials() -> Vec<Trial> {
    let rows = rows().map(|row| with_nvcc(format!("{} is nvcc's", row.name), move || check(row)));
    let deviations = deviations::ALL.iter().enumerate();
    rows.chain(deviations.map(|(index, one)| {
        with_nvcc(format!("deviation {index} is still there: {}", one.reason), move || one.persists(both()))
    }))
    .collect()
}

fn check(row: &Row) {
    let found = differences(row, both());
    let unexpected: Vec<_> = found
        .iter()
        .filter(|(_, difference)| !deviations::ALL.iter().any(|known| known.explains(row.name, difference)))
        .map(|(set, difference)| format!("  {set}: {difference}"))
        .collect();
    assert!(unexpected.is_empty(), "`{}`, in CUDA C++ `{}`:\n{}", row.rust, row.cuda, unexpected.join("\n"));
}
