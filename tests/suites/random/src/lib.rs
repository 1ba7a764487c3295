//! Compiles random programs for both sides, and packs what a GPU runs.

pub mod compile;
pub mod pack;
