//! Names for parts of a program, which Nsight Systems and Nsight Compute show: NVTX, NVIDIA's Tools Extension.
//!
//! A tool that starts the program names a library of its own in `NVTX_INJECTION64_PATH`. The first call here loads that library,
//! and hands it a table of places, into which it writes its functions (`nvtxInit.h` and `nvtxTypes.h` of NVTX 3, the load sequence
//! of version 2). Without a tool every call is a comparison. NVIDIA's crate `nvtx` has all of NVTX, and needs libclang to build.

use std::ffi::{CString, OsStr, c_char, c_int, c_uint, c_void};
use std::marker::PhantomData;
use std::mem::transmute;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use libloading::Library;

/// `NvtxCallbackModule`: how many functions each has, from number 1 on. Most are not called here, but a tool may ask for all.
const MODULES: [usize; 7] = [0, 16, 9, 15, 7, 16, 7];
const CORE: usize = 1;

/// `NvtxCallbackIdCore`.
const MARK: usize = 2;
const PUSH: usize = 9;
const POP: usize = 11;

/// Where a tool writes its functions, by module and number.
static FUNCTIONS: [[AtomicPtr<c_void>; 16]; MODULES.len()] =
    [const { [const { AtomicPtr::new(ptr::null_mut()) }; 16] }; MODULES.len()];

/// A part of a thread's work, from [`range`] until it is dropped.
#[must_use = "the range ends when this is dropped"]
#[derive(Debug)]
pub struct Range {
    /// Ranges are a thread's: they lie in each other.
    _of_thread: PhantomData<*const ()>,
}

/// Begins a range of this name: `nvtxRangePushA`.
///
/// ```
/// {
///     let _range = ptx_host::nvtx::range("step");
///     // launches, copies, work of the host's
/// }
/// ptx_host::nvtx::mark("stepped");
/// ```
///
/// `cargo ptx profile --range step` profiles only the launches in such ranges. A NUL ends the name.
pub fn range(name: &str) -> Range {
    if let Some(push) = function(PUSH) {
        // SAFETY: `nvtxRangePushA_impl_fntype`, which the tool has put there; the text lives until the call is over.
        unsafe { transmute::<*mut c_void, unsafe extern "C" fn(*const c_char) -> c_int>(push)(text(name).as_ptr()) };
    }
    Range { _of_thread: PhantomData }
}

/// Marks a moment: `nvtxMarkA`.
pub fn mark(name: &str) {
    if let Some(mark) = function(MARK) {
        // SAFETY: `nvtxMarkA_impl_fntype`, as above.
        unsafe { transmute::<*mut c_void, unsafe extern "C" fn(*const c_char)>(mark)(text(name).as_ptr()) };
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        if let Some(pop) = function(POP) {
            // SAFETY: `nvtxRangePop_impl_fntype`, which the tool has put there.
            unsafe { transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(pop)() };
        }
    }
}

