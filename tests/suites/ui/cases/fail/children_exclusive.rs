//! Children that run beside their parent get no view whose elements are its threads' own, and none a parameter whose place
//! depends on the GPU.
#![no_std]
use ptx::children::{ChildGrid, Children};
use ptx::prelude::*;

#[kernel(child)]
pub fn double(mut x: DisjointSlice<u32>) { //~ ERROR: a child that runs beside its parent cannot have a `DisjointSlice`
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x *= 2;
    }
}

#[derive(Clone, Copy, AbiType)]
#[repr(C, align(32))]
pub struct Wide(u64);

#[kernel(child)]
pub fn takes_wide(x: Wide) { //~ ERROR: a child's parameter has an alignment of at most 16 bytes
    let _ = x;
}

#[kernel]
pub fn launches<'grid>(#[children] children: Children<'grid>, x: DisjointSlice<'grid, u32>) {
    let _ = double::launch(children.fire_and_forget(), ChildGrid::new(1, 32), x);
    let _ = takes_wide::launch(children.tail(), ChildGrid::new(1, 32), Wide(1));
}
