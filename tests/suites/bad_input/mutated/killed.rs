//! Links that a signal ends at some moment: no half-written output, and nothing left for long.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

use fastrand::Rng;
use libtest_mimic::Trial;
use ptx_tests::{Sample, Scratch, test};

use super::left::{files_in, scratch};
use crate::ir;

/// The signals that end a process, with their numbers; the last one cannot be caught.
const SIGNALS: [(&str, i32); 4] = [("HUP", 1), ("INT", 2), ("TERM", 15), ("KILL", 9)];

/// Moments for each.
const MOMENTS: u64 = 15;

/// The part that `cargo xtask test` runs.
const PART: usize = 8;

/// Writes for a while what it is asked for.
const SLOW_PTXAS: &str = r#"#!/bin/sh
case "$*" in
*--version*) echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit 0 ;;
*--help*) echo "--gpu-name <name>  Allowed values for this option:  'sm_75','sm_80','sm_90'."; exit 0 ;;
esac
while [ $# -gt 0 ]; do if [ "$1" = -o ]; then out="$2"; fi; shift; done
for part in 1 2 3 4 5; do echo "$part" >> "$out"; sleep 0.03; done
"#;

pub fn trials() -> Vec<Trial> {
    let cases = SIGNALS.into_iter().flat_map(|signal| (0..MOMENTS).map(move |moment| (signal, moment)));
    let case = |((name, number), moment)| {
        test(format!("ended by SIG{name}: {moment}"), move || ended_by(name, number, moment))
    };
    let mut trials: Vec<Trial> =
        Sample::asked().of("links that a signal ends", cases, PART).into_iter().map(case).collect();
    trials.push(test("ended by a crash while ptxas works", crash));
    trials
}

/// A link for several archs, with machine code and a report.
fn linker(scratch: &Scratch) -> Command {
    let source = scratch.write("a.ll", ir::good("k"));
    let ptxas = scratch.path().join("ptxas");
    if !ptxas.exists() {
        scratch.write_program("ptxas", SLOW_PTXAS);
    }
    let mut command = scratch.linker();
    command.args(["--arch=sm_75,sm_80,sm_90", "--emit=cubin,llvm-ir", "--out-dir=out"]).arg(source);
    command.arg(format!("--ptxas={}", ptxas.display())).env("TMPDIR", scratch.path().join("tmp"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Files by name.
type Files = Vec<(String, Vec<u8>)>;

/// What an undisturbed link writes, and how long it takes.
fn whole() -> &'static (Files, Duration) {
    static WHOLE: OnceLock<(Files, Duration)> = OnceLock::new();
    WHOLE.get_or_init(|| {
        let scratch = scratch();
        let mut command = linker(&scratch);
        let begun = Instant::now();
        assert!(command.status().expect("the linker starts").success());
        let took = begun.elapsed();
        assert!(files_in(&scratch.path().join("tmp")).is_empty());
        (outputs(&scratch), took)
    })
}

/// The outputs by name; of the report, which has paths in it, only that it is whole.
fn outputs(scratch: &Scratch) -> Files {
    let read = |name: String| {
        let bytes = fs::read(scratch.path().join("out").join(&name)).expect("it is there");
        let is_report = name == "report.json" && serde_json::from_slice::<serde_json::Value>(&bytes).is_ok();
        (name, if is_report { Vec::new() } else { bytes })
    };
    scratch.outputs().into_iter().filter(|name| !name.starts_with('.')).map(read).collect()
}

fn ended_by(name: &str, number: i32, moment: u64) {
    let (expected, took) = whole();
    let scratch = scratch();
    let mut child = linker(&scratch).spawn().expect("the linker starts");
    let mut rng = Rng::with_seed(moment * 31 + number.unsigned_abs() as u64);
    std::thread::sleep(took.mul_f64(rng.f64()));
    let sent = Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()).status().expect("kill starts");
    let status = child.wait().expect("our own child");
    // It may have ended before.
    assert!(status.success() || sent.success() && status.signal() == Some(number), "{status}");
    let written = outputs(&scratch);
    for output in &written {
        assert!(expected.contains(output), "{} is not whole", output.0);
    }
    if name != "KILL" {
        assert!(written.is_empty() || written.len() == expected.len(), "only {written:?}");
        let left = [files_in(&scratch.path().join("tmp")), hidden(&scratch)].concat();
        assert!(left.is_empty(), "left behind: {left:?}");
        return;
    }
    // ptxas ends with it, but perhaps not before it.
    std::thread::sleep(Duration::from_millis(100));
    // The next link removes what is left, when it is certain that nobody makes it just now.
    let tmp = scratch.path().join("tmp");
    for path in files_in(&tmp).into_iter().chain(hidden(&scratch)) {
        let long_ago = SystemTime::now() - Duration::from_secs(3600);
        if let Ok(file) = File::open(&path) {
            file.set_modified(long_ago).expect("our own file");
        }
    }
    assert!(linker(&scratch).status().expect("the linker starts").success());
    let left = [files_in(&tmp), hidden(&scratch)].concat();
    assert!(left.is_empty() && outputs(&scratch) == *expected, "left behind: {left:?}");
}

/// LLVM may crash over an arch while ptxas works on one before; a signal of the same kind stands for that.
fn crash() {
    let scratch = scratch();
    // At work for long: the crash must not meet the linker as it writes its outputs.
    scratch.write_program("ptxas", &SLOW_PTXAS.replace("0.03", "0.5"));
    let mut child = linker(&scratch).spawn().expect("the linker starts");
    let tmp = scratch.path().join("tmp");
    let works = |file: &String| file.ends_with(".cubin") && fs::read(file).is_ok_and(|text| text.len() > 3);
    let begun = Instant::now();
    while !files_in(&tmp).iter().any(works) {
        assert!(begun.elapsed() < Duration::from_secs(60), "ptxas was not started");
        std::thread::sleep(Duration::from_millis(1));
    }
    Command::new("kill").arg("-SEGV").arg(child.id().to_string()).status().expect("kill starts");
    let status = child.wait().expect("our own child");
    assert_eq!(status.code(), Some(1), "{status}");
    let left = [files_in(&tmp), files_in(&scratch.path().join("out"))].concat();
    assert!(left.is_empty(), "left behind: {left:?}");
}

/// Files under temporary names beside the outputs.
fn hidden(scratch: &Scratch) -> Vec<String> {
    let out = scratch.path().join("out");
    let is_hidden = |path: &String| Path::new(path).file_name().is_some_and(|name| name.as_encoded_bytes()[0] == b'.');
    files_in(&out).into_iter().filter(is_hidden).collect()
}
