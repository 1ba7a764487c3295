//! Kernels that cannot be launched by kernels.
#![no_std]
use ptx::children::{ChildGrid, Children};
use ptx::prelude::*;

#[kernel(child, export = "C++")] //~ ERROR: a kernel that kernels launch has a plain name
pub fn mangled(x: u32) {
    let _ = x;
}

#[kernel(child, instantiate(u32, f32))]
pub fn generic<T: AbiType>(x: T) {
    let _ = x;
}

#[kernel]
pub fn parent(#[children] children: Children<'_>) {
    _ = generic::launch(children.tail(), ChildGrid::new(1, 1), 1_u64); //~ ERROR: kernel `generic` has no instance `generic::<u64>`
}
