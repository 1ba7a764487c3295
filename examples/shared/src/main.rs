//! Runs the kernels of lib.rs and checks them against plain loops on the CPU. Where there is no GPU, the CPU runs the
//! kernels, too.
//!
//! `--json` prints one JSON object instead of text.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use anyhow::{Result, bail};
use ptx::cudarc::driver::DeviceRepr;
use ptx::prelude::*;
use ptx::{CpuMemory, DeviceRead, DeviceWrite, Launch, Plane};
use serde_json::json;
use shared::{HALO, POINTS, ROWS, SCANNED, SIDE, TILE, WEIGHTS};

/// The device code that build.rs made.
const IMAGE: ptx::Image = ptx::image!();

/// Extents of the matrices; no multiples of a tile's.
const WIDTH: usize = 100;
const HEIGHT: usize = 70;
const DEPTH: usize = 45;

/// Elements of what has one dimension.
const N: usize = 100_000;

/// A kernel's result beside the CPU's: how many elements differ, of how many.
struct Check {
    name: &'static str,
    wrong: usize,
    of: usize,
}

fn main() -> Result<ExitCode> {
    let as_json = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--json") => true,
        Some(other) => bail!("unknown argument `{other}`: the only one is `--json`"),
    };
    let gpu = match Device::first() {
        Ok(device) => Some((device.load(&IMAGE)?, device)),
        Err(error @ (ptx::Error::NoDriver { .. } | ptx::Error::NoDevice { .. })) => {
            if !as_json {
                println!("no CUDA device: {error}");
                println!("checked instead: the same kernels, run by the CPU");
            }
            None
        }
        Err(error) => return Err(error.into()),
    };
    let place = gpu.as_ref().map_or(Place::Cpu, |(module, device)| Place::Gpu(device, module));
    let checks = [matmul, transpose, reduce, scan, histogram, stencil].map(|check| check(&place));
    let checks = checks.into_iter().collect::<Result<Vec<Check>>>()?;
    let device = gpu.as_ref().map(|(_, device)| device);
    if as_json {
        let row = |c: &Check| {
            let detail = format!("{} of {} differ from the CPU's", c.wrong, c.of);
            json!({ "name": c.name, "passed": c.wrong == 0, "detail": detail })
        };
        let results: Vec<_> = checks.iter().map(row).collect();
        let (name, arch) = (device.map(Device::name), device.map(Device::arch));
        println!("{}", json!({ "example": "shared", "device": name, "arch": arch, "results": results }));
    } else {
        println!("{}", device.map_or("on the CPU".to_owned(), |device| format!("on {}", device.name())));
        for Check { name, wrong, of } in &checks {
            println!("{:<4} {name:<10} {wrong} of {of} differ", if *wrong == 0 { "ok" } else { "BAD" });
        }
    }
    Ok(if checks.iter().all(|check| check.wrong == 0) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Where kernels run.
enum Place<'g> {
    Cpu,
    Gpu(&'g Device, &'g Module),
}

impl Place<'_> {
    /// Runs a kernel of `inputs` that writes over `output`, and gives what it left there.
    fn run<T: AbiType + DeviceRepr, R: AbiType + DeviceRepr>(
        &self,
        inputs: [&[T]; 2],
        output: Vec<R>,
        grid: Grid,
        kernel: impl for<'a> Fn([&'a dyn DeviceRead<T>; 2], &'a mut dyn DeviceWrite<R>) -> Launch<'a>,
    ) -> Result<Vec<R>> {
        match self {
            Self::Cpu => {
                let ([a, b], mut output) = (inputs.map(CpuMemory::from), CpuMemory::from(output));
                kernel([&a, &b], &mut output).launch_on_cpu(grid)?;
                Ok(output.into_vec())
            }
            Self::Gpu(device, module) => {
                let (a, b) = (device.upload(inputs[0])?, device.upload(inputs[1])?);
                let mut output = device.upload(&output)?;
                kernel([&a, &b], &mut output).launch(module, grid)?;
                Ok(device.download(&output)?)
            }
        }
    }
}

/// Numbers that look random and are the same every time; products and sums of few of them are exact.
fn numbers(n: usize, seed: u32) -> Vec<f32> {
    (0..n as u32).map(|i| ((i.wrapping_add(seed)).wrapping_mul(2_654_435_761) >> 28) as f32).collect()
}

fn compare<T: PartialEq>(name: &'static str, found: &[T], expected: &[T]) -> Check {
    let wrong = found.iter().zip(expected).filter(|(found, expected)| found != expected).count();
    Check { name, wrong: wrong + found.len().abs_diff(expected.len()), of: expected.len() }
}

