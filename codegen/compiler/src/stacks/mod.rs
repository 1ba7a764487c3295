//! Stacks that cannot overflow silently.
//!
//! A thread's stack has a size that is set before the launch. ptxas adds up what a kernel needs, through pointers to functions
//! too, and the driver sees to it; but a kernel that can come back to a function has no such sum. So [`check`] has one
//! function of every such circle compare the stack pointer with the stack's end, and panic in time; and [`Calls`] says, once
//! ptxas gave each function's frame, what the way through all circles needs, what each turn adds, and how much must be free
//! where a check passes. The host knows the end: `ptx_abi::stack` is what it tells the device.

mod calls;
mod check;
mod limits;
mod need;

pub use calls::{Calls, are_by_name};
pub use check::{check, read, refuse_without_lines};
pub use limits::judge;
pub use need::{Frames, Recursion};
