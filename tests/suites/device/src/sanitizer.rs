//! The suite under compute-sanitizer: memcheck, racecheck, synccheck and initcheck have nothing to say of kernels that are right.

use std::process::Command;

use ptx_debugger_tests::is_there;

use crate::record::{Test, skippable};

const PROGRAM: &str = "compute-sanitizer";

/// One of its tools.
#[derive(Clone, Copy)]
struct Tool {
    name: &'static str,
    /// What it says in the end if it has found nothing.
    clean: &'static str,
    /// Tests of which it says what is not so, beside [`LEFT_OUT`].
    left_out: &'static [&'static str],
}

const TOOLS: [Tool; 4] = [
    Tool {
        name: "memcheck",
        clean: "ERROR SUMMARY: 0 errors",
        // The first: it calls 127 threads' elements out of bounds "and inside the nearest allocation"; the results are right.
        // The second: of 20,000 threads that allocate at once it says that one frees twice.
        left_out: &["one loop in the other", "collections in every thread"],
    },
    Tool {
        name: "racecheck",
        clean: "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)",
        // It does not follow arrivals at a barrier in another block; and where threads have ended that others do not wait for,
        // the values are any by design.
        left_out: &["tiles of other blocks", "threads that end"],
    },
    Tool { name: "synccheck", clean: "ERROR SUMMARY: 0 errors", left_out: &[] },
    Tool {
        name: "initcheck",
        clean: "ERROR SUMMARY: 0 errors",
        // Memory that grows is copied whole, also where nothing was written yet: Rust's `MaybeUninit`.
        left_out: &["collections in"],
    },
];

/// Parts of the names of tests that do not run under it: because they take it minutes, as all inputs of a function do; because
/// their kernels fail or race on purpose; because they watch the time; or because they start programs, which it does not follow.
const LEFT_OUT: [&str; 23] = [
    "abi",
    "cargo ptx test",
    "compute-sanitizer",
    "concurrency",
    "core tests",
    "crate",
    "cuda-gdb",
    "driver's linker",
    "dynamic parallelism",
    "example",
    "failing kernel",
    "float",
    "halfwords",
    "launches",
    "litmus",
    "nvJitLink",
    "panic",
    "printed",
    "random numbers",
    "stack:",
    "that traps",
    "timeline",
    "tools:",
];

/// Seconds after which it is stopped.
const LIMIT: &str = "400";

pub fn tests() -> Vec<Test> {
    let test = |Tool { name, clean, left_out }: Tool| {
        skippable(&format!("compute-sanitizer: the suite under {name}"), move |_| {
            let skips = LEFT_OUT.iter().chain(left_out).flat_map(|name| ["--skip", name]);
            let said = under(name, &skips.collect::<Vec<_>>())?;
            assert!(said.contains(clean), "{said}");
            let passed = said.lines().rev().find_map(|line| line.split_once(" passed, 0 failed, "));
            let passed = passed.and_then(|(passed, _)| passed.parse::<u32>().ok());
            assert!(passed.is_some_and(|passed| passed > 100), "{said}");
            Ok(())
        })
    };
    TOOLS.map(test).into()
}

/// What the tool and this program say, which it starts with the arguments; an error where there is no such tool.
pub fn under(tool: &str, arguments: &[&str]) -> Result<String, String> {
    if !is_there(PROGRAM) {
        return Err(format!("{PROGRAM} was not found"));
    }
    let program = std::env::current_exe().expect("a running program has a path");
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", LIMIT, PROGRAM, "--tool", tool, "--target-processes", "application-only"]);
    // What the runtime asks the driver for may be missing, which is no error of a kernel.
    command.args(["--report-api-errors", "no"]).arg(program).args(arguments);
    let output = command.output().map_err(|error| format!("`timeout` does not start: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
}
