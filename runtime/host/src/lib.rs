//! Typed launches of kernels on cudarc: devices, modules, grids and the host's side of kernel parameters.
//!
//! Streams, events and memory are cudarc's own types; this crate adds what makes a launch checked: the parameters'
//! types at compile time, and the grid, the kernel's ABI and the memory's device at run time.

pub mod compare;
#[cfg(feature = "cpu")]
mod cpu;
mod deadline;
mod device;
mod driver;
mod error;
mod extents;
mod extras;
mod grid;
mod image;
mod launch;
mod linker;
mod memory;
mod module;
mod panic;
mod param;
mod prepared;
mod shape;
mod stack;
mod stack_top;
mod statics;
mod test;
mod values;
mod watch;

#[cfg(feature = "cpu")]
pub use cpu::CpuMemory;
pub use cudarc;
pub use cudarc::driver::{CudaContext, CudaSlice, CudaStream, CudaView, CudaViewMut};
pub use device::Device;
pub use error::{Error, Lost, Panic, Result};
pub use extents::{Items, LaunchGrid};
pub use grid::{Grid, GridError, Limits};
pub use image::{Image, KernelRecord, Linking, Object, Recursion, ResourceRecord};
pub use launch::Launch;
pub use linker::{LinkInput, LinkKind, LinkWith, Linker, link_without_device, nvjitlink_version};
pub use memory::{DeviceMemory, DeviceMemoryMut, DevicePointer, DeviceRead, DeviceWrite};
pub use module::{Attributes, Module};
pub use param::HostParam;
pub use prepared::PreparedLaunch;
pub use shape::{Plane, ShapeError, Strided, Volume};
