//! What is launched later keeps its module, and what a graph gives back keeps the graph.
use ptx::Graph;
use ptx::prelude::*;

#[kernel]
pub fn fill(value: u32, mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = value;
    }
}

pub fn prepared(module: Module, mut out: CudaSlice<u32>) -> ptx::Result<()> {
    let mut prepared = fill(1, &mut out).prepare(&module, Grid::new(1, 64))?;
    drop(module); //~ ERROR: cannot move out of `module` because it is borrowed
    prepared.launch()
}

pub fn graph(device: &Device, module: Module, out: CudaSlice<u32>) -> ptx::Result<()> {
    let mut graph = device.graph()?;
    let mut out = graph.keep(out);
    graph.add(fill(1, &mut out), &module, Grid::new(1, 64))?;
    let mut graph = graph.finish()?;
    drop(module); //~ ERROR: cannot move out of `module` because it is borrowed
    graph.launch()
}

pub fn memory(graph: &mut Graph<'_>, out: &ptx::GraphMemory<u32>) -> ptx::Result<usize> {
    let memory = graph.memory(out);
    graph.launch()?; //~ ERROR: cannot borrow `*graph` as mutable because it is also borrowed as immutable
    Ok(memory.len())
}
