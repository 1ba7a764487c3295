//! The device build always has rustc write line tables, for messages. That changes no code: every program of the
//! user-interface tests has the same PTX whatever `-C debuginfo` is, where the output has no debug information. There are
//! two exceptions. One is data: where a function begins whose stack overflows is known from debug information alone. The
//! other is rustc's: with `full` it keeps variables in memory, from where LLVM takes them later than others, so that the IR
//! which we read has some blocks and phis in another order.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Trial;
use ptx_abi::place::{self, Place, STATIC};
use ptx_codegen::request::TARGET;
use ptx_project::linker::LINKER_VARIABLE;
use ptx_tests::folders::root;
use ptx_tests::{Sample, library, trial};

/// Of rustc: `-C opt-level`, and levels of debug information to compare with none.
const LEVELS: [(&str, &[&str]); 2] = [("3", &["line-tables-only", "full"]), ("0", &["line-tables-only"])];

/// Programs whose blocks or phis rustc puts into another order with `full`. To order them anew for all programs was tried,
/// and made the loops of `reduce` longer by a tenth.
const ORDERED_OTHERWISE: [&str; 1] = ["strided_loops"];

pub fn trials() -> Vec<Trial> {
    let folder = root().join("tests/suites/ui/cases/pass");
    let mut cases: Vec<PathBuf> =
        fs::read_dir(&folder).expect("the cases").flatten().map(|entry| entry.path()).collect();
    cases.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    cases.sort();
    let cases = cases.into_iter().filter_map(Case::read);
    Sample::asked().of("programs with several levels of debug information", cases, 5).into_iter().map(same).collect()
}

struct Case {
    path: PathBuf,
    name: String,
    /// Its own, beside ours.
    args: Vec<String>,
}

impl Case {
    /// None for those that are compiled several times or of several files.
    fn read(path: PathBuf) -> Option<Self> {
        let source = fs::read_to_string(&path).ok()?;
        let mut args = vec!["-Clink-arg=--arch=sm_90".to_string()];
        for directive in source.lines().filter_map(|line| line.strip_prefix("//@")) {
            match directive.split_once(':').map(|(name, value)| (name.trim(), value.trim()))? {
                ("arch", arch) => args[0] = format!("-Clink-arg=--arch={arch}"),
                ("link-arg", arg) => args.push(format!("-Clink-arg={arg}")),
                ("emit", _) => {}
                _ => return None,
            }
        }
        let name = path.file_stem()?.to_string_lossy().into_owned();
        Some(Self { path, name, args })
    }

    fn ptx(&self, folder: &Path, optimisation: &str, debug: &str) -> Result<String, String> {
        let linker = std::env::current_exe().map_err(|error| error.to_string())?;
        let output = folder.join("kernels.ptx");
        let mut rustc = Command::new("rustc");
        rustc
            .env(LINKER_VARIABLE, &linker)
            .arg(format!("-Clinker={}", linker.display()))
            .args(&library::device()?.args);
        rustc.args(["--crate-type=cdylib", "--edition=2024", "--target", TARGET, "--cap-lints=allow"]);
        rustc.args([format!("-Copt-level={optimisation}"), format!("-Cdebuginfo={debug}")]);
        rustc.args(["-Clink-arg=--ptxas=off", "-Clink-arg=--debug-level=none"]).args(&self.args);
        let run = rustc.arg("-o").arg(&output).arg(&self.path).output().map_err(|error| error.to_string())?;
        if !run.status.success() {
            return Err(String::from_utf8_lossy(&run.stderr).into_owned());
        }
        Ok(without_places(&without_hashes(&fs::read_to_string(output).map_err(|error| error.to_string())?)))
    }
}

fn same(case: Case) -> Trial {
    trial(format!("same PTX whatever debug information rustc writes: {}", case.name), move || {
        let scratch = tempfile::tempdir().expect("a temporary folder");
        for (optimisation, levels) in LEVELS {
            let ptx = |debug| case.ptx(scratch.path(), optimisation, debug).unwrap_or_else(|what| panic!("{what}"));
            let without = ptx("none");
            assert!(without.contains(".version") && !without.contains("\t.loc\t"), "{without}");
            for debug in levels {
                let with = ptx(debug);
                if *debug == "full" && ORDERED_OTHERWISE.contains(&case.name.as_str()) {
                    assert!(without != with, "{} is no exception any more", case.name);
                    continue;
                }
                let difference = without.lines().zip(with.lines()).find(|(without, with)| without != with);
                assert!(without == with, "-O{optimisation} with {debug} differs, first in {difference:?}");
            }
        }
        None
    })
}

/// Where a function begins whose stack overflows is left out. Its place is one of the text's, or has a name of its own.
fn without_places(ptx: &str) -> String {
    let is_location = |line: &str| line.starts_with(".global") && line.contains(" __rust_ptx_location");
    let begin = |line: &str| line.split(['[', '=']).next().unwrap_or_default().to_string();
    let list = place::lists(ptx).next().unwrap_or_default();
    let is_overflow = |place: &Place<'_>| place.template.is_some_and(|text| text.starts_with(b"stack overflow in "));
    let places: Vec<(usize, u32, Place<'_>)> = place::all(&list).collect();
    let shown: Vec<&Place<'_>> = places.iter().map(|(_, _, place)| place).filter(|place| !is_overflow(place)).collect();
    let text = ptx.lines().map(|line| {
        let is_list = line.starts_with(".global") && line.contains(&format!(" {STATIC}["));
        let line = if is_list { format!("{shown:?}") } else { line.to_string() };
        (if is_location(&line) { begin(&line) } else { line }) + "\n"
    });
    places.iter().enumerate().rev().fold(text.collect(), |text: String, (index, (offset, number, place))| {
        let text = text.replace(&format!("{STATIC}+{offset};"), &format!("place {index};"));
        if !is_overflow(place) {
            return text;
        }
        // As our claims have it, and as LLVM writes a number that is handed to a function.
        text.replace(&format!("{number:#010x}"), "number").replace(&format!(", {};", number.cast_signed()), ", number;")
    })
}

/// rustc names constants by a hash of its options: 32 hexadecimal digits.
fn without_hashes(ptx: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    let mut rest = ptx;
    while let Some(at) = rest.find("anon_$_") {
        let (before, name) = rest.split_at(at + "anon_$_".len());
        text.push_str(before);
        rest = name.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    }
    text + rest
}
