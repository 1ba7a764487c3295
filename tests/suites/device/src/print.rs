//! What kernels print is what std prints. The driver writes to the process's standard output, so a process of its own prints.

use std::process::{Command, ExitCode};

use ptx::prelude::*;
use ptx_test_syscalls::print as kernels;
use serde_json::json;

use crate::gpu::{gpu, load_syscalls};
use crate::record::{Test, recorded, test};

/// Threads that print at once.
const THREADS: usize = 4096;

pub fn tests() -> Vec<Test> {
    vec![
        recorded("printed text is std's", |_| {
            let (printed, expected) = (lines("print rows"), kernels::expected());
            for (row, (printed, expected)) in printed.iter().zip(&expected).enumerate() {
                assert_eq!(printed, expected, "row {row}");
            }
            assert_eq!(printed.len(), expected.len(), "rows");
            json!({ "rows": printed.len() })
        }),
        test("lines of threads do not mix", |_| {
            let mut printed = lines("print threads");
            let mut expected: Vec<_> = (0..THREADS).map(|i| kernels::line_of_thread(i, values()[i])).collect();
            printed.sort();
            expected.sort();
            assert_eq!(printed, expected);
        }),
    ]
}

fn values() -> Vec<f32> {
    (0..THREADS).map(|i| i as f32 / 7.0 - 100.0).collect()
}

/// What a process prints that launches the named kernel.
fn lines(name: &str) -> Vec<String> {
    let program = std::env::current_exe().expect("a running program has a path");
    let output = Command::new(program).args(["--child", name]).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8").lines().map(str::to_string).collect()
}

/// Launches a kernel that prints; none if the name is another's.
pub fn child(name: &str) -> Option<ExitCode> {
    let launch = |launch: fn(&Device, &Module) -> ptx::Result<()>| {
        let Ok(gpu) = gpu() else { return ExitCode::FAILURE };
        match load_syscalls(&gpu.device).and_then(|module| launch(&gpu.device, &module)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        }
    };
    match name {
        "print rows" => Some(launch(|device, module| {
            kernels::print_rows().launch(module, Grid::new(1, 1))?;
            device.synchronize()
        })),
        "print threads" => Some(launch(|device, module| {
            let values = device.upload(&values())?;
            kernels::print_threads(&values).launch(module, Grid::cover(THREADS, 128))?;
            device.synchronize()
        })),
        _ => None,
    }
}
