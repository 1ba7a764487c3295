//! Random numbers: bit for bit CURAND's, as nvcc compiles its device functions, and on the CPU the same.

use std::ffi::c_void;
use std::sync::OnceLock;

use ptx::cudarc::driver::{CudaSlice, DevicePtrMut, DeviceRepr, ValidAsZeroBits};
use ptx::random::{Generator, Mrg32k3a, Philox4x32, Xorwow};
use ptx::{Image, Launch, Module};
use ptx_rand_kernels::{self as kernels, WORDS};

use crate::float::launch::{Twin, launch};
use crate::gpu::{Gpu, same};
use crate::record::{Test, skippable, test};

/// Threads of a launch; not whole blocks.
const THREADS: usize = (1 << 18) - 77;

/// Words of a thread that are the same on the CPU: bits and uniform numbers.
const EXACT: usize = 8;

/// Seed, first subsequence, offset.
const STARTS: [[u64; 3]; 5] = [
    [0, 0, 0],
    [1, 1 << 20, 3],
    [0x1234_5678_9abc_def0, 0x7_ffff_ffff, u64::MAX],
    [u64::MAX, 0, 1 << 40],
    [0xdead_beef, (1 << 51) - THREADS as u64, 0xffff_ffff_ffff],
];

/// How far states are skipped that the other side has made.
const SKIPS: [u64; 3] = [0, 5, 0x0123_4567_89ab_cdef];

static IMAGE: Image = ptx::image!("ptx-rand-kernels");

fn module(gpu: &Gpu) -> &'static Module {
    static MODULE: OnceLock<Module> = OnceLock::new();
    MODULE.get_or_init(|| gpu.device.load(&IMAGE).unwrap_or_else(|error| panic!("{error}")))
}

/// CURAND's functions, compiled by nvcc; or why they are not there.
fn twin(gpu: &Gpu) -> Result<&'static Twin, String> {
    static TWIN: OnceLock<Result<Twin, String>> = OnceLock::new();
    const CUBIN: Result<&[u8], &str> = include!(concat!(env!("OUT_DIR"), "/curand.rs"));
    let load = || {
        let cubin = CUBIN?;
        if gpu.device.capability().0 != 9 {
            return Err(format!("nvcc's code is for sm_90, this is {}", gpu.device.arch()));
        }
        Twin::load(gpu, cubin)
    };
    TWIN.get_or_init(load).as_ref().map_err(Clone::clone)
}

/// A kernel's words and states.
type Results<'a, G> = (&'a mut CudaSlice<[u32; WORDS]>, &'a mut CudaSlice<G>);

