//! What panics cost: registers and stack by ptxas's account, and what stands in the PTX.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use libtest_mimic::Trial;
use ptx_codegen::request::{AfterPanic, PanicStrategy};
use ptx_project::options::Settings;
use ptx_project::options::panics::PanicSettings;
use ptx_project::tools;
use ptx_tests::{Sample, trial};
use serde_json::Value;

use crate::packages;

const FOLDER: &str = "tests/kernels/panics";

/// Oldest, widest and newest that ptxas knows.
const ARCHS: [&str; 3] = ["sm_75", "sm_90", "sm_120"];

/// Ordinary kernels with bounds checks, `tests/kernels/panics/src/cost.rs`.
const KERNELS: [&str; 10] =
    ["saxpy", "gather", "stencil", "matmul", "histogram", "n_body", "compare", "errors", "borrow", "options"];

/// Registers that a kernel may need for keeping places and operands.
const ALLOWED: u64 = 2;

/// What the report needs itself, in kernels that need less.
const OF_A_REPORT: u64 = 14;

/// What panics leave, and what they end. The first has no panics to speak of.
const STRATEGIES: [(PanicStrategy, AfterPanic); 5] = [
    (PanicStrategy::Trap, AfterPanic::Trap),
    (PanicStrategy::Location, AfterPanic::Trap),
    (PanicStrategy::Full, AfterPanic::Trap),
    (PanicStrategy::Location, AfterPanic::Exit),
    (PanicStrategy::Full, AfterPanic::Exit),
];

type Built = Result<PathBuf, String>;

pub fn trials() -> Vec<Trial> {
    let built: Arc<OnceLock<[Built; 5]>> = Arc::default();
    let mut trials = Vec::new();
    let archs = Sample::asked().of("GPUs for what panics cost", ARCHS, 1);
    for kernel in KERNELS {
        for &arch in &archs {
            let (built, archs) = (built.clone(), archs.clone());
            trials.push(trial(format!("panics: what they cost {kernel} on {arch}"), move || {
                if tools::find().ptxas().is_none() {
                    return Some("ptxas was not found".into());
                }
                let build = |strategy| build(strategy, None, &["cost"], &archs);
                let all = built.get_or_init(|| STRATEGIES.map(build));
                let [(registers, stack), others @ ..] = all.each_ref().map(|out| usage(out, kernel, arch));
                for ((strategy, after), (more, more_stack)) in STRATEGIES[1..].iter().zip(others) {
                    let name = format!("{}, {}", strategy.name(), after.name());
                    let allowed = (registers + ALLOWED).max(OF_A_REPORT);
                    assert!(more <= allowed, "{more} registers with `{name}`, {registers} with `trap`");
                    assert!(more_stack <= stack, "{more_stack} bytes of stack with `{name}`, {stack} with `trap`");
                }
                None
            }));
        }
    }
    let waits = "nanosleep.u32 1000";
    let counts = "red.global.add.u32";
    for (strategy, after, present, absent) in [
        (PanicStrategy::Full, AfterPanic::Trap, vec!["__assertfail", "4core3fmt", "__ptx_panic", waits], vec![counts]),
        (
            PanicStrategy::Location,
            AfterPanic::Trap,
            vec!["__ptx_panic", "membar.sys", waits],
            vec!["__assertfail", "4core3fmt", "__ptx_panic_draft", counts],
        ),
        // What traps is left for hosts without a record.
        (
            PanicStrategy::Full,
            AfterPanic::Exit,
            vec!["__assertfail", "4core3fmt", "__ptx_panic", "exit;", counts, "trap;"],
            vec![],
        ),
        (
            PanicStrategy::Location,
            AfterPanic::Exit,
            vec!["__ptx_panic", "membar.sys", "exit;", counts, "trap;"],
            vec!["__assertfail", "4core3fmt", "__ptx_panic_draft", waits],
        ),
        (PanicStrategy::Trap, AfterPanic::Exit, vec!["trap;"], vec!["__assertfail", "4core3fmt", "__ptx_panic"]),
    ] {
        let (name, end) = (strategy.name(), after.name());
        trials.push(trial(format!("panics: what `{name}` has in the PTX, with `{end}` after it"), move || {
            let strategy = (strategy, after);
            let out = build(strategy, Some("off"), &[], &ARCHS[..1]).unwrap_or_else(|error| panic!("{error}"));
            let ptx = fs::read_to_string(out.join("ptx_panic_kernels.sm_75.ptx")).expect("the build made it");
            assert!(!ptx.contains("__rust_ptx_panic_end"), "it is the compiler's own");
            for part in &present {
                assert!(ptx.contains(*part), "no `{part}`");
            }
            for part in &absent {
                assert!(!ptx.contains(*part), "there is `{part}`");
            }
            None
        }));
    }
    trials
}

fn build(
    (strategy, after): (PanicStrategy, AfterPanic),
    ptxas: Option<&str>,
    features: &[&str],
    archs: &[&str],
) -> Built {
    let panic = PanicSettings { panic: Some(strategy), after_panic: Some(after), ..PanicSettings::default() };
    let arch = archs.iter().map(ToString::to_string).collect();
    let settings = Settings { arch, panic, ptxas: ptxas.map(Into::into), ..Settings::default() };
    let name = format!("tests-panic_kernels/{}{}-{}", features.concat(), strategy.name(), after.name());
    packages::build(FOLDER, &name, settings, features)
}

/// Registers and stack of a kernel.
fn usage(out: &Built, kernel: &str, arch: &str) -> (u64, u64) {
    let out = out.as_ref().unwrap_or_else(|error| panic!("{error}"));
    let report = fs::read_dir(out).expect("the build made it").flatten().map(|entry| entry.path());
    let report = report.into_iter().find(|path| path.extension().is_some_and(|end| end == "json")).expect("a report");
    let report: Value = serde_json::from_str(&fs::read_to_string(report).expect("readable")).expect("JSON");
    let kernels = report["kernels"].as_array().expect("kernels");
    let found = kernels.iter().find(|found| found["name"] == kernel).unwrap_or_else(|| panic!("no kernel {kernel}"));
    let resources = &found["resources"][arch];
    let number = |what: &str| resources[what].as_u64().unwrap_or_else(|| panic!("no {what} in {resources}"));
    (number("registers"), number("stack"))
}
