//! The pipeline's phases: each a function that lists its stages in order, and what is handed from one to the next.

mod arch;
mod parts;
mod program;
mod unit;

pub use arch::{Assembling, assemble, divide, emit, finish, inline, join, most_at_once, specialise, write};
pub use parts::{Parts, find};
pub use program::{Lines, Program, describe, lower, read, reduce};
pub use unit::{legalise, optimise};
