//! What was measured of a kernel.

use std::collections::BTreeMap;

/// A kernel, with all its launches that were profiled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kernel {
    /// The symbol of its entry point, without a signature.
    pub name: String,
    /// The launches, in their order.
    pub launches: Vec<Launch>,
    /// What NVIDIA's rules advise, each once.
    pub advice: Vec<Advice>,
    /// The source lines that have instructions.
    pub lines: Vec<Line>,
}

/// What the sections say of one launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Launch {
    /// As ncu writes it: `(4096, 1, 1)`.
    pub grid: String,
    /// Likewise.
    pub block: String,
    /// Nanoseconds.
    pub duration: Option<f64>,
    /// Of the peak of the busiest arithmetic pipe, per cent.
    pub compute: Option<f64>,
    /// Of the peak of the busiest part of the memory system, per cent.
    pub memory: Option<f64>,
    /// Of the warps that a multiprocessor can hold, per cent, on average.
    pub occupancy: Option<f64>,
}

/// What one of NVIDIA's rules found.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// What it says.
    pub text: String,
    /// By how much the kernel could be faster, per cent, as the rule estimates.
    pub speedup: Option<f64>,
}

/// A source line, with the sums of its instructions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// As the line table has it.
    pub file: String,
    /// From 1.
    pub number: u32,
    /// Its text, if ncu found the file.
    pub source: String,
    /// How often the sampler saw a warp there.
    pub samples: f64,
    /// Instructions that warps executed.
    pub executed: f64,
    /// Instructions that threads executed.
    pub thread_executed: f64,
    /// Sectors of 32 bytes of global memory that the accesses ask for.
    pub sectors: f64,
    /// Those of them that better places of the same values would save.
    pub excessive_sectors: f64,
    /// Accesses to shared memory, each of one pass.
    pub wavefronts: f64,
    /// Those of them that are conflicts of banks.
    pub excessive_wavefronts: f64,
    /// Samples by what the warp waited for, by ncu's names: `long_sb`.
    pub stalls: BTreeMap<String, f64>,
}
