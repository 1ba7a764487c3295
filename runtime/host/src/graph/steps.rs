//! How a step is added to a graph or to a body of one: launches, zeros, and what depends on a condition.

use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUDA_KERNEL_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS, CUgraph, CUgraphNode};
use cudarc::driver::{CudaContext, DriverError};
use smallvec::SmallVec;

use super::memory::GraphMemory;
use super::parts::{Added, Body, Common, Node, Used, Uses, merge};
use crate::condition::GraphCondition;
use crate::driver::Doing;
use crate::error::{Error, Result};
use crate::extents::LaunchGrid;
use crate::grid::Grid;
use crate::launch::{Argument, Launch, is_same, other_device};
use crate::memory::DeviceMemory;
use crate::module::{Kernel, Module};

/// Where steps are added.
pub(super) struct Steps<'s, 'm> {
    pub(super) common: &'s mut Common<'m>,
    pub(super) body: &'s mut Body<'m>,
}

/// What a condition decides: `CUgraphConditionalNodeType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Branch {
    If,
    IfElse,
    While,
    /// Of so many cases.
    Switch(u32),
}

/// `CUgraphNodeParams` of a conditional node, as `cuda.h` of CUDA 12.3 and later has it. Ours, because cudarc's enum of the kinds
/// lacks the one for `switch` below its feature `cuda-12080`.
#[repr(C)]
struct ConditionalParams {
    node: u32,
    reserved: [u32; 3],
    handle: u64,
    kind: u32,
    size: u32,
    /// The driver writes it: its own array of graphs.
    bodies: *const CUgraph,
    context: sys::CUcontext,
    rest: [u64; 25],
    end: i64,
}

const _: () = assert!(size_of::<ConditionalParams>() == size_of::<sys::CUgraphNodeParams>());

impl Branch {
    fn kind(self) -> u32 {
        match self {
            Self::If | Self::IfElse => 0,
            Self::While => 1,
            Self::Switch(_) => 2,
        }
    }

    fn bodies(self) -> u32 {
        match self {
            Self::If | Self::While => 1,
            Self::IfElse => 2,
            Self::Switch(cases) => cases,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::If => "an `if`",
            Self::IfElse => "an `if` with an `else`",
            Self::While => "a `while`",
            Self::Switch(_) => "a `switch`",
        }
    }

    /// The driver that has it (CUDA Driver API, "Changes"): major and minor version of CUDA.
    fn since(self) -> (u32, u32) {
        match self {
            Self::If | Self::While => CONDITIONS,
            Self::IfElse | Self::Switch(_) => (12, 8),
        }
    }
}

/// The first driver that has conditions.
const CONDITIONS: (u32, u32) = (12, 3);

