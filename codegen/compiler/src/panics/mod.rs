//! Panics: what each leaves behind, by the crate that it stands in.
//!
//! Two moments. Before optimising, [`assign`] gives every place that can panic its strategy, and [`shrink`] makes what is left
//! of `core`'s panics small. After it, [`lower`] writes those that keep their place alone as PTX, and defines the record.

mod assign;
mod crates;
mod lower;
mod shrink;

pub use assign::assign;
pub use crates::check;
pub use lower::lower;
pub use shrink::shrink;
