//! What is added to a graph, and to the bodies of its branches and loops alike.

use cudarc::driver::{DeviceRepr, ValidAsZeroBits};

use super::builder::GraphBuilder;
use super::memory::{GraphHostMemory, GraphMemory};
use super::parts::{Body, Common, Node};
use super::steps::{Branch, Steps};
use crate::condition::GraphCondition;
use crate::error::Result;
use crate::extents::LaunchGrid;
use crate::launch::Launch;
use crate::module::Module;

/// A body of a branch or a loop of a graph, which is filled as the graph itself is.
///
/// What it uses must be the graph's; the memory, the modules and the conditions of the graph are those of its bodies.
pub struct GraphBody<'b, 'm> {
    common: &'b mut Common<'m>,
    body: &'b mut Body<'m>,
}

impl<'m> GraphBody<'_, 'm> {
    fn steps(&mut self) -> Steps<'_, 'm> {
        Steps { common: self.common, body: self.body }
    }
}

impl std::fmt::Debug for GraphBody<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GraphBody({} nodes)", self.body.nodes.len())
    }
}

macro_rules! steps {
    ($($ty:ty),*) => {$(
        impl<'m> $ty {
            /// Adds a launch: `cuGraphAddKernelNode`. It comes after those before it that write what it uses, or use what it
            /// writes. A cluster, cooperation and a priority become attributes of the node.
            ///
            /// # Errors
            /// As of [`Launch::launch`]; and [`Error::Graph`](crate::Error::Graph) if an argument is memory or a condition of
            /// another graph or of none, a texture or a surface, or the launch asks for an early begin.
            pub fn add(&mut self, launch: Launch<'_>, module: &'m Module, grid: impl LaunchGrid) -> Result<Node> {
                self.steps().launch(&launch, module, grid)
            }

            /// Adds that all bits of the memory become zero: `cuGraphAddMemsetNode`.
            ///
            /// # Errors
            /// [`Error::GraphStep`](crate::Error::GraphStep) if this graph has not taken the memory.
            pub fn add_zeros<T: DeviceRepr + ValidAsZeroBits>(&mut self, memory: &mut GraphMemory<T>) -> Result<Node> {
                self.steps().zeros(memory)
            }

            /// Adds a copy within the device: `cuGraphAddMemcpyNode`.
            ///
            /// # Errors
            /// [`Error::GraphStep`](crate::Error::GraphStep) if the two have not as many elements, or this graph has not taken
            /// them.
            pub fn add_copy<T: DeviceRepr>(
                &mut self,
                from: &GraphMemory<T>,
                to: &mut GraphMemory<T>,
            ) -> Result<Node> {
                let mut steps = self.steps();
                let (from, to) = (steps.of_device(from)?, steps.of_device(to)?);
                steps.copy(&from, &to, size_of::<T>())
            }

            /// Adds a copy from the host to the device, of what the host's memory has when the graph comes to it:
            /// `cuGraphAddMemcpyNode`.
            ///
            /// # Errors
            /// As of [`add_copy`](Self::add_copy).
            pub fn add_upload<T: DeviceRepr>(
                &mut self,
                from: &GraphHostMemory<T>,
                to: &mut GraphMemory<T>,
            ) -> Result<Node> {
                let mut steps = self.steps();
                let (from, to) = (steps.of_host(from)?, steps.of_device(to)?);
                steps.copy(&from, &to, size_of::<T>())
            }

            /// Adds a copy from the device to the host: `cuGraphAddMemcpyNode`.
            ///
            /// # Errors
            /// As of [`add_copy`](Self::add_copy).
            pub fn add_download<T: DeviceRepr>(
                &mut self,
                from: &GraphMemory<T>,
                to: &mut GraphHostMemory<T>,
            ) -> Result<Node> {
                let mut steps = self.steps();
                let (from, to) = (steps.of_device(from)?, steps.of_host(to)?);
                steps.copy(&from, &to, size_of::<T>())
            }

            /// Makes a condition for one `add_if`, `add_if_else`, `add_while` or `add_switch` here:
            /// `cuGraphConditionalHandleCreate`. It has the value `first` whenever the graph is started
            /// (`CU_GRAPH_COND_ASSIGN_DEFAULT`), until a kernel sets it that takes it for a parameter
            /// [`Condition<'_>`](ptx_device::graph::Condition).
            ///
            /// # Errors
            /// [`Error::OlderDriver`](crate::Error::OlderDriver) before CUDA 12.3, and the driver's, if the device has no
            /// conditions.
            pub fn condition(&mut self, first: u32) -> Result<GraphCondition> {
                self.steps().condition(first)
            }

            /// Adds what is done if the condition is not 0, when the graph comes to it: `cuGraphAddNode` with
            /// `CU_GRAPH_COND_TYPE_IF`.
            ///
            /// The closure fills the body. In the graph's order the whole counts as one step that sets the condition, and uses
            /// what its body uses. If the closure fails, the step is taken away again; its condition then decides no other.
            ///
            /// # Errors
            /// [`Error::GraphStep`](crate::Error::GraphStep) if the condition is another graph's, was made in another body, or
            /// decides another step already; [`Error::OlderDriver`](crate::Error::OlderDriver) before CUDA 12.3; the driver's,
            /// if the device has no conditional nodes; and the closure's.
            pub fn add_if(
                &mut self,
                condition: &GraphCondition,
                then: impl FnOnce(&mut GraphBody<'_, 'm>) -> Result<()>,
            ) -> Result<Node> {
                once(&mut self.steps(), condition, Branch::If, then)
            }

            /// Adds what is done if the condition is not 0, and what is done otherwise: as [`add_if`](Self::add_if), with a
            /// second body. The closure is called twice, with `true` for what is done if it is not 0.
            ///
            /// # Errors
            /// As of [`add_if`](Self::add_if), but the driver must be of CUDA 12.8.
            pub fn add_if_else(
                &mut self,
                condition: &GraphCondition,
                mut fill: impl FnMut(bool, &mut GraphBody<'_, 'm>) -> Result<()>,
            ) -> Result<Node> {
                self.steps().branch(condition, Branch::IfElse, |number, common, body| {
                    fill(number == 0, &mut GraphBody { common, body })
                })
            }

            /// Adds what is done again and again as long as the condition is not 0, which is looked at before each time:
            /// `cuGraphAddNode` with `CU_GRAPH_COND_TYPE_WHILE`.
            ///
            /// A body that never sets the condition to 0 runs for ever.
            ///
            /// # Errors
            /// As of [`add_if`](Self::add_if).
            pub fn add_while(
                &mut self,
                condition: &GraphCondition,
                body: impl FnOnce(&mut GraphBody<'_, 'm>) -> Result<()>,
            ) -> Result<Node> {
                once(&mut self.steps(), condition, Branch::While, body)
            }

            /// Adds so many cases, of which the one is done whose number the condition is, from 0 on, and none if there is no
            /// such: `cuGraphAddNode` with `CU_GRAPH_COND_TYPE_SWITCH`. The closure is called once for each, with its number.
            ///
            /// # Errors
            /// As of [`add_if`](Self::add_if), but the driver must be of CUDA 12.8; and if there are no cases.
            pub fn add_switch(
                &mut self,
                condition: &GraphCondition,
                cases: u32,
                mut case: impl FnMut(u32, &mut GraphBody<'_, 'm>) -> Result<()>,
            ) -> Result<Node> {
                self.steps().branch(condition, Branch::Switch(cases), |number, common, body| {
                    case(number, &mut GraphBody { common, body })
                })
            }
        }
    )*};
}
steps!(GraphBuilder<'m>, GraphBody<'_, 'm>);

/// Adds what has one body.
fn once<'m>(
    steps: &mut Steps<'_, 'm>,
    condition: &GraphCondition,
    branch: Branch,
    fill: impl FnOnce(&mut GraphBody<'_, 'm>) -> Result<()>,
) -> Result<Node> {
    let mut fill = Some(fill);
    steps.branch(condition, branch, |_, common, body| {
        fill.take().map_or(Ok(()), |fill| fill(&mut GraphBody { common, body }))
    })
}
