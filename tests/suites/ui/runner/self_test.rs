//! The harness against bad cases: what must fail fails, and says why.
//!
//! The cases are written to a folder of their own, where this program runs them in a process of its own.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};
use ptx_tests::trial;
use ui_test::color_eyre::eyre::{Result, ensure};

use crate::crates::CASES;
use crate::cubin;

/// What every case begins with, after its directives.
const HEAD: &str = "#![no_std]\nuse ptx::prelude::*;\n";

/// The kernel of cases without one of their own.
const KERNEL: &str = "#[kernel]\npub fn case(mut out: DisjointSlice<u32>) {\n    \
    if let Some(out) = out.get_mut(thread::index_1d()) {\n        *out += 1;\n    }\n}\n";

/// What a good case has to say.
const GOOD: &str = "";

/// (name, lines above the head, lines below it, what the failure says).
const PASS: [(&str, &str, &str, &str); 30] = [
    ("good", "//@ revisions: a b\n//@[b] opt-level: 0\n", "// CHECK: .entry case(\n// B: ret;\n", GOOD),
    ("builds", "//@ build-pass\n", "", GOOD),
    ("machine_code", "", "// SASS: IADD\n// SASS: EXIT\n", GOOD),
    (
        "debug_full",
        "//@ debug: full\n",
        "// DWARF: variable out: {{.*}}, class 6, frame\n// LINES: debug_full.rs:\n",
        GOOD,
    ),
    ("runs", "//@ run\n//@ expect: 1 2\n", "", GOOD),
    ("nothing_checked", "", "", "nothing is checked"),
    ("nothing_checked_in_b", "//@ revisions: a b\n", "// CHECK(a): ret;\n", "nothing is checked"),
    ("wrong_ptx", "", "// CHECK: .entry other(\n", "`.entry other(` is not found from here on"),
    ("wrong_count", "", "// CHECK-COUNT-2: .visible .entry\n", "is not found from here on"),
    ("wrong_not", "", "// CHECK-NOT: ret;\n", "`ret;` is there"),
    ("wrong_sass", "", "// SASS: FFMA\n", "`FFMA` is not found from here on"),
    ("wrong_dwarf", "//@ debug: full\n", "// DWARF: variable nobody\n", "`variable nobody` is not found from here on"),
    ("wrong_lines", "//@ debug: line-tables\n", "// LINES: other.rs:1\n", "`other.rs:1` is not found from here on"),
    ("no_lines", "", "// LINES: no_lines.rs\n", "the cubin has no .debug_line"),
    ("misspelt_kind", "", "// CHECK-NXT: ret;\n", "there is no directive CHECK-NXT"),
    ("misspelt_prefix", "", "// CHEKC: ret;\n", "nothing is checked by the prefix CHEKC"),
    ("prefix_of_none", "//@ revisions: a b\n", "// CHECK: ret;\n// C: ret;\n", "nothing is checked by the prefix C"),
    ("unknown_revision", "//@ revisions: a b\n", "// CHECK(c): ret;\n", "there is no revision `c`"),
    ("unknown_directive", "//@ archs: sm_80\n", "// CHECK: ret;\n", "`archs` is not a command known"),
    ("refused_directive", "//@ stderr-per-bitwidth\n", "// CHECK: ret;\n", "of no use here"),
    ("wrong_value", "//@ debug: some\n", "// CHECK: ret;\n", "none, line-tables or full"),
    ("wrong_flag", "//@ compile-flags: -Copt-level=0\n", "// CHECK: ret;\n", "use `//@ opt-level` for this"),
    ("wrong_spaced_flag", "//@ compile-flags: -C opt-level=0\n", "// CHECK: ret;\n", "use `//@ opt-level` for this"),
    ("wrong_short_flag", "//@ compile-flags: -g\n", "// CHECK: ret;\n", "use `//@ debug` for this"),
    ("nothing_in_a_pattern", "", "// CHECK: {{.*}}\n", "`{{.*}}` is found in any text"),
    ("wrong_mode", "//@ float: fmda=false\n", "// CHECK: ret;\n", "--fmda"),
    ("twice", "//@ debug: none\n//@ debug: full\n", "// CHECK: ret;\n", "cannot specify `debug` twice"),
    ("annotation", "", "// CHECK: ret;\n//~v ERROR: x\n", "error pattern found in pass test"),
    ("run_without_values", "//@ run\n", "", "a case that runs says what it writes"),
    (
        "wrong_parameters",
        "//@ run\n//@ expect: 1\n",
        "#[kernel]\npub fn case(_x: u32) {}\n",
        "the kernel of a case that runs is",
    ),
];

