//! Random signatures: rust-ptx and nvcc agree on every one.

use std::fs;
use std::process::{Command, ExitCode};
use std::sync::OnceLock;

use libtest_mimic::Trial;
use ptx_abi_tests::compare::DEVIATIONS;
use ptx_abi_tests::model::{Body, Case, Def, Len, Linkage, Scalar, Ty};
use ptx_abi_tests::ptx::{Module, Param};
use ptx_abi_tests::{compare, compile, generate, round_trip, shrink};
use ptx_codegen::abi::PtxParam;
use ptx_codegen::abi::rows::{ROWS, Row};
use ptx_project::tools;
use ptx_tests::{Sample, trial};

/// GPUs, each with what is added to the seed: nvcc has one compiler for those before sm_100 and another for the others.
const ARCHS: [(&str, u64); 2] = [("sm_90", 0), ("sm_120", 2025)];

/// How many signatures for each, and how many of them by default.
const SIGNATURES: (u32, u32) = (200, 50);

fn main() -> ExitCode {
    ptx_tests::run(|| {
        let sample = Sample::asked();
        let count = sample.number("random signatures for each of two GPUs", SIGNATURES.0, SIGNATURES.1);
        let mut trials: Vec<_> =
            ARCHS.into_iter().flat_map(|(arch, more)| random(sample.seed + more, count, arch)).collect();
        trials.extend(rows());
        trials.push(with_nvcc("the judge sees every kind of difference", sees_differences));
        trials.push(with_nvcc("nvcc's deviations are still there", deviations_are_there));
        trials
    })
}

/// A test that needs nvcc.
fn with_nvcc(name: impl Into<String>, body: impl FnOnce() + Send + 'static) -> Trial {
    trial(name, move || {
        if !compile::has_nvcc() {
            return Some("nvcc was not found".into());
        }
        body();
        None
    })
}

/// A seed's cases, with what is wrong with each.
struct Batch {
    seed: u64,
    arch: &'static str,
    cases: Vec<Case>,
    judged: OnceLock<Vec<Vec<String>>>,
}

/// A test for every case of the seed.
fn random(seed: u64, count: u32, arch: &'static str) -> Vec<Trial> {
    let cases = (0..count).map(|index| generate::case(seed, index)).collect();
    let batch: &'static Batch = Box::leak(Box::new(Batch { seed, arch, cases, judged: OnceLock::new() }));
    let one = |index: usize| with_nvcc(format!("signature {index} of seed {seed}"), move || batch.check(index));
    (0..count as usize).map(one).collect()
}

impl Batch {
    fn check(&self, index: usize) {
        let folder = compile::folder(&format!("test-{}", self.seed));
        let judged = self.judged.get_or_init(|| shrink::judge(&self.cases, &folder, self.arch));
        let (case, differences) = (&self.cases[index], &judged[index]);
        if differences.is_empty() {
            return;
        }
        let mut text = compare::describe(case, differences);
        // The first alone: each takes a while.
        if judged.iter().position(|differences| !differences.is_empty()) == Some(index) {
            let (smaller, differences) = shrink::smallest(case, differences.clone(), &folder.join("shrink"), self.arch);
            text += &format!("made small:\n{}", compare::describe(&smaller, &differences));
        }
        panic!("{text}");
    }
}

/// A test for every row of the table that `cargo ptx inspect abi --types` prints.
fn rows() -> Vec<Trial> {
    let test = |index: usize, row: &Row| with_nvcc(format!("type {}", row.rust), move || check_row(index));
    ROWS.iter().enumerate().map(|(index, row)| test(index, row)).collect()
}

