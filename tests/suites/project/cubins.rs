//! ptxas works on parts of a program: what it makes of them is what it makes of the whole, and after a change it makes one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use libtest_mimic::Trial;
use ptx_codegen::report::{self, Report};
use ptx_codegen::request::Emit;
use ptx_codegen::timings::Timings;
use ptx_project::tools;
use ptx_tests::trial;

use crate::demo::{Demo, demo};

/// Kernels of the program, beside two that share a static.
const KERNELS: usize = 24;

pub fn trials() -> Vec<Trial> {
    vec![trial("ptxas makes the same machine code of parts, and after a change of one part alone", || {
        let tools = tools::find();
        let (Some(_), Some(nvdisasm)) = (tools.ptxas(), tools.nvdisasm()) else {
            return Some("ptxas and nvdisasm were not found".into());
        };
        let demo = demo();
        demo.edit("lib.rs", |text| text + STATICS + &(0..KERNELS).map(kernel).collect::<String>());
        // As build scripts ask for it.
        let asking = |text: String| text + "\n[package.metadata.ptx]\nemit = [\"cubin-parts\"]\n";
        demo.with_manifest(asking, || {
            same_code(&demo, &nvdisasm.path);
            one_part_after_a_change(&demo);
        });
        None
    })]
}

fn build(demo: &Demo, out: &str, more: &[&str]) -> Report {
    let build = ["build", "--release", "--arch", "sm_90", "--out", out];
    demo.ptx(&[build.as_slice(), more].concat()).expect_success();
    let report = fs::read_to_string(demo.path().join(out).join(report::FILE_NAME)).expect("the report");
    serde_json::from_str(&report).expect("a report")
}

fn same_code(demo: &Demo, nvdisasm: &Path) {
    let listing = |cubin: &Path| {
        let run = Command::new(nvdisasm).arg("--print-code").arg(cubin).output().expect("nvdisasm starts");
        code(&String::from_utf8_lossy(&run.stdout))
    };
    let parts = build(demo, "in-parts", &[]);
    let whole = build(demo, "as-one", &["--emit", "cubin"]);
    let cubins = cubins(&parts);
    assert!(cubins.len() > 2, "{cubins:?}");
    assert!(parts.output(Emit::Cubin, Some("sm_90")).is_none());
    let expected = listing(&whole.output(Emit::Cubin, Some("sm_90")).expect("a cubin").path);
    assert!(expected.len() > KERNELS, "{:?}", expected.keys());
    let kernels_of: Vec<BTreeMap<_, _>> = cubins.iter().map(|cubin| listing(cubin)).collect();
    let with = |name: &str| kernels_of.iter().position(|code| code.contains_key(name));
    assert_eq!(with("counts_0"), with("counts_1"), "they write one static");
    let found: BTreeMap<_, _> = kernels_of.into_iter().flatten().collect();
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (kernel, code) in &expected {
        assert_eq!(found[kernel], *code, "{kernel}");
    }
    let resources = |report: &Report| report.kernels.iter().map(|kernel| kernel.resources.clone()).collect::<Vec<_>>();
    assert_eq!(resources(&parts), resources(&whole));
}

/// With one panic more and without. No earlier test has had this PTX compiled.
fn one_part_after_a_change(demo: &Demo) {
    build(demo, "timed-parts", &["--timings"]);
    let unique = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later").as_nanos() as u32;
    for code in [format!("*out += {unique}_u32 as f32;"), format!("*out += {unique}_u32 as f32 + x[n + 1];")] {
        demo.edit("lib.rs", |text| {
            let (before, rest) = text.split_once("/* kernel_11 */").expect("the kernel");
            let (_, after) = rest.split_once("/* end */").expect("its end");
            format!("{before}/* kernel_11 */{code}/* end */{after}")
        });
        build(demo, "timed-parts", &["--timings"]);
        let timings = fs::read(demo.path().join("timed-parts/timings.json")).expect("the build wrote it");
        let timings: Timings = serde_json::from_slice(&timings).expect("timings");
        let runs: BTreeSet<_> = timings.spans.iter().filter(|span| span.beside).map(|span| span.name.clone()).collect();
        assert_eq!(runs.len(), 1, "{runs:?} after {code}");
    }
}

/// Two kernels far from each other that write one static.
const STATICS: &str = "
#[ptx::global]
pub static COUNTS: ptx::Global<[u32; 1]> = ptx::Global::new([0; 1]);

#[kernel]
pub fn counts_0() {
    COUNTS.atomics()[0].fetch_add(1, ptx::atomic::Ordering::Relaxed);
}

#[kernel]
pub fn counts_1() {
    COUNTS.atomics()[0].fetch_add(2, ptx::atomic::Ordering::Relaxed);
}
";

/// What stands before numbers of the whole module: nvdisasm's of labels, ptxas's of functions for divisions.
const NUMBERED: [&str; 2] = ["`(.L_x_", "`($__internal_"];

/// A kernel with a loop, a division, calls of the maths library, a message that is put together, and panics.
fn kernel(number: usize) -> String {
    format!(
        "\n#[kernel]\npub fn kernel_{number}(x: &[f32], n: usize, mut out: DisjointSlice<f32>) {{\n    \
         let i = thread::index_1d();\n    if let Some(out) = out.get_mut(i) {{\n        \
         for step in 0..n / (i.get() + {number}) {{\n            \
         assert!(x[step] > 0.0, \"{number} at {{step}}\");\n            \
         *out += x[step * {number}].sin() * x[step + {number}].cos() / {number}.5;\n        }}\n        \
         /* kernel_{number} */ /* end */\n    }}\n}}\n"
    )
}

fn cubins(report: &Report) -> Vec<PathBuf> {
    let parts = report.outputs.iter().filter(|output| output.kind == Emit::CubinParts);
    parts.map(|output| output.path.clone()).collect()
}

/// The code of each kernel, but for what is numbered in the whole module: labels, functions of ptxas's, where constants lie.
fn code(listing: &str) -> BTreeMap<String, Vec<String>> {
    let mut kernels: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut kernel, mut known) = (String::new(), Vec::new());
    for line in listing.lines() {
        if let Some((_, section)) = line.split_once(".section\t") {
            let name = section.split(',').next().unwrap_or_default();
            kernel = name.strip_prefix(".text.").map(str::to_string).unwrap_or_default();
            known.clear();
        }
        let is_instruction = line.trim_start().starts_with("/*") && line.contains(';');
        if is_instruction && !kernel.is_empty() {
            let text = line.split_once("*/").map_or(line, |(_, rest)| rest).split(';').next().unwrap_or_default();
            let (before, after) = text.split_once("c[0x4][").unwrap_or((text, ""));
            let after = after.split_once(']').map_or("", |(_, after)| after);
            let text = format!("{}{after}", before.trim());
            let text = NUMBERED.iter().fold(text, |text, before| renumbered(&text, before, &mut known));
            kernels.entry(kernel.clone()).or_default().push(text);
        }
    }
    kernels
}

/// With another number behind `before`: that of its first use.
fn renumbered(text: &str, before: &'static str, known: &mut Vec<String>) -> String {
    let Some((front, rest)) = text.split_once(before) else { return text.to_string() };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let named = format!("{before}{}", &rest[..digits]);
    let place = known.iter().position(|name| *name == named).unwrap_or_else(|| {
        known.push(named);
        known.len() - 1
    });
    format!("{front}{before}{place}{}", &rest[digits..])
}
