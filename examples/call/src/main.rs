//! Runs the guide's example three ways: all Rust, Rust calling CUDA C++, and CUDA C++ calling Rust.
//!
//! `--json` prints one JSON object instead of text.

use std::ffi::c_void;
use std::process::ExitCode;

use anyhow::{Result, bail};
use ptx::cudarc::driver::result::launch_kernel;
use ptx::prelude::*;
use ptx::{DevicePointer, Image};
use serde_json::{Value, json};

/// Kernel and function in Rust.
const RUST: Image = ptx::image!();
/// The function in Rust, the kernel in test.cu.
const CALLEE: Image = ptx::image!("call-callee");
/// The kernel in Rust, the function in foo.cu.
const CALLER: Image = ptx::image!("call-caller");

/// Who calls whom.
struct Way {
    name: &'static str,
    image: &'static Image,
    launch: fn(&Module, DevicePointer<i32>) -> Result<()>,
}

const WAYS: [Way; 3] = [
    Way { name: "Rust calls Rust", image: &RUST, launch: launch_rust },
    Way { name: "Rust calls CUDA C++", image: &CALLER, launch: launch_caller },
    Way { name: "CUDA C++ calls Rust", image: &CALLEE, launch: launch_cuda },
];

fn launch_rust(module: &Module, p: DevicePointer<i32>) -> Result<()> {
    // SAFETY: `p` is the device's memory, which nobody else uses.
    Ok(unsafe { call::test(p) }.launch(module, Grid::cover(1, 1))?)
}

fn launch_caller(module: &Module, p: DevicePointer<i32>) -> Result<()> {
    // SAFETY: `p` is the device's memory, which nobody else uses.
    Ok(unsafe { call_caller::test(p) }.launch(module, Grid::cover(1, 1))?)
}

/// Rust has no launcher for a kernel that it did not compile: the driver gets it by its name.
fn launch_cuda(module: &Module, p: DevicePointer<i32>) -> Result<()> {
    let test = module.function("_Z4testPi")?;
    let mut address = p.address();
    let mut params = [(&raw mut address).cast::<c_void>()];
    let stream = module.device().stream();
    // SAFETY: the kernel takes one pointer, to an `int` that nobody else uses; the module outlives the launch.
    unsafe { launch_kernel(test, (1, 1, 1), (1, 1, 1), 0, stream.cu_stream(), &mut params)? };
    Ok(())
}

fn main() -> Result<ExitCode> {
    let as_json = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--json") => true,
        Some(other) => bail!("unknown argument `{other}`: the only one is `--json`"),
    };
    let record = match Device::first() {
        Ok(device) => run(&device)?,
        Err(error @ (ptx::Error::NoDriver { .. } | ptx::Error::NoDevice { .. })) => {
            if !as_json {
                println!("no CUDA device: {error}");
                println!("checked instead: all three were compiled, and two of them linked with CUDA C++");
            }
            json!({ "example": "call", "device": null, "skipped": error.to_string() })
        }
        Err(error) => return Err(error.into()),
    };
    if as_json {
        println!("{record}");
    } else {
        for way in record["results"].as_array().into_iter().flatten() {
            println!("{}: {}", way["name"].as_str().unwrap_or_default(), way["detail"].as_str().unwrap_or_default());
        }
    }
    let passed = |way: &Value| way["passed"] == true;
    let all = record["results"].as_array().is_none_or(|ways| ways.iter().all(passed));
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn run(device: &Device) -> Result<Value> {
    let mut results = Vec::new();
    for Way { name, image, launch } in WAYS {
        let module = device.load(image)?;
        let mut memory = device.upload(&[0_i32])?;
        launch(&module, DevicePointer::of_mut(&mut memory, device.stream()))?;
        let result = device.download(&memory)?[0];
        results.push(json!({
            "name": name,
            "passed": result == 3,
            "detail": format!("foo(1, 2) is {result} ({})", module.loaded()),
        }));
    }
    Ok(json!({ "example": "call", "device": device.name(), "arch": device.arch(), "results": results }))
}
