//! What ncu is told: what to measure, and which tables of it to print.

/// What is measured: warps by source line, and the few figures of a launch that say what it is limited by.
const SECTIONS: [&str; 3] = ["SourceCounters", "SpeedOfLight", "Occupancy"];

/// The page that [`lines`](super::lines) reads.
pub const SOURCE: [&str; 3] = ["source", "--print-source", "cuda,sass"];

/// The page that [`details`](super::details) reads.
pub const DETAILS: [&str; 1] = ["details"];

/// Before the program, and before what chooses launches.
pub fn measured() -> Vec<&'static str> {
    let sections = SECTIONS.iter().flat_map(|name| ["--section", name]);
    sections.chain(["--import-source", "yes", "--target-processes", "all"]).collect()
}

/// Behind `--import FILE`, and before the page's own.
pub const TABLE: [&str; 4] = ["--csv", "--print-units", "base", "--page"];

/// What ncu writes where this user may not read the GPU's counters.
pub const NO_PERMISSION: &str = "ERR_NVGPUCTRPERM";