impl<'m> Steps<'_, 'm> {
    pub(super) fn launch(&mut self, launch: &Launch<'_>, module: &'m Module, grid: impl LaunchGrid) -> Result<Node> {
        let (kernel, grid, uses) = check(self.common, launch, module, grid)?;
        let before = self.body.before(&uses);
        let mut node = null_mut();
        let doing = || format!("adding kernel `{}` as {grid} to a graph", kernel.name());
        with_params(launch, kernel, &grid, |params| {
            // SAFETY: the nodes are the graph's, and the driver copies the parameters before it returns.
            unsafe { sys::cuGraphAddKernelNode_v2(&mut node, self.body.graph, before.as_ptr(), before.len(), params) }
                .result()
        })
        .doing(doing)?;
        let (attributes, count) = launch.extras.attributes();
        for attribute in &attributes[..count] {
            // SAFETY: a node of a kernel, and the value that belongs to the number.
            let set = unsafe { sys::cuGraphKernelNodeSetAttribute(node, attribute.id, &attribute.value) }.result();
            if set.is_err() {
                // SAFETY: nobody else knows the node. What was wrong is said; that it cannot go either adds nothing.
                _ = unsafe { sys::cuGraphDestroyNode(node) };
            }
            set.doing(doing)?;
        }
        let launch = Some((module, kernel, launch.extras));
        Ok(self.common.added(self.body, Added { node, launch, uses }))
    }

    pub(super) fn zeros<T>(&mut self, memory: &GraphMemory<T>) -> Result<Node> {
        self.own("zeros", memory)?;
        let bytes = memory.len() * size_of::<T>();
        let params = CUDA_MEMSET_NODE_PARAMS {
            dst: memory.address,
            pitch: bytes,
            value: 0,
            elementSize: 1,
            width: bytes,
            height: 1,
        };
        self.put("adding zeros to a graph", &[(memory.slot.number, true)], |node, graph, before, context| {
            // SAFETY: the memory has so many bytes, and lives as long as the graph.
            unsafe { sys::cuGraphAddMemsetNode(node, graph, before.as_ptr(), before.len(), &params, context.cu_ctx()) }
        })
    }

    /// Checks that the memory is the graph's, and the device's.
    pub(super) fn own<T>(&self, step: &'static str, memory: &GraphMemory<T>) -> Result<()> {
        if memory.slot.graph != self.common.number {
            return Err(Error::GraphStep { step, reason: FOREIGN.to_owned() });
        }
        match memory.context() {
            Some(found) if !is_same(found, self.common.device.context()) => {
                Err(other_device(format!("the memory for {step} in a graph"), found, self.common.device.context()))
            }
            _ => Ok(()),
        }
    }

    /// Adds what is no launch, and uses this memory.
    pub(super) fn put(
        &mut self,
        doing: &str,
        slots: &[(usize, bool)],
        add: impl FnOnce(&mut CUgraphNode, CUgraph, &[CUgraphNode], &CudaContext) -> sys::CUresult,
    ) -> Result<Node> {
        let context = self.common.device.context();
        let doing = || doing.to_owned();
        context.bind_to_thread().doing(doing)?;
        let uses: Uses = slots.iter().map(|(number, writes)| (Used::Memory(*number), *writes)).collect();
        let before = self.body.before(&uses);
        let mut node = null_mut();
        add(&mut node, self.body.graph, &before, context).result().doing(doing)?;
        Ok(self.common.added(self.body, Added { node, launch: None, uses }))
    }

    pub(super) fn condition(&mut self, first: u32) -> Result<GraphCondition> {
        let device = &self.common.device;
        needs(device.driver_version()?, "a condition of a graph", CONDITIONS)?;
        let context = device.context().clone();
        let doing = || "making a condition of a graph".to_owned();
        context.bind_to_thread().doing(doing)?;
        let mut handle = 0;
        // SAFETY: the graph and the context are alive; it writes one handle.
        unsafe {
            let flags = sys::CU_GRAPH_COND_ASSIGN_DEFAULT;
            sys::cuGraphConditionalHandleCreate(&mut handle, self.body.graph, context.cu_ctx(), first, flags)
        }
        .result()
        .doing(doing)?;
        self.common.conditions.push(false);
        let (graph, body, number) = (self.common.number, self.body.number, self.common.conditions.len() - 1);
        Ok(GraphCondition { handle, context, graph, body, number })
    }

    /// Adds a node with bodies, each of which `fill` is given with its number.
    pub(super) fn branch(
        &mut self,
        condition: &GraphCondition,
        branch: Branch,
        mut fill: impl FnMut(u32, &mut Common<'m>, &mut Body<'m>) -> Result<()>,
    ) -> Result<Node> {
        let step = branch.name();
        let refused = |reason: &str| Err(Error::GraphStep { step, reason: reason.to_owned() });
        if condition.graph != self.common.number {
            return refused("its condition is another graph's: `condition` of this graph makes one");
        }
        if condition.body != self.body.number {
            return refused(
                "its condition was made in another body of the graph: make it in the one that this step is in",
            );
        }
        if self.common.conditions[condition.number] {
            return refused("its condition decides another step already: make one for each");
        }
        if branch.bodies() == 0 {
            return refused("it has no case");
        }
        needs(self.common.device.driver_version()?, step, branch.since())?;
        let context = self.common.device.context().clone();
        let doing = || format!("adding {step} to a graph");
        context.bind_to_thread().doing(doing)?;
        let mut params = ConditionalParams {
            node: sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL as u32,
            reserved: [0; 3],
            handle: condition.handle,
            kind: branch.kind(),
            size: branch.bodies(),
            bodies: std::ptr::null(),
            context: context.cu_ctx(),
            rest: [0; 25],
            end: 0,
        };
        let mut node = null_mut();
        // SAFETY: the structure is the driver's; the condition is of this graph, and no other node has it.
        unsafe {
            let params = (&raw mut params).cast();
            sys::cuGraphAddNode_v2(&mut node, self.body.graph, std::ptr::null(), std::ptr::null(), 0, params)
        }
        .result()
        .doing(doing)?;
        let unfinished = Unfinished(node);
        self.common.conditions[condition.number] = true;
        let mut uses: Uses = SmallVec::from_slice(&[(Used::Condition(condition.number), true)]);
        for number in 0..branch.bodies() {
            // SAFETY: the driver has made as many graphs as were asked for, which live as long as the node.
            let graph = unsafe { *params.bodies.add(number as usize) };
            self.common.bodies += 1;
            let mut body = Body { graph, number: self.common.bodies, nodes: Vec::new() };
            fill(number, self.common, &mut body)?;
            merge(&mut uses, &body.uses());
        }
        // What the bodies use is known only now.
        let before = self.body.before(&uses);
        let nodes = vec![node; before.len()];
        context.bind_to_thread().doing(doing)?;
        // SAFETY: all are nodes of this graph, and there are as many of both.
        unsafe {
            let edges = std::ptr::null();
            sys::cuGraphAddDependencies_v2(self.body.graph, before.as_ptr(), nodes.as_ptr(), edges, before.len())
        }
        .result()
        .doing(doing)?;
        std::mem::forget(unfinished);
        Ok(self.common.added(self.body, Added { node, launch: None, uses }))
    }
}

