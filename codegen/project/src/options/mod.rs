//! What a user says and where: arguments, `[package.metadata.ptx]`, variables; and the request that comes of it.

pub mod arch;
mod command_line;
pub mod float;
mod manifest;
pub mod panics;
mod settings;
pub mod suggest;

pub use command_line::{Request, from_args};
pub use manifest::near_misses;
pub use settings::Settings;
