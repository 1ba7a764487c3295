//! What is built again, and what is not.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;
use ptx_project::tools;
use ptx_tests::{test, trial};

use crate::demo::demo;

pub fn trials() -> Vec<Trial> {
    vec![
        test("a new project runs", || {
            let run = demo().cargo(&["run"]).expect_success();
            assert!(!run.stdout.trim().is_empty(), "it says nothing");
        }),
        test("a rebuild after no change does nothing", || {
            let demo = demo();
            demo.cargo(&["build"]).expect_success();
            let again = demo.cargo(&["build", "-v"]).expect_success();
            assert!(!again.compiled_for_the_device() && !again.compiled_for_the_host(), "{}", again.stderr);
        }),
        test("a change to the host program does no device work", || {
            let demo = demo();
            demo.cargo(&["build"]).expect_success();
            demo.edit("main.rs", |text| text + "\n// A change.\n");
            let again = demo.cargo(&["build", "-v"]).expect_success();
            assert!(!again.compiled_for_the_device() && again.compiled_for_the_host(), "{}", again.stderr);
        }),
        test("a change to a kernel compiles for the device again", || {
            let demo = demo();
            demo.cargo(&["build"]).expect_success();
            demo.edit("lib.rs", |text| text + KERNEL);
            let again = demo.cargo(&["build", "-v"]).expect_success();
            assert!(again.compiled_for_the_device() && again.compiled_for_the_host(), "{}", again.stderr);
        }),
        test("what rustc keeps of earlier builds does not show in the PTX", || {
            let demo = demo();
            demo.edit("lib.rs", |text| text + MODULES);
            let build = |variables: &[(&str, &str)], more: &[&str]| {
                let out = ["build", "--release", "--arch", "sm_90", "--emit", "ptx", "--out", "kept"];
                demo.ptx_with(variables, &[out.as_slice(), more].concat()).expect_success();
                let ptx = ptx_in(&demo.path().join("kept"));
                fs::remove_dir_all(demo.path().join("kept")).unwrap();
                ptx
            };
            let before = build(&[], &[]);
            demo.edit("lib.rs", |text| text.replace("* 3", "* 5"));
            let after = build(&[], &[]);
            assert!(before != after && after.contains("scaled") && after.contains("sums"));
            let fresh = demo.path().join("fresh");
            assert!(build(&[], &["--target-dir", fresh.to_str().unwrap()]) == after, "not as in an empty folder");
            fs::remove_dir_all(fresh).unwrap();
            // rustc calls constants of crates that it keeps otherwise.
            let code = |ptx: &str| {
                ptx.lines().filter(|line| !line.contains(".global ")).map(str::to_string).collect::<Vec<_>>()
            };
            for variable in ["0", "1"] {
                let ptx = build(&[("CARGO_INCREMENTAL", variable)], &[]);
                assert!(code(&ptx) == code(&after), "CARGO_INCREMENTAL={variable}");
            }
        }),
        trial("a change to CUDA C++ that is linked compiles for the device again", || {
            let tools = tools::find();
            if tools.nvcc().is_none()
                || tools.nvlink().is_none()
                || Command::new("g++").arg("--version").output().is_err()
            {
                return Some("nvcc, nvlink and g++ were not all found".into());
            }
            let demo = demo();
            let manifest = demo.path().join("Cargo.toml");
            let before = fs::read_to_string(&manifest).unwrap();
            let table = "\n[package.metadata.ptx]\nlink = [\"cuda/twin.cu\"]\n";
            fs::create_dir_all(demo.path().join("cuda")).unwrap();
            let header = demo.path().join("cuda/twin.cuh");
            fs::write(&header, "#define RESULT 1\n").unwrap();
            let twin = "#include \"twin.cuh\"\nextern \"C\" __device__ unsigned cuda_has_this() { return RESULT; }\n";
            fs::write(demo.path().join("cuda/twin.cu"), twin).unwrap();
            // Without such a table of its own.
            let others = before.split("\n[package.metadata.ptx]").next().unwrap_or_default().to_string();
            fs::write(&manifest, others + table).unwrap();
            demo.edit("lib.rs", |text| {
                text + "\nunsafe extern \"C\" {\n    safe fn cuda_has_this() -> u32;\n}\n"
                    + &KERNEL.replace("= 1;", "= cuda_has_this();")
            });
            let checks = || {
                demo.cargo(&["build"]).expect_success();
                let again = demo.cargo(&["build", "-v"]).expect_success();
                assert!(!again.compiled_for_the_device() && !again.compiled_for_the_host(), "{}", again.stderr);
                fs::write(&header, "#define RESULT 2\n").unwrap();
                let again = demo.cargo(&["build", "-v"]).expect_success();
                assert!(again.compiled_for_the_device() && again.compiled_for_the_host(), "{}", again.stderr);
                fs::write(&header, "#error no such header\n").unwrap();
                let run = demo.cargo(&["build"]);
                assert!(!run.success && run.stderr.contains("twin.cuh"), "{}", run.stderr);
            };
            let outcome = catch_unwind(AssertUnwindSafe(checks));
            fs::write(&manifest, before).unwrap();
            if let Err(panic) = outcome {
                resume_unwind(panic);
            }
            None
        }),
        test("rustc's errors in a kernel are shown with their place", || {
            let demo = demo();
            demo.edit("lib.rs", |text| text + &KERNEL.replace("= 1;", "= \"one\";"));
            let run = demo.cargo(&["build"]);
            assert!(!run.success);
            for part in ["mismatched types", "src/lib.rs"] {
                assert!(run.stderr.contains(part), "`{part}` is not in:\n{}", run.stderr);
            }
            assert!(!run.stderr.contains("panicked at"), "{}", run.stderr);
        }),
        test("the linker's errors in a kernel are shown with their place", || {
            let demo = demo();
            demo.edit("lib.rs", |text| {
                text + "\nunsafe extern \"C\" {\n    safe fn nobody_has_this() -> u32;\n}\n"
                    + &KERNEL.replace("= 1;", "= nobody_has_this();")
            });
            let run = demo.cargo(&["build"]);
            assert!(!run.success);
            for part in ["nobody_has_this", "src/lib.rs:", "help"] {
                assert!(run.stderr.contains(part), "`{part}` is not in:\n{}", run.stderr);
            }
            assert!(!run.stderr.contains("panicked at"), "{}", run.stderr);
        }),
    ]
}

