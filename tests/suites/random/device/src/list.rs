//! What is in a folder of packed programs: `list.json`.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// A folder's list.
#[derive(Clone, Debug, Deserialize)]
pub struct List {
    /// What kind of programs they are.
    pub what: String,
    /// Where their random numbers begin.
    pub seed: u64,
    /// Threads that run each of them.
    pub threads: usize,
    /// Threads of a block.
    pub block: usize,
    /// The programs that are in one cubin.
    pub batches: Vec<Batch>,
    /// Where the list is.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// Programs that were compiled together.
#[derive(Clone, Debug, Deserialize)]
pub struct Batch {
    /// The first one's number.
    pub first: u64,
    /// How many.
    pub programs: u64,
    /// The levels for which there are cubins.
    pub levels: Vec<u32>,
}

/// One program at one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// Where the random numbers of its list begin.
    pub seed: u64,
    /// The first program of its batch.
    pub batch: u64,
    /// Its place in the batch.
    pub place: u64,
    /// Of optimisation: of rustc, or of ptxas for kernels in PTX.
    pub level: u32,
}

impl Program {
    /// By which its seed gives it.
    pub fn number(self) -> u64 {
        self.batch + self.place
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {} program {} at level {}", self.seed, self.number(), self.level)
    }
}

impl List {
    /// Reads a folder's.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let path = folder.join("list.json");
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut list: Self = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        list.folder = folder.to_path_buf();
        Ok(list)
    }

    /// All programs, by cubins.
    pub fn programs(&self) -> impl Iterator<Item = Program> {
        self.batches.iter().flat_map(move |batch| {
            batch.levels.iter().flat_map(move |level| {
                (0..batch.programs).map(move |place| Program {
                    seed: self.seed,
                    batch: batch.first,
                    place,
                    level: *level,
                })
            })
        })
    }

    /// The levels that at least one batch has.
    pub fn levels(&self) -> BTreeSet<u32> {
        self.batches.iter().flat_map(|batch| batch.levels.clone()).collect()
    }
}