/// A node that is not whole yet, and goes with its bodies if that ends early: it would run before what it waits for.
struct Unfinished(CUgraphNode);

impl Drop for Unfinished {
    fn drop(&mut self) {
        // SAFETY: nobody else knows the node. What was wrong is said; that it cannot go either adds nothing.
        _ = unsafe { sys::cuGraphDestroyNode(self.0) };
    }
}

/// What is said of memory that is not the graph's.
const FOREIGN: &str = "it is given memory that this graph has not taken: give the memory to `GraphBuilder::keep`";

/// Refuses what the driver is too old for.
fn needs(found: (u32, u32), what: &'static str, needed: (u32, u32)) -> Result<()> {
    if found < needed { Err(Error::OlderDriver { what, needed, found }) } else { Ok(()) }
}

/// Checks what a launch in a graph must be.
pub(super) fn check<'m>(
    common: &Common<'m>,
    launch: &Launch<'_>,
    module: &'m Module,
    grid: impl LaunchGrid,
) -> Result<(&'m Kernel, Grid, Uses)> {
    let refused = |reason| Err(Error::Graph { kernel: launch.kernel.name.to_owned(), reason });
    if launch.extras.early {
        return refused("launches of graphs do not begin early: their order follows from what they use");
    }
    let mut uses = Uses::new();
    for argument in &launch.arguments {
        match argument {
            Argument::Object(_) => {
                return refused("a graph does not keep textures and surfaces: launch the kernel outside of it");
            }
            Argument::Condition(condition) if condition.graph != common.number => {
                return refused(
                    "it is given another graph's condition: `GraphBuilder::condition` makes one of this graph",
                );
            }
            Argument::Condition(condition) => uses.push((Used::Condition(condition.number), true)),
            _ => {}
        }
        let Some(memory) = argument.memory() else { continue };
        match memory.graph() {
            Some(slot) if slot.graph == common.number => {
                let writes = matches!(argument, Argument::SliceMut(_) | Argument::Shaped(..));
                uses.push((Used::Memory(slot.number), writes));
            }
            _ => return refused(FOREIGN),
        }
    }
    let kernel = launch.find_for_graph(module, common.device.stream())?;
    let mut grid = grid.grid(&mut || kernel.suggested_threads(common.device.context()))?;
    launch.check(module, kernel, &mut grid)?;
    Ok((kernel, grid, uses))
}

/// Calls `with` with the launch as the driver wants it.
pub(super) fn with_params(
    launch: &Launch<'_>,
    kernel: &Kernel,
    grid: &Grid,
    with: impl FnOnce(*const CUDA_KERNEL_NODE_PARAMS) -> Result<(), DriverError>,
) -> Result<(), DriverError> {
    let mut words = vec![[0; 2]; launch.len()];
    let mut pointers = vec![null_mut(); 2 * launch.len()];
    // SAFETY: there is room for twice as many pointers as arguments, and for the words of all.
    let is_plain = unsafe {
        launch.pointers(words.as_mut_ptr(), pointers.as_mut_ptr());
        launch.write_for_graph(words.as_mut_ptr())
    };
    debug_assert!(is_plain, "`check` has seen that all memory is the graph's");
    let Grid { blocks, threads, shared_bytes } = *grid;
    with(&CUDA_KERNEL_NODE_PARAMS {
        func: kernel.function(),
        gridDimX: blocks.x,
        gridDimY: blocks.y,
        gridDimZ: blocks.z,
        blockDimX: threads.x,
        blockDimY: threads.y,
        blockDimZ: threads.z,
        sharedMemBytes: shared_bytes,
        kernelParams: pointers.as_mut_ptr(),
        extra: null_mut(),
        kern: null_mut(),
        ctx: null_mut(),
    })
}
