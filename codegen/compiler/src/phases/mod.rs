//! The pipeline's phases: each a function that lists its stages in order, and what is handed from one to the next.

mod arch;
mod parts;
mod program;

pub use arch::{Assembling, assemble, check, emit, finish, legalise, most_at_once, optimise, specialise};
pub use parts::{Parts, find};
pub use program::{Lines, Program, describe, lower, read, reduce};
