//! The arch that the code is compiled for.

/// The arch times ten, as CUDA C++'s `__CUDA_ARCH__`: 900 for sm_90.
///
/// It is a constant of the optimised code: what stands under `if ptx::arch() >= 900` is not there for older GPUs, and may
/// use what they lack.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn arch() -> u32 {
    crate::intrinsics::arch()
}
