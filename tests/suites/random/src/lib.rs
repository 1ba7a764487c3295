//! Compiles random programs for both sides, and packs what a GPU runs.

pub mod check;
pub mod compile;
pub mod pack;
pub mod shrinking;
