//! Notes of ours under rustc's messages.

mod message;
mod table;

pub use message::{Message, add_note, with_host_note};
pub use table::add;
