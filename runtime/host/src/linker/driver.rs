//! The driver's linker (CUDA driver API, "Module Management": `cuLinkCreate`, `cuLinkAddData`, `cuLinkComplete`).

use std::ffi::{CString, c_uint, c_void};

use cudarc::driver::DriverError;
use cudarc::driver::sys::{self, CUjit_option as Option_, CUjitInputType, CUlinkState, CUresult};

use super::failure::failure;
use super::input::{LinkInput, LinkKind, with_nul};
use crate::device::Device;
use crate::driver::{self, Doing};
use crate::error::Result;

/// The linker's name in messages.
pub(super) const NAME: &str = "the driver's linker";

/// The most bytes of the linker's log that are kept.
const LOG_LEN: usize = 16 << 10;

/// Owns the driver's linker, and what the driver writes to until it is destroyed.
struct State {
    state: CUlinkState,
    log: Vec<u8>,
    /// The values of the options: the log's address, and its size, which the driver replaces by the number of bytes it
    /// wrote.
    _values: Vec<*mut c_void>,
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: made by `State::new` and not in use any more. The fields are dropped after this. An error here would be
        // one of an earlier kernel's.
        _ = unsafe { sys::cuLinkDestroy(self.state) };
    }
}

impl State {
    /// Creates a linker in the current context.
    fn new() -> Result<Self, DriverError> {
        let mut log = vec![0; LOG_LEN];
        let mut options = [Option_::CU_JIT_ERROR_LOG_BUFFER, Option_::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values = vec![log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(LOG_LEN)];
        let mut state = std::ptr::null_mut();
        // SAFETY: as many options as values; the log is as long as the second says, and numbers are passed in the
        // pointer itself, as the driver API asks. Values of options that the driver writes to "must remain valid for
        // the life of the CUlinkState" (`cuLinkCreate`): log and values are on the heap, and live as long.
        unsafe { sys::cuLinkCreate_v2(options.len() as c_uint, options.as_mut_ptr(), values.as_mut_ptr(), &mut state) }
            .result()?;
        Ok(Self { state, log, _values: values })
    }

    fn log(&self) -> String {
        let end = self.log.iter().position(|b| *b == 0).unwrap_or(LOG_LEN);
        String::from_utf8_lossy(&self.log[..end]).trim_end().to_owned()
    }
}

/// Links for the device, and returns the cubin.
pub(super) fn link(device: &Device, inputs: &[LinkInput<'_>]) -> Result<Vec<u8>> {
    let doing = || "starting the driver's linker".to_owned();
    device.context().bind_to_thread().doing(doing)?;
    let linker = State::new().doing(doing)?;
    let fail = |error: DriverError, linker: &State, what: &str| {
        let reason = format!("{what}{} ({})", driver::text(&error), driver::name(&error));
        failure(NAME, device.name(), reason, &linker.log())
    };
    for input in inputs {
        let mut bytes = driver::aligned(&match input.kind {
            LinkKind::Ptx => with_nul(&input.bytes),
            _ => input.bytes.to_vec(),
        });
        let len = input.bytes.len() + usize::from(input.kind == LinkKind::Ptx && input.bytes.last() != Some(&0));
        let name = CString::new(input.name.replace('\0', "")).unwrap_or_default();
        // SAFETY: the linker is alive. `bytes` has at least `len` bytes, ends in NUL if it is PTX, and is copied by the
        // driver before it returns.
        let added = unsafe {
            let (options, values) = (std::ptr::null_mut(), std::ptr::null_mut());
            sys::cuLinkAddData_v2(
                linker.state,
                kind(input.kind),
                bytes.as_mut_ptr().cast(),
                len,
                name.as_ptr(),
                0,
                options,
                values,
            )
        };
        added.result().map_err(|error| fail(error, &linker, &format!("{}: ", input.name)))?;
    }
    let (mut cubin, mut len) = (std::ptr::null_mut(), 0);
    // SAFETY: the linker is alive.
    let completed = unsafe { sys::cuLinkComplete(linker.state, &mut cubin, &mut len) };
    completed.result().map_err(|error| fail(error, &linker, ""))?;
    if cubin.is_null() {
        return Err(fail(DriverError(CUresult::CUDA_ERROR_INVALID_IMAGE), &linker, ""));
    }
    // SAFETY: the driver keeps `len` bytes there until the linker is destroyed, which is after the copy.
    Ok(unsafe { std::slice::from_raw_parts(cubin.cast::<u8>(), len) }.to_vec())
}

fn kind(kind: LinkKind) -> CUjitInputType {
    match kind {
        LinkKind::Ptx => CUjitInputType::CU_JIT_INPUT_PTX,
        LinkKind::Cubin => CUjitInputType::CU_JIT_INPUT_CUBIN,
        LinkKind::Fatbin => CUjitInputType::CU_JIT_INPUT_FATBINARY,
        LinkKind::Object => CUjitInputType::CU_JIT_INPUT_OBJECT,
        LinkKind::Library => CUjitInputType::CU_JIT_INPUT_LIBRARY,
        LinkKind::LtoIr => CUjitInputType::CU_JIT_INPUT_NVVM,
    }
}
