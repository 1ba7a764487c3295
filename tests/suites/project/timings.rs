//! `cargo ptx build --timings`, and what ptxas need not do again.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use libtest_mimic::Trial;
use ptx_codegen::report::{self, Report};
use ptx_codegen::request::Emit;
use ptx_codegen::timings::Timings;
use ptx_project::tools;
use ptx_tests::folders::root;
use ptx_tests::trial;

use crate::demo::demo;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("timings name every stage, add up, and ptxas runs only for new PTX", || {
            if tools::find().ptxas().is_none() {
                return Some("ptxas was not found".into());
            }
            let demo = demo();
            // No earlier test has had this PTX compiled.
            let unique = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later").as_nanos() as u64;
            demo.edit("lib.rs", |text| {
                text + &format!(
                    "\n#[kernel]\npub fn unique(mut out: DisjointSlice<u64>) {{\n    \
                     if let Some(out) = out.get_mut(thread::index_1d()) {{\n        *out = {unique};\n    }}\n}}\n{BY_POINTER}"
                ) + &(1..=6).map(kernel).collect::<String>()
            });
            let out = demo.path().join("timed");
            let files = ["timings.svg", "timings.json"].map(|name| out.join(name));
            let build = ["build", "--release", "--arch", "sm_80,sm_90", "--out", "timed"];
            let timed = [build.as_slice(), &["--timings"]].concat();
            let plain = demo.ptx(&build).expect_success();
            assert!(!plain.stdout.contains("timings") && !files.iter().any(|file| file.exists()), "{}", plain.stdout);

            fs::write(&files[0], "what was there before").expect("our own file");
            let nothing = demo.ptx(&timed).expect_success();
            assert!(nothing.stdout.contains("everything was there already"), "{}", nothing.stdout);

            demo.edit("lib.rs", |text| text.replace(&unique.to_string(), &(unique ^ 1).to_string()));
            let run = demo.ptx(&timed).expect_success();
            for part in ["timed/timings.svg", "timed/timings.json", "slowest in ptxas", "beside these"] {
                assert!(run.stdout.contains(part), "{part} is not in:\n{}", run.stdout);
            }
            assert!(fs::read_to_string(&files[0]).is_ok_and(|text| text.starts_with("<svg") && text.contains("ptxas")));
            let timings = read(&files[1]);
            assert_eq!(stages(&timings), of_the_page(), "the stages of the architecture page");
            fit(&timings);
            let of_tools: Vec<_> = timings.spans.iter().filter(|span| span.beside).map(|span| &*span.name).collect();
            assert_eq!(of_tools, ["ptxas sm_80", "ptxas sm_90"]);
            for arch in ["sm_80", "sm_90"] {
                let kernel = timings.kernels.iter().find(|kernel| kernel.arch == arch && kernel.name == "unique");
                assert!(kernel.is_some_and(|kernel| kernel.seconds > 0.0), "{:?}", timings.kernels);
            }

            demo.edit("lib.rs", |text| format!("{text}\n// No PTX comes of this.\n"));
            demo.ptx(&timed).expect_success();
            let again = read(&files[1]);
            assert!(again.spans.iter().any(|span| span.name == "optimize::inline"), "the compiler ran");
            assert!(!again.spans.iter().any(|span| span.beside), "ptxas ran: {:?}", again.spans);
            None
        }),
        trial("ptxas makes the same machine code of several kernels at once as of one after the other", || {
            let tools = tools::find();
            let (Some(_), Some(nvdisasm)) = (tools.ptxas(), tools.nvdisasm()) else {
                return Some("ptxas and nvdisasm were not found".into());
            };
            let demo = demo();
            demo.edit("lib.rs", |text| text + &(1..=12).map(kernel).collect::<String>());
            let code = |out: &str, more: &[&str]| -> String {
                let build = ["build", "--release", "--arch", "sm_90", "--emit", "cubin", "--out", out];
                demo.ptx(&[build.as_slice(), more].concat()).expect_success();
                let report = fs::read_to_string(demo.path().join(out).join(report::FILE_NAME)).expect("the report");
                let report: Report = serde_json::from_str(&report).expect("a report");
                let cubin = report.output(Emit::Cubin, Some("sm_90")).expect("a cubin").path.clone();
                let listing = Command::new(&nvdisasm.path).arg("--print-code").arg(cubin).output().expect("nvdisasm");
                String::from_utf8_lossy(&listing.stdout).into_owned()
            };
            let (at_once, one_by_one) = (code("at-once", &[]), code("one-by-one", &["--timings"]));
            assert!(at_once.contains(".text.kernel_12"), "{at_once}");
            assert_eq!(at_once, one_by_one);
            None
        }),
        trial("lines are left out, which changes no code, and are there where a check of the stack has one", || {
            let demo = demo();
            demo.edit("lib.rs", |text| text + &(1..=12).map(kernel).collect::<String>() + BY_POINTER);
            let build = |out: &str, more: &[&str]| {
                let build = ["build", "--release", "--arch", "sm_90", "--emit", "ptx", "--timings", "--out", out];
                demo.ptx(&[build.as_slice(), more].concat()).expect_success();
                let ptx = fs::read_to_string(demo.path().join(out).join("demo.sm_90.ptx")).expect("the PTX");
                let timings = read(&demo.path().join(out).join("timings.json"));
                let count = |name: &str| timings.spans.iter().filter(|span| span.name == name).count();
                (ptx, count("debuginfo::leave_out"), count("optimize::inline"))
            };
            let (without, left_out, runs) = build("without", &[]);
            assert_eq!((left_out, runs), (1, 1), "no message needs them");
            let (with, left_out, runs) = build("with", &["--dump-dir", "dumped"]);
            assert_eq!((left_out, runs), (0, 1), "who reads the modules may want them");
            assert_eq!(without_numbers(&without), without_numbers(&with));
            demo.edit("lib.rs", |text| {
                text + "\n#[inline(never)]\nfn turns(n: u32) -> u32 {\n    \
                        if n < 2 { n } else { turns(n - 1) ^ turns(n / 2) }\n}\n\
                        #[kernel]\npub fn turned(n: u32, mut out: DisjointSlice<u32>) {\n    \
                        if let Some(out) = out.get_mut(thread::index_1d()) {\n        *out = turns(n);\n    }\n}\n"
            });
            let (checked, left_out, runs) = build("checked", &[]);
            assert_eq!((left_out, runs), (1, 2), "the check has a line");
            assert!(checked.contains("stacksave"), "{checked}");
            let (with, ..) = build("checked-with", &["--dump-dir", "dumped"]);
            assert_eq!(without_numbers(&checked), without_numbers(&with));
            None
        }),
        trial("timings take no value and are for builds", || {
            let demo = demo();
            for (args, part) in [
                (&["build", "--timings=html"][..], "unexpected value 'html' for '--timings'"),
                (&["inspect", "ptx", "--timings"], "unexpected argument '--timings'"),
            ] {
                let run = demo.ptx(args);
                assert!(!run.success && run.stderr.contains(part), "{}", run.stderr);
            }
            None
        }),
    ]
}

