//! The driver's functions, with the prototypes of NVIDIA's PTX Writer's Guide to Interoperability 12.8, chapter 3, and those of
//! CUDA's device runtime, with the prototypes of `cuda_device_runtime_api.h`.
//!
//! `ptx_abi::SYSTEM_CALLS` and `ptx_abi::GRAPH_CALL` name the first for the compiler, `ptx_abi::LAUNCH_PREFIX` the others. Nobody
//! else declares them: two declarations that differ would make two prototypes of one function.

unsafe extern "C" {
    /// `.extern .func (.param .b32 status) vprintf (.param .b64 format, .param .b64 valist)`: writes a line into the
    /// driver's buffer, which the host prints. Returns the number of arguments, or a negative number.
    ///
    /// # Safety
    /// `format` must be NUL-terminated, and `valist` must point to the arguments that it asks for, packed as a C struct
    /// after the default argument promotions.
    pub(crate) fn vprintf(format: *const u8, valist: *const u8) -> i32;

    /// `.extern .func (.param .b64 ptr) malloc (.param .b64 size)`: memory from the heap, aligned to 16 bytes, or null.
    #[cfg(feature = "allocator")]
    pub(crate) safe fn malloc(size: usize) -> *mut u8;

    /// `.extern .func free (.param .b64 ptr)`: gives the memory back to the device's heap.
    ///
    /// # Safety
    /// `ptr` must come from `malloc`, in any thread and any kernel of this context, and must be freed only once.
    #[cfg(feature = "allocator")]
    pub(crate) fn free(ptr: *mut u8);

    /// `.extern .func __assertfail (.param .b64 message, .param .b64 file, .param .b32 line, .param .b64 function,
    /// .param .b64 charSize)`: prints on the host's standard error and ends the launch.
    ///
    /// # Safety
    /// The three texts must be NUL-terminated; `char_size` must be 1, the only size that the driver supports.
    pub(crate) fn __assertfail(message: *const u8, file: *const u8, line: u32, function: *const u8, char_size: usize);
}

use crate::dim::Dim3;

/// CUDA's `dim3` by value.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct ParameterDim3 {
    x: u32,
    y: u32,
    z: u32,
}

impl From<Dim3> for ParameterDim3 {
    #[inline(always)]
    fn from(Dim3 { x, y, z }: Dim3) -> Self {
        Self { x, y, z }
    }
}

unsafe extern "C" {
    /// `void *cudaGetParameterBufferV2(void *func, dim3 gridDimension, dim3 blockDimension, unsigned int sharedMemSize)`: memory
    /// for the parameters of a launch, or null.
    ///
    /// # Safety
    /// `entry` must be the address of an entry point.
    pub(crate) fn __cudaCDP2GetParameterBufferV2(
        entry: *const (),
        blocks: ParameterDim3,
        threads: ParameterDim3,
        shared_bytes: u32,
    ) -> *mut u8;

    /// `cudaError_t cudaLaunchDeviceV2(void *parameterBuffer, cudaStream_t stream)`: launches.
    ///
    /// # Safety
    /// The buffer must hold the entry point's parameters, and the stream must be a stream's handle.
    pub(crate) fn __cudaCDP2LaunchDeviceV2(buffer: *mut u8, stream: u64) -> u32;

    /// `cudaError_t cudaGetLastError(void)`: this thread's last error, which is then forgotten.
    pub(crate) safe fn __cudaCDP2GetLastError() -> u32;
}

unsafe extern "C" {
    /// `.extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value)`: sets the condition of a graph's
    /// conditional node. `cuda_device_runtime_api.h` declares it, and the driver has it, from CUDA 12.3 on.
    ///
    /// # Safety
    /// The handle must be that of a graph of this context that runs this kernel, and no other thread may set it at the same time.
    pub(crate) fn cudaGraphSetConditional(handle: u64, value: u32);
}
