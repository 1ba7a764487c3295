//! Everything that panics, by number: one kernel runs any of it, and so does the CPU.
#![no_std]

#[cfg(feature = "cost")]
pub mod cost;
mod kinds;
#[cfg(not(feature = "cost"))]
mod panics;

pub use kinds::{NAMES, run};
#[cfg(not(feature = "cost"))]
pub use panics::panics;
