//! What only one phase of a shared object has.
#![no_std]
use ptx::prelude::*;
use ptx::shared::{SharedBuffers, SharedTile};

#[kernel]
pub fn read_unpublished(mut out: DisjointSlice<u32>, #[shared] tile: SharedTile<[u32; 4]>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = tile[0]; //~ ERROR: cannot index into a value of type
    }
}

#[kernel]
pub fn write_published(#[shared] tile: SharedTile<[u32; 4]>) {
    let mut view = tile.publish();
    view.own().set(1); //~ ERROR: no method named `own`
}

#[kernel]
pub fn publish_twice(#[shared] tile: SharedTile<[u32; 4]>) {
    let view = tile.publish();
    let _ = view.publish(); //~ ERROR: no method named `publish`
}

#[kernel]
pub fn copy(#[shared] tile: SharedTile<[u32; 4]>) {
    let other = tile.clone(); //~ ERROR: no method named `clone`
    let _ = other;
}

#[kernel]
pub fn send(#[shared] tile: SharedTile<[u32; 4]>, #[shared] buffers: SharedBuffers<[u32; 4]>) {
    fn to_another_thread<T: Send>(_: T) {}
    to_another_thread(tile); //~ ERROR: cannot be sent between threads safely
    //~^ ERROR: cannot be sent between threads safely
    to_another_thread(buffers); //~ ERROR: cannot be sent between threads safely
    //~^ ERROR: cannot be sent between threads safely
}
