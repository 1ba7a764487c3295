//! The kernel that panics.

use ptx::prelude::*;

use crate::kinds::run;

/// Does what panics in the thread that `block` and `thread` name, or in every thread.
#[kernel]
pub fn panics(kind: u32, values: &[u32], block: u32, thread: u32, mut out: DisjointSlice<u32>) {
    let (b, t) = (thread::block_idx(), thread::thread_idx());
    let here = [b.x, b.y, b.z].map(|at| at as u8);
    let inner = [t.x, t.y, t.z].map(|at| at as u8);
    let number = |[x, y, z]: [u8; 3]| u32::from_le_bytes([x, y, z, 0]);
    if block == u32::MAX || number(here) == block && number(inner) == thread {
        let result = run(kind, values);
        if let Some(out) = out.get_mut(thread::index_1d()) {
            *out = result;
        }
    }
}
