//! Line tables change no instruction, and name the calls that were inlined.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use libtest_mimic::Trial;
use ptx_codegen::ptx_text::{self, Kind};
use ptx_codegen::request::DebugLevel;
use ptx_project::tools;
use ptx_tests::trial;

use crate::build::{self, Built};

/// The package with hundreds of kernels.
const LARGE: &str = "tests/kernels/basics";

/// How many of its functions may have the two operands of a sum the other way around, and what follows from that. With lines a
/// program stays whole, so LLVM reads it in another order than its groups, and sorts some operands by that order.
const OTHER_OPERANDS: usize = 3;

/// A test for every package.
pub fn trials() -> Vec<Trial> {
    let same = |folder: String| {
        trial(format!("same machine code with lines and without: {folder}"), move || {
            let build = |level| build::package(&folder, "release", level);
            let (without, with) = match (build(DebugLevel::None), build(DebugLevel::LineTables)) {
                (Ok(without), Ok(with)) => (without, with),
                (Err(reason), _) | (_, Err(reason)) => return Some(reason),
            };
            let is_place = |line: ptx_text::Line<'_>| matches!(line.kind, Kind::Loc { .. });
            let has_lines = |built: &Built| ptx_text::lines(&built.ptx).any(is_place);
            assert!(has_lines(&with) && !has_lines(&without), "only one has lines");
            let Some((without, with)) = machine_code(&without).zip(machine_code(&with)) else {
                return Some("nvdisasm was not found".into());
            };
            assert!(without.lines().count() > 10, "no machine code:\n{without}");
            let other = differing(&without, &with);
            let allowed = if folder == LARGE { OTHER_OPERANDS } else { 0 };
            assert!(other.len() <= allowed, "they differ in {other:?}:\n{}", first_difference(&without, &with));
            None
        })
    };
    let mut trials: Vec<_> = build::folders().into_iter().map(same).collect();
    trials.push(trial("inlined calls are in the line table", || with_lines(inlined_calls)));
    trials.push(trial("line tables need no other debug information", || {
        with_lines(|built| {
            for unwanted in [".debug_info", ".debug_abbrev", ", debug"] {
                assert!(!built.ptx.contains(unwanted), "the PTX contains `{unwanted}`");
            }
            None
        })
    }));
    trials
}

fn with_lines(check: impl FnOnce(&Built) -> Option<String>) -> Option<String> {
    match build::package(build::KERNELS, "release", DebugLevel::LineTables) {
        Ok(built) => check(&built),
        Err(reason) => Some(reason),
    }
}

/// The calls stand in the PTX by the rules of the PTX ISA, and ptxas took them over.
fn inlined_calls(built: &Built) -> Option<String> {
    let mut places = Vec::new();
    let mut calls = 0;
    for line in ptx_text::lines(&built.ptx) {
        if line.ends_function() {
            places.clear();
        }
        let Kind::Loc { file, line: row, column } = line.kind else { continue };
        if let Some((_, place)) = line.code().split_once("inlined_at ") {
            assert!(places.contains(&place.to_string()), "no `.loc` of its own stands before `{}`", line.text);
            calls += 1;
        }
        places.push(format!("{file} {row} {column}"));
    }
    assert!(calls > 20, "only {calls} calls");
    let Some(listing) = disassembled(built, "--print-line-info-inline") else {
        return Some("nvdisasm was not found".into());
    };
    // The index of a thread, which the kernel `views` asks for.
    let line = include_str!("../../kernels/debug_info/src/shapes.rs")
        .lines()
        .position(|line| line.contains("fn views"))
        .map(|at| at + 2);
    let site = format!("shapes.rs\", line {}", line.expect("the kernel is there"));
    let found =
        listing.lines().any(|text| text.contains("index.rs") && text.contains("inlined at") && text.contains(&site));
    let lines: Vec<_> = listing.lines().filter(|text| text.contains("inlined at")).take(10).collect();
    assert!(found, "no call inlined at {site}; there are:\n{}", lines.join("\n"));
    None
}

/// Before the name of a function's section.
const SECTION: &str = ".section ";

/// The instructions as nvdisasm lists them, function by function, without what is about lines.
fn machine_code(built: &Built) -> Option<String> {
    let text = disassembled(built, "--print-instruction-encoding")?;
    let lines = text.lines().filter_map(|line| {
        // Sections are listed with numbers that count the sections before them.
        let section = line.trim().strip_prefix(".section").and_then(|rest| rest.trim().split([',', '"']).next());
        match section {
            Some(name) => name.starts_with(".text").then(|| format!("{SECTION}{name}\n")),
            None => line.contains("/*").then(|| format!("{}\n", line.trim_end())),
        }
    });
    Some(lines.collect())
}

/// The functions that are not the same in both.
fn differing(a: &str, b: &str) -> Vec<String> {
    let functions = |text: &str| -> BTreeMap<String, String> {
        let parts = text.split(SECTION).skip(1).filter_map(|part| part.split_once('\n'));
        parts.map(|(name, code)| (name.to_string(), code.to_string())).collect()
    };
    let (a, b) = (functions(a), functions(b));
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    names.into_iter().filter(|name| a.get(*name) != b.get(*name)).cloned().collect()
}

fn disassembled(built: &Built, option: &str) -> Option<String> {
    let tools = tools::find();
    let nvdisasm = tools.nvdisasm()?;
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let cubin = scratch.path().join("kernels.cubin");
    fs::write(&cubin, &built.cubin).expect("a fresh file");
    let run =
        Command::new(&nvdisasm.path).args(["--print-code", option]).arg(&cubin).output().expect("nvdisasm starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Some(String::from_utf8_lossy(&run.stdout).into_owned())
}

fn first_difference(a: &str, b: &str) -> String {
    let mut pairs = a.lines().zip(b.lines());
    pairs.find(|(a, b)| a != b).map_or_else(|| "one is longer".into(), |(a, b)| format!("{a}\n{b}"))
}