/// What the tests call of a generator: its kernels in Rust, and their names in the twin.
struct Kind<G> {
    name: &'static str,
    names: [&'static str; 2],
    make: fn(&Gpu, [u64; 3], Results<'_, G>),
    go_on: fn(&Gpu, u64, Results<'_, G>),
}

fn run(gpu: &Gpu, launch: Launch<'_>) {
    launch.launch(module(gpu), ptx::Grid::cover(THREADS, 256)).unwrap_or_else(|error| panic!("{error}"));
    gpu.device.synchronize().unwrap_or_else(|error| panic!("{error}"));
}

macro_rules! kind {
    ($generator:ident, $make:ident, $go_on:ident) => {
        Kind::<$generator> {
            name: stringify!($generator),
            names: [stringify!($make), stringify!($go_on)],
            make: |gpu, [seed, subsequence, offset], (words, states)| {
                run(gpu, kernels::$make(seed, subsequence, offset, words, states));
            },
            go_on: |gpu, skip, (words, states)| run(gpu, kernels::$go_on(skip, words, states)),
        }
    };
}

pub fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    tests.extend(of(&const { kind!(Philox4x32, philox, philox_go_on) }));
    tests.extend(of(&const { kind!(Xorwow, xorwow, xorwow_go_on) }));
    tests.extend(of(&const { kind!(Mrg32k3a, mrg, mrg_go_on) }));
    tests.push(test("random numbers: the crates rand and rand_distr", |gpu| {
        let mut words = gpu.device.upload(&vec![[0; WORDS]; THREADS]).unwrap();
        run(gpu, kernels::crates(99, &mut words));
        let host = (0..THREADS as u64).map(|i| match i % 3 {
            0 => kernels::on_top(&mut Philox4x32::new(99, i, 0)),
            1 => kernels::on_top(&mut Xorwow::new(99, i, 0)),
            _ => kernels::on_top(&mut Mrg32k3a::new(99, i, 0)),
        });
        same(&gpu.device.download(&words).unwrap(), host);
    }));
    tests
}

fn of<G: Generator + DeviceRepr + ValidAsZeroBits + PartialEq + std::fmt::Debug + Send + Sync>(
    kind: &'static Kind<G>,
) -> [Test; 2] {
    let on_cpu = test(&format!("random numbers: {} as on the CPU", kind.name), move |gpu| {
        for start in STARTS {
            let (words, _) = make(gpu, kind, start);
            for (i, words) in words.iter().enumerate().step_by(251) {
                let [seed, subsequence, offset] = start;
                let host = kernels::numbers(&mut G::new(seed, subsequence + i as u64, offset));
                assert_eq!(words[..EXACT], host[..EXACT], "thread {i} of {start:x?}");
                // What logarithms and sines make is the same but for the last digits.
                for at in EXACT..EXACT + 3 {
                    let [device, host] = [words[at], host[at]].map(f32::from_bits);
                    assert!((device - host).abs() < 1e-4, "thread {i} of {start:x?}: {device}, {host}");
                }
            }
        }
    });
    let as_curand = skippable(&format!("random numbers: {} as CURAND", kind.name), move |gpu| {
        let twin = twin(gpu)?;
        for start in STARTS {
            let (words, states) = make(gpu, kind, start);
            let mut twins = memory::<G>(gpu);
            by_twin(gpu, twin, kind.names[0], &start, (&mut twins.0, &mut twins.1));
            let twins = (gpu.device.download(&twins.0).unwrap(), gpu.device.download(&twins.1).unwrap());
            same(&words, twins.0);
            same(&states, twins.1.iter().copied());
            for skip in SKIPS {
                // Each side goes on with the other's states.
                let mut ours = memory::<G>(gpu);
                ours.1 = gpu.device.upload(&twins.1).unwrap();
                let mut others = memory::<G>(gpu);
                others.1 = gpu.device.upload(&states).unwrap();
                (kind.go_on)(gpu, skip, (&mut ours.0, &mut ours.1));
                by_twin(gpu, twin, kind.names[1], &[skip], (&mut others.0, &mut others.1));
                same(&gpu.device.download(&ours.0).unwrap(), gpu.device.download(&others.0).unwrap());
                same(&gpu.device.download(&ours.1).unwrap(), gpu.device.download(&others.1).unwrap());
            }
        }
        Ok(())
    });
    [on_cpu, as_curand]
}

fn memory<G: DeviceRepr + ValidAsZeroBits>(gpu: &Gpu) -> (CudaSlice<[u32; WORDS]>, CudaSlice<G>) {
    let words = gpu.device.upload(&vec![[0; WORDS]; THREADS]).unwrap();
    (words, gpu.device.zeroed::<G>(THREADS).unwrap())
}

fn make<G: DeviceRepr + ValidAsZeroBits>(gpu: &Gpu, kind: &Kind<G>, start: [u64; 3]) -> (Vec<[u32; WORDS]>, Vec<G>) {
    let (mut words, mut states) = memory::<G>(gpu);
    (kind.make)(gpu, start, (&mut words, &mut states));
    (gpu.device.download(&words).unwrap(), gpu.device.download(&states).unwrap())
}

/// The twin's kernel: some 64-bit numbers, then words with their length, then states.
fn by_twin<G: DeviceRepr>(gpu: &Gpu, twin: &Twin, name: &str, numbers: &[u64], (words, states): Results<'_, G>) {
    let stream = gpu.device.stream().clone();
    let mut numbers = numbers.to_vec();
    let mut parameters: Vec<*mut c_void> = numbers.iter_mut().map(|number| std::ptr::from_mut(number).cast()).collect();
    let mut count = words.len() as u64;
    let (mut words, _words) = words.device_ptr_mut(&stream);
    let (mut states, _states) = states.device_ptr_mut(&stream);
    parameters.extend([(&raw mut words).cast(), (&raw mut count).cast(), (&raw mut states).cast::<c_void>()]);
    let blocks = u32::try_from(count.div_ceil(256)).expect("few enough");
    // SAFETY: the parameters of `KERNELS` in curand.cu, and as many elements as it is told.
    unsafe { launch(gpu, twin.function(gpu, name), blocks, &mut parameters) };
}
