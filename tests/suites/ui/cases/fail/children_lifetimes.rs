//! Children get nothing that ends with their parent's thread.
#![no_std]
use ptx::atomic::{Atomic, AtomicSlice, Device};
use ptx::children::{ChildGrid, Children};
use ptx::prelude::*;

#[kernel(child)]
pub fn fill(out: AtomicSlice<'_, u32, Device>) {
    let _ = out;
}

#[kernel(child)]
pub fn sum(x: &[u32]) {
    let _ = x;
}

#[kernel]
pub fn lends_a_local(#[children] children: Children<'_>) {
    let atomics = [Atomic::<u32, Device>::new(0)];
    let _ = fill::launch(children.fire_and_forget(), ChildGrid::new(1, 1), AtomicSlice::from(&atomics[..])); //~ ERROR: `atomics` does not live long enough
}

#[kernel]
pub fn lends_another_s<'grid, 'x>(#[children] children: Children<'grid>, x: &'x [u32]) {
    let _ = sum::launch(children.fire_and_forget(), ChildGrid::new(1, 1), x); //~ ERROR: lifetime may not live long enough
}
