//! Panics: what each leaves behind, by the crate that it stands in.
//!
//! Three moments. Before optimising, [`assign`] gives every place that can panic its strategy, [`hand_over`] turns messages that
//! the host can make into their operands, and [`shrink`] makes what is left of `core`'s panics small. After it, [`write`] adds
//! the compiler's own, and [`lower`] writes those that hand over a place or operands as PTX, and defines the record. Beside
//! the output, [`without`] leaves them out, and [`pool`] makes one static of what its text has of them.

mod assign;
mod balance;
mod branches;
mod constants;
mod crates;
mod halves;
mod leaving;
mod lower;
mod message;
mod operands;
mod place;
mod pool;
mod record;
mod shown;
mod shrink;
mod without;
mod write;

pub use assign::assign;
pub use crates::check;
pub use lower::lower;
pub use message::Part;
pub use operands::hand_over;
pub use pool::pool;
pub use shrink::shrink;
pub use without::without;
pub use write::write;