fn text(name: &str) -> CString {
    CString::new(name.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

/// A function of the tool's, if there is a tool and it has that one.
fn function(number: usize) -> Option<*mut c_void> {
    static ASKED: OnceLock<bool> = OnceLock::new();
    ASKED.get_or_init(|| std::env::var_os("NVTX_INJECTION64_PATH").is_some_and(|path| attach(&path)));
    Some(FUNCTIONS[CORE][number].load(Ordering::Acquire)).filter(|function| !function.is_null())
}

/// Loads a tool's library and has it write its functions; whether it has.
fn attach(path: &OsStr) -> bool {
    type Initialize = unsafe extern "C" fn(extern "C" fn(c_uint) -> *const c_void) -> c_int;
    // SAFETY: the user starts the program with a tool, whose library is made to be loaded so.
    let Ok(library) = (unsafe { Library::new(path) }) else { return false };
    // SAFETY: `NvtxInitializeInjectionNvtxFunc_t`.
    let Ok(initialize) = (unsafe { library.get::<Initialize>(b"InitializeInjectionNvtx2\0") }) else { return false };
    // SAFETY: it gets the function that NVTX's headers give it.
    let is_ready = unsafe { initialize(export_table) } != 0;
    if is_ready {
        // Its functions are called from now on.
        std::mem::forget(library);
    } else {
        FUNCTIONS.iter().flatten().for_each(|function| function.store(ptr::null_mut(), Ordering::Release));
    }
    is_ready
}

/// `NvtxExportTableCallbacks`
#[repr(C)]
struct Callbacks {
    size: usize,
    functions: extern "C" fn(c_int, *mut *const *mut *mut c_void, *mut c_uint) -> c_int,
}

/// `NvtxExportTableVersionInfo`
#[repr(C)]
struct Version {
    size: usize,
    version: u32,
    reserved: u32,
    set_version_of_tool: extern "C" fn(u32),
}

/// `nvtxGetExportTable`
extern "C" fn export_table(which: c_uint) -> *const c_void {
    static CALLBACKS: Callbacks = Callbacks { size: size_of::<Callbacks>(), functions: module };
    static VERSION: Version =
        Version { size: size_of::<Version>(), version: 3, reserved: 0, set_version_of_tool: of_tool };
    match which {
        1 => ptr::from_ref(&CALLBACKS).cast(),
        3 => ptr::from_ref(&VERSION).cast(),
        _ => ptr::null(),
    }
}

extern "C" fn of_tool(_version: u32) {}

/// `nvtxEtiGetModuleFunctionTable`: the places of a module's functions, the first and the one behind the last null.
extern "C" fn module(which: c_int, table: *mut *const *mut *mut c_void, size: *mut c_uint) -> c_int {
    /// One of these lives for every module, as long as the program.
    struct Tables([[*mut *mut c_void; 17]; MODULES.len()]);
    // SAFETY: nobody writes to the tables once they are made, and what they point to is atomic.
    unsafe impl Send for Tables {}
    // SAFETY: as above.
    unsafe impl Sync for Tables {}
    static TABLES: OnceLock<Tables> = OnceLock::new();

    let Some(which) = usize::try_from(which).ok().filter(|which| (CORE..MODULES.len()).contains(which)) else {
        return 0;
    };
    let tables = TABLES.get_or_init(|| {
        let mut tables = [[ptr::null_mut(); 17]; MODULES.len()];
        for (module, &count) in MODULES.iter().enumerate() {
            for number in 1..count {
                tables[module][number] = FUNCTIONS[module][number].as_ptr();
            }
        }
        Tables(tables)
    });
    if !table.is_null() {
        // SAFETY: the tool's own variable.
        unsafe { *table = tables.0[which].as_ptr() };
    }
    if !size.is_null() {
        // SAFETY: likewise. The counts are below 17.
        unsafe { *size = MODULES[which] as c_uint };
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tool that writes down what it is told.
    const TOOL: &str = r#"
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::Mutex;

static SAID: Mutex<String> = Mutex::new(String::new());

#[repr(C)]
struct Callbacks {
    size: usize,
    functions: extern "C" fn(c_int, *mut *const *mut *mut c_void, *mut c_uint) -> c_int,
}

fn say(kind: &str, name: *const c_char) {
    *SAID.lock().unwrap() += &format!("{kind} {}\n", unsafe { CStr::from_ptr(name) }.to_str().unwrap());
}
unsafe extern "C" fn mark(name: *const c_char) { say("mark", name) }
unsafe extern "C" fn push(name: *const c_char) -> c_int { say("push", name); 0 }
unsafe extern "C" fn pop() -> c_int { say("pop", c"".as_ptr()); 0 }

#[unsafe(no_mangle)]
pub unsafe extern "C" fn InitializeInjectionNvtx2(table: extern "C" fn(c_uint) -> *const c_void) -> c_int {
    let callbacks = unsafe { &*table(1).cast::<Callbacks>() };
    assert!(callbacks.size == 16 && table(2).is_null() && !table(3).is_null());
    for (module, count) in [(1, 16), (2, 9), (3, 15), (4, 7), (5, 16), (6, 7)] {
        let (mut places, mut size) = (std::ptr::null(), 0);
        assert!((callbacks.functions)(module, &mut places, &mut size) == 1 && size == count);
        let at = |number: u32| unsafe { *places.add(number as usize) };
        assert!(at(0).is_null() && at(size).is_null() && (1..size).all(|number| !at(number).is_null()));
        if module == 1 {
            unsafe { (*at(2), *at(9), *at(11)) = (mark as *mut c_void, push as *mut c_void, pop as *mut c_void) };
        }
    }
    assert!((callbacks.functions)(7, std::ptr::null_mut(), std::ptr::null_mut()) == 0);
    1
}

#[unsafe(no_mangle)]
pub extern "C" fn said(text: *mut u8, size: usize) -> usize {
    let said = SAID.lock().unwrap();
    unsafe { text.copy_from(said.as_ptr(), said.len().min(size)) };
    said.len()
}
"#;

    #[test]
    #[cfg_attr(miri, ignore = "Miri starts no programs and loads no libraries")]
    fn a_tool_gets_ranges_and_marks() {
        let folder = std::env::temp_dir().join(format!("ptx-nvtx-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        let (source, library) = (folder.join("tool.rs"), folder.join("libtool.so"));
        std::fs::write(&source, TOOL).expect("our own folder");
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut command = std::process::Command::new(rustc);
        let output = command.args(["--edition=2024", "--crate-type=cdylib", "-o"]).arg(&library).arg(&source).output();
        let output = output.expect("rustc starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(!attach(source.as_os_str()), "a text is no library");
        // Nothing was written, and nobody is called.
        drop(range("before"));
        assert!(attach(library.as_os_str()));
        // SAFETY: loaded before, and never unloaded.
        let tool = unsafe { Library::new(&library) }.expect("it is loaded");
        _ = std::fs::remove_dir_all(&folder);
        {
            let _range = range("a\0b");
            mark("now");
        }
        let mut text = [0; 100];
        // SAFETY: the type in the source above.
        let said = unsafe { tool.get::<extern "C" fn(*mut u8, usize) -> usize>(b"said\0") }.expect("it has that");
        let length = said(text.as_mut_ptr(), text.len());
        assert_eq!(std::str::from_utf8(&text[..length]), Ok("push a\nmark now\npop \n"));
    }
}
