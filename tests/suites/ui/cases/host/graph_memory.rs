//! Memory of a graph cannot be read while the graph is started or is written, nor outlive it.
use ptx::prelude::*;
use ptx::{Graph, GraphMemory};

pub fn host<'g>(graph: &'g mut Graph<'_>, memory: &GraphMemory<u32>) -> ptx::Result<&'g CudaSlice<u32>> {
    let before = graph.memory(memory);
    graph.launch()?; //~ ERROR: cannot borrow `*graph` as mutable because it is also borrowed as immutable
    let len = before.len();
    assert!(len > 0);
    Ok(graph.memory(memory))
}

pub fn module_goes(device: &Device, module: Module) -> ptx::Result<()> {
    let mut graph = device.graph()?;
    let mut memory = graph.keep(device.zeroed::<u32>(64)?);
    graph.add(fill(1, &mut memory), &module, Grid::new(1, 64))?;
    drop(module); //~ ERROR: cannot move out of `module` because it is borrowed
    graph.finish()?.launch()
}

#[kernel]
pub fn fill(value: u32, mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = value;
    }
}
