//! NVIDIA's library nvJitLink ("nvJitLink" documentation, chapter 2), loaded when it is first wanted. It needs no GPU.
//!
//! If a name is defined twice, or a declaration does not match its definition, nvJitLink 13.0 only prints that on
//! standard error, and links the first definition. The driver's linker and nvlink refuse both.

use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::catch_unwind;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use libloading::Library;

use super::failure::failure;
use super::input::{LinkInput, LinkKind, with_nul};
use crate::error::{Error, Result};
use crate::handover::Handover;
use crate::image::Arch;

/// `nvJitLinkHandle`
type Handle = *mut c_void;
/// `nvJitLinkResult`; 0 is success.
type Code = c_int;
type Log = unsafe extern "C" fn(Handle, *mut c_char) -> Code;
type Size = unsafe extern "C" fn(Handle, *mut usize) -> Code;

/// The functions that are called. They have had these types since CUDA 12.0; the names without a version are in every
/// library since.
struct Api {
    create: unsafe extern "C" fn(*mut Handle, u32, *const *const c_char) -> Code,
    destroy: unsafe extern "C" fn(*mut Handle) -> Code,
    add: unsafe extern "C" fn(Handle, c_int, *const c_void, usize, *const c_char) -> Code,
    complete: unsafe extern "C" fn(Handle) -> Code,
    cubin_size: Size,
    cubin: unsafe extern "C" fn(Handle, *mut c_void) -> Code,
    log_size: Size,
    log: Log,
    version: Option<unsafe extern "C" fn(*mut u32, *mut u32) -> Code>,
    /// The library; while it is loaded, the functions stay valid.
    _library: Library,
}

/// The environment variable that names the library's file.
const VARIABLE: &str = "RUST_PTX_NVJITLINK";

/// The library's names, newest first.
const NAMES: [&str; 3] = ["libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so"];

fn api() -> Result<&'static Api> {
    static API: OnceLock<Option<Api>> = OnceLock::new();
    API.get_or_init(|| places().iter().find_map(|place| Api::load(place)))
        .as_ref()
        .ok_or(Error::NoNvJitLink { library: NAMES[0], variable: VARIABLE })
}

/// Where the library is looked for: the variable, the system's search path, the toolkit's folder.
fn places() -> Vec<PathBuf> {
    let explicit = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
    if let Some(path) = explicit {
        return vec![path.into()];
    }
    let roots = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let folders = roots.chain(["/usr/local/cuda".into()]).flat_map(|root| [root.join("lib64"), root.join("lib")]);
    let in_folders: Vec<_> = folders.flat_map(|folder| NAMES.map(|name| folder.join(name))).collect();
    NAMES.iter().map(PathBuf::from).chain(in_folders).collect()
}

impl Api {
    fn load(place: &std::path::Path) -> Option<Self> {
        // SAFETY: this loads NVIDIA's library, whose initialisers are sound.
        let library = unsafe { Library::new(place) }.ok()?;
        // SAFETY: the types are those of `nvJitLink.h`.
        unsafe {
            Some(Self {
                create: *library.get(b"nvJitLinkCreate\0").ok()?,
                destroy: *library.get(b"nvJitLinkDestroy\0").ok()?,
                add: *library.get(b"nvJitLinkAddData\0").ok()?,
                complete: *library.get(b"nvJitLinkComplete\0").ok()?,
                cubin_size: *library.get(b"nvJitLinkGetLinkedCubinSize\0").ok()?,
                cubin: *library.get(b"nvJitLinkGetLinkedCubin\0").ok()?,
                log_size: *library.get(b"nvJitLinkGetErrorLogSize\0").ok()?,
                log: *library.get(b"nvJitLinkGetErrorLog\0").ok()?,
                version: library.get(b"nvJitLinkVersion\0").ok().map(|version| *version),
                _library: library,
            })
        }
    }
}

