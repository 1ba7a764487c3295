//! `def-load-cache` and `def-store-cache`, from the command line and the manifest, against nvcc's `-Xptxas -dlcm`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;
use ptx_codegen::tool::Tools;
use ptx_project::tools;
use ptx_tests::trial;

use crate::demo::{Demo, demo};

/// Loads and stores by pointers: slices that are only read are `ld.global.nc`, which has no such default.
const OURS: &str = "
#[kernel]
pub unsafe fn cached(from: *const u32, to: *mut u32) {
    unsafe { *to = *from + *from.add(1) }
}
";

const THEIRS: &str =
    "extern \"C\" __global__ void cached(const unsigned* from, unsigned* to) { *to = *from + from[1]; }\n";

pub fn trials() -> Vec<Trial> {
    vec![trial("default cache operators are nvcc's in machine code", || {
        let tools = tools::find();
        if tools.ptxas().is_none() || tools.nvdisasm().is_none() || tools.nvcc().is_none() {
            return Some("ptxas, nvdisasm and nvcc were not found".into());
        }
        let demo = demo();
        demo.edit("lib.rs", |text| text + OURS);
        let without = theirs(&tools, &[]);
        assert_eq!(ours(&tools, &demo, &[]), without);
        // One after another in one folder of kept results: none may be taken for another's.
        for (option, nvccs) in [("--dlcm=cg", "-dlcm=cg"), ("--dlcm=cs", "-dlcm=cs"), ("--dscm=wt", "-dscm=wt")] {
            let expected = theirs(&tools, &["-Xptxas", nvccs]);
            assert_ne!(expected, without, "{option} does nothing to nvcc's code");
            assert_eq!(ours(&tools, &demo, &[option]), expected, "{option}: ours, nvcc's");
        }
        let both = theirs(&tools, &["-Xptxas", "-dlcm=cv,-dscm=cs"]);
        let table = "\n[package.metadata.ptx]\ndef-load-cache = \"cv\"\ndef-store-cache = \"cs\"\n";
        demo.with_manifest(|text| text + table, || assert_eq!(ours(&tools, &demo, &[]), both, "the manifest's"));
        demo.with_manifest(
            |text| text + "\n[package.metadata.ptx]\ndef-load-cache = \"L2\"\n",
            || {
                let run = demo.ptx(&["build", "--arch", "sm_80"]);
                for part in ["PTX0001", "Cargo.toml", "`def-load-cache`", "`L2`"] {
                    assert!(!run.success && run.stderr.contains(part), "{part} is not in:\n{}", run.stderr);
                }
            },
        );
        None
    })]
}

/// How often each global load and store stands in the machine code of our kernel.
fn ours(tools: &Tools, demo: &Demo, options: &[&str]) -> BTreeMap<String, usize> {
    let out = tempfile::tempdir().expect("a temporary folder");
    let folder = out.path().to_str().expect("a temporary folder's name is UTF-8");
    let build = ["build", "--release", "--arch", "sm_80", "--emit", "cubin", "--out", folder];
    demo.ptx(&[&build[..], options].concat()).expect_success();
    let files = fs::read_dir(out.path()).expect("the build made it").flatten().map(|entry| entry.path());
    let cubin = files.into_iter().find(|path| path.extension().is_some_and(|name| name == "cubin"));
    accesses(tools, &cubin.expect("a cubin was asked for"))
}

/// The same of nvcc's.
fn theirs(tools: &Tools, options: &[&str]) -> BTreeMap<String, usize> {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let (source, cubin) = (scratch.path().join("cached.cu"), scratch.path().join("cached.cubin"));
    fs::write(&source, THEIRS).expect("our own folder");
    let mut command = Command::new(&tools.nvcc().expect("it was found").path);
    command.args(["-cubin", "-arch=sm_80"]).args(options).arg(&source).arg("-o").arg(&cubin);
    let run = command.output().expect("nvcc starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    accesses(tools, &cubin)
}

fn accesses(tools: &Tools, cubin: &Path) -> BTreeMap<String, usize> {
    let nvdisasm = tools.nvdisasm().expect("it was found");
    let run = Command::new(&nvdisasm.path).arg("-c").arg(cubin).output().expect("nvdisasm starts");
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    let body = text.split(".text.cached:").nth(1).unwrap_or_else(|| panic!("no kernel `cached` in:\n{text}"));
    let body = body.split(".text.").next().unwrap_or_default();
    let mut found = BTreeMap::new();
    let words = body.split_whitespace().filter(|word| word.starts_with("LDG") || word.starts_with("STG"));
    words.for_each(|word| *found.entry(word.to_string()).or_default() += 1);
    assert!(found.len() >= 2, "no loads and stores in:\n{body}");
    found
}
