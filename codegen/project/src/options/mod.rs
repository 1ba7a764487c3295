//! What a user says and where: arguments, `[package.metadata.ptx]`, variables; and the request that comes of it.

mod command_line;
pub mod float;
pub mod panics;
mod settings;

pub use command_line::{Request, from_args, parse_archs};
pub use settings::Settings;