/// The version of nvJitLink on this machine, such as `(13, 0)`; an error if there is none.
pub fn version() -> Result<(u32, u32)> {
    let (mut major, mut minor) = (0, 0);
    if let Some(version) = api()?.version {
        // SAFETY: writes two numbers.
        unsafe { version(&mut major, &mut minor) };
    }
    Ok((major, minor))
}

/// Owns nvJitLink's state.
struct State {
    api: &'static Api,
    handle: Handle,
}

impl Drop for State {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: made by `attempt` and not in use any more.
            unsafe { (self.api.destroy)(&mut self.handle) };
        }
    }
}

impl State {
    fn log(&self) -> String {
        // Where it could not even begin.
        if self.handle.is_null() {
            return String::new();
        }
        let mut len = 0;
        // SAFETY: the handle is alive; the size is asked for first, and one byte more is there for the NUL.
        unsafe {
            if (self.api.log_size)(self.handle, &mut len) != 0 || len == 0 {
                return String::new();
            }
            let mut text = vec![0_u8; len + 1];
            (self.api.log)(self.handle, text.as_mut_ptr().cast());
            let end = text.iter().position(|b| *b == 0).unwrap_or(len);
            String::from_utf8_lossy(&text[..end]).into_owned()
        }
    }

    fn check(&self, code: Code, arch: &str, what: &str) -> Result<()> {
        match code {
            0 => Ok(()),
            code => Err(failure("nvJitLink", arch, format!("{what}{}", name(code)), &self.log())),
        }
    }
}

/// Links for an arch, such as `sm_90`, with nvJitLink, and returns the cubin. No device is needed.
pub fn link(arch: &str, inputs: &[LinkInput<'_>]) -> Result<Vec<u8>> {
    let api = api()?;
    // nvJitLink 13.0 crashes on names such as `sm_1`; of others it says that it does not know them.
    if !Arch::parse(arch).is_some_and(|arch| arch.major > 0) {
        return Err(failure("nvJitLink", arch, "that is no arch, such as `sm_90`".to_owned(), ""));
    }
    let inputs: Vec<LinkInput<'static>> = inputs.iter().map(LinkInput::owned).collect();
    WORKER.link(Work { api, arch: arch.to_owned(), inputs })
}

/// A link that the worker is asked to do.
struct Work {
    api: &'static Api,
    arch: String,
    inputs: Vec<LinkInput<'static>>,
}

/// The one thread that calls nvJitLink. After a link that failed, nvJitLink 13.0 waits forever in every thread but the
/// one in which it failed.
struct Worker {
    /// Whether the thread is there. Held by who waits for a link.
    started: Mutex<bool>,
    work: Handover<Work>,
    answer: Handover<Result<Vec<u8>>>,
}

static WORKER: Worker = Worker { started: Mutex::new(false), work: Handover::new(), answer: Handover::new() };

impl Worker {
    fn link(&'static self, work: Work) -> Result<Vec<u8>> {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        if !*started {
            std::thread::Builder::new().name("ptx: links".to_owned()).spawn(|| self.run()).map_err(|error| {
                Error::Thread { doing: "linking with nvJitLink".to_owned(), reason: error.to_string() }
            })?;
            *started = true;
        }
        self.work.put(work);
        self.answer.take()
    }

    fn run(&self) {
        loop {
            let Work { api, arch, inputs } = self.work.take();
            // Somebody waits for an answer, whatever happens.
            let result = catch_unwind(|| link_here(api, &arch, &inputs));
            let ended = |_| Err(failure("nvJitLink", &arch, "its caller panicked".to_owned(), ""));
            self.answer.put(result.unwrap_or_else(ended));
        }
    }
}

fn link_here(api: &'static Api, arch: &str, inputs: &[LinkInput<'_>]) -> Result<Vec<u8>> {
    let lto = inputs.iter().any(|input| input.kind == LinkKind::LtoIr);
    match attempt(api, arch, inputs, lto) {
        // Objects do not show from outside that they hold LTO-IR.
        Err(Error::Link { reason, log, .. }) if !lto && needs_lto(&reason, &log) => attempt(api, arch, inputs, true),
        result => result,
    }
}

