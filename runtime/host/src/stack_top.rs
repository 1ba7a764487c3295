//! Where the stacks of threads begin.

use std::ffi::CStr;

use cudarc::driver::{DriverError, result};

/// Writes the stack pointer that a thread begins with: a kernel without a frame.
const TOP: &CStr = c"\
.version 7.3
.target sm_70
.address_size 64
.visible .entry stack_top(.param .u64 to)
{
  .reg .b64 %to, %top;
  ld.param.u64 %to, [to];
  cvta.to.global.u64 %to, %to;
  stacksave.u64 %top;
  st.global.u64 [%to], %top;
  ret;
}
";

/// The stack pointer that every thread begins with, as PTX's `stacksave` gives it: the same for all kernels of a context,
/// whatever the limit is.
///
/// # Safety
/// A context must be current.
pub(crate) unsafe fn top() -> Result<u64, DriverError> {
    // SAFETY: the context is current, and the text is PTX with its NUL. The kernel writes eight bytes to the address that
    // it gets, which are there until it has ended.
    unsafe {
        let module = result::module::load_data(TOP.as_ptr().cast())?;
        let top = (|| {
            let kernel = result::module::get_function(module, c"stack_top".to_owned())?;
            let memory = result::malloc_sync(size_of::<u64>())?;
            let mut argument = memory;
            let run = result::launch_kernel(
                kernel,
                (1, 1, 1),
                (1, 1, 1),
                0,
                std::ptr::null_mut(),
                &mut [(&raw mut argument).cast()],
            );
            let mut top = [0];
            // On the same stream, so that it waits for the kernel.
            let read = run.and_then(|()| result::memcpy_dtoh_sync(&mut top, memory));
            result::free_sync(memory).and(read).map(|()| top[0])
        })();
        result::module::unload(module).and(top)
    }
}
