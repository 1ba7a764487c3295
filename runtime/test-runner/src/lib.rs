//! Runs the tests of a crate on a GPU: the host's side of `cargo ptx test`.
//!
//! Each test is one launch of one thread, by the kernel of the crate `ptx-test`. A panic ends that thread alone, so that all
//! tests share one context. What ends a context (an invalid address, a trap) or never ends costs a process: the tests run
//! in a child, which is replaced. [`cli`] is libtest's command line, [`Runner`] what it and other programs run tests by.

pub mod cli;
mod image;
mod protocol;
mod runner;
mod verdict;
mod worker;

pub use image::{ShouldPanic, Span, Test, Tests};
pub use runner::{Options, Outcome, Runner};
pub use worker::become_worker_if_asked;
