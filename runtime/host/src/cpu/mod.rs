//! Kernels on the CPU, for tests: the same body, thread after thread.

mod memory;
mod run;

pub use memory::CpuMemory;

use ptx_abi::Descriptor;
use ptx_device::Dim3;
use ptx_device::cpu::{self, Child};

use crate::error::{Error, Result};
use crate::grid::{Grid, GridError, Limits};
use crate::launch::{Argument, Body, Launch};
use crate::memory::some_address;

/// What every GPU that CUDA supports today allows (CUDA C++ Programming Guide, "Features and Technical Specifications"); of
/// shared memory, what sm_90 does, the most of all.
const LIMITS: Limits = Limits {
    grid: Dim3 { x: i32::MAX as u32, y: 65_535, z: 65_535 },
    block: Dim3 { x: 1024, y: 1024, z: 64 },
    threads_per_block: 1024,
    shared_bytes_per_block: 48 << 10,
    shared_bytes_per_block_optin: 227 << 10,
};

impl Launch<'_> {
    /// Gives the launch the body, for the CPU.
    ///
    /// # Safety
    /// It must be that of the launch's kernel, and read each parameter as [`ptx_abi::DeviceParam::read`] does.
    #[doc(hidden)]
    pub unsafe fn set_body(&mut self, body: Body) {
        self.body = Some(body);
    }

    /// Runs the kernel on the CPU, for tests; it ends when all threads have ended. Memory is [`CpuMemory`].
    ///
    /// Warps exchange values as on a GPU. Blocks run one after another, and the threads of a block by turns: each runs until it comes to a barrier
    /// (`sync_threads`) or ends, in the order of their numbers, so that the same launch always does the same. Launches of
    /// several threads of the system wait for each other, since shared memory is a static of the program.
    ///
    /// What the kernel launches runs afterwards, grid after grid.
    ///
    /// It is what the GPU computes, but for what differs between CPUs and GPUs: `a * b + c` is not fused, math functions
    /// are the system's, and a race between threads has always the same outcome. `ptx::arch()` is 0.
    ///
    /// # Errors
    /// If the grid is larger than any GPU allows, or an argument has the wrong shape or is memory of a GPU.
    ///
    /// # Panics
    /// With the kernel's own panic. The thread is named on the standard error output.
    pub fn launch_on_cpu(self, grid: Grid) -> Result<()> {
        let (kernel, grid) = (self.kernel, grid.shared_bytes(grid.shared_bytes.max(self.shared_bytes)));
        let Some(body) = self.body else {
            return Err(Error::Cpu { kernel: kernel.name.to_owned(), reason: "its body was not compiled for the CPU" });
        };
        if cpu::is_in_kernel() {
            return Err(Error::Cpu { kernel: kernel.name.to_owned(), reason: "another kernel would launch it" });
        }
        if self.extras.needs_blocks_at_once() && grid.blocks.volume() > 1 {
            let reason = "its launch is cooperative or in clusters, and the CPU runs one block after another";
            return Err(Error::Cpu { kernel: kernel.name.to_owned(), reason });
        }
        self.check_shapes()?;
        check_grid(kernel, grid).map_err(|reason| Error::Grid { kernel: kernel.name.to_owned(), grid, reason })?;
        let words = (0..self.arguments.len()).map(|index| self.words(index)).collect::<Result<Vec<_>>>()?;
        let places: Vec<*const ()> = (self.arguments.iter().zip(&words))
            .map(|(argument, words)| match argument {
                Argument::Value(at) => self.values.address(*at).cast(),
                _ => words.as_ptr().cast(),
            })
            .collect();
        // Before the arguments go, and however this ends.
        let _children = Children;
        // SAFETY: the promise of who gave the body: these are the places of its parameters, in order, and what they point
        // to is memory that the launch borrows.
        run::run(kernel.name, grid, &|| unsafe { body(&places) })?;
        run_children()
    }

    /// Address and length, or extents, of the argument of that number; of a value nothing.
    fn words(&self, index: usize) -> Result<[u64; 2]> {
        let argument = &self.arguments[index];
        if let Argument::Object(_) = argument {
            return Err(self.other_place(index, "a texture or surface", "they need a GPU: `launch` it there"));
        }
        if let Argument::Condition(_) = argument {
            return Err(self.other_place(index, "a condition of a graph", "graphs need a GPU: add the launch to one"));
        }
        let Some(memory) = argument.memory() else { return Ok([0; 2]) };
        let Some(address) = memory.cpu_address() else {
            return Err(self.other_place(index, "memory of a GPU", "take `ptx::CpuMemory`, or `launch` it on the GPU"));
        };
        let address = some_address(address, memory.len());
        match argument {
            Argument::Reference(memory) if memory.is_empty() => Err(self.no_element(index)),
            Argument::Shaped(_, shape) => Ok([address, shape.word()]),
            _ => Ok([address, memory.len() as u64]),
        }
    }
}

/// Runs what the kernel launched, and what that launched: after each grid its children, those of the tail last.
fn run_children() -> Result<()> {
    let mut waiting = Vec::new();
    loop {
        let (tail, beside): (Vec<_>, Vec<_>) = cpu::take_children().into_iter().partition(|child| child.is_tail);
        // The last one is the next.
        waiting.extend(tail.into_iter().rev());
        waiting.extend(beside.into_iter().rev());
        let Some(Child { kernel, blocks, threads, shared_bytes, body, .. }) = waiting.pop() else { return Ok(()) };
        let grid = Grid { blocks, threads, shared_bytes };
        grid.check(&LIMITS).map_err(|reason| Error::Grid { kernel: kernel.to_owned(), grid, reason })?;
        run::run(kernel, grid, &*body)?;
    }
}

/// Dropped when a launch ends, by a panic or an error too: children that have not run never do.
struct Children;

impl Drop for Children {
    fn drop(&mut self) {
        drop(cpu::take_children());
    }
}

fn check_grid(kernel: &Descriptor<'_>, grid: Grid) -> std::result::Result<(), GridError> {
    grid.check_dimensions(kernel.bounds.dimensions)?;
    grid.check(&LIMITS)?;
    let optin = LIMITS.shared_bytes_per_block_optin;
    if grid.shared_bytes > optin {
        return Err(GridError::SharedMemory { dynamic: grid.shared_bytes, fixed: 0, limit: optin });
    }
    let limit = kernel.bounds.max_threads;
    if limit > 0 && grid.threads.volume() > u128::from(limit) {
        return Err(GridError::LaunchBounds { block: grid.threads, limit });
    }
    Ok(())
}
