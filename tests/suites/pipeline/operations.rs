//! Every operation of `ptx::float` is the instruction, with all modifiers, that nvcc makes of CUDA's function for it; and the
//! table of instructions agrees with ptxas.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;
use std::sync::{LazyLock, OnceLock};

use libtest_mimic::Trial;
use ptx_codegen::arch::{Arch, PtxVersion};
use ptx_codegen::intrinsics::instruction::{self, Instruction};
use ptx_codegen::ptx_text;
use ptx_codegen::tool::{Tool, Tools};
use ptx_project::options::float::FloatSettings;
use ptx_project::tools;
use ptx_tests::folders::root;
use ptx_tests::{Sample, trial};

use crate::packages::{Package, one, with};

/// The GPU for which both compile: it has everything.
const ARCH: &str = "sm_100";

/// The instructions of each kernel that are neither parameters nor addresses nor moves.
type Kernels = BTreeMap<String, Vec<String>>;

/// A test for every kernel of the CUDA file.
pub fn trials() -> Vec<Trial> {
    let source = fs::read_to_string(root().join("tests/kernels/operations/operations.cu")).unwrap_or_default();
    let names = source.lines().filter_map(|line| line.strip_prefix("K(")?.split(',').next());
    let mut trials: Vec<_> =
        names.map(str::to_string).map(|name| trial(format!("operation {name}"), move || compare(&name))).collect();
    let count = trials.len();
    trials.push(trial("both sides have the same operations", move || {
        let Some(theirs) = theirs() else { return Some("nvcc was not found".into()) };
        assert!(ours().keys().eq(theirs.keys()), "{:?} and {:?}", ours().keys(), theirs.keys());
        assert!(count >= 250 && theirs.len() == count);
        None
    }));
    let archs = ["sm_75", "sm_80", "sm_89", "sm_90", "sm_100"];
    let archs = Sample::asked().of("GPUs for the table of operations", archs, 2);
    trials.extend(archs.into_iter().map(|arch| trial(format!("operations of {arch}"), move || instructions_of(arch))));
    trials.push(trial("operations in other modes", no_mode_matters));
    trials.push(trial("operations do not fuse in machine code", separate_in_machine_code));
    trials
}

fn compare(name: &str) -> Option<String> {
    let Some(theirs) = theirs() else { return Some("nvcc was not found".into()) };
    assert!(!theirs[name].is_empty(), "nvcc computes nothing");
    assert_eq!(ours().get(name), theirs.get(name), "ours, nvcc's");
    None
}

/// With `--use_fast_math` every operation is what it was, but for the approximate ones, which are nvcc's then too.
fn no_mode_matters() -> Option<String> {
    let fast = FloatSettings { use_fast_math: Some(true), ..FloatSettings::default() };
    let fast =
        parse(&fs::read_to_string(with("tests/kernels/operations", ARCH, fast).ptx(ARCH)).expect("just written"));
    let Some(theirs) = nvcc(&["--use_fast_math"]) else { return Some("nvcc was not found".into()) };
    let mut followed = 0;
    for (name, ours) in ours() {
        // Square roots and reciprocals of `f16` name their `.ftz`.
        if name.contains("approx") && !name.starts_with("f16") || name == "saturate" {
            assert_eq!(fast[name], theirs[name], "{name}: ours, nvcc's");
            followed += usize::from(&fast[name] != ours);
        } else {
            assert_eq!(&fast[name], ours, "{name}: in fast mode, without");
        }
    }
    assert!(followed >= 12, "{followed} followed the mode");
    None
}

/// ptxas takes what the table says that the arch has, with the PTX ISA version that the table asks for, and nothing else.
fn instructions_of(name: &str) -> Option<String> {
    let Some(ptxas) = ptxas() else { return Some("ptxas was not found".into()) };
    let arch: Arch = name.parse().expect("a GPU");
    let (mut there, mut missing) = (BTreeMap::<PtxVersion, Vec<_>>::new(), Vec::new());
    for instruction in instruction::all() {
        match instruction.assembly(arch) {
            Some((text, _)) => {
                let version = instruction.min_ptx(arch).max(arch.min_ptx());
                there.entry(version).or_default().push((instruction, text));
            }
            None => missing.push((instruction, instruction.newest().0)),
        }
    }
    for (version, instructions) in there {
        assert_eq!(refused(ptxas, arch, version, &instructions), [""; 0], "refused with PTX ISA {version}");
    }
    let refused = refused(ptxas, arch, PtxVersion { major: 9, minor: 0 }, &missing);
    // ptxas takes these earlier than the PTX ISA promises them.
    let lenient = |text: &str| match text {
        "cvt.rm.bf16.f32" | "cvt.rp.bf16.f32" => arch.number() >= 80,
        "cvt.rn.satfinite.f16.f32" | "cvt.rz.satfinite.f16.f32" => true,
        _ => false,
    };
    let expected: Vec<_> = missing.iter().map(|(i, _)| i.text.as_str()).filter(|text| !lenient(text)).collect();
    assert_eq!(refused, expected);
    None
}

