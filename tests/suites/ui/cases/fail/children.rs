//! What kernels cannot launch, and what children cannot get.
#![no_std]
use ptx::atomic::{AtomicSlice, Device};
use ptx::children::{ChildGrid, Children};
use ptx::prelude::*;

#[kernel(child)]
pub fn fill(value: u32, out: AtomicSlice<'_, u32, Device>) {
    let _ = (value, out);
}

#[kernel]
pub fn wrong_type<'grid>(#[children] children: Children<'grid>, out: AtomicSlice<'grid, u32, Device>) {
    let grid = ChildGrid::new(1, 32);
    let _ = fill::launch(children.tail(), grid, 1.0_f32, out); //~ ERROR: mismatched types
    let _ = fill::launch(children.tail(), grid, 1); //~ ERROR: this function takes 4 arguments
}

#[kernel]
pub fn no_child(x: u32) {
    let _ = x;
}

#[kernel]
pub fn launches_it(#[children] children: Children<'_>) {
    let _ = no_child::launch(children.tail(), ChildGrid::new(1, 32), 1); //~ ERROR: cannot find module or crate `no_child`
}

#[kernel]
pub fn not_children(#[children] children: u32) { //~ ERROR: `u32` cannot be a `#[children]` parameter
    let _ = children;
}
