//! Compiles `cuda.rs`, has cudarc find it as NVIDIA's driver, and counts.

use std::ffi::CString;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use libloading::{Library, Symbol};
use ptx::{CudaContext, Device, Image, KernelRecord, Launch, Linking, Module, Object};

/// The driver, for one test at a time: it counts for the whole process.
#[derive(Debug)]
pub struct Driver {
    library: &'static Library,
    _alone: MutexGuard<'static, ()>,
}

/// The driver, as it begins.
pub fn driver() -> Driver {
    static ALONE: Mutex<()> = Mutex::new(());
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let driver = Driver { library: LIBRARY.get_or_init(compile), _alone: alone };
    driver.lose(0);
    driver.latency(0);
    driver.version(13000);
    driver
}

/// A library of the name `libcuda.so` that is loaded is what `dlopen` gives for this name from then on.
fn compile() -> Library {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let library = folder.join(format!("libcuda-{}.so", std::process::id()));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/driver/cuda.rs");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.args(["--edition=2024", "-O", "--crate-type=cdylib", "-Clink-arg=-Wl,-soname,libcuda.so", source, "-o"]);
    let output = command.arg(&library).output().expect("rustc starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // SAFETY: our own library; it has no initialisers.
    let loaded = unsafe { Library::new(&library) }.expect("rustc wrote it");
    _ = std::fs::remove_file(&library);
    loaded
}

impl Driver {
    fn function<F>(&self, name: &str) -> Symbol<'static, F> {
        // SAFETY: the functions of `cuda.rs`, with the types that it gives them.
        unsafe { self.library.get(name.as_bytes()) }.expect("the driver has it")
    }

    fn count(&self, function: &str, name: &str) -> u64 {
        let name = CString::new(name).expect("no NUL");
        // SAFETY: as above; the text lives until the call is over.
        unsafe { (self.function::<unsafe extern "C" fn(*const std::ffi::c_char) -> u64>(function))(name.as_ptr()) }
    }

    /// How often the function of this name was called.
    pub fn calls(&self, name: &str) -> u64 {
        self.count("fake_calls", name)
    }

    /// How often any function was called.
    pub fn all_calls(&self) -> u64 {
        // SAFETY: as above.
        unsafe { (self.function::<unsafe extern "C" fn() -> u64>("fake_all_calls"))() }
    }

    /// Launches of kernels, those of graphs among them.
    pub fn launches(&self) -> u64 {
        // SAFETY: as above.
        unsafe { (self.function::<unsafe extern "C" fn() -> u64>("fake_launches"))() }
    }

    /// How many nodes the last node of a graph was told to come after.
    pub fn edges(&self) -> u64 {
        // SAFETY: as above.
        unsafe { (self.function::<unsafe extern "C" fn() -> u64>("fake_edges"))() }
    }

    /// Which attributes nodes of kernels were given, a bit each, since this was asked last.
    pub fn attributes(&self) -> u64 {
        // SAFETY: as above.
        unsafe { (self.function::<unsafe extern "C" fn() -> u64>("fake_attributes"))() }
    }

    /// The driver is of this version of CUDA from now on, such as 12030.
    pub fn version(&self, version: u32) {
        // SAFETY: as above.
        unsafe { (self.function::<unsafe extern "C" fn(u32)>("fake_version"))(version) }
    }

    /// How many are alive of a kind.
    pub fn alive(&self, kind: &str) -> u64 {
        self.count("fake_alive", kind)
    }

    /// The next call of the function returns the code.
    pub fn fail(&self, name: &str, code: i32) {
        let name = CString::new(name).expect("no NUL");
        // SAFETY: as above.
        unsafe {
            (self.function::<unsafe extern "C" fn(*const std::ffi::c_char, i32)>("fake_fail"))(name.as_ptr(), code)
        }
    }

    /// From now on all calls return the code; 0 ends that.
    pub fn lose(&self, code: u32) {
        // SAFETY: as above.
        unsafe { (self.function::<unsafe extern "C" fn(u32)>("fake_lose"))(code) }
    }

    /// So many milliseconds a call of the host's takes to begin on a stream.
    pub fn latency(&self, milliseconds: u64) {
        // SAFETY: as above.
        unsafe { (self.function::<unsafe extern "C" fn(u64)>("fake_latency"))(milliseconds) }
    }
}

/// A device of its own context, so that tests do not meet.
pub fn device(_: &Driver) -> Device {
    assert!(Device::count().expect("the driver has some") > 0);
    Device::from_context(CudaContext::new(0).expect("it has this device")).expect("it says what it is")
}

/// A module with the kernel of the launch.
pub fn module_of(device: &Device, launch: &Launch<'_>) -> Module {
    load(device, launch).unwrap_or_else(|error| panic!("{error}"))
}

/// Loads a module with the kernel of the launch.
pub fn load(device: &Device, launch: &Launch<'_>) -> ptx::Result<Module> {
    device.load(&image_of(launch))
}

/// Device code that has the kernel of the launch.
pub fn image_of(launch: &Launch<'_>) -> Image {
    static OBJECTS: [Object; 1] = [Object { arch: "sm_90", ptx: "", ptx_path: "", cubin: Some(&[0]) }];
    let kernel = launch.descriptor();
    let resources = vec![ptx::ResourceRecord {
        arch: "sm_90",
        registers: 24,
        stack: 0,
        recursion: None,
        spill_stores: 0,
        spill_loads: 0,
        shared: 0,
        constant: None,
    }];
    let record = KernelRecord {
        name: kernel.name,
        path: kernel.name,
        signature: "a signature",
        abi_hash: kernel.abi_hash(),
        resources: resources.leak(),
    };
    // SAFETY: the driver runs nothing.
    unsafe { Image::new("test", Linking::None, &OBJECTS, vec![record].leak()) }
}