/// (name, the file without its head, what the failure says).
const FAIL: [(&str, &str, &str); 8] = [
    ("good_error", "#[kernel]\npub fn k() -> u32 { 1 } //~ ERROR: a kernel returns nothing\n", GOOD),
    ("no_annotation", "#[kernel]\npub fn k(x: u8) { x.missing(); }\n", "there was 1 unmatched diagnostic"),
    ("wrong_annotation", "pub fn k(x: u8) { x.missing(); } //~ ERROR: other\n", "`other` not found in diagnostics"),
    ("unknown_kind", "pub fn k(x: u8) { x.missing(); } //~ EROR: no method\n", "EROR"),
    ("compiles", "#[kernel]\npub fn k() {} //~ ERROR: x\n", "test got exit status: 0, but expected 1"),
    ("no_stderr_file", "pub fn k(x: u8) { x.missing(); } //~ ERROR: no method\n", "no output was expected"),
    ("checks_in_vain", "// CHECK: ret;\npub fn k(x: u8) { x.missing(); } //~ ERROR: no method\n", "nobody looks at"),
    (
        "for_pass_alone",
        "//@ build-pass\npub fn k(x: u8) { x.missing(); } //~ ERROR: no method\n",
        "`build-pass` is not",
    ),
];

/// The one message that is compared with a file.
const GOOD_ERROR: &str = "error: a kernel returns nothing: write results to a `DisjointSlice` parameter
  --> PATH:4:15
   |
LL | pub fn k() -> u32 { 1 }
   |               ^^^

error: aborting due to 1 previous error

";

/// A test for every case.
pub fn run() -> Result<()> {
    let scratch = tempfile::tempdir()?;
    write(scratch.path())?;
    let output =
        Command::new(std::env::current_exe()?).env(CASES, scratch.path()).env("RUST_BACKTRACE", "0").output()?;
    let text: Arc<str> = String::from_utf8_lossy(&output.stdout).into();
    ensure!(!output.status.success(), "bad cases pass:\n{text}");
    let pass = PASS.iter().map(|(name, _, _, says)| ("pass", *name, *says));
    let fail = FAIL.iter().map(|(name, _, says)| ("fail", *name, *says));
    let trials = pass.chain(fail).map(|(folder, name, says)| {
        let (text, path) = (text.clone(), scratch.path().join(format!("{folder}/{name}.rs")).display().to_string());
        trial(format!("harness, {folder}: {name}"), move || judge(&text, &path, says))
    });
    let conclusion = libtest_mimic::run(&Arguments::default(), trials.collect::<Vec<Trial>>());
    ensure!(!conclusion.has_failed(), "the harness has a fault");
    Ok(())
}

fn write(folder: &Path) -> Result<()> {
    for folder in ["pass", "run", "fail", "host"].map(|name| folder.join(name)) {
        fs::create_dir(folder)?;
    }
    for (name, above, below, _) in PASS {
        let kernel = if below.contains("#[kernel]") { "" } else { KERNEL };
        fs::write(folder.join(format!("pass/{name}.rs")), format!("{above}{HEAD}{below}{kernel}"))?;
    }
    for (name, rest, _) in FAIL {
        fs::write(folder.join(format!("fail/{name}.rs")), format!("{HEAD}{rest}"))?;
    }
    let good = folder.join("fail/good_error");
    let message = GOOD_ERROR.replace("PATH", &good.with_extension("rs").display().to_string());
    fs::write(good.with_extension("stderr"), message)?;
    Ok(())
}

/// What the process said of one case; or which tool it had not.
fn judge(text: &str, path: &str, says: &str) -> Option<String> {
    let results = || text.lines().filter(|line| line.starts_with(path));
    assert!(results().next().is_some(), "it did not run:\n{text}");
    let failed = results().any(|line| line.ends_with("FAILED"));
    let tools = [("ptxas", cubin::ptxas().is_some()), ("nvdisasm", cubin::nvdisasm().is_some())];
    let skipped = results().any(|line| line.contains("ptxas") && line.contains("... ignored"));
    if let Some((name, _)) = tools.iter().find(|(_, there)| !there).filter(|_| skipped) {
        return Some(format!("{name} was not found"));
    }
    // What is said of a case stands between its headline and the next.
    let parts = text.split("FAILED TEST: ").skip(1).filter(|part| part.starts_with(path));
    let said: String = parts.collect();
    match says {
        "" => assert!(!failed, "it failed:\n{said}"),
        says => {
            assert!(failed, "it passed");
            assert!(said.contains(says), "it does not say `{says}`:\n{said}");
        }
    }
    None
}
