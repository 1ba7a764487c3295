//! A graph that can be launched.

use std::fmt;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUgraphExec};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, PinnedHostSlice, result};
use smallvec::SmallVec;

use super::builder::GraphBuilder;
use super::memory::{GraphHostMemory, GraphMemory, Held};
use super::parts::{Common, Node};
use super::steps::{check, with_params};
use crate::driver::Doing;
use crate::error::{Error, Result};
use crate::extents::LaunchGrid;
use crate::launch::Launch;

/// Steps that are started together: CUDA's `CUgraphExec`.
///
/// It owns the memory that they work on.
pub struct Graph<'m> {
    // Before what it uses.
    pub(super) exec: Exec,
    pub(super) builder: GraphBuilder<'m>,
}

/// Owns what the driver made of a graph.
pub(super) struct Exec {
    pub(super) exec: CUgraphExec,
    pub(super) context: Arc<CudaContext>,
}

impl Drop for Exec {
    fn drop(&mut self) {
        // A launch that runs keeps what it needs (CUDA Driver API, `cuGraphExecDestroy`).
        // SAFETY: made by `finish`, and not used any more.
        self.context.record_err(unsafe { result::graph::exec_destroy(self.exec) });
    }
}

impl<'m> GraphBuilder<'m> {
    /// Makes what can be launched: `cuGraphInstantiate`.
    ///
    /// # Errors
    /// If nothing depends on a condition that was made, or the device has not enough memory.
    pub fn finish(self) -> Result<Graph<'m>> {
        if self.common.conditions.contains(&false) {
            let reason = "no step depends on it: give it to `add_if`, `add_while` or `add_switch`".to_owned();
            return Err(Error::GraphStep { step: "a condition", reason });
        }
        let doing = || format!("making a graph of {} nodes ready", self.common.nodes);
        let context = self.common.device.context().clone();
        context.bind_to_thread().doing(doing)?;
        // SAFETY: the graph is alive.
        let exec = unsafe { result::graph::instantiate(self.owned.graph, sys::CUgraphInstantiate_flags(0)) };
        let exec = Exec { exec: exec.doing(doing)?, context };
        Ok(Graph { exec, builder: self })
    }
}

impl Graph<'_> {
    /// Starts all steps, on the default stream of the device: `cuGraphLaunch`.
    ///
    /// # Errors
    /// If the device is lost, or has no memory for the stacks that kernels need.
    pub fn launch(&mut self) -> Result<()> {
        let stream = self.builder.common.device.stream().clone();
        self.launch_on(&stream)
    }

    /// Starts all steps on `stream`, behind what is there, and behind the work on other streams that uses the memory.
    ///
    /// # Errors
    /// As of [`launch`](Self::launch), and if the stream is another device's.
    pub fn launch_on(&mut self, stream: &CudaStream) -> Result<()> {
        let Self { exec, builder: GraphBuilder { common, .. } } = self;
        let Common { device, slots, launches, nodes, .. } = common;
        device.own(stream)?;
        for (module, kernel) in &*launches {
            module.prepare_stack(kernel)?;
        }
        device.watch().launched_elsewhere();
        let doing = || format!("launching a graph of {nodes} nodes");
        let guards: SmallVec<[Held<'_>; 8]> = slots.iter_mut().map(|slot| slot.hold(stream)).collect();
        // Waiting for other streams has no result of its own: cudarc keeps the error.
        stream.context().check_err().doing(doing)?;
        // SAFETY: the kernels are in modules that are borrowed, and the memory is held.
        let launched = unsafe { result::graph::launch(exec.exec, stream.cu_stream()) };
        drop(guards);
        launched.doing(doing)
    }

    /// Gives a launch other arguments and another grid, from the next start on: `cuGraphExecKernelNodeSetParams`. Kernel, memory and
    /// what it asks for beside its grid stay what they were: the order of the launches follows from the memory.
    ///
    /// # Errors
    /// As of [`GraphBuilder::add`]; and [`Error::Graph`] if the kernel, the memory or the cluster is another one, or the launch is
    /// in the body of a branch or a loop.
    pub fn update(&mut self, node: Node, launch: Launch<'_>, grid: impl LaunchGrid) -> Result<()> {
        let GraphBuilder { common, body, .. } = &self.builder;
        let name = launch.kernel.name;
        let refused = |reason| Err(Error::Graph { kernel: name.to_owned(), reason });
        if node.graph == common.number && node.body != body.number {
            return refused("the node is in the body of a branch or a loop, which stays as it was made");
        }
        let known = body.nodes.get(node.number).filter(|_| node.graph == common.number);
        let Some((added, (module, known, extras))) = known.and_then(|added| Some((added, added.launch?))) else {
            return refused("the node is no launch of this graph");
        };
        let (kernel, grid, uses) = check(common, &launch, module, grid)?;
        if !std::ptr::eq(kernel, known) {
            return refused("the node launches another kernel");
        }
        if uses != added.uses {
            return refused("the node works on other memory, and the order of the launches follows from that");
        }
        if launch.extras != extras {
            return refused("the node has another cluster or priority, or is cooperative and this is not");
        }
        with_params(&launch, kernel, &grid, |params| {
            // SAFETY: the node is the graph's, and the driver copies the parameters before it returns.
            unsafe { sys::cuGraphExecKernelNodeSetParams_v2(self.exec.exec, added.node, params) }.result()
        })
        .doing(|| format!("updating kernel `{name}` as {grid} in a graph"))
    }

    /// The memory, as the last start leaves it: what reads it waits for that.
    ///
    /// # Panics
    /// If it is another graph's.
    pub fn memory<T: 'static>(&self, memory: &GraphMemory<T>) -> &CudaSlice<T> {
        let slot = &self.builder.common.slots[self.builder.slot(memory.slot)];
        slot.any().downcast_ref().expect("the slot was made with the memory's type")
    }

    /// The memory, to write it between two starts.
    ///
    /// # Panics
    /// If it is another graph's.
    pub fn memory_mut<T: 'static>(&mut self, memory: &GraphMemory<T>) -> &mut CudaSlice<T> {
        let number = self.builder.slot(memory.slot);
        let slot = &mut self.builder.common.slots[number];
        slot.any_mut().downcast_mut().expect("the slot was made with the memory's type")
    }

    /// The host's memory, as the last start leaves it: its `as_slice` waits for that.
    ///
    /// # Panics
    /// If it is another graph's.
    pub fn host<T: 'static>(&self, memory: &GraphHostMemory<T>) -> &PinnedHostSlice<T> {
        let slot = &self.builder.common.slots[self.builder.slot(memory.slot)];
        slot.any().downcast_ref().expect("the slot was made with the memory's type")
    }

    /// The host's memory, to write it between two starts: its `as_mut_slice` waits for the last one.
    ///
    /// # Panics
    /// If it is another graph's.
    pub fn host_mut<T: 'static>(&mut self, memory: &GraphHostMemory<T>) -> &mut PinnedHostSlice<T> {
        let number = self.builder.slot(memory.slot);
        let slot = &mut self.builder.common.slots[number];
        slot.any_mut().downcast_mut().expect("the slot was made with the memory's type")
    }
}

impl fmt::Debug for Graph<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Graph({} nodes)", self.builder.common.nodes)
    }
}
