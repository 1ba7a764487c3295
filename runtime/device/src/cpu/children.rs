//! Kernels that kernels launch where the CPU runs them: they wait until the launch that runs has ended.

use std::boxed::Box;
use std::cell::RefCell;
use std::vec::Vec;

use super::thread::thread;
use crate::dim::Dim3;

/// A launch by a kernel.
pub struct Child {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The blocks of the grid.
    pub blocks: Dim3,
    /// The threads of a block.
    pub threads: Dim3,
    /// The dynamic shared memory of a block.
    pub shared_bytes: u32,
    /// Whether it waits for the other children, too.
    pub is_tail: bool,
    /// What each thread does.
    pub body: Box<dyn Fn()>,
}

std::thread_local! {
    static CHILDREN: RefCell<Vec<Child>> = RefCell::default();
}

/// Notes a launch.
#[track_caller]
pub(crate) fn launch_child(child: Child) {
    // Only a kernel launches.
    thread();
    CHILDREN.with_borrow_mut(|children| children.push(child));
}

/// What was launched since the last call, in order.
pub fn take_children() -> Vec<Child> {
    CHILDREN.take()
}