/// A kernel that calls through a pointer, and cannot go to its PTX apart from others that do.
const BY_POINTER: &str = "
fn double(x: u32) -> u32 {
    x * 2
}
fn halve(x: u32) -> u32 {
    x / 2
}
#[kernel]
pub fn by_pointer(choice: &[u32], mut out: DisjointSlice<u32>) {
    let functions: [fn(u32) -> u32; 2] = [double, halve];
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = functions[choice[i.get()] as usize](*out);
    }
}
";

/// PTX without the numbers that LLVM gives to the functions of a module, in their labels and local variables.
fn without_numbers(ptx: &str) -> String {
    ["$L__BB", "__local_depot"].into_iter().fold(ptx.to_string(), |ptx, name| {
        let parts = ptx.split(name).map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
        parts.collect::<Vec<_>>().join(name)
    })
}

/// A kernel with a loop, a division, a call of the maths library and panics.
fn kernel(number: u32) -> String {
    format!(
        "\n#[kernel]\npub fn kernel_{number}(x: &[f32], n: usize, mut out: DisjointSlice<f32>) {{\n    \
         let i = thread::index_1d();\n    if let Some(out) = out.get_mut(i) {{\n        \
         for step in 0..n / (i.get() + {number}) {{\n            *out += x[step * {number}].sin() / {number}.5;\n        }}\n    }}\n}}\n"
    )
}

fn read(path: &std::path::Path) -> Timings {
    serde_json::from_slice(&fs::read(path).expect("the build wrote it")).expect("timings")
}

/// What is measured of the compiler's modules; writing files is none of the phases.
fn stages(timings: &Timings) -> BTreeSet<String> {
    let names = timings.spans.iter().map(|span| span.name.clone());
    names.filter(|name| name.contains("::") && name != "output::write").collect()
}

/// The stages in the table of the architecture page.
fn of_the_page() -> BTreeSet<String> {
    let page = fs::read_to_string(root().join("docs/src/architecture.md")).expect("the page");
    let table = page.split("| Phase | Stages |").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("its table");
    let code = table.split('`').skip(1).step_by(2).filter(|code| code.contains("::"));
    code.map(str::to_string).collect()
}

/// Every part lies within what it is a part of, and all parts together take no longer.
fn fit(timings: &Timings) {
    const TOLERANCE: f64 = 1e-3;
    let within = |part: f64, whole: f64| part <= whole + TOLERANCE;
    for (index, whole) in timings.spans.iter().enumerate() {
        let parts = timings.spans.iter().filter(|span| span.parent == Some(index) && !span.beside);
        let sum: f64 = parts.clone().map(|part| part.end - part.start).sum();
        assert!(within(sum, whole.end - whole.start), "{whole:?}: its parts take {sum} s");
        for part in parts {
            assert!(within(whole.start, part.start) && within(part.end, whole.end), "{part:?} of {whole:?}");
        }
    }
    let sum: f64 = timings.spans.iter().filter(|s| s.parent.is_none() && !s.beside).map(|s| s.end - s.start).sum();
    assert!(within(sum, timings.seconds), "{sum} s of {} s", timings.seconds);
}
