//! From the driver's result codes to our errors, and the calls that cudarc's safe layer lacks.

use std::ffi::{CString, c_uint, c_void};
use std::sync::OnceLock;

use cudarc::driver::sys::{self, CUresult};
use cudarc::driver::{DriverError, result};
use libloading::Library;

use crate::advice::advice;
use crate::error::{Error, Lost, Result};
use crate::image::Code;
use crate::panic;
use crate::watch;

/// Turns the driver's errors into ours.
pub(crate) trait Doing<T> {
    /// `doing` says what was tried, as a phrase that can be followed by "failed".
    fn doing(self, doing: impl FnOnce() -> String) -> Result<T>;
}

impl<T> Doing<T> for Result<T, DriverError> {
    fn doing(self, doing: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| error_of(error, doing()))
    }
}

fn error_of(error: DriverError, doing: String) -> Error {
    if let Some(reason) = lost(error.0) {
        if let Some(panic) = panic::current() {
            return Error::Panic(Box::new(panic));
        }
        return Error::ContextLost { reason, launches: watch::launches_of_current().into(), remedy: remedy(reason) };
    }
    match error.0 {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => Error::OutOfMemory { doing },
        CUresult::CUDA_ERROR_NO_DEVICE => Error::NoDevice { reason: text(&error) },
        code => Error::Driver { doing, name: name(&error), text: text(&error), advice: advice(code), source: error },
    }
}

/// The errors after which a context answers every call with the same error (CUDA driver API, `CUresult`: "the process
/// must be terminated and relaunched").
fn lost(code: CUresult) -> Option<Lost> {
    Some(match code {
        CUresult::CUDA_ERROR_ASSERT => Lost::Assertion,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS => Lost::IllegalAddress,
        CUresult::CUDA_ERROR_MISALIGNED_ADDRESS => Lost::MisalignedAddress,
        CUresult::CUDA_ERROR_LAUNCH_TIMEOUT => Lost::Timeout,
        CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION => Lost::Instruction("CUDA_ERROR_ILLEGAL_INSTRUCTION"),
        CUresult::CUDA_ERROR_LAUNCH_FAILED => Lost::Instruction("CUDA_ERROR_LAUNCH_FAILED"),
        CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR => Lost::Other("CUDA_ERROR_HARDWARE_STACK_ERROR"),
        CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE => Lost::Other("CUDA_ERROR_INVALID_ADDRESS_SPACE"),
        CUresult::CUDA_ERROR_INVALID_PC => Lost::Other("CUDA_ERROR_INVALID_PC"),
        CUresult::CUDA_ERROR_ECC_UNCORRECTABLE => Lost::Other("CUDA_ERROR_ECC_UNCORRECTABLE"),
        CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE => Lost::Other("CUDA_ERROR_NVLINK_UNCORRECTABLE"),
        CUresult::CUDA_ERROR_MPS_CLIENT_TERMINATED => Lost::Other("CUDA_ERROR_MPS_CLIENT_TERMINATED"),
        CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED => Lost::Other("CUDA_ERROR_CONTEXT_IS_DESTROYED"),
        _ => return None,
    })
}

fn remedy(reason: Lost) -> &'static str {
    match reason {
        Lost::Assertion => "Mend what the message says.",
        Lost::Timeout => "Do less in one launch.",
        Lost::IllegalAddress | Lost::MisalignedAddress => {
            "`compute-sanitizer PROGRAM` names the kernel and the thread, and with line tables the line; look at its `unsafe` code \
             first."
        }
        Lost::Instruction(_) => {
            "`compute-sanitizer PROGRAM` or `cuda-gdb PROGRAM` shows the place. With the variable \
             CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 the driver writes a core dump, in which cuda-gdb finds the line."
        }
        Lost::Other(name) => match name {
            "CUDA_ERROR_ECC_UNCORRECTABLE" | "CUDA_ERROR_NVLINK_UNCORRECTABLE" | "CUDA_ERROR_HARDWARE_STACK_ERROR" => {
                advice(CUresult::CUDA_ERROR_ECC_UNCORRECTABLE)
            }
            "CUDA_ERROR_CONTEXT_IS_DESTROYED" => advice(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED),
            "CUDA_ERROR_MPS_CLIENT_TERMINATED" => advice(CUresult::CUDA_ERROR_MPS_CLIENT_TERMINATED),
            _ => "`compute-sanitizer PROGRAM` or `cuda-gdb PROGRAM` shows the place.",
        },
    }
}

/// The error's name, such as `CUDA_ERROR_INVALID_VALUE`.
pub(crate) fn name(error: &DriverError) -> String {
    error.error_name().map_or_else(|_| format!("{:?}", error.0), |name| name.to_string_lossy().into_owned())
}

