//! The GPU architecture that the code is compiled for.

/// The arch times ten, as CUDA C++'s `__CUDA_ARCH__`: 900 for sm_90. It is 0 where the CPU runs the kernel.
///
/// In optimised code it is a constant: code under `if ptx::arch() >= 900` is removed for older GPUs, so it may use what
/// they lack.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn arch() -> u32 {
    crate::intrinsics::arch()
}
