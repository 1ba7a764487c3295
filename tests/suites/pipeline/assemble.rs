//! ptxas takes the PTX of every package for every GPU that it knows.

use std::process::Command;
use std::sync::{Arc, OnceLock};

use libtest_mimic::Trial;
use ptx_project::tools;
use ptx_tests::{Sample, trial};

use crate::packages::Package;

/// A test for every package and GPU.
pub fn trials(packages: &[Arc<Package>]) -> Vec<Trial> {
    let pairs = packages.iter().flat_map(|package| package.archs.iter().map(move |arch| (package.clone(), *arch)));
    pairs
        .map(|(package, arch)| trial(format!("{} for {arch}", package.folder), move || assemble(&package, arch)))
        .collect()
}

/// The assembler, and the archs that it knows.
fn ptxas() -> Option<&'static (std::path::PathBuf, Vec<String>)> {
    static FOUND: OnceLock<Option<(std::path::PathBuf, Vec<String>)>> = OnceLock::new();
    let find = || {
        let tools = tools::find();
        let ptxas = tools.ptxas()?;
        Some((ptxas.path.clone(), ptxas.archs().ok()?.to_vec()))
    };
    FOUND.get_or_init(find).as_ref()
}

fn assemble(package: &Package, arch: &str) -> Option<String> {
    if package.links() && tools::find().nvcc().is_none() {
        return Some("nvcc was not found, and this package is linked with CUDA C++".into());
    }
    let ptx = package.ptx(arch);
    let Some((ptxas, known)) = ptxas() else {
        return Some("the PTX was written but not checked: ptxas was not found".into());
    };
    if !known.iter().any(|name| name == arch) {
        return Some("the PTX was written but not checked: this ptxas does not know the arch".into());
    }
    let mut command = Command::new(ptxas);
    // What comes from CUDA C++, or from CUDA's device runtime, is linked afterwards.
    let is_linked = package.links() || std::fs::read_to_string(&ptx).is_ok_and(|ptx| ptx.contains("__cudaCDP2"));
    if is_linked {
        command.arg("--compile-only");
    }
    if !Sample::asked().whole {
        // It takes the same PTX, in half of the time: a minute for the largest package.
        command.arg("-O0");
    }
    let output = command
        .args(["--gpu-name", arch, "--output-file"])
        .arg(ptx.with_extension("cubin"))
        .arg(&ptx)
        .output()
        .expect("ptxas starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    None
}