/// The driver's description of the error.
pub(crate) fn text(error: &DriverError) -> String {
    error.error_string().map_or_else(|_| format!("{:?}", error.0), |text| text.to_string_lossy().into_owned())
}

/// What the driver's just-in-time compiler makes of PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Jit {
    /// Fast code.
    Optimised,
    /// Code as by `ptxas -g`, in a fifth of the time.
    Debug,
}

/// The most bytes of the just-in-time compiler's log that are kept.
const LOG_LEN: usize = 8 << 10;

/// Loads `code` into the current context; an error comes with the just-in-time compiler's log.
///
/// # Safety
/// A context must be current. A cubin must be whole: the driver trusts it.
pub(crate) unsafe fn load(code: &Code<'_>, jit: Jit) -> Result<sys::CUmodule, (DriverError, String)> {
    let text;
    let words: Vec<u64>;
    let data: *const c_void = match code {
        Code::Ptx(ptx) => {
            text = CString::new(*ptx)
                .map_err(|_| (DriverError(CUresult::CUDA_ERROR_INVALID_PTX), "the PTX contains a NUL".to_owned()))?;
            text.as_ptr().cast()
        }
        // An ELF file has fields of eight bytes, and `include_bytes!` aligns to one.
        Code::Cubin(bytes) => {
            words = aligned(bytes);
            words.as_ptr().cast()
        }
    };
    let mut log = vec![0_u8; LOG_LEN];
    let mut options =
        vec![sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER, sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values: Vec<*mut c_void> = vec![log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(LOG_LEN)];
    if jit == Jit::Debug {
        options.push(sys::CUjit_option::CU_JIT_GENERATE_DEBUG_INFO);
        values.push(std::ptr::without_provenance_mut(1));
    }
    let mut module = std::ptr::null_mut();
    // SAFETY: the caller set a context. `data` is NUL-terminated text or a whole cubin. As many options as values; the
    // log is as long as the second says, and numbers are passed in the pointer itself, as the driver API asks.
    let code = unsafe {
        sys::cuModuleLoadDataEx(&mut module, data, options.len() as c_uint, options.as_mut_ptr(), values.as_mut_ptr())
    };
    code.result().map(|()| module).map_err(|error| {
        let end = log.iter().position(|b| *b == 0).unwrap_or(LOG_LEN);
        (error, String::from_utf8_lossy(&log[..end]).trim_end().to_owned())
    })
}

/// A copy at an address that is a multiple of 8.
pub(crate) fn aligned(bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    };
    bytes.chunks(8).map(word).collect()
}

/// Whether the driver's library can be loaded. cudarc would panic if it cannot.
///
/// The library stays loaded, because cuda-gdb waits for it only once. If it is closed and opened again, as by cudarc's
/// `is_culib_present`, the debugger never sees a kernel.
pub(crate) fn library_is_there() -> bool {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    let names = || ["cuda", "nvcuda"].into_iter().flat_map(cudarc::get_lib_name_candidates);
    // SAFETY: this loads the NVIDIA driver's library, whose initialisers are sound.
    LIBRARY.get_or_init(|| names().find_map(|name| unsafe { Library::new(name) }.ok())).is_some()
}

/// The number of devices that the driver sees.
pub(crate) fn device_count() -> Result<usize> {
    if !library_is_there() {
        let (library, path_variable) =
            if cfg!(windows) { ("nvcuda.dll", "PATH") } else { ("libcuda.so.1", "LD_LIBRARY_PATH") };
        return Err(Error::NoDriver { library, path_variable });
    }
    // A driver without a usable device fails already here, with a code that says why.
    result::init().map_err(|error| match error.0 {
        CUresult::CUDA_ERROR_NO_DEVICE
        | CUresult::CUDA_ERROR_STUB_LIBRARY
        | CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
        | CUresult::CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE
        | CUresult::CUDA_ERROR_SYSTEM_NOT_READY
        | CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE => {
            Error::NoDevice { reason: format!("{}, {}", name(&error), text(&error)) }
        }
        _ => error_of(error, "starting the NVIDIA driver".to_owned()),
    })?;
    let count = result::device::get_count().doing(|| "counting CUDA devices".to_owned())?;
    Ok(usize::try_from(count).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_kernel_loses_the_context_and_a_failed_call_does_not() {
        assert_eq!(lost(CUresult::CUDA_ERROR_ASSERT), Some(Lost::Assertion));
        assert_eq!(lost(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS), Some(Lost::IllegalAddress));
        assert_eq!(lost(CUresult::CUDA_ERROR_INVALID_VALUE), None);
        assert_eq!(lost(CUresult::CUDA_ERROR_OUT_OF_MEMORY), None);
    }
}
