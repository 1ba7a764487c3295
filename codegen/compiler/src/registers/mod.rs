//! How many registers a kernel has.
//!
//! ptxas gives a kernel as many as let all threads of a multiprocessor run at once, if it can: 32 where 2,048 threads have
//! 65,536. `.maxnreg` (PTX ISA, "Performance-Tuning Directives") is a limit and, below it, what ptxas aims at.

mod arithmetic;
mod blocks;
mod given;
mod pressure;

pub use arithmetic::raise;
pub use blocks::fit;
pub use given::{RESERVE, are_open, give, of_a_thread};
pub use pressure::{Order, most_live};
