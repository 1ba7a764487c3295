//! Gather and scatter, sparse matrices and graphs: addresses that come from memory.

use ptx::atomic::{AtomicSlice, Device, Ordering};
use ptx::prelude::*;

#[kernel]
pub fn gather(x: &[f32], indices: &[u32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[indices[i.get()] as usize];
    }
}

/// Any two indices may be equal as far as the compiler knows, so what is written is atomic.
#[kernel]
pub fn scatter(x: &[f32], indices: &[u32], y: AtomicSlice<f32, Device>) {
    let i = thread::index_1d().get();
    if let (Some(x), Some(index)) = (x.get(i), indices.get(i)) {
        y[*index as usize].store(*x, Ordering::Relaxed);
    }
}

/// A sparse matrix in CSR form times a vector, a row a thread.
#[kernel]
pub fn spmv(offsets: &[u32], columns: &[u32], values: &[f32], x: &[f32], mut y: DisjointSlice<f32>) {
    let row = thread::index_1d();
    if let Some(y) = y.get_mut(row) {
        let row = row.get();
        let entries = offsets[row] as usize..offsets[row + 1] as usize;
        let products = columns[entries.clone()].iter().zip(&values[entries]);
        *y = products.map(|(column, value)| value * x[*column as usize]).sum();
    }
}

/// The level of vertices that were not reached yet.
pub const UNSEEN: u32 = u32::MAX;

/// One step of a breadth-first search: vertices that were not seen look for a neighbour at `level`.
#[kernel]
pub fn bfs(offsets: &[u32], edges: &[u32], level: u32, levels: &[u32], mut next: DisjointSlice<u32>) {
    let vertex = thread::index_1d();
    if let Some(next) = next.get_mut(vertex) {
        let vertex = vertex.get();
        *next = levels[vertex];
        if *next == UNSEEN {
            let neighbours = &edges[offsets[vertex] as usize..offsets[vertex + 1] as usize];
            if neighbours.iter().any(|neighbour| levels[*neighbour as usize] == level) {
                *next = level + 1;
            }
        }
    }
}
