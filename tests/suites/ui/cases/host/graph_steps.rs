//! Memory that a graph copies onto itself, memory of the host that is read while the graph is started, and a body that outlives
//! the step that it belongs to.
use ptx::graph::Condition;
use ptx::prelude::*;
use ptx::{Graph, GraphBuilder, GraphHostMemory};

pub fn onto_itself(graph: &mut GraphBuilder<'_>, memory: CudaSlice<u32>) -> ptx::Result<()> {
    let mut memory = graph.keep(memory);
    graph.add_copy(&memory, &mut memory)?; //~ ERROR: cannot borrow `memory` as mutable because it is also borrowed
    Ok(())
}

pub fn other_elements(graph: &mut GraphBuilder<'_>, device: &Device) -> ptx::Result<()> {
    let from = graph.keep_host(device.pinned_zeroed::<u32>(64)?)?;
    let mut to = graph.keep(device.zeroed::<f32>(64)?);
    graph.add_upload(&from, &mut to)?; //~ ERROR: mismatched types
    Ok(())
}

pub fn host(graph: &mut Graph<'_>, memory: &GraphHostMemory<u32>) -> ptx::Result<u32> {
    let before = graph.host(memory).as_slice();
    graph.launch()?; //~ ERROR: cannot borrow `*graph` as mutable because it is also borrowed as immutable
    Ok(before.unwrap()[0])
}

pub fn body_escapes(graph: &mut GraphBuilder<'_>) -> ptx::Result<()> {
    let condition = graph.condition(1)?;
    let mut kept = None;
    graph.add_if(&condition, |body| {
        kept = Some(body);
        //~^ ERROR: borrowed data escapes outside of closure
        //~| ERROR: borrowed data escapes outside of closure
        Ok(())
    })?;
    let _ = kept;
    Ok(())
}

pub fn no_condition(module: &Module) -> ptx::Result<()> {
    sets(1_u64).launch(module, Grid::new(1, 1)) //~ ERROR: mismatched types
}

#[kernel]
pub fn sets(mut condition: Condition<'_>) {
    condition.set(1);
}
