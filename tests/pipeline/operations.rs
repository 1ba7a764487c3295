//! Every operation of `ptx::float` is the instruction, with all modifiers, that nvcc makes of CUDA's function for it.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::sync::{LazyLock, OnceLock};

use libtest_mimic::Trial;
use ptx_codegen::tools::Tools;
use ptx_tests::trial;

use crate::packages::{Package, one, root};

/// The GPU for which both compile: it has everything.
const ARCH: &str = "sm_100";

/// The instructions of each kernel that are neither parameters nor addresses nor moves.
type Kernels = BTreeMap<String, Vec<String>>;

/// A test for every kernel of the CUDA file.
pub fn trials() -> Vec<Trial> {
    let source = fs::read_to_string(root().join("tests/operations/operations.cu")).unwrap_or_default();
    let names = source.lines().filter_map(|line| line.strip_prefix("K(")?.split(',').next());
    let mut trials: Vec<_> =
        names.map(str::to_string).map(|name| trial(format!("operation {name}"), move || compare(&name))).collect();
    let count = trials.len();
    trials.push(trial("both sides have the same operations", move || {
        let Some(theirs) = theirs() else { return Some("nvcc was not found".into()) };
        assert!(ours().keys().eq(theirs.keys()), "{:?} and {:?}", ours().keys(), theirs.keys());
        assert!(count >= 56 && theirs.len() == count);
        None
    }));
    trials
}

fn compare(name: &str) -> Option<String> {
    let Some(theirs) = theirs() else { return Some("nvcc was not found".into()) };
    assert!(!theirs[name].is_empty(), "nvcc computes nothing");
    assert_eq!(ours().get(name), theirs.get(name), "ours, nvcc's");
    None
}

fn ours() -> &'static Kernels {
    static OURS: OnceLock<Kernels> = OnceLock::new();
    static PACKAGE: LazyLock<Package> = LazyLock::new(|| one("tests/operations"));
    OURS.get_or_init(|| parse(&fs::read_to_string(PACKAGE.ptx(ARCH)).expect("just written")))
}

fn theirs() -> Option<&'static Kernels> {
    static THEIRS: OnceLock<Option<Kernels>> = OnceLock::new();
    let compile = || {
        let tools = Tools::find();
        let nvcc = tools.nvcc()?;
        let scratch = tempfile::tempdir().expect("a temporary folder");
        let output = scratch.path().join("operations.ptx");
        let mut command = Command::new(&nvcc.path);
        command
            .args(["-ptx", &format!("-arch={ARCH}"), "-o"])
            .arg(&output)
            .arg(root().join("tests/operations/operations.cu"));
        let run = command.output().expect("nvcc starts");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        Some(parse(&fs::read_to_string(output).expect("just written")))
    };
    THEIRS.get_or_init(compile).as_ref()
}

/// The opcodes of every `.entry`, sorted.
fn parse(ptx: &str) -> Kernels {
    let mut kernels = Kernels::new();
    for entry in ptx.split(".entry ").skip(1) {
        let (name, rest) = entry.split_once('(').expect("an entry has parameters");
        let body = rest.split_once('{').and_then(|(_, body)| body.split("\n}").next()).expect("an entry has a body");
        let opcodes = body.split(['\n', ';', '{', '}']).filter_map(opcode).map(rounded);
        let mut opcodes: Vec<String> = opcodes.collect();
        opcodes.sort();
        kernels.insert(name.trim().to_string(), opcodes);
    }
    kernels
}

/// What a line computes with.
fn opcode(line: &str) -> Option<&str> {
    let word = line.split_whitespace().next()?;
    let skipped = ["//", "ld.", "st.", "cvta.", "mov.", "ret", ".", "%", "$"];
    let is_instruction = word.starts_with(|c: char| c.is_ascii_lowercase());
    (is_instruction && !skipped.iter().any(|prefix| word.starts_with(prefix))).then_some(word)
}

/// A plain `mul` is one that rounds to nearest and may be fused; here is nothing to fuse it with.
fn rounded(opcode: &str) -> String {
    match opcode {
        "mul.f32" => "mul.rn.f32".into(),
        opcode => opcode.into(),
    }
}