fn check_row(index: usize) {
    static THEIRS: OnceLock<Module> = OnceLock::new();
    let theirs = THEIRS.get_or_init(|| {
        let mut source = String::new();
        for (index, Row { cxx, definition, .. }) in ROWS.iter().enumerate() {
            source += &format!(
                "{definition}\nextern \"C\" __device__ {cxx} f{index}({cxx} x) {{ return x; }}\n\
                 extern \"C\" __global__ void k{index}({cxx} x) {{}}\n"
            );
        }
        let ptx = compile::nvcc_source(&source, &compile::folder("rows"), "sm_90");
        Module::parse(&ptx.unwrap_or_else(|error| panic!("{error}")))
    });
    let row = &ROWS[index];
    let (function, kernel) =
        (&theirs.functions[&format!("f{index}")].signature, &theirs.functions[&format!("k{index}")]);
    let same = |ours: &[PtxParam], theirs: &[Param], is_kernel: bool| {
        let ours: Vec<Param> = ours.iter().map(|param| as_written(*param, is_kernel)).collect();
        assert_eq!(ours, theirs, "ours, nvcc's");
    };
    same(&row.device_param().expect("a row is passed"), &function.params, false);
    same(row.device_result().as_slice(), function.result.as_slice(), false);
    same(&row.kernel_param().expect("a row is passed"), &kernel.signature.params, true);
}

/// PTX tells floats from bits in a kernel's parameters alone.
fn as_written(param: PtxParam, is_kernel: bool) -> Param {
    match param {
        PtxParam::Bytes { size, align } => Param::Bytes { size, align },
        PtxParam::Float { bits } => Param::Register { bits, is_float: is_kernel },
        other => Param::Register { bits: (other.size() * 8) as u32, is_float: false },
    }
}

/// A case with one parameter.
fn one(id: u32, linkage: Linkage, param: Ty) -> Case {
    Case { id, defs: Vec::new(), params: vec![param], result: None, linkage }
}

fn with_struct(id: u32, fields: &[Scalar], packed: u64, align: u64) -> Case {
    let body = Body::Struct(fields.iter().map(|scalar| Ty::Scalar(*scalar)).collect());
    let def = Def { namespace: "", body, packed, align, generics: Vec::new() };
    Case { defs: vec![def], ..one(id, Linkage::C, Ty::Named { def: 0, args: Vec::new() }) }
}

/// Pairs of cases that differ: Rust gets the first, C++ the second.
fn different() -> Vec<(&'static str, Case, Case)> {
    use Scalar::*;
    let scalar = |id, linkage, scalar| one(id, linkage, Ty::Scalar(scalar));
    let cxx = Linkage::Cxx("");
    let none = |id| Case { params: Vec::new(), ..one(id, Linkage::C, Ty::Void) };
    vec![
        ("size", scalar(0, Linkage::C, U32), scalar(0, Linkage::C, U64)),
        ("size of a struct", with_struct(1, &[U8, U32], 0, 0), with_struct(1, &[U8, U32], 1, 0)),
        ("alignment of a struct", with_struct(2, &[U32, U32], 0, 8), with_struct(2, &[U32, U32], 0, 0)),
        ("scalar or struct", with_struct(3, &[U32], 0, 0), scalar(3, Linkage::C, U32)),
        ("number of parameters", none(4), scalar(4, Linkage::C, U32)),
        ("result", Case { result: Some(Ty::Scalar(U32)), ..none(5) }, none(5)),
        ("name", scalar(6, cxx, I64), scalar(6, cxx, U64)),
        ("namespace", scalar(7, cxx, I64), scalar(7, Linkage::Cxx("a"), I64)),
        ("sign of an argument", scalar(8, Linkage::C, I8), scalar(8, Linkage::C, U8)),
        (
            "sign of a result",
            Case { result: Some(Ty::Scalar(I16)), ..none(9) },
            Case { result: Some(Ty::Scalar(U16)), ..none(9) },
        ),
        ("kernel's float", scalar(10, Linkage::C, F32), scalar(10, Linkage::C, U32)),
        ("kernel's byte", scalar(11, Linkage::C, U8), scalar(11, Linkage::C, U32)),
    ]
}

