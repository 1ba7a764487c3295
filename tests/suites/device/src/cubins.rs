//! A program whose machine code is several cubins: its kernels are found, statics that some share are one, and panics of all
//! of them arrive.

use ptx::prelude::*;
use ptx::{Error, Image, Launch, Module};
use ptx_cubins_kernels::{self as kernels, COUNTS, FACTOR, for_each_kernel, mixed};

use crate::gpu::{Gpu, random};
use crate::record::{Test, test};

/// Panics end their thread in it.
static IMAGE: Image = ptx::image!("cubins");

/// Elements: two blocks.
const N: usize = 128;

/// A module of its own, because statics are written.
fn load(gpu: &Gpu) -> Module {
    let module = gpu.device.load(&IMAGE).unwrap_or_else(|error| panic!("{error}"));
    // Where machine code for this device is embedded.
    assert!(module.loaded().contains("PTX") || module.loaded().contains(" cubins for "), "{}", module.loaded());
    module
}

fn run(gpu: &Gpu, module: &Module, launch: Launch<'_>, grid: Grid) {
    launch.launch(module, grid).unwrap_or_else(|error| panic!("{error}"));
    gpu.device.synchronize().unwrap_or_else(|error| panic!("{error}"));
}

fn values() -> Vec<u32> {
    random(5).map(|bits| bits as u32).take(N).collect()
}

macro_rules! every_kernel {
    ($($name:ident = $number:literal,)*) => {
        /// Launches each kernel, and says what its number is and what came of it.
        fn every_kernel(gpu: &Gpu, module: &Module, from: usize, mut seen: impl FnMut(&str, u32, ptx::Result<Vec<u32>>)) {
            let values = gpu.device.upload(&values()).unwrap();
            $({
                let mut out = gpu.device.zeroed::<u32>(N).unwrap();
                // SAFETY: the blocks have 64 threads.
                let launch = unsafe { kernels::$name(&values, from, &mut out) };
                launch.launch(module, Grid::new(2, 64)).unwrap_or_else(|error| panic!("{error}"));
                let ended = gpu.device.synchronize();
                seen(stringify!($name), $number, ended.and_then(|()| gpu.device.download(&out)));
            })*
        }
    };
}

for_each_kernel!(every_kernel);

pub fn tests() -> Vec<Test> {
    vec![
        test("several cubins: every kernel", |gpu| {
            let values = values();
            every_kernel(gpu, &load(gpu), 0, |name, number, out| {
                let expected = (0..N).map(|i| mixed(values[i ^ 1], number));
                assert!(out.unwrap().into_iter().eq(expected), "{name}");
            });
        }),
        test("several cubins: a panic in every kernel", |gpu| {
            every_kernel(gpu, &load(gpu), 1, |name, _, out| {
                let Err(Error::Panic(panic)) = out else { panic!("{name}: {out:?}") };
                let message = format!("index out of bounds: the len is {N} but the index is {N}");
                assert_eq!(panic.message.as_deref(), Some(&*message), "{name}");
                assert!(panic.file.ends_with("cubins/src/lib.rs") && panic.line > 0, "{name}: {panic}");
                assert_eq!((panic.block.x, panic.thread.x, panic.others), (1, 63, 0), "{name}");
                assert_eq!((panic.context_lost, &panic.kernels[..]), (false, &[name.to_string()][..]));
            });
        }),
        test("several cubins: statics of several kernels", |gpu| {
            let mut module = load(gpu);
            run(gpu, &module, kernels::z_counts(), Grid::new(1, 1));
            run(gpu, &module, kernels::z_counts(), Grid::new(1, 1));
            run(gpu, &module, kernels::a_counts(), Grid::new(1, 1));
            assert_eq!(module.read_static(&COUNTS).unwrap(), [21, 20], "the first sees what the last wrote");
            module.write_static(&COUNTS, &[5, 7]).unwrap();
            run(gpu, &module, kernels::a_counts(), Grid::new(1, 1));
            assert_eq!(module.read_static(&COUNTS).unwrap(), [13, 7]);
            module.write_static(&FACTOR, &3).unwrap();
            let values = values();
            let device = gpu.device.upload(&values).unwrap();
            let mut out = gpu.device.zeroed::<u32>(N).unwrap();
            run(gpu, &module, kernels::b_multiplies(&device, &mut out), Grid::cover(N, 64));
            let expected = values.iter().map(|value| value.wrapping_mul(3));
            assert!(gpu.device.download(&out).unwrap().into_iter().eq(expected));
            run(gpu, &module, kernels::y_adds(&device, &mut out), Grid::cover(N, 64));
            let expected = values.iter().map(|value| value.wrapping_add(3));
            assert!(gpu.device.download(&out).unwrap().into_iter().eq(expected));
        }),
        test("several cubins: kernels by name, and their attributes", |gpu| {
            let module = load(gpu);
            for record in module.kernels() {
                module.function(record.name).unwrap_or_else(|error| panic!("{error}"));
                assert!(module.attributes(record.name).unwrap().registers > 0, "{}", record.name);
            }
            let text = module.function("none").unwrap_err().to_string();
            assert!(text.contains("looking for kernel `none`"), "{text}");
        }),
    ]
}
