//! Builds what the device runs: Rust and C++ that call each other, linked by nvlink and ready for the driver's linker.
//!
//! The folder then has `linked.cubin`, `rust.ptx`, `cxx.ptx` and `cases.json`, which says what every case must report.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::{Object, ObjectSymbol};
use ptx_codegen::tools::Tools;
use serde_json::json;

use crate::compile;
use crate::model::Case;
use crate::rust::BATCH;
use crate::{pattern, rust};

/// The GPU for which the round trips are linked; the driver's linker takes the PTX on later ones too.
pub const ARCH: &str = "sm_90";

/// Whether nvcc passes the case's values by code that runs; see `compare::DEVIATIONS`.
pub fn can_run(case: &Case) -> bool {
    !case.params.iter().chain(&case.result).any(|ty| case.has_misaligned(ty))
}

/// Compiles and links the cases into `folder`.
pub fn build(cases: &[Case], folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let work = compile::folder("round-trip");
    let compiled = compile::both(cases, &work, false, ARCH);
    let objects =
        [("rust", compiled.rust?), ("cxx", compiled.cxx?)].map(|(name, ptx)| assemble(name, &ptx, folder, &work));
    let [rust, cxx] = objects;
    let linked = folder.join("linked.cubin");
    let tools = Tools::find();
    let nvlink = tools.nvlink().ok_or("nvlink was not found")?;
    let mut command = Command::new(&nvlink.path);
    run(command.arg(format!("-arch={ARCH}")).args([rust?, cxx?]).arg("-o").arg(&linked))?;
    let undefined = undefined(&linked)?;
    if !undefined.is_empty() {
        return Err(format!("{} leaves undefined: {}", linked.display(), undefined.join(", ")));
    }
    let list: Vec<_> = cases
        .iter()
        .map(|case| json!({ "signature": rust::signature(case, 'f'), "bytes": pattern::expected(case) }))
        .collect();
    let object = json!({ "arch": ARCH, "batches": cases.len().div_ceil(BATCH), "cases": list });
    fs::write(folder.join("cases.json"), object.to_string()).map_err(|error| error.to_string())
}

/// PTX to a relocatable object.
fn assemble(name: &str, ptx: &str, folder: &Path, work: &Path) -> Result<PathBuf, String> {
    let (source, object) = (folder.join(format!("{name}.ptx")), work.join(format!("{name}.cubin")));
    fs::write(&source, ptx).map_err(|error| error.to_string())?;
    let tools = Tools::find();
    let ptxas = tools.ptxas().ok_or("ptxas was not found")?;
    run(Command::new(&ptxas.path).args(["-c", &format!("-arch={ARCH}"), "-o"]).arg(&object).arg(&source))?;
    Ok(object)
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)))
    }
}

/// Symbols that a linked cubin still lacks. Those that begin with `.nv.` are the driver's to fill in.
fn undefined(cubin: &Path) -> Result<Vec<String>, String> {
    let bytes = fs::read(cubin).map_err(|error| error.to_string())?;
    let file = object::File::parse(&*bytes).map_err(|error| error.to_string())?;
    let names = file
        .symbols()
        .filter(|symbol| symbol.is_undefined())
        .filter_map(|symbol| Some(symbol.name().ok()?.to_string()));
    Ok(names.filter(|name| !name.is_empty() && !name.starts_with(".nv.")).collect())
}