/// The judge would pass everything if it compared nothing.
fn sees_differences() {
    let folder = compile::folder("different");
    let (mut rust, mut cxx) = (Vec::new(), Vec::new());
    for (_, ours, theirs) in different() {
        rust.push(ours);
        cxx.push(theirs);
    }
    let rust = compile::ours(&rust, &folder, true, "sm_90").unwrap_or_else(|error| panic!("{error}"));
    let cxx = compile::nvcc(&cxx, &folder, true, "sm_90").unwrap_or_else(|error| panic!("{error}"));
    let (rust, cxx) = (Module::parse(&rust), Module::parse(&cxx));
    for (what, case, _) in different() {
        assert!(!compare::differences(&case, &rust, &cxx).is_empty(), "another {what} is not seen");
    }
}

/// A deviation that nvcc no longer has must leave the table.
fn deviations_are_there() {
    assert_eq!(DEVIATIONS.len(), 2, "check the others here too");
    let bytes = Ty::Array(Box::new(Ty::Scalar(Scalar::U8)), Len::Fixed(129));
    let def = Def { namespace: "", body: Body::Struct(vec![bytes]), packed: 0, align: 0, generics: Vec::new() };
    let case = Case { defs: vec![def], ..one(0, Linkage::C, Ty::Named { def: 0, args: Vec::new() }) };
    let folder = compile::folder("deviations");
    let param = |arch: &str| {
        let ptx =
            compile::nvcc(std::slice::from_ref(&case), &folder, true, arch).unwrap_or_else(|error| panic!("{error}"));
        let module = Module::parse(&ptx);
        (module.functions["g0x"].signature.params[0], module.functions["k0x"].signature.params[0])
    };
    let of = |align| Param::Bytes { size: 129, align };
    assert_eq!(param("sm_90"), (of(4), of(1)));
    assert_eq!(param("sm_120"), (of(1), of(1)));
    // And it makes no other machine code.
    let code = |align: u64| {
        let source = folder.join(format!("align{align}.ptx"));
        let text = format!(
            ".version 7.8\n.target sm_90\n.address_size 64\n.visible .func (.param .b32 r) f(.param .align {align} .b8 \
             a[129], .param .align {align} .b8 b[129], .param .b32 c) {{\n.reg .b32 %r<6>;\nld.param.s8 %r1, [a+1];\n\
             ld.param.s8 %r2, [b+128];\nld.param.b32 %r3, [c];\nadd.s32 %r4, %r1, %r2;\nadd.s32 %r5, %r4, %r3;\n\
             st.param.b32 [r], %r5;\nret;\n}}\n"
        );
        fs::write(&source, text).expect("our own folder");
        let tools = tools::find();
        let ptxas = tools.ptxas().expect("nvcc came with it");
        let object = folder.join(format!("align{align}.cubin"));
        let run = Command::new(&ptxas.path).args(["-c", "-arch=sm_90", "-o"]).arg(&object).arg(&source).output();
        let run = run.expect("ptxas starts");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        compile::section(&object, ".text.f")
    };
    assert_eq!(code(1), code(4));

    // A packed struct inside another: a store of four bytes at a place for two.
    let packed = Def { packed: 1, ..with_struct(0, &[Scalar::U16, Scalar::U32], 0, 0).defs.remove(0) };
    let named = |def| Ty::Named { def, args: Vec::new() };
    let fields = vec![Ty::Scalar(Scalar::U64), named(0)];
    let outer = Def { body: Body::Struct(fields), packed: 0, ..packed.clone() };
    let case = Case { defs: vec![packed, outer], ..one(0, Linkage::C, named(1)) };
    assert!(case.has_misaligned(&case.params[0]) && !round_trip::can_run(&case));
    let ptx = compile::nvcc(&[case], &folder, false, "sm_90").unwrap_or_else(|error| panic!("{error}"));
    assert!(ptx.contains("st.param.b32 \t[param0+10]"), "nvcc stores it otherwise now");
}
