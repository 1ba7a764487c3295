//! The pipeline's phases: each a function that lists its stages in order, and what is handed from one to the next.

mod arch;
mod parts;
mod program;

pub use arch::{assemble, check, emit, legalise, optimise, specialise};
pub use parts::Parts;
pub use program::{describe, lower, read, reduce};
