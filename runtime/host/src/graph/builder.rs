//! Makes a graph.

use std::fmt;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cudarc::driver::sys::{self, CUgraph};
use cudarc::driver::{CudaContext, CudaSlice, PinnedHostSlice, result};

use super::memory::{GraphHostMemory, GraphMemory};
use super::parts::{Body, Common};
use super::steps::Steps;
use crate::device::Device;
use crate::driver::Doing;
use crate::error::Result;
use crate::launch::{is_same, other_device};
use crate::memory::GraphSlot;

/// Makes a [`Graph`](crate::Graph): takes memory, launches, copies, branches and loops.
///
/// Steps run in the order in which they were added wherever they use the same memory, and otherwise at the same time.
///
/// ```no_run
/// # use ptx_host::{Device, Grid, Launch, GraphMemory, Module, Result};
/// // A kernel's launcher, as `#[kernel]` makes it.
/// type Scale = for<'a> fn(f32, &'a GraphMemory<f32>, &'a mut GraphMemory<f32>) -> Launch<'a>;
///
/// fn run(device: &Device, module: &Module, scale: Scale) -> Result<Vec<f32>> {
///     let mut graph = device.graph()?;
///     let x = graph.keep(device.upload(&[1.0_f32; 1000])?);
///     let mut y = graph.keep(device.zeroed::<f32>(1000)?);
///     let mut z = graph.keep(device.zeroed::<f32>(1000)?);
///     let first = graph.add(scale(2.0, &x, &mut y), module, Grid::cover(1000, 256))?;
///     graph.add(scale(3.0, &y, &mut z), module, Grid::cover(1000, 256))?; // after the first, because it reads `y`
///     let mut graph = graph.finish()?;
///     graph.launch()?;
///     graph.update(first, scale(4.0, &x, &mut y), Grid::cover(1000, 256))?;
///     graph.launch()?;
///     device.download(graph.memory(&z))
/// }
/// ```
///
/// A loop whose body decides when it ends, without the host:
///
/// ```no_run
/// # use ptx_host::{Device, Grid, GraphCondition, GraphMemory, Launch, Module, Result};
/// // Of `#[kernel] fn halve(limit: f32, go_on: Condition<'_>, x: DisjointSlice<f32>)`.
/// type Halve = for<'a> fn(f32, &'a GraphCondition, &'a mut GraphMemory<f32>) -> Launch<'a>;
///
/// fn run(device: &Device, module: &Module, halve: Halve) -> Result<Vec<f32>> {
///     let mut graph = device.graph()?;
///     let mut x = graph.keep(device.upload(&[1000.0_f32; 64])?);
///     let go_on = graph.condition(1)?;
///     graph.add_while(&go_on, |body| {
///         body.add(halve(1.0, &go_on, &mut x), module, Grid::cover(64, 64))?;
///         Ok(())
///     })?;
///     let mut graph = graph.finish()?;
///     graph.launch()?;
///     device.download(graph.memory(&x))
/// }
/// ```
pub struct GraphBuilder<'m> {
    pub(super) owned: Owned,
    pub(super) common: Common<'m>,
    pub(super) body: Body<'m>,
}

/// Owns the driver's graph.
pub(super) struct Owned {
    pub(super) graph: CUgraph,
    context: Arc<CudaContext>,
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: made by `Device::graph`, and not used any more.
        self.context.record_err(unsafe { result::graph::destroy(self.graph) });
    }
}

impl Device {
    /// Begins a graph: `cuGraphCreate`.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn graph<'m>(&self) -> Result<GraphBuilder<'m>> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let (mut graph, context) = (null_mut(), self.context().clone());
        let doing = || "making a graph".to_owned();
        context.bind_to_thread().doing(doing)?;
        // SAFETY: writes one handle.
        unsafe { sys::cuGraphCreate(&mut graph, 0) }.result().doing(doing)?;
        let common = Common {
            device: self.clone(),
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            slots: Vec::new(),
            conditions: Vec::new(),
            bodies: 0,
            nodes: 0,
            launches: Vec::new(),
        };
        let body = Body { graph, number: 0, nodes: Vec::new() };
        Ok(GraphBuilder { owned: Owned { graph, context }, common, body })
    }
}

impl<'m> GraphBuilder<'m> {
    /// Takes memory of the device, for steps of the graph. It may be of any stream: the graph waits for what uses it.
    pub fn keep<T: 'static>(&mut self, memory: CudaSlice<T>) -> GraphMemory<T> {
        let kept = GraphMemory::new(&memory, self.next_slot());
        self.common.slots.push(Box::new(memory));
        kept
    }

    /// Takes page-locked memory of the host, for copies of the graph.
    ///
    /// # Errors
    /// If it was made for another device.
    pub fn keep_host<T: 'static>(&mut self, memory: PinnedHostSlice<T>) -> Result<GraphHostMemory<T>> {
        let device = &self.common.device;
        if !is_same(memory.context(), device.context()) {
            return Err(other_device("memory of the host".to_owned(), memory.context(), device.context()));
        }
        let kept = GraphHostMemory::new(&memory, device.stream(), self.next_slot());
        self.common.slots.push(Box::new(memory));
        Ok(kept)
    }

    fn next_slot(&self) -> GraphSlot {
        GraphSlot { graph: self.common.number, number: self.common.slots.len() }
    }

    pub(super) fn steps(&mut self) -> Steps<'_, 'm> {
        Steps { common: &mut self.common, body: &mut self.body }
    }

    #[track_caller]
    pub(super) fn slot(&self, slot: GraphSlot) -> usize {
        assert_eq!(slot.graph, self.common.number, "the memory is another graph's");
        slot.number
    }
}

impl fmt::Debug for GraphBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GraphBuilder({} nodes)", self.common.nodes)
    }
}
