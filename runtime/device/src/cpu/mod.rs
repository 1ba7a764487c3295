//! What a kernel's functions do where the CPU runs it: which thread this is, and how it waits for others.
//!
//! `ptx-host` runs every thread of a block as a coroutine of one thread of the system, and says here which one it runs.

mod children;
mod exchange;
mod thread;
pub(crate) mod warp;

pub(crate) use children::launch_child;
pub use children::{Child, take_children};
pub(crate) use exchange::{arrivals, arrive_at, count, exchange, further, meet_some};
pub use exchange::{begin_block, ended, steps};
pub use thread::{Exit, Pause, Thread, is_in_kernel, set};
pub(crate) use thread::{
    barrier, before_atomic, clock, dynamic_shared, exit, lane, only_on_the_gpu, thread, timer, turn, warp_number,
};
