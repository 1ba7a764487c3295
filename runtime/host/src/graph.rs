//! Graphs that are made by hand: typed launches, whose order follows from the memory that they use, started by one call.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cudarc::driver::sys::{
    self, CUDA_KERNEL_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS, CUdeviceptr, CUgraph, CUgraphExec, CUgraphNode,
};
use cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DeviceRepr, DriverError, SyncOnDrop, ValidAsZeroBits,
    result,
};
use smallvec::SmallVec;

use crate::device::Device;
use crate::driver::Doing;
use crate::error::{Error, Result};
use crate::extents::LaunchGrid;
use crate::grid::Grid;
use crate::launch::{Argument, Launch};
use crate::memory::{DeviceMemory, DeviceMemoryMut, DeviceRead, DeviceWrite, GraphSlot};
use crate::module::{Kernel, Module};

/// Makes a [`Graph`]: takes memory and launches.
///
/// Launches run in the order in which they were added wherever they use the same memory, and otherwise at the same time.
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
pub struct GraphBuilder<'m> {
    graph: Owned,
    device: Device,
    /// Compared only.
    number: u64,
    slots: Vec<Box<dyn Slot>>,
    nodes: Vec<Added<'m>>,
}

/// Memory that a graph has taken: the argument of launches that are added to it. [`Graph::memory`] gives the memory itself.
///
/// It goes when the graph does.
pub struct GraphMemory<T> {
    slot: GraphSlot,
    context: Arc<CudaContext>,
    address: CUdeviceptr,
    len: usize,
    elements: PhantomData<fn() -> T>,
}

/// A launch of a graph, to be changed by [`Graph::update`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    graph: u64,
    number: usize,
}

/// Launches that are started together: CUDA's `CUgraphExec`.
///
/// It owns the memory that they work on.
pub struct Graph<'m> {
    // Before what it uses.
    exec: Exec,
    builder: GraphBuilder<'m>,
}

/// What was added.
struct Added<'m> {
    node: CUgraphNode,
    /// None for zeros.
    launch: Option<(&'m Module, &'m Kernel)>,
    uses: Uses,
}

/// The memory that a launch uses, in the order of its parameters, and whether it may write it.
type Uses = SmallVec<[(usize, bool); 8]>;

/// Memory of elements of any type.
trait Slot {
    fn hold<'s>(&'s mut self, stream: &'s CudaStream) -> SyncOnDrop<'s>;
    fn any(&self) -> &dyn Any;
    fn any_mut(&mut self) -> &mut dyn Any;
}

impl<T: 'static> Slot for CudaSlice<T> {
    fn hold<'s>(&'s mut self, stream: &'s CudaStream) -> SyncOnDrop<'s> {
        self.device_ptr_mut(stream).1
    }
    fn any(&self) -> &dyn Any {
        self
    }
    fn any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// Owns the driver's graph.
struct Owned {
    graph: CUgraph,
    context: Arc<CudaContext>,
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: made by `Device::graph`, and not used any more.
        self.context.record_err(unsafe { result::graph::destroy(self.graph) });
    }
}

/// Owns what the driver made of a graph.
struct Exec {
    exec: CUgraphExec,
    context: Arc<CudaContext>,
}

impl Drop for Exec {
    fn drop(&mut self) {
        // A launch that runs keeps what it needs (CUDA Driver API, `cuGraphExecDestroy`).
        // SAFETY: made by `finish`, and not used any more.
        self.context.record_err(unsafe { result::graph::exec_destroy(self.exec) });
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
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let (device, graph) = (self.clone(), Owned { graph, context });
        Ok(GraphBuilder { graph, device, number, slots: Vec::new(), nodes: Vec::new() })
    }
}

