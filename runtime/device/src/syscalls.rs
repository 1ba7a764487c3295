//! The driver's functions, with the prototypes of NVIDIA's PTX Writer's Guide to Interoperability 12.8, chapter 3.
//!
//! `ptx_abi::SYSTEM_CALLS` names them for the compiler. Nobody else declares them: two declarations that differ would
//! make two prototypes of one function.

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
