//! Messages of `cargo ptx build` about packages: what a user sees, each with its code.

use std::fs;
use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;
use ptx_codegen::request::TARGET;
use ptx_project::linker::LINKER_VARIABLE;
use ptx_project::progress::Progress;
use ptx_project::sysroot::{self, Rustc};
use ptx_tests::test;

use crate::demo::{Demo, demo};

pub fn trials() -> Vec<Trial> {
    vec![
        test("a dependency that needs std is named, and what to do", || {
            let demo = demo();
            let folder = demo.path().join("needs_std");
            fs::create_dir_all(folder.join("src")).unwrap();
            let manifest = "[package]\nname = \"needs_std\"\nedition = \"2024\"\nversion = \"0.1.0\"\n";
            fs::write(folder.join("Cargo.toml"), manifest).unwrap();
            fs::write(folder.join("src/lib.rs"), "//! It prints.\npub fn f() {\n    println!(\"std\");\n}\n").unwrap();
            demo.with_manifest(
                |text| text + "\n[dependencies.needs_std]\npath = \"needs_std\"\n",
                || {
                    refused(&demo, &[], &["error[PTX0017]", "needs_std", "Cargo.toml", "help:", "host"]);
                },
            );
        }),
        test("rustc's error stands above ours", || {
            let demo = demo();
            demo.edit("lib.rs", |text| text.replace("*y += ", "*y += \"text\" + "));
            let stderr = refused(&demo, &[], &["error[E0369]", "src/lib.rs:", "error[PTX0020]", "stands above"]);
            assert_eq!(stderr.matches("error[E0").count(), 1, "{stderr}");
        }),
        test("rustc's errors about what a GPU does not have say what it has", || {
            let demo = demo();
            demo.edit("lib.rs", |text| text + &format!("\n#[cfg(target_arch = \"nvptx64\")]\nmod wrong {{{WRONG}}}\n"));
            let stderr = refused(&demo, &[], &["error[PTX0020]"]);
            for (error, note) in [
                ("unlinked crate `std`", "GPUs have no `std`"),
                ("macro `vec`", "extern crate alloc;"),
                ("type `Box`", "extern crate alloc;"),
                ("macro `thread_local`", "GPUs have no thread-local statics"),
                ("value `threadIdx`", "thread::thread_idx_x()"),
                ("cannot index into a value of type", "y.get_mut(thread::index_1d())"),
                ("use of mutable static", "#[ptx::shared] static"),
            ] {
                let message = stderr.split("\n\n").find(|message| message.contains(error));
                let message = message.unwrap_or_else(|| panic!("no `{error}` in:\n{stderr}"));
                assert!(message.contains("src/lib.rs:") && message.contains("= help: "), "{message}");
                assert!(message.contains(note), "`{note}` is not in:\n{message}");
            }
            demo.edit("lib.rs", |text| text.replace(WRONG, "fn f() { super::saxpy<<<1, 256>>>(2.0); }"));
            refused(&demo, &[], &["src/lib.rs:", "= help: `<<<…>>>` is CUDA C++", "Grid::new(blocks, threads)"]);
        }),
        test("rustc's errors in the host's code say what to do, where `cargo ptx` calls cargo", || {
            let package = Demo::new("host_notes");
            let wrong = |with: &str| {
                let with = format!("    {with}\n    let result =");
                move |text: String| text.replace("    let result =", &with)
            };
            package.edit("main.rs", wrong("y[0];"));
            let run = |args: &[&str]| {
                let run = package.ptx(args);
                assert!(!run.success, "{}", run.stdout);
                run
            };
            let stderr = run(&["run"]).stderr;
            let message = stderr.split("\n\n").find(|message| message.contains("error[E0608]")).unwrap_or_default();
            assert!(message.contains("src/main.rs:") && message.contains("= help: it is the GPU's memory"), "{stderr}");
            assert!(stderr.contains("error: could not compile `host_notes` (bin"), "{stderr}");
            let coloured = run(&["run", "--color", "always", "-q"]).stderr;
            assert!(coloured.contains("\u{1b}[1mhelp\u{1b}[0m: it is the GPU's memory"), "{coloured}");
            assert!(!coloured.contains("Compiling"), "{coloured}");
            let stdout = run(&["run", "--message-format", "json"]).stdout;
            let lines = stdout.lines().map(|line| serde_json::from_str(line).expect("JSON, an object a line"));
            let noted = lines.filter(|line: &serde_json::Value| {
                let notes = line["message"]["children"].as_array();
                notes.is_some_and(|notes| notes.iter().any(|note| note["message"].to_string().contains("download(")))
            });
            assert_eq!(noted.count(), 1, "{stdout}");
            let short = run(&["run", "--message-format=short"]).stderr;
            assert_eq!(short.lines().filter(|line| line.contains("cannot index")).count(), 1, "{short}");
            package.edit("main.rs", |text| text.replace("y[0]", "saxpy<<<1, 256>>>(2.0, x, y)"));
            assert!(run(&["run"]).stderr.contains("= help: `<<<…>>>` is CUDA C++"));
            // Another's wrapper stays cargo's, and a plain cargo has rustc's words alone.
            let stderr = package.ptx_with(&[("RUSTC_WRAPPER", "env")], &["run"]).stderr;
            assert!(stderr.contains("saxpy<<<") && !stderr.contains("CUDA C++"), "{stderr}");
            package.edit("main.rs", |text| text.replace("    saxpy<<<1, 256>>>(2.0, x, y);\n", ""));
            let run = package.ptx(&["run"]).expect_success();
            // The package's name once stood for a variable of the same name, which was unused then.
            assert!(!run.stderr.contains("warning"), "{}", run.stderr);
        }),
        test("an error that rustc repeats is shown and counted once", || {
            let demo = demo();
            demo.edit("lib.rs", |text| text.replace("a: f32", "a: (f32, f32)").replace("a * x", "a.0 * x"));
            let stderr = refused(&demo, &[], &["error[E0277]", "has no place in the device ABI", "error[PTX0020]"]);
            assert_eq!(stderr.matches("error[E0277]").count(), 1, "{stderr}");
            assert!(stderr.contains("rustc's error stands above"), "{stderr}");
        }),
        test("where cargo runs the linker by itself, errors stand above the symbols that rustc lists", || {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let path = folder.path();
            fs::create_dir(path.join("src")).expect("a fresh folder");
            let manifest =
                "[package]\nname = \"bare\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\"]\n[workspace]\n";
            fs::write(path.join("Cargo.toml"), manifest).expect("a fresh file");
            fs::write(path.join("src/lib.rs"), BARE).expect("a fresh file");
            let rustc = Rustc::query(Path::new("rustc")).unwrap_or_else(|e| panic!("{e}"));
            let sysroot = sysroot::ensure(&rustc, None, &Progress::quiet()).unwrap_or_else(|e| panic!("{e}")).path;
            let linker = std::env::current_exe().expect("a running program has a path");
            let build = |args: &[&str]| {
                let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
                cargo.args(["build", "--target", TARGET]).args(args).current_dir(path);
                cargo.env("RUSTFLAGS", format!("--sysroot {} -Clinker={}", sysroot.display(), linker.display()));
                let run = cargo.env(LINKER_VARIABLE, &linker).env("CARGO_TARGET_DIR", path.join("target")).output();
                let run = run.expect("cargo starts");
                assert!(!run.status.success());
                [run.stdout, run.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            };
            let [_, stderr] = build(&[]);
            let at = |part: &str| stderr.find(part).unwrap_or_else(|| panic!("no `{part}` in:\n{stderr}"));
            assert!(at("error[PTX0006]") < at("linking with `"), "{stderr}");
            assert!(at("--export-symbol") < at("the errors of the linker stand above this one"), "{stderr}");
            assert_eq!(stderr.matches("error[PTX0006]").count(), 1, "{stderr}");
            // An editor reads rustc's message.
            let [stdout, stderr] = build(&["--message-format=json"]);
            assert!(stdout.contains("error[PTX0006]") && !stderr.contains("error[PTX0006]"), "{stdout}\n{stderr}");
        }),
        test("a manifest that cargo refuses", || {
            let demo = demo();
            let broken = |text: String| text + "\n[dependencies.nobody_has_this]\npath = \"nobody/has/this\"\n";
            demo.with_manifest(broken, || {
                refused(&demo, &[], &["nobody_has_this", "error[PTX00"]);
            });
        }),
        test("a folder that is no sysroot", || {
            let variables = [("RUST_PTX_SYSROOT", "no/such/folder")];
            refused(&demo(), &variables, &["error[PTX0018]", "no/such/folder", "rust-src", "help:"]);
        }),
        test("options of the manifest that do not exist", || {
            let demo = demo();
            demo.with_manifest(
                |text| text + "\n[package.metadata.ptx]\narchs = [\"sm_80\"]\n",
                || {
                    refused(&demo, &[], &["error[PTX0001]", "`archs`", "`arch`", "Cargo.toml"]);
                },
            );
        }),
    ]
}

/// A library that is linked without the crate `ptx`, and needs what nobody has.
const BARE: &str = "\
#![no_std]
unsafe extern \"C\" {
    safe fn nobody_has_this() -> u32;
}
#[unsafe(no_mangle)]
pub extern \"C\" fn exported() -> u32 {
    nobody_has_this()
}
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
";

/// What users of CUDA C++ and of std write.
const WRONG: &str = "
static mut COUNT: u32 = 0;
thread_local! { static OWN: u32 = 0; }
fn a() -> f32 { std::f32::consts::PI }
fn b() -> usize { vec![1_u32].len() }
fn c() -> u32 { *Box::new(1) }
fn d() -> u32 { threadIdx.x }
fn e(mut y: super::DisjointSlice<f32>) { y[0] = 1.0; }
fn f() { COUNT += 1; }
";

/// `cargo ptx build` with these variables fails, with these parts in its message; what it said.
#[track_caller]
fn refused(demo: &Demo, variables: &[(&str, &str)], parts: &[&str]) -> String {
    let run = demo.ptx_with(variables, &["build"]);
    assert!(!run.success, "{}", run.stdout);
    for part in parts {
        assert!(run.stderr.contains(part), "`{part}` is not in:\n{}", run.stderr);
    }
    for noise in ["panicked", "RUST_BACKTRACE", "linking with `"] {
        assert!(!run.stderr.contains(noise), "`{noise}` is in:\n{}", run.stderr);
    }
    run.stderr
}
