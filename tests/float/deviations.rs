//! Where our instructions are not nvcc's, and why that is right.

use std::fmt;

use crate::compare::{Compiled, differences};
use crate::instructions::Instructions;
use crate::table::ROWS;

/// What one kernel has and the other has not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    ours: Vec<String>,
    nvcc: Vec<String>,
}

impl Difference {
    /// Of two kernels.
    pub fn between(ours: &Instructions, nvcc: &Instructions) -> Self {
        let more = |these: &Instructions, those: &Instructions| {
            let count = |name: &String, count: &usize| count.saturating_sub(those.get(name).copied().unwrap_or(0));
            these.iter().flat_map(|(name, n)| vec![name.clone(); count(name, n)]).collect()
        };
        Self { ours: more(ours, nvcc), nvcc: more(nvcc, ours) }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ours.is_empty() && self.nvcc.is_empty()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ours has [{}], nvcc has [{}]", self.ours.join(", "), self.nvcc.join(", "))
    }
}

/// A difference that is right. `.ftz` of the instructions named here is left out, so that one entry holds for all modes.
pub struct Deviation {
    /// In the rows whose names begin so.
    pub rows: &'static [&'static str],
    /// Ours, of what differs.
    pub ours: &'static [&'static str],
    /// nvcc's, of what differs.
    pub nvcc: &'static [&'static str],
    /// Why.
    pub reason: &'static str,
}

/// All that are known.
pub const ALL: &[Deviation] = &[];

impl Deviation {
    /// Whether it is this one.
    pub fn explains(&self, row: &str, _set: &str, difference: &Difference) -> bool {
        let same = |found: &[String], known: &[&str]| {
            found.iter().map(|name| name.replace(".ftz", "")).eq(known.iter().copied())
        };
        self.rows.contains(&row) && same(&difference.ours, self.ours) && same(&difference.nvcc, self.nvcc)
    }

    /// Whether every row that it names has it under some set of modes.
    pub fn persists(&self, both: (&Compiled, &Compiled)) {
        for name in self.rows {
            let row = ROWS.iter().find(|row| row.name == *name).unwrap_or_else(|| panic!("there is no row {name}"));
            let found = differences(row, both);
            assert!(
                found.iter().any(|(set, difference)| self.explains(name, set, difference)),
                "{name} does not differ any more: take it out of tests/float/deviations.rs"
            );
        }
    }
}
