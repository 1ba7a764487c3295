//! The condition of a graph's `if`, `while` or `switch`, which kernels set.

use std::fmt;
use std::sync::Arc;

use cudarc::driver::CudaContext;
use cudarc::driver::sys::CUgraphConditionalHandle;

/// What a branch or a loop of a graph depends on: CUDA's `CUgraphConditionalHandle`. `GraphBuilder::condition` makes it.
///
/// It is the argument for a kernel's parameter [`Condition<'_>`](ptx_device::graph::Condition), in launches that are added to its
/// graph.
pub struct GraphCondition {
    pub(crate) handle: CUgraphConditionalHandle,
    pub(crate) context: Arc<CudaContext>,
    pub(crate) graph: u64,
    /// Which of the graph's bodies it was made in; 0 is the graph itself.
    pub(crate) body: usize,
    pub(crate) number: usize,
}

impl fmt::Debug for GraphCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GraphCondition({})", self.number)
    }
}
