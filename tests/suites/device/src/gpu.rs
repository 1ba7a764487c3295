//! The GPU and the module that all tests share.

use std::fmt::Debug;
use std::sync::OnceLock;

use ptx::prelude::*;
use ptx::{Error, Image, Launch};

/// A device with the kernels loaded.
#[derive(Debug)]
pub struct Gpu {
    /// The first GPU, with a heap large enough for all tests.
    pub device: Device,
    /// [`IMAGE`], loaded.
    pub module: Module,
}

/// The kernels, as the build script compiled them.
pub static IMAGE: Image = ptx::image!("ptx-test-kernels");

/// Bytes that all kernels may allocate together.
const HEAP: usize = 256 << 20;

/// The kernels that print and allocate, a module of their own.
static SYSCALLS: Image = ptx::image!("ptx-test-syscalls");

/// Loads the kernels that print and allocate.
pub fn load_syscalls(device: &Device) -> ptx::Result<Module> {
    device.load(&SYSCALLS)
}

/// Why there is no [`Gpu`].
#[derive(Debug)]
pub enum Missing {
    /// This machine has none: tests are skipped.
    Gpu(String),
    /// It has one, but the kernels could not be loaded: tests fail.
    Kernels(String),
}

/// The first device.
pub fn gpu() -> Result<&'static Gpu, &'static Missing> {
    static GPU: OnceLock<Result<Gpu, Missing>> = OnceLock::new();
    let open = || {
        let device = Device::first().map_err(|error| match error {
            Error::NoDriver { .. } | Error::NoDevice { .. } => Missing::Gpu(error.to_string()),
            other => Missing::Kernels(other.to_string()),
        })?;
        // For thousands of threads with collections at once; before the first kernel that allocates.
        device.set_heap_size(HEAP).map_err(|error| Missing::Kernels(error.to_string()))?;
        let module = device.load(&IMAGE).map_err(|error| Missing::Kernels(error.to_string()))?;
        Ok(Gpu { device, module })
    };
    GPU.get_or_init(open).as_ref()
}

impl Gpu {
    /// Launches over `n` elements and waits.
    #[track_caller]
    pub fn run(&self, launch: Launch<'_>, n: usize) {
        self.run_as(launch, Grid::cover(n, 128));
    }

    /// Launches as that grid and waits.
    #[track_caller]
    pub fn run_as(&self, launch: Launch<'_>, grid: Grid) {
        launch.launch(&self.module, grid).unwrap_or_else(|error| panic!("{error}"));
        self.device.synchronize().unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Both sides computed the same; says which element differs first.
#[track_caller]
pub fn same<T: PartialEq + Debug>(device: &[T], host: impl IntoIterator<Item = T>) {
    let host: Vec<T> = host.into_iter().collect();
    assert_eq!(device.len(), host.len(), "lengths");
    if let Some(at) = device.iter().zip(&host).position(|(device, host)| device != host) {
        panic!("element {at}: {:?} on the device, {:?} on the host", device[at], host[at]);
    }
}

/// Numbers that look random and are the same every time (SplitMix64).
pub fn random(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    })
}
