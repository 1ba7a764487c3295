//! Launches the kernels of lib.rs and checks them against the CPU, which computes the filter itself.
//!
//! `--json` prints one JSON object instead of text.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use anyhow::{Result, bail};
use ptx::Plane;
use ptx::prelude::*;
use ptx::texture::{Address, Array2d, Sampling};
use ptx::vec::UChar4;
use serde_json::json;
use texture_filter::{OFF, blur, turn, turned};

/// The device code that build.rs made.
const IMAGE: ptx::Image = ptx::image!();

const WIDTH: usize = 640;
const HEIGHT: usize = 360;

/// Eighteen degrees, by their sine and cosine.
const SINE: f32 = 0.309_017;
const COSINE: f32 = 0.951_056_5;

/// How many pixels are farther from the CPU's than the filter's 8 bits of fraction allow.
struct Check {
    name: &'static str,
    wrong: usize,
}

fn main() -> Result<ExitCode> {
    let as_json = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--json") => true,
        Some(other) => bail!("unknown argument `{other}`: the only one is `--json`"),
    };
    let device = match Device::first() {
        Ok(device) => device,
        Err(error @ (ptx::Error::NoDriver { .. } | ptx::Error::NoDevice { .. })) => {
            let archs: Vec<&str> = IMAGE.objects().iter().map(|object| object.arch).collect();
            if as_json {
                println!("{}", json!({ "example": "texture-filter", "device": null, "skipped": error.to_string() }));
            } else {
                println!("no CUDA device: {error}");
                println!("textures need one; the kernels were compiled for {}", archs.join(", "));
            }
            return Ok(ExitCode::SUCCESS);
        }
        Err(error) => return Err(error.into()),
    };
    let module = device.load(&IMAGE)?;
    let checks = [check_turn(&device, &module)?, check_blur(&device, &module)?];
    if as_json {
        let row = |c: &Check| {
            let detail = format!("{} of {} pixels are wrong", c.wrong, WIDTH * HEIGHT);
            json!({ "name": c.name, "passed": c.wrong == 0, "detail": detail })
        };
        let results: Vec<_> = checks.iter().map(row).collect();
        let (name, arch) = (device.name(), device.arch());
        println!("{}", json!({ "example": "texture-filter", "device": name, "arch": arch, "results": results }));
    } else {
        println!("on {}", device.name());
        for Check { name, wrong } in &checks {
            let pixels = WIDTH * HEIGHT;
            println!("{:<4} {name:<5} {wrong} of {pixels} pixels are wrong", if *wrong == 0 { "ok" } else { "BAD" });
        }
    }
    Ok(if checks.iter().all(|check| check.wrong == 0) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Circles, which are easy to recognise once turned.
fn circles(x: usize, y: usize) -> f32 {
    let (x, y) = (x as f32 / 40.0, y as f32 / 40.0);
    (x * x + y * y).sin() * 0.5 + 0.5
}

fn check_turn(device: &Device, module: &Module) -> Result<Check> {
    let picture: Vec<f32> = (0..WIDTH * HEIGHT).map(|i| circles(i % WIDTH, i / WIDTH)).collect();
    let array = Array2d::upload(device, (WIDTH, HEIGHT), &picture)?;
    let texture = array.texture(&Sampling::linear().normalized().address(Address::Wrap))?;
    let mut out = device.zeroed::<f32>(WIDTH * HEIGHT)?;
    turn(&texture, SINE, COSINE, Plane::new(&mut out, WIDTH, HEIGHT))
        .launch(module, Grid::cover_2d((WIDTH, HEIGHT), (32, 8)))?;
    let out = device.download(&out)?;
    let texel =
        |x: i64, y: i64| picture[(y.rem_euclid(HEIGHT as i64) * WIDTH as i64 + x.rem_euclid(WIDTH as i64)) as usize];
    let is_wrong = |i: &usize| {
        let (u, v) = turned(i % WIDTH, i / WIDTH, WIDTH, HEIGHT, SINE, COSINE);
        let (x, y) = (u * WIDTH as f32 - 0.5, v * HEIGHT as f32 - 0.5);
        let four = four(x, y, &texel);
        // Weights have 8 bits, and the coordinates are those of `f32`.
        let apart = four.iter().fold(0.0_f32, |most, a| four.iter().fold(most, |most, b| most.max((a - b).abs())));
        (out[*i] - mixed(x, y, four)).abs() > apart / 64.0 + 1e-3
    };
    Ok(Check { name: "turn", wrong: (0..WIDTH * HEIGHT).filter(is_wrong).count() })
}

fn check_blur(device: &Device, module: &Module) -> Result<Check> {
    let byte = |x, y| (circles(x, y) * 255.0) as u8;
    let picture: Vec<UChar4> = (0..WIDTH * HEIGHT)
        .map(|i| (i % WIDTH, i / WIDTH))
        .map(|(x, y)| UChar4::new(byte(x, y), byte(WIDTH - x, y), byte(x, HEIGHT - y), 255))
        .collect();
    let array = Array2d::upload(device, (WIDTH, HEIGHT), &picture.iter().map(|p| p.to_array()).collect::<Vec<_>>())?;
    let mut blurred = Array2d::<UChar4>::zeroed(device, (WIDTH, HEIGHT))?;
    let texture = array.normalized_texture(&Sampling::linear())?;
    let surface = blurred.surface()?;
    blur(&texture, &surface, WIDTH as i32, HEIGHT as i32).launch(module, Grid::cover_2d((WIDTH, HEIGHT), (32, 8)))?;
    drop(surface);
    let out = blurred.download()?;
    let is_wrong = |i: &usize| {
        (0..4).any(|channel| {
            let texel = |x: i64, y: i64| {
                let (x, y) = (x.clamp(0, WIDTH as i64 - 1) as usize, y.clamp(0, HEIGHT as i64 - 1) as usize);
                f32::from(picture[y * WIDTH + x].to_array()[channel])
            };
            let (x, y) = ((i % WIDTH) as f32, (i / WIDTH) as f32);
            let corners = [(-OFF, -OFF), (OFF, -OFF), (-OFF, OFF), (OFF, OFF)];
            let mean = corners.iter().map(|(j, k)| mixed(x + j, y + k, four(x + j, y + k, &texel))).sum::<f32>() / 4.0;
            (f32::from(out[*i].to_array()[channel]) - mean).abs() > 1.5
        })
    };
    Ok(Check { name: "blur", wrong: (0..WIDTH * HEIGHT).filter(is_wrong).count() })
}

/// The four texels around, by the coordinates of their middles.
fn four(x: f32, y: f32, texel: &dyn Fn(i64, i64) -> f32) -> [f32; 4] {
    let (i, j) = (x.floor() as i64, y.floor() as i64);
    [texel(i, j), texel(i + 1, j), texel(i, j + 1), texel(i + 1, j + 1)]
}

/// What a linear filter makes of them.
fn mixed(x: f32, y: f32, [a, b, c, d]: [f32; 4]) -> f32 {
    let (s, t) = (x - x.floor(), y - y.floor());
    (a * (1.0 - s) + b * s) * (1.0 - t) + (c * (1.0 - s) + d * s) * t
}
