//! The cases of `tests/suites/ui/cases/cuda-gdb`, compiled as packages: what a debugger on a GPU will be asked for is there.
//!
//! Each case and its cubin are left in `target/cuda-gdb`, for the device tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;

use libtest_mimic::Trial;
use ptx_codegen::ptx_text::{self, Kind};
use ptx_codegen::request::DebugLevel;
use ptx_test_cases::debugger::{Case, Check, PRINTERS};
use ptx_tests::dwarf::Dwarf;
use ptx_tests::folders::{root, target_dir};
use ptx_tests::{Sample, trial};

use crate::build::{self, Built};
use crate::verify;

/// Where the cases are.
const FOLDER: &str = "tests/suites/ui/cases/cuda-gdb";

fn files() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(FOLDER)).expect("the cases are there").flatten();
    let mut files: Vec<_> =
        entries.map(|entry| entry.path()).filter(|path| path.extension() == Some("rs".as_ref())).collect();
    files.sort();
    files
}

/// A test for every case.
pub fn trials() -> Vec<Trial> {
    let files = Sample::asked().of("cases for cuda-gdb", files(), 5);
    files.into_iter().map(|file| trial(format!("case for cuda-gdb: {}", stem(&file)), move || check(&file))).collect()
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn parse(file: &Path) -> Case {
    let source = fs::read_to_string(file).expect("the case is there");
    Case::parse(&source).unwrap_or_else(|fault| panic!("{}: {fault}", file.display()))
}

fn check(file: &Path) -> Option<String> {
    let (case, folder) = (parse(file), packages().join(stem(file)));
    let level = if case.line_tables { DebugLevel::LineTables } else { DebugLevel::Full };
    static WRITTEN: Once = Once::new();
    WRITTEN.call_once(write_packages);
    let built = match build::manifest(&folder.join("Cargo.toml"), &stem(file), &case.profile, level) {
        Ok(built) => built,
        Err(reason) => return Some(reason),
    };
    let out = target_dir().join("cuda-gdb");
    fs::create_dir_all(&out).expect("our own folder");
    fs::copy(file, out.join(format!("{}.rs", stem(file)))).expect("our own folder");
    if case.printers {
        let printers = root().join("codegen/cargo-ptx/src/debugger").join(PRINTERS);
        fs::copy(printers, out.join(PRINTERS)).expect("our own folder");
    }
    fs::write(out.join(format!("{}.cubin", stem(file))), &built.cubin).expect("our own folder");
    let mut faults = Vec::new();
    if !case.line_tables {
        faults.extend(verify::faults(&built));
        faults.extend(unknown_variables(&case, &built));
    }
    let lines = lines(&built.ptx, file);
    faults.extend(
        case.breakpoints.iter().filter(|line| !lines.contains(line)).map(|line| format!("line {line} has no code")),
    );
    assert!(faults.is_empty(), "{}:\n{}", file.display(), faults.join("\n"));
    None
}

/// Packages of all cases, in one workspace, so that what they use is compiled once.
fn write_packages() {
    let root = root();
    let mut members = BTreeSet::new();
    for file in &files() {
        let case = parse(file);
        let auxiliary: Vec<_> =
            case.auxiliary.iter().map(|name| root.join(FOLDER).join("auxiliary").join(name)).collect();
        let used: String =
            auxiliary.iter().map(|source| format!("{0} = {{ path = \"../{0}\" }}\n", stem(source))).collect();
        write_package(file, &used);
        auxiliary.iter().for_each(|source| write_package(source, ""));
        members.extend(auxiliary.iter().chain([file]).map(|source| stem(source)));
    }
    let folder = packages();
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("our own folder");
    let members: Vec<_> = members.into_iter().collect();
    write(&folder.join("Cargo.toml"), &format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n"));
}

fn write_package(source: &Path, used: &str) {
    let folder = packages().join(stem(source));
    fs::create_dir_all(&folder).expect("our own folder");
    let (name, ptx) = (stem(source), root().join("runtime/ptx"));
    // The debugger stops where a panic traps, whatever panics end by default.
    let text = format!(
        "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[lib]\npath = {source:?}\n\n\
         [package.metadata.ptx]\nafter-panic = \"trap\"\n\n[dependencies]\nptx = {{ path = {ptx:?}, features = [\"half\"] }}\n{used}"
    );
    write(&folder.join("Cargo.toml"), &text);
}

/// Writes what is not so yet: cargo compiles again what is newer than its output.
fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::write(path, text).expect("our own folder");
    }
}

fn packages() -> PathBuf {
    target_dir().join("debug-tests/packages")
}

/// What `info locals` shall list, and no variable has this name.
fn unknown_variables(case: &Case, built: &Built) -> Vec<String> {
    let dwarf = Dwarf::read(&built.cubin);
    let is_variable = |tag| matches!(tag, gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter);
    let known: BTreeSet<_> =
        dwarf.entries.iter().filter(|entry| is_variable(entry.tag)).filter_map(|entry| dwarf.name(entry)).collect();
    let checks = case.commands.iter().flat_map(|command| &command.checks);
    let names = checks.filter_map(|check| if let Check::Names(names) = check { Some(names) } else { None }).flatten();
    let printed = case.commands.iter().filter_map(|command| printed(&command.text));
    let unknown = names.cloned().chain(printed).filter(|name| !known.contains(name));
    unknown.map(|name| format!("no variable `{name}`")).collect()
}

/// The variable of a `print`, or the last part of a static's path; nothing for what CUDA or gdb names.
fn printed(command: &str) -> Option<String> {
    let mut words = command.split_whitespace();
    let expression = words.next().filter(|word| word.split('/').next() == Some("print")).and(words.next())?;
    let path = expression.trim_start_matches(['*', '&', '(']).split(['.', '[', ')', '@']).next()?;
    let name = path.rsplit("::").next()?;
    let ours = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !["threadIdx", "blockIdx", "blockDim", "gridDim"].contains(&name);
    ours.then(|| name.to_string())
}

/// The lines of the file that have code, by the `.loc`s of the PTX.
fn lines(ptx: &str, file: &Path) -> BTreeSet<usize> {
    let is_it = |path: &str| Path::new(path).file_name() == file.file_name();
    let numbers: Vec<_> = ptx_text::files(ptx).filter(|(_, path)| is_it(path)).map(|(number, _)| number).collect();
    let places = ptx_text::lines(ptx).filter_map(|line| match line.kind {
        Kind::Loc { file, line, .. } if numbers.contains(&file) => line.parse().ok(),
        _ => None,
    });
    places.collect()
}
