//! Kernels that launch kernels: each stream, each kind of argument, and what goes wrong. Each in a process of its own: a
//! wrong launch takes the device from its process.

use std::process::ExitCode;

use ptx::children::ChildError;
use ptx::prelude::*;
use ptx::{DevicePointer, Error, Image};
use ptx_children_kernels::{self as kernels, Pair};
use serde_json::json;

use crate::children;
use crate::gpu::same;
use crate::record::{Test, test};

static IMAGE: Image = ptx::image!("ptx-children-kernels");

type Body = fn(&Device, &Module) -> ptx::Result<()>;

/// Begins the names of this module's processes.
const CHILD: &str = "dynamic";

const TESTS: [(&str, Body); 10] = [
    ("arguments", arguments),
    ("extents", extents),
    ("children of children", trees),
    ("kernels that launch each other", ping_pong),
    ("a chain of the tail", rounds),
    ("order of streams", streams),
    ("dynamic shared memory", shared),
    ("instances of generic kernels", instances),
    ("errors", errors),
    ("panics", panics),
];

pub fn tests() -> Vec<Test> {
    let of = |(at, (name, _)): (usize, &(&str, Body))| {
        test(&format!("dynamic parallelism: {name}"), move |_| {
            let found = children::one(&format!("{CHILD} {at}"));
            assert_eq!(found, json!("held"), "{found}");
        })
    };
    TESTS.iter().enumerate().map(of).collect()
}

/// Runs a test, and prints whether what it claims held; none if the name is another's.
pub fn child(name: &str) -> Option<ExitCode> {
    let at = name.strip_prefix(CHILD)?.trim().parse::<usize>().ok()?;
    let (_, body) = TESTS.get(at)?;
    let result = Device::first().and_then(|device| body(&device, &device.load(&IMAGE)?));
    println!("{}", result.map_or_else(|error| json!({ "failed": error.to_string() }), |()| json!("held")));
    Some(ExitCode::SUCCESS)
}

fn arguments(device: &Device, module: &Module) -> ptx::Result<()> {
    let words = device.upload(&[1_u16, 20, 300])?;
    let (float, one) = (device.upload(&[1.5_f32])?, device.upload(&[-9_i64])?);
    let mut out = device.zeroed::<u64>(13)?;
    let pair = Pair { small: 9, large: 0.25 };
    kernels::hand_on(pair, &words, DevicePointer::of(&float, device.stream()), &one, &mut out)
        .launch(module, Grid::new(1, 1))?;
    same(&device.download(&out)?, kernels::ARGUMENTS);
    Ok(())
}

fn extents(device: &Device, module: &Module) -> ptx::Result<()> {
    for (blocks, threads) in [([1, 1, 1], [1, 1, 1]), ([4, 3, 2], [8, 2, 2]), ([9, 1, 1], [31, 1, 1])] {
        let expected = kernels::expected_positions(blocks, threads);
        let mut out = device.zeroed::<u32>(expected.len())?;
        kernels::launch_positions(blocks, threads, &mut out).launch(module, Grid::new(1, 1))?;
        same(&device.download(&out)?, expected);
    }
    Ok(())
}

fn trees(device: &Device, module: &Module) -> ptx::Result<()> {
    let mut count = device.zeroed::<u32>(1)?;
    kernels::tree(5, &mut count).launch(module, Grid::new(3, 1))?;
    same(&device.download(&count)?, [3 * 63]);
    Ok(())
}

fn ping_pong(device: &Device, module: &Module) -> ptx::Result<()> {
    let mut log = device.zeroed::<u32>(8)?;
    kernels::ping(5, &mut log).launch(module, Grid::new(1, 1))?;
    same(&device.download(&log)?, [6, 105, 4, 103, 2, 101, 0, 0]);
    Ok(())
}

fn rounds(device: &Device, module: &Module) -> ptx::Result<()> {
    let mut x = device.upload(&(0..100_000).collect::<Vec<u32>>())?;
    kernels::rounds(50, &mut x).launch(module, Grid::cover(100_000, 256))?;
    let model = |x| (0..50).fold(x, |x: u32, _| x.wrapping_mul(3).wrapping_add(1));
    same(&device.download(&x)?, (0..100_000).map(model));
    Ok(())
}

fn streams(device: &Device, module: &Module) -> ptx::Result<()> {
    for _ in 0..20 {
        let mut log = device.zeroed::<u32>(16)?;
        kernels::streams(&mut log).launch(module, Grid::new(1, 1))?;
        kernels::check_streams(&device.download(&log)?);
    }
    Ok(())
}

fn shared(device: &Device, module: &Module) -> ptx::Result<()> {
    for threads in [32, 256, 1024] {
        let mut x = device.upload(&(0..8192).collect::<Vec<u32>>())?;
        kernels::launch_reverse(threads, &mut x).launch(module, Grid::new(1, 1))?;
        same(&device.download(&x)?, (0..8192).map(|i| i / threads * threads + threads - 1 - i % threads));
    }
    Ok(())
}

fn instances(device: &Device, module: &Module) -> ptx::Result<()> {
    let mut words = device.upload(&(0..6400).collect::<Vec<u32>>())?;
    let mut numbers = device.upload(&(0..64_000).map(f64::from).collect::<Vec<f64>>())?;
    kernels::launch_scale(&mut words, &mut numbers).launch(module, Grid::new(1, 1))?;
    let reversed = |i: u32| i / 64 * 64 + 63 - i % 64;
    same(&device.download(&words)?, (0..6400).map(|i| 125 * reversed(i)));
    same(&device.download(&numbers)?, (0..64_000).map(|i| 0.25 * f64::from(reversed(i))));
    Ok(())
}

/// What a device refuses is the kernel's error, and costs nothing else.
fn errors(device: &Device, module: &Module) -> ptx::Result<()> {
    for (threads, bytes) in [(2000, 0), (0, 0), (32, 1 << 20)] {
        let mut out = device.zeroed::<u32>(1)?;
        kernels::refused(threads, bytes, &mut out).launch(module, Grid::new(1, 1))?;
        let code = device.download(&out)?[0];
        assert_eq!(code, ChildError::INVALID_GRID.code(), "{threads} threads with {bytes} bytes");
    }
    let mut out = device.zeroed::<u32>(32)?;
    kernels::refused(32, 0, &mut out).launch(module, Grid::new(1, 1))?;
    device.synchronize()
}

fn panics(device: &Device, module: &Module) -> ptx::Result<()> {
    kernels::launch_panics(63).launch(module, Grid::new(1, 1))?;
    match device.synchronize() {
        Err(Error::Panic(panic)) => {
            assert_eq!(panic.message.as_deref(), Some("63 is not below 63"), "{panic}");
            assert_eq!((panic.block.x, panic.thread.x), (1, 31), "{panic}");
        }
        other => panic!("the child's panic was not reported: {other:?}"),
    }
    kernels::lends_shared_memory().launch(module, Grid::new(1, 1))?;
    match device.synchronize() {
        Err(Error::Panic(panic)) => assert!(panic.to_string().contains("cannot reach its parent's shared"), "{panic}"),
        other => panic!("shared memory was lent: {other:?}"),
    }
    // Launches that do not panic go on.
    kernels::launch_panics(64).launch(module, Grid::new(1, 1))?;
    device.synchronize()
}
