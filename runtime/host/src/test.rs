//! Launches the tests of `cargo ptx test`, whose panics end a thread and not the context.

use std::ffi::c_void;

use cudarc::driver::result;
use ptx_abi::harness;

use crate::device::Device;
use crate::driver::{Doing, Jit};
use crate::error::{Error, Panic, Result};
use crate::image::Image;
use crate::module::Module;

/// Bytes of stack that a test gets where the device has the memory: debug builds of formatting, sorting and recursion need
/// more than kernels.
const STACK: usize = 64 << 10;

/// Bytes of heap: what a test that panics had allocated is never freed.
const HEAP: usize = 512 << 20;

impl Device {
    /// Gives the one thread of a test what threads by the thousand could not have: at most half of the memory as stack, and
    /// a sixteenth as heap, of what each of `share` processes has. Before the first launch.
    #[doc(hidden)]
    pub fn make_room_for_tests(&self, share: usize) -> Result<()> {
        let threads = usize::try_from(self.resident_threads()?).unwrap_or(usize::MAX);
        let memory = usize::try_from(self.total_memory()?).unwrap_or(usize::MAX) / share.max(1);
        self.set_stack_size(STACK.min(memory / 2 / threads.max(1)).max(self.stack_size()?))?;
        self.set_heap_size(HEAP.min(memory / 16).max(self.heap_size()?))
    }
}

impl Device {
    /// Loads code of which the driver is to make machine code quickly, if it has to: as `ptxas -g`.
    #[doc(hidden)]
    pub fn load_unoptimised(&self, image: &Image) -> Result<Module> {
        Module::load(self, image, Jit::Debug)
    }
}

impl Module {
    /// Runs a test by its number, and waits for its end; the panic that it ended in, if it did.
    ///
    /// # Safety
    /// The module must be of a crate's tests, which `ptx-test` is linked into. Nothing else may run on its device.
    #[doc(hidden)]
    pub unsafe fn run_test(&self, mut index: u32) -> Result<Option<Panic>> {
        let kernel = self.function(harness::KERNEL)?;
        let device = self.device();
        device.context().bind_to_thread().doing(|| "choosing the device".to_owned())?;
        self.prepare_stack_as_it_is(harness::KERNEL)?;
        let mut params = [(&raw mut index).cast::<c_void>()];
        // SAFETY: by the caller the kernel takes one `u32`, which the driver copies before it returns.
        unsafe { result::launch_kernel(kernel, (1, 1, 1), (1, 1, 1), 0, device.stream().cu_stream(), &mut params) }
            .doing(|| "launching a test".to_owned())?;
        match device.synchronize() {
            Err(Error::Panic(panic)) => Ok(Some(*panic)),
            ended => ended.map(|()| self.take_panic()),
        }
    }
}
