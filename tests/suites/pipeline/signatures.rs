//! Every kernel of `tests/kernels/signatures` has the signature that nvcc gives it in CUDA C++.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::sync::OnceLock;

use libtest_mimic::Trial;
use ptx_project::tools;
use ptx_tests::folders::root;
use ptx_tests::trial;

use crate::packages::one;

/// The GPU for which both compile.
const ARCH: &str = "sm_90";

/// Parameters by kernel.
type Signatures = BTreeMap<String, Vec<Param>>;

/// One `.param` of an entry; its name and what it points to are not part of the ABI.
#[derive(Debug, PartialEq, Eq)]
struct Param {
    kind: Kind,
    size: u64,
    align: u64,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Integer,
    Float,
    Bytes,
}

/// A test for every kernel of the CUDA file.
pub fn trials() -> Vec<Trial> {
    let source = fs::read_to_string(root().join("tests/kernels/signatures/signatures.cu")).unwrap_or_default();
    let names = source.split("__global__ void ").skip(1).filter_map(|rest| rest.split('(').next());
    let mut trials: Vec<_> =
        names.map(str::to_string).map(|name| trial(format!("signature of {name}"), move || compare(&name))).collect();
    let count = trials.len();
    trials.push(trial("both sides have the same kernels", move || {
        let Some(theirs) = theirs() else { return Some("nvcc was not found".into()) };
        assert!(ours().keys().eq(theirs.keys()), "{:?} and {:?}", ours().keys(), theirs.keys());
        assert!(count >= 20 && theirs.len() == count);
        None
    }));
    trials
}

fn compare(name: &str) -> Option<String> {
    let Some(theirs) = theirs() else { return Some("nvcc was not found".into()) };
    assert_eq!(ours().get(name), theirs.get(name), "ours, nvcc's");
    None
}

fn ours() -> &'static Signatures {
    static OURS: OnceLock<Signatures> = OnceLock::new();
    OURS.get_or_init(|| {
        let ptx = one("tests/kernels/signatures", ARCH).ptx(ARCH);
        parse(&fs::read_to_string(ptx).expect("just written"))
    })
}

fn theirs() -> Option<&'static Signatures> {
    static THEIRS: OnceLock<Option<Signatures>> = OnceLock::new();
    let compile = || {
        let tools = tools::find();
        let nvcc = tools.nvcc()?;
        let scratch = tempfile::tempdir().expect("a temporary folder");
        let output = scratch.path().join("signatures.ptx");
        let mut command = Command::new(&nvcc.path);
        command
            .args(["-ptx", &format!("-arch={ARCH}"), "-o"])
            .arg(&output)
            .arg(root().join("tests/kernels/signatures/signatures.cu"));
        let run = command.output().expect("nvcc starts");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        Some(parse(&fs::read_to_string(output).expect("just written")))
    };
    THEIRS.get_or_init(compile).as_ref()
}

/// The parameters of every `.entry`.
fn parse(ptx: &str) -> Signatures {
    let entries = ptx.split(".entry ").skip(1).filter_map(|rest| rest.split_once('('));
    let params = |rest: &str| {
        let list = rest.split(')').next().unwrap_or_default();
        list.split(',').map(str::trim).filter(|param| !param.is_empty()).map(param).collect()
    };
    entries.map(|(name, rest)| (name.trim().to_string(), params(rest))).collect()
}

/// `.param .u64 .ptr .align 4 k_param_0` or `.param .align 8 .b8 k_param_0[16]`.
fn param(text: &str) -> Param {
    let mut words = text.split_whitespace().skip(1);
    let first = words.next().expect("a parameter has a type");
    if first == ".align" {
        let align = words.next().and_then(|align| align.parse().ok()).expect("a number after `.align`");
        let size = text.split(['[', ']']).nth(1).and_then(|size| size.parse().ok()).expect("a size in brackets");
        return Param { kind: Kind::Bytes, size, align };
    }
    let kind = if first.starts_with(".f") { Kind::Float } else { Kind::Integer };
    let bits: u64 = first[2..].parse().expect("a width after the letter");
    Param { kind, size: bits / 8, align: bits / 8 }
}