fn needs_lto(reason: &str, log: &str) -> bool {
    reason.contains(name(18)) || log.contains("LTO objects found") || log.contains("-lto")
}

fn attempt(api: &'static Api, arch: &str, inputs: &[LinkInput<'_>], lto: bool) -> Result<Vec<u8>> {
    let options = [Some(format!("-arch={arch}")), lto.then(|| "-lto".to_owned())];
    let options: Vec<CString> = options.into_iter().flatten().filter_map(|option| CString::new(option).ok()).collect();
    let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
    // Outlives `state`: `nvJitLink.h` does not say that it copies what is added.
    let mut added = Vec::new();
    let mut state = State { api, handle: std::ptr::null_mut() };
    // SAFETY: as many pointers as said, to strings that live through the call.
    let created = unsafe { (api.create)(&mut state.handle, pointers.len() as u32, pointers.as_ptr()) };
    state.check(created, arch, "")?;
    for input in inputs {
        let bytes = match input.kind {
            LinkKind::Ptx => with_nul(&input.bytes),
            _ => input.bytes.to_vec(),
        };
        let name = CString::new(input.name.replace('\0', "")).unwrap_or_default();
        let words = crate::driver::aligned(&bytes);
        // SAFETY: the handle is alive; the data has at least that many bytes, and outlives `state`.
        let result =
            unsafe { (api.add)(state.handle, kind(input.kind), words.as_ptr().cast(), bytes.len(), name.as_ptr()) };
        added.push((words, name));
        state.check(result, arch, &format!("{}: ", input.name))?;
    }
    // SAFETY: the handle is alive.
    let completed = unsafe { (api.complete)(state.handle) };
    state.check(completed, arch, "")?;
    let mut len = 0;
    // SAFETY: the handle is alive.
    let sized = unsafe { (api.cubin_size)(state.handle, &mut len) };
    state.check(sized, arch, "")?;
    let mut cubin = vec![0_u8; len];
    // SAFETY: the buffer is as long as nvJitLink said.
    let copied = unsafe { (api.cubin)(state.handle, cubin.as_mut_ptr().cast()) };
    state.check(copied, arch, "")?;
    Ok(cubin)
}

/// `nvJitLinkInputType`
fn kind(kind: LinkKind) -> c_int {
    match kind {
        LinkKind::Cubin => 1,
        LinkKind::Ptx => 2,
        LinkKind::LtoIr => 3,
        LinkKind::Fatbin => 4,
        LinkKind::Object => 5,
        LinkKind::Library => 6,
    }
}

/// `nvJitLinkResult`
fn name(code: Code) -> &'static str {
    const NAMES: [&str; 20] = [
        "NVJITLINK_SUCCESS",
        "NVJITLINK_ERROR_UNRECOGNIZED_OPTION",
        "NVJITLINK_ERROR_MISSING_ARCH",
        "NVJITLINK_ERROR_INVALID_INPUT",
        "NVJITLINK_ERROR_PTX_COMPILE",
        "NVJITLINK_ERROR_NVVM_COMPILE",
        "NVJITLINK_ERROR_INTERNAL",
        "NVJITLINK_ERROR_THREADPOOL",
        "NVJITLINK_ERROR_UNRECOGNIZED_INPUT",
        "NVJITLINK_ERROR_FINALIZE",
        "NVJITLINK_ERROR_NULL_INPUT",
        "NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS",
        "NVJITLINK_ERROR_INCORRECT_INPUT_TYPE",
        "NVJITLINK_ERROR_ARCH_MISMATCH",
        "NVJITLINK_ERROR_OUTDATED_LIBRARY",
        "NVJITLINK_ERROR_MISSING_FATBIN",
        "NVJITLINK_ERROR_UNRECOGNIZED_ARCH",
        "NVJITLINK_ERROR_UNSUPPORTED_ARCH",
        "NVJITLINK_ERROR_LTO_NOT_ENABLED",
        "an unknown error",
    ];
    usize::try_from(code).ok().and_then(|code| NAMES.get(code)).unwrap_or(&NAMES[19])
}
