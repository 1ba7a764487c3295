//! Kernels that allocate compute what the CPU does; failures say what to do.

use std::process::{Command, ExitCode, Output};

use ptx::prelude::*;
use ptx_test_syscalls::heap as kernels;

use crate::failures;
use crate::gpu::{Gpu, gpu, load_syscalls, random, same};
use crate::record::{Test, test};

/// Threads that allocate at once.
const THREADS: usize = 20_000;

/// (name, what the host prints)
const FAILURES: [(&str, &[&str]); 8] = [
    ("heap exhausted", &["memory allocation of 100000000 bytes failed", "Device::set_heap_size"]),
    ("capacity overflow", &["capacity overflow"]),
    ("assert with text", &["text value 5 of 0", "heap.rs"]),
    ("assert_eq", &["left: 5", "right: 0", "on the device", "heap.rs"]),
    ("assert_ne", &["left: 5", "right: 5", "heap.rs"]),
    ("unreachable", &["internal error: entered unreachable code: the branch of 5", "heap.rs"]),
    ("expect", &["a result: \"value 5\"", "heap.rs"]),
    ("panic with an allocated text", &["value 5", "heap.rs"]),
];

pub fn tests() -> Vec<Test> {
    let mut tests = vec![
        test("collections in every thread", |gpu| collections(gpu, THREADS)),
        // So few that compute-sanitizer keeps account of the heap.
        test("collections in a warp", |gpu| collections(gpu, 32)),
        test("a failed allocation can be handled", |gpu| {
            let module = load_syscalls(&gpu.device).unwrap();
            for (bytes, fails) in [(1000, 0), (1 << 40, 1)] {
                let mut out = gpu.device.zeroed::<u32>(64).unwrap();
                kernels::tries(bytes, &mut out).launch(&module, Grid::cover(64, 64)).unwrap();
                gpu.device.synchronize().unwrap();
                same(&gpu.device.download(&out).unwrap(), [fails; 64]);
            }
        }),
    ];
    tests.extend(FAILURES.map(|(name, parts)| {
        test(&format!("failing kernel: {name}"), move |_| {
            let program = std::env::current_exe().expect("a running program has a path");
            let Output { stdout, stderr, .. } =
                Command::new(program).args(["--child", name]).output().expect("it starts");
            let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
            assert!(stdout.contains("lost: Panic"), "{stdout}\n{stderr}");
            for part in parts {
                assert!(stdout.contains(part), "`{part}` is not in:\n{stdout}\n{stderr}");
            }
        })
    }));
    tests
}

fn collections(gpu: &Gpu, threads: usize) {
    let module = load_syscalls(&gpu.device).unwrap();
    let seeds: Vec<u32> = (0..200).chain(random(11).map(|bits| bits as u32)).take(threads).collect();
    let device = gpu.device.upload(&seeds).unwrap();
    // Twice: what is not freed would be missing then.
    for _ in 0..2 {
        let mut out = gpu.device.zeroed::<[u32; 5]>(seeds.len()).unwrap();
        kernels::run_everything(&device, &mut out).launch(&module, Grid::cover(threads, 128)).unwrap();
        gpu.device.synchronize().unwrap();
        same(&gpu.device.download(&out).unwrap(), seeds.iter().map(|&seed| kernels::everything(seed)));
    }
}

/// Launches a kernel that fails; none if the name is another's.
pub fn child(name: &str) -> Option<ExitCode> {
    let which = FAILURES.iter().position(|(failure, _)| *failure == name)?;
    let Ok(gpu) = gpu() else { return Some(ExitCode::FAILURE) };
    let launch = || {
        let device = &gpu.device;
        // The heap is made when a module that uses it is loaded.
        device.set_heap_size(16 << 20)?;
        let module = load_syscalls(device)?;
        let launch = Grid::new(1, 1);
        match which {
            0 => kernels::exhausts(100_000_000, &mut device.zeroed::<u8>(1)?).launch(&module, launch)?,
            1 => kernels::overflows(usize::MAX, &mut device.zeroed::<u32>(1)?).launch(&module, launch)?,
            _ => kernels::asserts(which as u32 - 2, 5).launch(&module, launch)?,
        }
        device.synchronize()
    };
    Some(failures::report(launch()))
}
