//! Inputs: files to bitcode members, members to one module that holds what kernels reach and nothing else.

mod builtins;
mod files;
mod half;
mod link;
mod remainder;

pub use files::{File, read};
pub use link::{definitions, link, link_wanted};
