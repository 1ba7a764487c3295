//! Random programs: what they are made of, and what makes a failing one small.
//!
//! A program is a function of [`choices::Choices`], a list of small numbers. [`rust`] writes programs in Rust, which a
//! CPU and a GPU run; [`shrink`] takes numbers away as long as the program still fails.

pub mod choices;
pub mod inputs;
pub mod ptx;
pub mod rust;
pub mod shrink;
