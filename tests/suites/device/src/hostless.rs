//! Panics in a program that loads the code by the driver alone, so that nobody set up a record: the launch fails as with a
//! trap, whatever the panic hands over, and so it does where a panic ends its thread alone. Where the device made the text
//! itself, the driver prints that. Optimised code alone, for which the stack suffices that the driver gives by itself.

use std::ffi::{CString, c_void};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use ptx::Image;
use ptx::cudarc::driver::{result, sys};
use ptx_panic_kernels::NAMES;
use serde_json::{Value, json};

use crate::children;
use crate::panics::{BLOCK, THREAD, VALUES, number};
use crate::record::{Test, test};

/// (name, code)
static IMAGES: [(&str, Image); 4] = [
    ("release, full", ptx::image!("panics_release_full")),
    ("release, location", ptx::image!("panics_release_location")),
    ("release, full, exit", ptx::image!("panics_release_full_exit")),
    ("release, location, exit", ptx::image!("panics_release_location_exit")),
];

/// One of each way to hand over: numbers, a text, a long one, a text that the device makes, what a user's code shows, a place
/// that is known when it runs, and nothing but the place.
const KINDS: [&str; 7] = [
    "index",
    "unwrap of a text",
    "panic, long text",
    MADE_BY_DEVICE,
    "panic with a user's Display",
    "a caller's",
    "already borrowed",
];

/// The one whose text the device makes, if there is one.
const MADE_BY_DEVICE: &str = "panic, long values";

/// A block that no launch here has, so that nothing panics.
const NOWHERE: [u32; 3] = [9, 9, 9];

/// Begins the names of this module's children.
const CHILD: &str = "hostless";

/// Processes at once. Each has a context of its own.
const AT_ONCE: usize = 8;

pub fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    for (image, (name, _)) in IMAGES.iter().enumerate() {
        let results: Arc<OnceLock<Vec<Value>>> = Arc::default();
        for (kind, what) in KINDS.iter().chain(&["every thread"]).enumerate() {
            let results = results.clone();
            tests.push(test(&format!("a panic that nobody reads: {what}, {name}"), move |_| {
                let found = &results.get_or_init(|| {
                    let names: Vec<_> = (0..=KINDS.len()).map(|kind| format!("{CHILD} {image} {kind}")).collect();
                    children::all(&names, AT_ONCE)
                })[kind];
                // A trap is either, by the device.
                let trapped = ["CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_ILLEGAL_INSTRUCTION"];
                let printed = ["CUDA_ERROR_ASSERT"];
                let is_printed = *what == MADE_BY_DEVICE && name.contains("full");
                let expected: &[&str] = if is_printed { &printed } else { &trapped };
                assert!(expected.iter().any(|error| *found == json!([true, error])), "{found}");
            }));
        }
    }
    tests
}

/// Launches without the runtime, first what does not panic, then what does, and prints how each went; none if the name is
/// another's.
pub fn child(name: &str) -> Option<ExitCode> {
    let mut numbers = name.strip_prefix(CHILD)?.split_whitespace().map(str::parse::<usize>);
    let (Some(Ok(image)), Some(Ok(kind))) = (numbers.next(), numbers.next()) else { return None };
    let kernel = Kernel::load(&IMAGES[image].1);
    let good = kernel.launch(0, number(NOWHERE)) == sys::CUresult::CUDA_SUCCESS;
    let (kind, block) = match KINDS.get(kind) {
        Some(kind) => {
            let at = NAMES.iter().position(|name| name == kind).expect("the table has kinds that exist");
            (at as u32, number(BLOCK))
        }
        None => (0, u32::MAX),
    };
    println!("{}", json!([good, format!("{:?}", kernel.launch(kind, block))]));
    Some(ExitCode::SUCCESS)
}

/// The kernel `panics` and its memory, in a context of its own.
struct Kernel {
    function: sys::CUfunction,
    values: sys::CUdeviceptr,
    out: sys::CUdeviceptr,
}

impl Kernel {
    fn load(image: &Image) -> Self {
        let name = CString::new("panics").expect("it has no NUL");
        // SAFETY: the context is made first; the cubins are whole files that ptx-build made.
        unsafe {
            result::init().expect("the parent has a device");
            let device = result::device::get(0).expect("there is a device");
            let mut context = std::ptr::null_mut();
            let made = sys::cuDevicePrimaryCtxRetain(&mut context, device);
            made.result().and_then(|()| sys::cuCtxSetCurrent(context).result()).expect("there is memory for a context");
            // Objects of other devices cannot be loaded, and another part of the program has no such kernel.
            let function = image.objects().iter().filter_map(|object| object.cubin).find_map(|cubin| {
                let module = result::module::load_data(cubin.as_ptr().cast()).ok()?;
                result::module::get_function(module, name.clone()).ok()
            });
            let memory = || result::malloc_sync(size_of_val(&VALUES)).expect("there are 16 bytes");
            let (values, out) = (memory(), memory());
            result::memcpy_htod_sync(values, &VALUES).expect("it is that large");
            Self { function: function.expect("a cubin for this device has the kernel"), values, out }
        }
    }

    /// What a wait for the launch says.
    fn launch(&self, mut kind: u32, mut block: u32) -> sys::CUresult {
        let (mut values, mut out) = (self.values, self.out);
        let (mut length, mut outputs, mut thread) = (VALUES.len() as u64, 1_u64, number(THREAD));
        // As the PTX declares them: a slice is its address and its length.
        let mut arguments: [*mut c_void; 7] = [
            (&raw mut kind).cast(),
            (&raw mut values).cast(),
            (&raw mut length).cast(),
            (&raw mut block).cast(),
            (&raw mut thread).cast(),
            (&raw mut out).cast(),
            (&raw mut outputs).cast(),
        ];
        let stream = std::ptr::null_mut();
        // SAFETY: both addresses are of as many elements as is said, and live as long as the process.
        let launched =
            unsafe { result::launch_kernel(self.function, (3, 3, 1), (32, 2, 2), 0, stream, &mut arguments) };
        match launched {
            // SAFETY: the context is current.
            Ok(()) => unsafe { sys::cuCtxSynchronize() },
            Err(error) => error.0,
        }
    }
}
