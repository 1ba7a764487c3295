//! The kernels whose speed is compared: what each is launched with, how much it does, and when results are equal.
//!
//! [`rows`] is the table. The kernels are in `tests/kernels/bench`; `tests/suites/bench` launches them.

mod compare;
mod data;
pub mod guard;
pub mod record;
mod row;
mod rows;
pub mod sass;
mod signature;
pub mod statistics;

pub use compare::Tolerance;
pub use data::Data;
pub use row::{Argument, Role, Row, Style, Work};
pub use rows::rows;
pub use signature::fits;
