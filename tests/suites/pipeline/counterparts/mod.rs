//! Operations of warps, groups, bits and launches against nvcc: one table of expressions in Rust and in CUDA C++, whose
//! instructions must be the same on every GPU that has them, and refused at the user's line on older ones.

mod barriers;
mod bits;
mod code;
mod groups;
mod launch;
mod memory;
mod row;
mod simd;
mod source;
mod texture;
mod warp;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use libtest_mimic::Trial;
use ptx_project::options::Settings;
use ptx_project::tools;
use ptx_tests::folders::{root, target_dir};
use ptx_tests::{Sample, kernels, trial};

use self::code::{Code, run};
use self::row::Row;

/// The GPUs that both compilers compile for; the last has everything.
const ARCHS: [(&str, u32); 5] = [("sm_75", 75), ("sm_80", 80), ("sm_90", 90), ("sm_100", 100), ("sm_120", 120)];

/// A test for every GPU.
pub fn trials() -> Vec<Trial> {
    let archs = Sample::asked().of("GPUs for the counterparts of CUDA C++", ARCHS, 1);
    let as_nvcc =
        archs.into_iter().map(|(arch, sm)| trial(format!("counterparts on {arch}"), move || compare(arch, sm)));
    let refused = trial("counterparts are refused on older GPUs", refused);
    let honest = ptx_tests::test("every row of the counterparts has a name of its own", || {
        let names: BTreeSet<String> = rows().into_iter().map(|row| row.name).collect();
        assert_eq!(names.len(), rows().len());
        assert!(names.len() >= 600, "{}", names.len());
    });
    as_nvcc.chain([refused, honest]).collect()
}

/// Those that this run compares: rustc takes 20 seconds over all of them.
fn asked() -> Vec<Row> {
    Sample::asked().of("counterparts of CUDA C++", rows(), 60)
}

fn rows() -> Vec<Row> {
    let sets =
        [warp::rows, groups::rows, bits::rows, simd::rows, launch::rows, memory::rows, texture::rows, barriers::rows];
    sets.iter().flat_map(|rows| rows()).collect()
}

fn compare(arch: &str, sm: u32) -> Option<String> {
    let tools = tools::find();
    let (Some(nvcc), Some(ptxas), Some(nvdisasm)) = (tools.nvcc(), tools.ptxas(), tools.nvdisasm()) else {
        return Some("nvcc, ptxas or nvdisasm was not found".into());
    };
    let rows: Vec<Row> = asked().into_iter().filter(|row| row.min_sm <= sm).collect();
    let folder = target_dir().join("pipeline/counterparts").join(arch);
    let theirs = folder.join("nvcc.ptx");
    fs::create_dir_all(&folder).expect("our own folder");
    let source = folder.join("rows.cu");
    fs::write(&source, source::cuda(&rows)).expect("our own folder");
    run(Command::new(&nvcc.path)
        .args(["-ptx", "-O3", "-w", "-std=c++17", &format!("-arch={arch}"), "-o"])
        .arg(&theirs)
        .arg(&source));
    let ours = ours(arch, &folder).unwrap_or_else(|error| panic!("{error}"));
    let [ours, theirs] = [ours, theirs].map(|ptx| Code::of(&ptx, arch, &ptxas.path, &nvdisasm.path));
    let mut problems = Vec::new();
    let mut rules = BTreeMap::<&str, usize>::new();
    for row in &rows {
        match row.judge(&ours, &theirs) {
            Ok(how) => *rules.entry(how).or_default() += 1,
            Err(problem) => problems.push(problem),
        }
    }
    fs::write(folder.join("summary.txt"), format!("{rules:?}\n{}", problems.join("\n"))).expect("our own folder");
    assert!(
        problems.is_empty(),
        "{} of {} rows, others {rules:?}:\n{}",
        problems.len(),
        rows.len(),
        problems.join("\n")
    );
    None
}

/// Our PTX of all rows, each kernel empty on GPUs that lack the operation.
fn ours(arch: &str, folder: &Path) -> Result<PathBuf, String> {
    let package = folder.parent().expect("not the root").join("rows");
    write_package(&package, &source::rust(&asked(), true))?;
    build(&package, &folder.join("ours"), &[arch])?;
    Ok(folder.join("ours").join(format!("counterparts.{arch}.ptx")))
}

/// The package's source, written once: tests run at the same time.
fn write_package(folder: &Path, source: &str) -> Result<(), String> {
    static WRITING: Mutex<()> = Mutex::new(());
    let _alone = WRITING.lock();
    let text = |error: std::io::Error| error.to_string();
    fs::create_dir_all(folder.join("src")).map_err(text)?;
    let manifest = format!(
        "[package]\nname = \"counterparts\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\"]\n\
         [dependencies]\nptx = {{ path = {:?}, features = [\"half\"] }}\n[workspace]\n",
        root().join("runtime/ptx").display().to_string()
    );
    for (name, text_of_it) in [("Cargo.toml", manifest.as_str()), ("src/lib.rs", source)] {
        if fs::read_to_string(folder.join(name)).ok().as_deref() != Some(text_of_it) {
            fs::write(folder.join(name), text_of_it).map_err(text)?;
        }
    }
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).map_err(text)?;
    Ok(())
}

fn build(package: &Path, out: &Path, archs: &[&str]) -> Result<(), String> {
    let settings = Settings {
        arch: archs.iter().map(ToString::to_string).collect(),
        ptxas: Some("off".into()),
        ..Settings::default()
    };
    kernels::build(&package.display().to_string(), out, settings, &[]).map(drop)
}

/// Every row that needs a newer GPU is an error there, at its own line, and names the GPU that it needs.
fn refused() -> Option<String> {
    let young: Vec<Row> = asked().into_iter().filter(|row| row.min_sm > ARCHS[0].1).collect();
    assert!(young.len() >= if Sample::asked().whole { 40 } else { 1 }, "{}", young.len());
    let source = source::rust(&young, false);
    let folder = target_dir().join("pipeline/counterparts");
    write_package(&folder.join("young"), &source).unwrap_or_else(|error| panic!("{error}"));
    for (arch, sm) in [("sm_75", 75), ("sm_80", 80)] {
        let error = build(&folder.join("young"), &folder.join("refused"), &[arch]).expect_err("it needs newer GPUs");
        for row in young.iter().filter(|row| row.min_sm > sm) {
            let line =
                source.lines().position(|line| line.contains(&format!("fn k_{}(", row.name))).expect("its kernel");
            // The expression stands in the line below.
            let place = format!("src/lib.rs:{}:", line + 2);
            let message = error.split("error[").find(|message| message.contains(&place));
            let message = message.unwrap_or_else(|| panic!("{arch}: nothing at {place} `{}`:\n{error}", row.rust));
            assert!(message.contains(&format!("this needs sm_{}", row.min_sm)), "{arch}, {}: {message}", row.name);
        }
    }
    None
}
