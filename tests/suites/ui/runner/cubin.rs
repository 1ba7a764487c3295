//! What is done with the PTX of a case: ptxas takes it, its machine code and debug information are matched, and what a GPU
//! shall run is put aside.
//!
//! A case with `//@ run` becomes `run/NAME.cubin`, `run/NAME.ptx` and `run/NAME.json` in the folder of outputs, which the
//! device tests launch (`tests/suites/device/src/cases.rs`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use ptx_codegen::tool::{Tool, Tools};
use ptx_project::tools;
use ptx_test_cases::checks::{Checks, Text};
use ptx_test_cases::directives::{Launch, Settings};
use ptx_test_cases::filecheck::Pattern;
use ui_test::build_manager::BuildManager;
use ui_test::per_test_config::TestConfig;
use ui_test::status_emitter::RevisionStyle;
use ui_test::{Errored, TestOk};

use crate::outcome::{compare, failed, read};
use crate::{crates, dump};

fn tools() -> &'static Tools {
    static TOOLS: OnceLock<Tools> = OnceLock::new();
    TOOLS.get_or_init(tools::find)
}

/// The ptxas in use.
pub fn ptxas() -> Option<&'static Tool> {
    tools().ptxas()
}

/// The disassembler in use.
pub fn nvdisasm() -> Option<&'static Tool> {
    tools().nvdisasm()
}

/// Whether NVIDIA's driver is on this machine.
pub fn has_gpu() -> bool {
    Path::new("/proc/driver/nvidia/version").exists()
}

/// Adds tests: what ptxas makes of the PTX, which is skipped where it is not there; and one that only a device bundle runs.
pub fn examine(test: &TestConfig, ptx: PathBuf, settings: Settings, checks: &Checks, builds: &BuildManager) {
    let of = |text| checks.of(text, test.status.revision());
    let (sass, debug_info, lines) = (of(Text::Sass), of(Text::Dwarf), of(Text::Lines));
    let case = test.status.path().to_path_buf();
    let revision = test.status.revision().to_string();
    let launch = settings.launch();
    let job = move || {
        let Some(ptxas) = ptxas() else { return Ok(TestOk::Ignored) };
        let cubin = ptx.with_extension("cubin");
        let mut command = Command::new(&ptxas.path);
        command.arg("--gpu-name").arg(settings.arch()).args(settings.ptxas_args());
        // CUDA's device runtime is nvlink's to add.
        if fs::read_to_string(&ptx).is_ok_and(|text| text.contains("__cudaCDP2")) {
            command.arg("--compile-only");
        }
        run("ptxas", command.arg("--output-file").arg(&cubin).arg(&ptx))?;
        if let Some(launch) = launch {
            put_aside(&case, &revision, &ptx, &cubin, launch, &settings)?;
        }
        if !debug_info.is_empty() {
            compare(&case, &debug_info, &dump::debug_info(&bytes(&cubin)?))?;
        }
        if !lines.is_empty() {
            let found = dump::lines(&bytes(&cubin)?).map_err(|what| failed("line table", what))?;
            compare(&case, &lines, &found)?;
        }
        machine_code(&case, &sass, &cubin)
    };
    add(test, "ptxas", builds, job);
    if launch.is_some() {
        add(test, "run (needs a GPU: device bundle)", builds, || Ok(TestOk::Ignored));
    }
}

fn add(
    test: &TestConfig,
    name: &str,
    builds: &BuildManager,
    job: impl FnOnce() -> Result<TestOk, Errored> + Send + 'static,
) {
    let mut config = TestConfig::one_off_runner(test.config.clone(), test.status.path().to_path_buf());
    config.status = test.status.for_revision(&test.extension(name), RevisionStyle::Show);
    builds.add_new_job(config, move |_| job());
}

/// Matches `// SASS` lines, if there are any.
fn machine_code(case: &Path, patterns: &[Pattern], cubin: &Path) -> Result<TestOk, Errored> {
    if patterns.is_empty() {
        return Ok(TestOk::Ok);
    }
    let Some(nvdisasm) = nvdisasm() else { return Ok(TestOk::Ignored) };
    let listing = run("nvdisasm", Command::new(&nvdisasm.path).arg("--print-code").arg(cubin))?;
    compare(case, patterns, &sorted(&listing))?;
    Ok(TestOk::Ok)
}

/// The listing with its sections in the order of their names; ptxas has another from one version to the next.
fn sorted(listing: &str) -> String {
    const RULE: &str = "//---------------------";
    let mut parts = listing.split(RULE);
    let head = parts.next().unwrap_or_default();
    let mut sections: Vec<&str> = parts.collect();
    sections.sort_by_key(|section| section.split_whitespace().next());
    sections.iter().fold(head.to_string(), |text, section| text + RULE + section)
}

/// Writes what the device tests launch.
fn put_aside(
    case: &Path,
    revision: &str,
    ptx: &Path,
    cubin: &Path,
    launch: Launch,
    settings: &Settings,
) -> Result<(), Errored> {
    let text = read(ptx)?;
    let head = text.split(".visible .entry case(").nth(1).and_then(|rest| rest.split(')').next());
    let params = head.map(|head| head.matches(".param .u64").count() == 2 && head.matches(".param").count() == 2);
    if params != Some(true) {
        let what = "the kernel of a case that runs is `pub fn case(out: DisjointSlice<u32>)`";
        return Err(failed("case", format!("{}: {what}", case.display())));
    }
    let stem = case.file_stem().unwrap_or_default().to_string_lossy();
    let name = if revision.is_empty() { stem.into_owned() } else { format!("{stem}.{revision}") };
    let description = serde_json::json!({
        "name": name, "arch": settings.arch(), "grid": launch.grid, "block": launch.block, "expect": settings.expect,
    });
    let folder = crates::out_dir().join("run");
    let write = || {
        fs::create_dir_all(&folder)?;
        fs::copy(ptx, folder.join(format!("{name}.ptx")))?;
        fs::copy(cubin, folder.join(format!("{name}.cubin")))?;
        fs::write(folder.join(format!("{name}.json")), description.to_string())
    };
    write().map_err(|error| failed("output", format!("{}: {error}", folder.display())))
}

/// What the program prints.
fn run(name: &str, command: &mut Command) -> Result<String, Errored> {
    match command.output() {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => Err(failed(name, String::from_utf8_lossy(&output.stderr).into_owned())),
        Err(error) => Err(failed(name, error.to_string())),
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>, Errored> {
    fs::read(path).map_err(|error| failed("output", format!("{}: {error}", path.display())))
}
