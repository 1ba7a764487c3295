//! Line tables change no instruction, and name the calls that were inlined.

use std::fs;
use std::process::Command;

use libtest_mimic::Trial;
use ptx_codegen::options::DebugLevel;
use ptx_codegen::tools::Tools;
use ptx_tests::trial;

use crate::build::{self, Built};

/// A test for every package.
pub fn trials() -> Vec<Trial> {
    let same = |folder: String| {
        trial(format!("same machine code with lines and without: {folder}"), move || {
            let build = |level| build::package(&folder, "release", level);
            let (without, with) = match (build(DebugLevel::None), build(DebugLevel::LineTables)) {
                (Ok(without), Ok(with)) => (without, with),
                (Err(reason), _) | (_, Err(reason)) => return Some(reason),
            };
            let has_lines = |built: &Built| built.ptx.lines().any(|line| line.trim_start().starts_with(".loc\t"));
            assert!(has_lines(&with) && !has_lines(&without), "only one has lines");
            let Some((without, with)) = machine_code(&without).zip(machine_code(&with)) else {
                return Some("nvdisasm was not found".into());
            };
            assert!(without.lines().count() > 10, "no machine code:\n{without}");
            assert!(without == with, "they differ:\n{}", first_difference(&without, &with));
            None
        })
    };
    build::folders().into_iter().map(same).collect()
}

/// The instructions as nvdisasm lists them, without what is about lines.
fn machine_code(built: &Built) -> Option<String> {
    let tools = Tools::find();
    let nvdisasm = tools.nvdisasm()?;
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let cubin = scratch.path().join("kernels.cubin");
    fs::write(&cubin, &built.cubin).expect("a fresh file");
    let run = Command::new(&nvdisasm.path).arg("--print-code").arg("--print-instruction-encoding").arg(&cubin).output();
    let run = run.expect("nvdisasm starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    // Sections are listed with numbers that count the sections before them.
    let instructions = text.lines().filter(|line| line.contains("/*") && !line.contains(".section"));
    Some(instructions.map(|line| format!("{}\n", line.trim_end())).collect())
}

fn first_difference(a: &str, b: &str) -> String {
    let mut pairs = a.lines().zip(b.lines());
    pairs.find(|(a, b)| a != b).map_or_else(|| "one is longer".into(), |(a, b)| format!("{a}\n{b}"))
}
