//! Typed launches of kernels on cudarc: devices, modules, grids and the host's side of kernel parameters.
//!
//! Streams, events and memory are cudarc's own types; this crate adds what makes a launch checked: the parameters'
//! types at compile time, and the grid, the kernel's ABI and the memory's device at run time.

mod advice;
mod bound;
mod boxes;
mod cache;
pub mod compare;
mod condition;
#[cfg(feature = "cpu")]
mod cpu;
mod deadline;
mod device;
mod driver;
mod error;
mod extents;
mod extras;
mod graph;
mod grid;
mod handover;
#[cfg(feature = "nvml")]
mod health;
mod host_memory;
mod image;
mod l2;
mod launch;
mod linker;
mod memory;
#[cfg(test)]
mod messages;
mod module;
pub mod nvtx;
mod occupancy;
mod panic;
mod param;
mod peers;
mod pitch;
mod places;
mod plain;
mod pool;
mod prepared;
mod readers;
mod shape;
mod stack;
mod stack_top;
mod statics;
mod test;
pub mod texture;
mod texture_error;
mod timeline;
mod values;
mod waiting;
mod watch;

pub use bound::{StreamHostMemory, StreamMemory};
pub use condition::GraphCondition;
#[cfg(feature = "cpu")]
pub use cpu::CpuMemory;
pub use cudarc;
pub use cudarc::driver::{CudaContext, CudaSlice, CudaStream, CudaView, CudaViewMut, PinnedHostSlice, UnifiedSlice};
pub use device::Device;
pub use error::{Error, Lost, Panic, Result};
pub use extents::{Items, LaunchGrid};
pub use graph::{Graph, GraphBody, GraphBuilder, GraphHostMemory, GraphMemory, Node};
pub use grid::{Grid, GridError, Limits};
#[cfg(feature = "nvml")]
pub use health::Health;
pub use image::{Image, KernelRecord, Linking, Object, Recursion, ResourceRecord};
pub use l2::L2Window;
pub use launch::Launch;
pub use linker::{LinkInput, LinkKind, LinkWith, Linker, link_without_device, nvjitlink_version};
pub use memory::{DeviceMemory, DeviceMemoryMut, DevicePointer, DeviceRead, DeviceWrite};
pub use module::{Attributes, Module};
pub use param::HostParam;
pub use pitch::{BoxError, Pitch};
pub use pool::Pool;
pub use prepared::PreparedLaunch;
pub use shape::{Plane, ShapeError, Strided, Volume};
pub use timeline::Timeline;
pub use waiting::{Download, Finished};