/// One more kernel.
const KERNEL: &str = "\n#[kernel]\npub fn one_more(mut out: DisjointSlice<u32>) {\n    \
    if let Some(out) = out.get_mut(thread::index_1d()) {\n        *out = 1;\n    }\n}\n";

/// Kernels that rustc compiles in parts, with functions of two modules.
const MODULES: &str = r"
mod arithmetic {
    pub fn apply<T>(x: &[T], f: impl Fn(&T) -> T) -> impl Iterator<Item = T> {
        x.iter().map(move |x| f(x))
    }
    pub fn scale(x: &u32) -> u32 {
        x * 3
    }
}

pub mod reductions {
    use super::{arithmetic::*, *};

    #[kernel]
    pub fn sums(x: &[u32], mut out: DisjointSlice<u32>) {
        let i = thread::index_1d();
        if let Some(out) = out.get_mut(i) {
            *out = apply(&x[i.get()..], scale).zip(x.chunks(4)).map(|(a, b)| a + b[0]).sum();
        }
    }
}

pub mod streams {
    use super::{arithmetic::*, *};

    #[kernel]
    pub fn scaled(x: &[u32], mut out: DisjointSlice<u32>) {
        let i = thread::index_1d();
        if let Some(out) = out.get_mut(i) {
            *out = scale(&x[i.get()]);
        }
    }
}
";

/// The only PTX in a folder.
fn ptx_in(folder: &Path) -> String {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let ptx: Vec<_> = files.filter(|file| file.extension().is_some_and(|extension| extension == "ptx")).collect();
    assert_eq!(ptx.len(), 1, "{ptx:?}");
    fs::read_to_string(&ptx[0]).unwrap()
}