fn matmul(place: &Place<'_>) -> Result<Check> {
    let (a, b) = (numbers(HEIGHT * DEPTH, 1), numbers(DEPTH * WIDTH, 2));
    let side = TILE as u32;
    let grid = Grid::cover_2d((WIDTH, HEIGHT), (side, side));
    let found = place.run([&a, &b], vec![0.0; WIDTH * HEIGHT], grid, |[a, b], c| {
        shared::matmul(a, b, DEPTH, Plane::new(c, WIDTH, HEIGHT))
    })?;
    let element = |i: usize| (0..DEPTH).map(|k| a[i / WIDTH * DEPTH + k] * b[k * WIDTH + i % WIDTH]).sum();
    Ok(compare("matmul", &found, &(0..WIDTH * HEIGHT).map(element).collect::<Vec<f32>>()))
}

fn transpose(place: &Place<'_>) -> Result<Check> {
    let from = numbers(WIDTH * HEIGHT, 3);
    let tiles = (WIDTH.div_ceil(SIDE) as u32, HEIGHT.div_ceil(SIDE) as u32);
    let grid = Grid::new(tiles, (SIDE as u32, ROWS as u32));
    let found = place.run([&from, &from[..1]], vec![0.0; WIDTH * HEIGHT], grid, |[from, _], to| {
        shared::transpose(from, WIDTH as u32, HEIGHT as u32, Plane::new(to, HEIGHT, WIDTH))
    })?;
    let expected: Vec<f32> = (0..WIDTH * HEIGHT).map(|i| from[i % HEIGHT * WIDTH + i / HEIGHT]).collect();
    Ok(compare("transpose", &found, &expected))
}

fn reduce(place: &Place<'_>) -> Result<Check> {
    const BLOCKS: usize = 8;
    let x = numbers(N, 4);
    let grid = Grid::new(BLOCKS as u32, 192);
    let found = place.run([&x, &x[..1]], vec![0.0; BLOCKS], grid, |[x, _], sums| shared::reduce(x, sums))?;
    // All sums are exact, so that their order does not matter.
    let mut expected = vec![0.0; BLOCKS];
    x.iter().enumerate().for_each(|(i, x)| expected[i / 192 % BLOCKS] += x);
    Ok(compare("reduce", &found, &expected))
}

fn scan(place: &Place<'_>) -> Result<Check> {
    let x: Vec<u32> = (0..N as u32).map(|i| i.wrapping_mul(2_654_435_761) >> 8).collect();
    let grid = Grid::cover(N, SCANNED as u32);
    let found = place.run([&x, &x[..1]], vec![0; N], grid, |[x, _], sums| shared::scan(x, sums))?;
    let add = |sum: &mut u32, x: &u32| {
        *sum = sum.wrapping_add(*x);
        Some(*sum)
    };
    let expected: Vec<u32> = x.chunks(SCANNED).flat_map(|block| block.iter().scan(0, add)).collect();
    Ok(compare("scan", &found, &expected))
}

fn histogram(place: &Place<'_>) -> Result<Check> {
    let data: Vec<u8> = (0..N as u32).map(|i| (i.wrapping_mul(i) % 251) as u8).collect();
    let found = place.run([&data, &data[..1]], vec![0_u32; 256], Grid::new(4, 96), |[data, _], counts| {
        shared::histogram(data, counts)
    })?;
    let mut expected = vec![0; 256];
    data.iter().for_each(|byte| expected[usize::from(*byte)] += 1);
    Ok(compare("histogram", &found, &expected))
}

fn stencil(place: &Place<'_>) -> Result<Check> {
    let x = numbers(N, 5);
    let grid = Grid::cover(N, POINTS as u32);
    let found = place.run([&x, &x[..1]], vec![0.0; N], grid, |[x, _], y| shared::stencil(x, y))?;
    let at = |i: usize| i.checked_sub(HALO).and_then(|i| x.get(i)).copied().unwrap_or(0.0);
    let mean = |i: usize| -> f32 { WEIGHTS.iter().enumerate().map(|(k, weight)| at(i + k) * weight).sum() };
    // A GPU rounds `a * b + c` once, a CPU twice: they differ in the last bits.
    let near = |found: &f32, expected: f32| (found - expected).abs() <= 1e-5 * expected.abs().max(1.0);
    let wrong = found.iter().enumerate().filter(|(i, found)| !near(found, mean(*i))).count();
    Ok(Check { name: "stencil", wrong: wrong + found.len().abs_diff(N), of: N })
}
