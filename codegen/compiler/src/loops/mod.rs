//! Loops of safe Rust: what LLVM's pipeline leaves in them on a GPU and would not elsewhere.
//!
//! The stages run between two rounds of LLVM's pipeline, because only the first one inlines, and only the second one makes
//! use of what they did.

mod arrays;
mod branches;
mod checks;
mod natural;
mod strides;

pub use arrays::unroll;
pub use checks::split;
pub use natural::Graph;
pub use strides::count;