impl<'m> GraphBuilder<'m> {
    /// Takes memory, for launches of the graph. It may be of any stream: the graph waits for what uses it.
    pub fn keep<T: 'static>(&mut self, memory: CudaSlice<T>) -> GraphMemory<T> {
        // On its own stream this only waits for what the stream waits for anyway.
        let (address, guard) = memory.device_ptr(memory.stream());
        drop(guard);
        let slot = GraphSlot { graph: self.number, number: self.slots.len() };
        let (context, len) = (memory.context().clone(), memory.len());
        self.slots.push(Box::new(memory));
        GraphMemory { slot, context, address, len, elements: PhantomData }
    }

    /// Adds a launch: `cuGraphAddKernelNode`. It comes after those before it that write what it uses, or use what it writes.
    ///
    /// # Errors
    /// As of [`Launch::launch`]; and [`Error::Graph`] if an argument is memory that this graph has not taken, or the launch asks
    /// for a cluster, cooperation or an early begin.
    pub fn add(&mut self, launch: Launch<'_>, module: &'m Module, grid: impl LaunchGrid) -> Result<Node> {
        let (kernel, grid, uses) = self.check(&launch, module, grid)?;
        let before = self.before(&uses);
        let mut node = null_mut();
        with_params(&launch, kernel, &grid, |params| {
            // SAFETY: the nodes are the graph's, and the driver copies the parameters before it returns.
            unsafe { sys::cuGraphAddKernelNode_v2(&mut node, self.graph.graph, before.as_ptr(), before.len(), params) }
                .result()
        })
        .doing(|| format!("adding kernel `{}` as {grid} to a graph", kernel.name()))?;
        Ok(self.added(Added { node, launch: Some((module, kernel)), uses }))
    }

    /// Adds that all bits of the memory become zero: `cuGraphAddMemsetNode`.
    ///
    /// # Errors
    /// [`Error::Graph`] if this graph has not taken the memory.
    pub fn add_zeros<T: DeviceRepr + ValidAsZeroBits>(&mut self, memory: &mut GraphMemory<T>) -> Result<Node> {
        if memory.slot.graph != self.number {
            return Err(foreign("zeros"));
        }
        let doing = || "adding zeros to a graph".to_owned();
        self.device.context().bind_to_thread().doing(doing)?;
        let uses: Uses = SmallVec::from_slice(&[(memory.slot.number, true)]);
        let before = self.before(&uses);
        let bytes = memory.len * size_of::<T>();
        let params = CUDA_MEMSET_NODE_PARAMS {
            dst: memory.address,
            pitch: bytes,
            value: 0,
            elementSize: 1,
            width: bytes,
            height: 1,
        };
        let mut node = null_mut();
        // SAFETY: the memory has so many bytes, and lives as long as the graph.
        unsafe {
            let (graph, context) = (self.graph.graph, self.device.context().cu_ctx());
            sys::cuGraphAddMemsetNode(&mut node, graph, before.as_ptr(), before.len(), &params, context)
        }
        .result()
        .doing(doing)?;
        Ok(self.added(Added { node, launch: None, uses }))
    }

    /// Makes what can be launched: `cuGraphInstantiate`.
    ///
    /// # Errors
    /// If the device has not enough memory for it.
    pub fn finish(self) -> Result<Graph<'m>> {
        let doing = || format!("making a graph of {} nodes ready", self.nodes.len());
        let context = self.device.context().clone();
        context.bind_to_thread().doing(doing)?;
        // SAFETY: the graph is alive.
        let exec = unsafe { result::graph::instantiate(self.graph.graph, sys::CUgraphInstantiate_flags(0)) };
        let exec = Exec { exec: exec.doing(doing)?, context };
        Ok(Graph { exec, builder: self })
    }

    fn added(&mut self, added: Added<'m>) -> Node {
        self.nodes.push(added);
        Node { graph: self.number, number: self.nodes.len() - 1 }
    }

    /// Checks what a launch in a graph must be.
    fn check(
        &self,
        launch: &Launch<'_>,
        module: &'m Module,
        grid: impl LaunchGrid,
    ) -> Result<(&'m Kernel, Grid, Uses)> {
        let name = launch.kernel.name;
        let refused = |reason| Err(Error::Graph { kernel: name.to_owned(), reason });
        if launch.extras.are_any() {
            return refused("launches of graphs take no cluster, cooperation, priority, early begin or window of L2");
        }
        let mut uses = Uses::new();
        for argument in &launch.arguments {
            if let Argument::Object(_) = argument {
                return refused("a graph does not keep textures and surfaces: launch the kernel outside of it");
            }
            let Some(memory) = argument.memory() else { continue };
            match memory.graph() {
                Some(slot) if slot.graph == self.number => {
                    uses.push((slot.number, matches!(argument, Argument::SliceMut(_) | Argument::Shaped(..))));
                }
                _ => return Err(foreign(name)),
            }
        }
        let kernel = launch.find_for_graph(module, self.device.stream())?;
        let mut grid = grid.grid(&mut || kernel.suggested_threads(self.device.context()))?;
        launch.check(module, kernel, &mut grid)?;
        Ok((kernel, grid, uses))
    }

    /// The nodes that a node with these uses must come after: for each memory those that wrote it last or, if this one
    /// writes, all that have used it since.
    fn before(&self, uses: &Uses) -> Vec<CUgraphNode> {
        let mut before = Vec::new();
        for (slot, writes) in uses {
            for added in self.nodes.iter().rev() {
                let used = added.uses.iter().filter(|(known, _)| known == slot);
                let (count, wrote) = used.fold((0, false), |(count, all), (_, wrote)| (count + 1, all | wrote));
                if count > 0 && (wrote || *writes) && !before.contains(&added.node) {
                    before.push(added.node);
                }
                if wrote {
                    // What came before it, it waits for.
                    break;
                }
            }
        }
        before
    }
}

