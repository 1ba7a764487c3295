//! `cargo xtask test sanitizer`: the unit tests of what the host runs of the runtime, under AddressSanitizer and with
//! rustc's checks of undefined behaviour; and under Miri, where the toolchain has it.
//!
//! What runs here is the unsafe code that needs no GPU: layouts and encoding (ptx-abi), atomics, memory and formatting
//! (ptx-device), device code and its choice (ptx-host), copies and arithmetic (ptx-builtins). Programs with a planted bug
//! each come first: a sanitizer that is silent about them proves nothing.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::counts::Counts;
use crate::shell;

/// Named, so that build scripts and macros, which the host runs while it compiles, are without the flags.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// AddressSanitizer, with its search for leaks; `core`'s checks of what unsafe functions ask for, and of constants; and
/// another order of fields wherever Rust promises none.
const FLAGS: [&str; 5] = [
    "-Zsanitizer=address",
    "-Zub-checks=yes",
    "-Zextra-const-ub-checks",
    "-Zrandomize-layout",
    "-Cdebug-assertions=yes",
];

/// The variable of AddressSanitizer's options: locals that are used after their function returned are found, too.
const OPTIONS: (&str, &str) = ("ASAN_OPTIONS", "detect_leaks=1:detect_stack_use_after_return=1");

/// What is tested.
const PACKAGES: [&str; 4] = ["ptx-abi", "ptx-builtins", "ptx-device", "ptx-host"];

/// A name, the body of a wrong `main`, and what its standard error must contain.
const PLANTED: [(&str, &str, &str); 5] = [
    (
        "use_after_free",
        "let freed = { let value = Box::new(7_u8); &raw const *value }; unsafe { black_box(freed.read_volatile()); }",
        "AddressSanitizer: heap-use-after-free",
    ),
    (
        "out_of_bounds",
        "let values = black_box(vec![1_u8; 8]); unsafe { black_box(values.as_ptr().add(8).read_volatile()); }",
        "AddressSanitizer: heap-buffer-overflow",
    ),
    (
        "use_after_return",
        "fn local() -> *const u8 { let value = black_box([7_u8; 8]); &raw const *black_box(&value) as *const u8 } \
         let gone = black_box(local()); unsafe { black_box(gone.read_volatile()); }",
        "AddressSanitizer: stack-use-after-return",
    ),
    ("leak", "black_box(Box::into_raw(Box::new([7_u64; 99])) as usize ^ 1);", "LeakSanitizer: detected memory leaks"),
    (
        "precondition",
        "let values = black_box([1_u8, 2]); unsafe { black_box(values.get_unchecked(black_box(2))); }",
        "unsafe precondition(s) violated",
    ),
];

/// Runs all of it.
pub fn run() -> Result<Counts> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Ok(Counts::skip(format!("sanitizer: only tried on {TARGET}")));
    }
    let folder = shell::target_dir()?.join("sanitizer");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut counts = Counts::default();
    for (name, body, report) in PLANTED {
        counts += planted(&folder, name, body, report)?;
    }
    counts += tests(&folder)?;
    counts += miri(&folder)?;
    Ok(counts)
}

/// A program that must be found wrong.
fn planted(folder: &Path, name: &str, body: &str, report: &str) -> Result<Counts> {
    let (source, program) = (folder.join(format!("{name}.rs")), folder.join(name));
    std::fs::write(&source, format!("use std::hint::black_box;\nfn main() {{ {body} }}\n"))?;
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition=2024", "--target", TARGET, "-g"]).args(FLAGS).arg(&source).arg("-o").arg(&program);
    shell::run(&mut rustc)?;
    let output = Command::new(&program).env(OPTIONS.0, OPTIONS.1).output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let found = !output.status.success() && text.contains(report);
    println!("test planted bug: {name} ... {}", if found { "found" } else { "NOT FOUND" });
    if found {
        return Ok(Counts::pass());
    }
    println!("expected `{report}` ({}):\n{text}", output.status);
    Ok(Counts::fail())
}

fn tests(folder: &Path) -> Result<Counts> {
    let mut command = shell::cargo();
    command.args(["test", "--no-fail-fast", "--lib", "--all-features", "--target", TARGET]);
    for package in PACKAGES {
        command.args(["--package", package]);
    }
    command.env("RUSTFLAGS", FLAGS.join(" ")).env_remove("CARGO_ENCODED_RUSTFLAGS").env(OPTIONS.0, OPTIONS.1);
    runner(command.env("CARGO_TARGET_DIR", folder))
}

/// Under Miri what it finishes in minutes: neither the tests of rounding nor those of mathematical functions, which have
/// no unsafe code, nor those that look for a driver.
fn miri(folder: &Path) -> Result<Counts> {
    let found = shell::cargo().args(["miri", "--version"]).output().is_ok_and(|output| output.status.success());
    if !found {
        return Ok(Counts::skip("Miri: this toolchain does not have it (`rustup component add miri`)".into()));
    }
    let mut command = shell::cargo();
    command.args(["miri", "test", "--no-fail-fast", "--lib"]);
    for package in PACKAGES.iter().filter(|package| **package != "ptx-host") {
        command.args(["--package", package]);
    }
    command.args(["--", "--skip", "float::", "--skip", "math::"]);
    // Atomic pointers travel as integers.
    command.env("MIRIFLAGS", "-Zmiri-permissive-provenance");
    runner(command.env("CARGO_TARGET_DIR", folder.join("miri")))
}

fn runner(command: &mut Command) -> Result<Counts> {
    let (status, text) = shell::tee(command.env("CARGO_TERM_COLOR", "never"))?;
    Ok(Counts::from_output(&text, status.success()))
}
