//! Kernels that fail give typed errors; each in a process of its own, because it loses the device.

use std::process::{Command, ExitCode, Output};

use ptx::prelude::*;
use ptx::{Error, Lost};
use ptx_test_kernels::failures as kernels;

use crate::gpu::{Gpu, gpu};
use crate::record::{Test, test};

/// (name, what the child must print: the kind of error, then parts of its text)
const FAILURES: [(&str, &str, &[&str]); 8] = [
    ("panic", "Panic", &["the value is seven", "failures.rs:8:"]),
    ("panic with text", "Panic", &["the value is 7, thread 0", "failures.rs"]),
    ("index out of bounds", "Panic", &["index out of bounds", "the len is 3", "the index is 1000", "failures.rs"]),
    // The first of two in the four rounds that the compiler runs at once.
    ("index from memory", "Panic", &["index out of bounds", "the len is 3", "the index is 77", "failures.rs"]),
    ("unwrap of None", "Panic", &["unwrap", "failures.rs"]),
    ("division by zero", "Panic", &["divide by zero", "failures.rs"]),
    ("mask without the caller", "Panic", &["the calling thread's lane is not in the mask", "failures.rs"]),
    ("address of nothing", "IllegalAddress", &[]),
];

pub fn tests() -> Vec<Test> {
    let failing = |(name, kind, parts): (&'static str, &'static str, &'static [&'static str])| {
        test(&format!("failing kernel: {name}"), move |_| {
            let Output { stdout, stderr, .. } =
                Command::new(std::env::current_exe().expect("a running program has a path"))
                    .args(["--child", name])
                    .output()
                    .expect("it starts");
            let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
            assert!(stdout.contains(&format!("lost: {kind}")), "{stdout}\n{stderr}");
            for part in parts {
                assert!(stdout.contains(part), "`{part}` is not in:\n{stdout}\n{stderr}");
            }
        })
    };
    FAILURES.map(failing).into()
}

/// Launches a failing kernel and prints what came of it.
pub fn child(name: &str) -> ExitCode {
    let Ok(gpu) = gpu() else { return ExitCode::FAILURE };
    report(launch(gpu, name).and_then(|()| gpu.device.synchronize()))
}

/// Prints how a kernel failed, for the process that started this one.
pub fn report(result: ptx::Result<()>) -> ExitCode {
    match &result {
        Err(Error::Panic(panic)) => println!("lost: Panic\n{panic}"),
        Err(Error::ContextLost { reason: Lost::IllegalAddress, .. }) => println!("lost: IllegalAddress"),
        other => println!("{other:?}"),
    }
    ExitCode::SUCCESS
}

fn launch(gpu: &Gpu, name: &str) -> ptx::Result<()> {
    let mut out = gpu.device.zeroed::<u32>(32)?;
    let values = gpu.device.upload(&[1_u32, 2, 3])?;
    let indices = gpu.device.upload(&[0_u32, 1, 2, 0, 1, 2, 77, 88, 0, 99])?;
    let launch = match name {
        "panic" => kernels::panics(7),
        "panic with text" => kernels::panics_with_text(7),
        "index out of bounds" => kernels::out_of_bounds(&values, 1000, &mut out),
        "index from memory" => kernels::gathers(&indices, &values, &mut out),
        "unwrap of None" => kernels::unwraps(3, &mut out),
        "division by zero" => kernels::divides(0, &mut out),
        "mask without the caller" => kernels::votes_for_others(3, &mut out),
        // SAFETY: it is not safe; that is the test.
        _ => unsafe { kernels::reads_nowhere(&mut out) },
    };
    launch.launch(&gpu.module, Grid::new(1, 1))?;
    gpu.device.synchronize()
}