impl Graph<'_> {
    /// Starts all launches, on the default stream of the device: `cuGraphLaunch`.
    ///
    /// # Errors
    /// If the device is lost, or has no memory for the stacks that kernels need.
    pub fn launch(&mut self) -> Result<()> {
        let stream = self.builder.device.stream().clone();
        self.launch_on(&stream)
    }

    /// Starts all launches on `stream`, behind what is there, and behind the work on other streams that uses the memory.
    ///
    /// # Errors
    /// As of [`launch`](Self::launch), and if the stream is another device's.
    pub fn launch_on(&mut self, stream: &CudaStream) -> Result<()> {
        let Self { exec, builder: GraphBuilder { device, slots, nodes, .. } } = self;
        device.own(stream)?;
        for added in &*nodes {
            if let Some((module, kernel)) = added.launch {
                module.prepare_stack(kernel)?;
            }
        }
        device.watch().launched_elsewhere();
        let doing = || format!("launching a graph of {} nodes", nodes.len());
        let guards: SmallVec<[SyncOnDrop<'_>; 8]> = slots.iter_mut().map(|slot| slot.hold(stream)).collect();
        // Waiting for other streams has no result of its own: cudarc keeps the error.
        stream.context().check_err().doing(doing)?;
        // SAFETY: the kernels are in modules that are borrowed, and the memory is held.
        let launched = unsafe { result::graph::launch(exec.exec, stream.cu_stream()) };
        drop(guards);
        launched.doing(doing)
    }

    /// Gives a launch other arguments and another grid, from the next start on: `cuGraphExecKernelNodeSetParams`. Kernel and
    /// memory stay what they were, because the order of the launches follows from them.
    ///
    /// # Errors
    /// As of [`GraphBuilder::add`]; and [`Error::Graph`] if the kernel or the memory is another one.
    pub fn update(&mut self, node: Node, launch: Launch<'_>, grid: impl LaunchGrid) -> Result<()> {
        let builder = &self.builder;
        let name = launch.kernel.name;
        let refused = |reason| Err(Error::Graph { kernel: name.to_owned(), reason });
        let known = builder.nodes.get(node.number).filter(|_| node.graph == builder.number);
        let Some((added, (module, known))) = known.and_then(|added| Some((added, added.launch?))) else {
            return refused("the node is no launch of this graph");
        };
        let (kernel, grid, uses) = builder.check(&launch, module, grid)?;
        if !std::ptr::eq(kernel, known) {
            return refused("the node launches another kernel");
        }
        if uses != added.uses {
            return refused("the node works on other memory, and the order of the launches follows from that");
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
        let slot = &self.builder.slots[self.builder.slot(memory)];
        slot.any().downcast_ref().expect("the slot was made with the memory's type")
    }

    /// The memory, to write it between two starts.
    ///
    /// # Panics
    /// If it is another graph's.
    pub fn memory_mut<T: 'static>(&mut self, memory: &GraphMemory<T>) -> &mut CudaSlice<T> {
        let number = self.builder.slot(memory);
        let slot = &mut self.builder.slots[number];
        slot.any_mut().downcast_mut().expect("the slot was made with the memory's type")
    }
}

impl GraphBuilder<'_> {
    #[track_caller]
    fn slot<T>(&self, memory: &GraphMemory<T>) -> usize {
        assert_eq!(memory.slot.graph, self.number, "the memory is another graph's");
        memory.slot.number
    }
}

fn foreign(kernel: &str) -> Error {
    let reason = "it is given memory that this graph has not taken: give the memory to `GraphBuilder::keep`";
    Error::Graph { kernel: kernel.to_owned(), reason }
}

/// Calls `with` with the launch as the driver wants it.
fn with_params(
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

// SAFETY: the graph has the memory, and only its launches take it: `graph` says so, and all others refuse it.
unsafe impl<T> DeviceMemory for GraphMemory<T> {
    fn len(&self) -> usize {
        self.len
    }
    fn context(&self) -> Option<&Arc<CudaContext>> {
        Some(&self.context)
    }
    fn graph(&self) -> Option<GraphSlot> {
        Some(self.slot)
    }
    fn unguarded(&self) -> Option<CUdeviceptr> {
        Some(self.address)
    }
    fn read_on<'s>(&'s self, _: &'s CudaStream) -> (CUdeviceptr, SyncOnDrop<'s>) {
        (self.address, SyncOnDrop::Record(None))
    }
}
// SAFETY: as above.
unsafe impl<T> DeviceMemoryMut for GraphMemory<T> {
    fn write_on<'s>(&'s mut self, _: &'s CudaStream) -> (CUdeviceptr, SyncOnDrop<'s>) {
        (self.address, SyncOnDrop::Record(None))
    }
}
// SAFETY: `keep` took elements of this type.
unsafe impl<T> DeviceRead<T> for GraphMemory<T> {}
// SAFETY: as above.
unsafe impl<T> DeviceWrite<T> for GraphMemory<T> {}

impl<T> fmt::Debug for GraphMemory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GraphMemory({} elements)", self.len)
    }
}

impl fmt::Debug for GraphBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GraphBuilder({} nodes)", self.nodes.len())
    }
}

impl fmt::Debug for Graph<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Graph({} nodes)", self.builder.nodes.len())
    }
}