/// Those that ptxas has something to say of.
fn refused<'a>(
    ptxas: &Tool,
    arch: Arch,
    version: PtxVersion,
    instructions: &[(&'a Instruction, String)],
) -> Vec<&'a str> {
    let mut ptx = format!(".version {version}\n.target {arch}\n.address_size 64\n.entry k() {{\n");
    ptx += ".reg .f32 %f<5>; .reg .f64 %d<5>; .reg .b16 %h<5>; .reg .b32 %r<5>; .reg .b64 %l<5>;\n";
    let first = ptx.lines().count() + 1;
    for (instruction, text) in instructions {
        let registers = instruction.row.registers.replace('=', "");
        let mut text = text.clone();
        for (place, register) in registers.chars().enumerate() {
            text = text.replace(&format!("${place}"), &format!("%{register}{place}"));
        }
        ptx += &text;
        ptx += "\n";
    }
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let input = scratch.path().join("k.ptx");
    fs::write(&input, ptx + "ret;\n}\n").expect("a fresh file");
    let mut command = Command::new(&ptxas.path);
    command.arg(format!("-arch={arch}")).arg("-o").arg(scratch.path().join("k.cubin")).arg(&input);
    let output = command.output().expect("ptxas starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines = stderr.lines().filter(|line| line.contains("error"));
    let lines: BTreeSet<usize> =
        lines.filter_map(|line| line.split_once("line ")?.1.split(';').next()?.parse().ok()).collect();
    assert!(output.status.success() || !lines.is_empty(), "{stderr}");
    lines.into_iter().map(|line| instructions[line - first].0.text.as_str()).collect()
}

/// A product and a sum with their roundings are `FMUL` and `FADD`; without, one `FFMA`.
fn separate_in_machine_code() -> Option<String> {
    let (Some(ptxas), Some(nvdisasm)) = (ptxas(), tools::find().nvdisasm().cloned()) else {
        return Some("ptxas or nvdisasm was not found".into());
    };
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let cubin = scratch.path().join("k.cubin");
    let mut command = Command::new(&ptxas.path);
    command.args([&format!("-arch={ARCH}"), "-o"]).arg(&cubin).arg(package().ptx(ARCH));
    let run = command.output().expect("ptxas starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let run = Command::new(&nvdisasm.path).arg("-c").arg(&cubin).output().expect("nvdisasm starts");
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    let code = |kernel: &str| {
        let section =
            text.split(".section").find(|section| section.trim_start().starts_with(&format!(".text.{kernel},")));
        section.unwrap_or_else(|| panic!("no code of {kernel}")).to_string()
    };
    for (kernel, has, has_not) in [
        ("f32_mul_then_add", &["FMUL", "FADD"][..], "FFMA"),
        ("f64_mul_then_add", &["DMUL", "DADD"], "DFMA"),
        // A product of its own is `HFMA2` with a zero here.
        ("f16x2_mul_then_add", &["HFMA2", "-RZ", "HADD2"], "FFMA"),
        ("f32_fma_rn", &["FFMA"], "FMUL"),
    ] {
        let code = code(kernel);
        for has in has {
            assert!(code.contains(has), "{kernel} has no {has}:\n{code}");
        }
        assert!(!code.contains(&format!("{has_not} R")), "{kernel} has {has_not}:\n{code}");
    }
    None
}

fn ptxas() -> Option<&'static Tool> {
    static TOOLS: LazyLock<Tools> = LazyLock::new(tools::find);
    TOOLS.ptxas()
}

fn package() -> &'static Package {
    static PACKAGE: LazyLock<Package> = LazyLock::new(|| one("tests/kernels/operations", ARCH));
    &PACKAGE
}

fn ours() -> &'static Kernels {
    static OURS: OnceLock<Kernels> = OnceLock::new();
    OURS.get_or_init(|| parse(&fs::read_to_string(package().ptx(ARCH)).expect("just written")))
}

fn theirs() -> Option<&'static Kernels> {
    static THEIRS: LazyLock<Option<Kernels>> = LazyLock::new(|| nvcc(&[]));
    THEIRS.as_ref()
}

/// What nvcc makes of them.
fn nvcc(options: &[&str]) -> Option<Kernels> {
    let tools = tools::find();
    let nvcc = tools.nvcc()?;
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let output = scratch.path().join("operations.ptx");
    let mut command = Command::new(&nvcc.path);
    command.args(options).args(["-ptx", &format!("-arch={ARCH}"), "-o"]).arg(&output);
    let run = command.arg(root().join("tests/kernels/operations/operations.cu")).output().expect("nvcc starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Some(parse(&fs::read_to_string(output).expect("just written")))
}

/// The opcodes of every `.entry`, sorted. Nothing but entries stands in either file.
fn parse(ptx: &str) -> Kernels {
    let mut kernels = Kernels::new();
    for kernel in ptx_text::definitions(ptx) {
        let opcodes = kernel.body.split(['\n', ';', '{', '}']).filter_map(opcode).map(rounded);
        let mut opcodes: Vec<String> = opcodes.collect();
        opcodes.sort();
        kernels.insert(kernel.function.name.to_string(), opcodes);
    }
    kernels
}

/// What a line computes with; what cuts a register before a store computes nothing (`workarounds/stores.rs`).
fn opcode(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let word = words.next()?;
    if words.next().is_some_and(|result| result.starts_with("%part")) {
        return None;
    }
    let skipped = ["//", "ld.", "st.", "cvta.", "mov.", "ret", ".", "%", "$"];
    let is_instruction = word.starts_with(|c: char| c.is_ascii_lowercase());
    (is_instruction && !skipped.iter().any(|prefix| word.starts_with(prefix))).then_some(word)
}

/// Without a rounding, an addition or multiplication rounds to nearest, and may be fused; here is nothing to fuse it with.
fn rounded(opcode: &str) -> String {
    let mut parts = opcode.split('.');
    match (parts.next(), parts.next(), opcode.rsplit('.').next()) {
        (Some(operation @ ("add" | "sub" | "mul")), Some(next), Some(ty))
            if !matches!(next, "rn" | "rz" | "rp" | "rm") && (ty.starts_with('f') || ty.starts_with("bf")) =>
        {
            opcode.replacen(operation, &format!("{operation}.rn"), 1)
        }
        _ => opcode.into(),
    }
}
