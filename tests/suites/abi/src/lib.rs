//! Random signatures in Rust and in CUDA C++, and what both compilers make of them.
//!
//! A [`model::Case`] is one signature. [`generate`] makes them from a seed; [`rust`] and [`cxx`] write them in both
//! languages; [`compile`] compiles many at once; [`compare`] judges the PTX; [`shrink`] makes a failure small;
//! [`round_trip`] builds what a GPU runs.

pub mod compare;
pub mod compile;
pub mod cxx;
pub mod extension;
pub mod foreign;
pub mod generate;
pub mod model;
pub mod pattern;
pub mod ptx;
pub mod random;
pub mod round_trip;
pub mod rust;
pub mod shrink;
