//! A crate without kernels.
//@error-in-other-file: no kernel
#![no_std]
use ptx as _;

pub fn run() {}
