//! The pretty printers, in gdb, on statics of every type: what rustc laid out, our debug information describes and ptxas
//! assembled, read from the cubin without a GPU.

use std::fmt::Write as _;
use std::process::Command;
use std::sync::OnceLock;

use libtest_mimic::Trial;
use ptx_codegen::debugger::PRINTERS;
use ptx_codegen::options::DebugLevel;
use ptx_tests::trial;

use crate::{build, host_elf};

/// (static of tests/kernels/debug_info/src/printed.rs, what gdb prints).
const STATICS: &[(&str, &str)] = &[
    ("NUMBERS", "[3, 1, 4, 1]"),
    ("SLICE", "&[u32](len=4) = {3, 1, 4, 1}"),
    ("SLICE_MUT", "&mut [i8](len=2) = {-1, 2}"),
    ("SLICE_EMPTY", "&[f32](len=0)"),
    ("SLICES", "[&[u16](len=1) = {1}, &[u16](len=2) = {2, 3}]"),
    ("SLICE_POINTER", "*const [u32](len=4) = {3, 1, 4, 1}"),
    ("STR", r#""grüße \"\\\n""#),
    ("STR_EMPTY", r#""""#),
    ("STRS", r#"["one", "two"]"#),
    ("QUIT", "Quit"),
    ("MOVE", "Move {x: -3, y: 4}"),
    ("WRITE", r#"Write("text")"#),
    ("NESTED", "Nested(Some(Pair(9, 0.5)))"),
    ("NESTED_SLICE", "Nested(Some(Slice([-5, 6])))"),
    ("NESTED_NONE", "Nested(None)"),
    ("LIST", "List([1, 2, 3])"),
    ("MESSAGES", "[Quit, Move {x: 1, y: 2}]"),
    ("COLOUR", "[ptx_debug_kernels::printed::Red, ptx_debug_kernels::printed::Green]"),
    ("SOME", "Some(7)"),
    ("NONE", "None"),
    ("NICHE", "Some(0x…)"),
    ("NICHE_NONE", "None"),
    ("NICHE_BOOL", "Some(Some(true))"),
    ("NICHE_BOOL_INNER", "Some(None)"),
    ("NICHE_BOOL_NONE", "None"),
    ("OPTION_STR", r#"Some("abc")"#),
    ("OK", "Ok(5)"),
    ("ERR", "Err(-3)"),
    ("RESULT_UNIT", r#"Err("no")"#),
    ("WRAPPED", "ptx_debug_kernels::shapes::Wrapper<core::option::Option<i32>> {inner: Some(-4), count: 5}"),
    ("RANGE", "1..5"),
    ("RANGE_CLOSED", "-1..=5"),
    ("RANGE_FROM", "3.."),
    ("RANGE_TO", "..9"),
    ("RANGE_TO_CLOSED", "..='z'"),
    ("RANGE_FULL", "(.., 1)"),
    ("FLOAT4", "Float4(1, -2.5, 3, 0.125)"),
    ("INT3", "Int3(1, -2, 3)"),
    ("DOUBLE2", "[Double2(0.5, 1.5), Double2(2.5, 3.5)]"),
    ("HALF", "-1.5"),
    ("HALF_TINY", "5.96046448e-08"),
    ("HALF_INFINITE", "-inf"),
    ("BRAIN", "3.140625"),
    ("BRAIN_NAN", "NaN"),
    ("F16X2", "F16x2(0.5, -65504)"),
    ("BF16X2", "Bf16x2(2, inf)"),
    ("E4M3", "[1, 448, NaN, -0.001953125, 0]"),
    ("E5M2", "[1, 57344, inf, -1.52587891e-05, NaN]"),
    ("E4M3X2", "F8E4M3x2(2, -1)"),
    ("E5M2X2", "F8E5M2x2(2, -1)"),
    ("NONZERO", "17"),
    ("NONZERO_OPTION", "Some(18)"),
    ("NONZERO_NONE", "None"),
    (
        "NONZERO_WIDE",
        "core::option::Option<core::num::nonzero::NonZero<u128>> {{variant}: 1267650600228229401496703205376, None…",
    ),
    ("WRAPPING", "255"),
    ("CELL", "-7"),
    ("CELL_SLICE", "&[u32](len=4) = {3, 1, 4, 1}"),
    ("REFCELL", "RefCell {value: 1099511627776, borrowed: no}"),
    ("REFCELL_OPTION", r#"RefCell {value: Some("in"), borrowed: no}"#),
    ("ATOMIC", "12"),
    ("ATOMIC_BOOL", "true"),
    ("SCOPED", "-12"),
    ("MAYBE", "3"),
    ("DROPLESS", "4"),
    ("BOXED", "Box<[u16]>(len=2) = {5, 6}"),
    ("VEC", "Vec(len=3, cap=10) = {3, 1, 4}"),
    ("VEC_EMPTY", "Vec(len=0, cap=0)"),
    ("VEC_BROKEN", "Vec(len=3, cap=10) <Cannot access memory at address 0x40>"),
    ("VEC_LONG", "Vec(len=1152921504606846976, cap=10) <invalid: 1152921504606846976 elements at 0x40>"),
    ("STRING", r#""héllo\n\0!""#),
    ("STRING_BROKEN", "<Cannot access memory at address 0x40>"),
    ("DEQUE", "VecDeque(len=3, cap=4) = {1, 3, 1}"),
    ("DEQUE_EMPTY", "VecDeque(len=0, cap=0)"),
    ("RC", "Rc {value: 42, strong: 2, weak: 0}"),
    ("RC_SLICE", "Rc(strong=1, weak=0, len=3) = {7, 8, 9}"),
    ("RC_STR", r#"Rc {value: "text", strong: 1, weak: 1}"#),
    ("ARC", "Arc {value: 42, strong: 2, weak: 0}"),
    ("WEAK", "Weak {value: 42, strong: 2, weak: 0}"),
    ("WEAK_DANGLING", "Weak(dangling)"),
    ("WEAK_OF_NOTHING", "Weak {strong: 0, weak: 0}"),
    ("ITERATOR", "Iter(len=4) = {3, 1, 4, 1}"),
];

/// (what gdb is told, what it says), after the statics.
const COMMANDS: &[(&str, &str)] = &[
    ("print ptx_debug_kernels::printed::VEC.len", "3"),
    ("print ptx_debug_kernels::printed::MOVE.Move.x", "-3"),
    ("print/x ptx_debug_kernels::printed::VEC", "Vec(len=3, cap=10) = {0x3, 0x1, 0x4}"),
    // Bytes that are no variant.
    (
        "print *(&ptx_debug_kernels::printed::NUMBERS as *const ptx_debug_kernels::printed::Message)",
        "Nested(<invalid: no variant …",
    ),
    ("set print elements 2", ""),
    ("print ptx_debug_kernels::printed::SLICE", "&[u32](len=4) = {3, 1...}"),
    ("print ptx_debug_kernels::printed::OPTION_STR", r#"Some("ab"...)"#),
    ("set print elements unlimited", ""),
    ("print ptx_debug_kernels::printed::VEC", "Vec(len=3, cap=10) = {3, 1, 4}"),
    ("disable pretty-printer global rust-ptx", "1 printer disabled…"),
];

/// A test for each.
pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = (STATICS.iter().enumerate())
        .map(|(index, &(name, expected))| trial(format!("printer of {name}"), move || check(index, expected)))
        .collect();
    trials.extend(COMMANDS.iter().enumerate().map(|(index, &(command, expected))| {
        trial(format!("printers: {command}"), move || check(STATICS.len() + index, expected))
    }));
    trials.push(trial("every static has a printed form that is tested", || {
        let source = include_str!("../../kernels/debug_info/src/printed.rs");
        let list = source.split_once("\nstatics! {").and_then(|(_, rest)| rest.split_once("\n}")).expect("the list").0;
        let names = list.lines().filter_map(|line| line.trim().split_once(": ")).map(|(name, _)| name);
        let untested: Vec<&str> = names.filter(|name| STATICS.iter().all(|(tested, _)| tested != name)).collect();
        assert!(untested.is_empty(), "{untested:?}");
        None
    }));
    trials.push(trial("printers give IDEs children", children));
    trials
}

/// The answer to the question with that number.
fn check(index: usize, expected: &str) -> Option<String> {
    static ANSWERS: OnceLock<Result<Vec<String>, String>> = OnceLock::new();
    let answers = match ANSWERS.get_or_init(ask) {
        Ok(answers) => answers,
        Err(reason) => return Some(reason.clone()),
    };
    let found = answers.get(index).map_or("", String::as_str);
    // Addresses and garbage may differ.
    let matches = match expected.split_once('…') {
        Some((begin, _)) => found.starts_with(begin),
        None => found == expected,
    };
    assert!(matches, "expected {expected}\n   found {found}");
    None
}

/// What gdb prints for everything, in order.
fn ask() -> Result<Vec<String>, String> {
    let mut script = String::from("set language rust\nset confirm off\n");
    let statics = STATICS.iter().map(|(name, _)| format!("print ptx_debug_kernels::printed::{name}"));
    for command in statics.chain(COMMANDS.iter().map(|(command, _)| command.to_string())) {
        // A command that fails must not end the script.
        write!(script, "echo @@@\npython\ntry: gdb.execute({command:?})\nexcept gdb.error as e: print(e)\nend\n")
            .unwrap();
    }
    let said = gdb(&["-batch"], "script.gdb", &script)?;
    Ok(said.split("@@@").skip(1).map(|answer| strip_number(answer.trim())).collect())
}

/// gdb counts what it prints: `$3 = 7`.
fn strip_number(answer: &str) -> String {
    match answer.split_once(" = ") {
        Some((number, value)) if number.starts_with('$') => value.to_string(),
        _ => answer.to_string(),
    }
}

/// Over gdb's machine interface, as an IDE asks.
fn children() -> Option<String> {
    let mut script = String::from("-gdb-set language rust\n-enable-pretty-printing\n");
    for name in ["VEC", "VEC_LONG", "SLICES"] {
        let create = format!("-var-create {name} @ ptx_debug_kernels::printed::{name}\n");
        script += &format!("{create}-var-list-children --all-values {name}\n");
    }
    script += "-gdb-exit\n";
    let said = match gdb(&["-quiet", "-interpreter=mi"], "script.mi", &script) {
        Ok(said) => said,
        Err(reason) => return Some(reason),
    };
    let vec =
        r#"numchild="3",displayhint="array",children=[child={name="VEC.0",exp="0",numchild="0",value="3",type="u32"}"#;
    for part in [vec, r#"name="VEC_LONG",numchild="0""#, r#"exp="1",numchild="0",value="{...}""#] {
        assert!(said.contains(part), "no {part} in:\n{said}");
    }
    None
}

/// Runs gdb on the kernels' statics with the printers and a script; or says why not.
fn gdb(args: &[&str], name: &str, script: &str) -> Result<String, String> {
    let version = Command::new("gdb").args(["-nx", "-batch", "-ex", "python print(6 * 7)"]).output();
    let has_python = version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == "42");
    if !has_python {
        return Err("gdb with Python was not found".into());
    }
    let built = build::package(build::KERNELS, "dev", DebugLevel::Full)?;
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str, contents: &[u8]| {
        let path = scratch.path().join(name);
        std::fs::write(&path, contents).expect("a fresh file");
        path
    };
    let statics = file("statics", &host_elf::of(&built.cubin));
    let printers = file("ptx.py", PRINTERS.as_bytes());
    let script = file(name, script.as_bytes());
    let mut command = Command::new("gdb");
    command
        .args(["-nx", "-iex", "set charset UTF-8"])
        .args(args)
        .arg("-x")
        .arg(printers)
        .env("PYTHONIOENCODING", "utf-8");
    if args.contains(&"-batch") {
        command.arg("-x").arg(&script);
    } else {
        command.stdin(std::fs::File::open(&script).expect("just written"));
    }
    let output = command.arg(statics).output().map_err(|error| format!("gdb did not start: {error}"))?;
    Ok(format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)))
}
