//! Floating-point modes: which function has which.
//!
//! [`assign`] says which modes each function has, before LLVM optimises; [`stamp`] writes them onto instructions, for one arch;
//! [`lower`] makes of those, after LLVM, what nvcc writes.

mod assign;
mod casts;
mod clamps;
mod early;
mod flush;
mod guarded;
mod lower;
mod negate;
mod operations;
mod roots;
mod separate;
mod signs;
mod sink;
mod stamp;
mod zeros;

pub use assign::assign;
pub use lower::lower;
pub use roots::part;
pub use stamp::stamp;
