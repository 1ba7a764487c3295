//! The machine code that ptxas makes of PTX which the compiler's workarounds have rewritten.

use std::fs;
use std::process::Command;

use ptx_codegen::workarounds;
use ptx_project::tools;

/// nvdisasm's text of it, or why there is none. ptxas must take the PTX.
pub fn of(ptx: &str, arch: &str) -> Result<String, String> {
    let tools = tools::find();
    let (Some(ptxas), Some(nvdisasm)) = (tools.ptxas(), tools.nvdisasm()) else {
        return Err("ptxas or nvdisasm was not found".into());
    };
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let (source, cubin) = (scratch.path().join("k.ptx"), scratch.path().join("k.cubin"));
    let text = workarounds::rewrite(ptx, arch.parse().expect("an arch"));
    fs::write(&source, &text).expect("our own folder");
    let run = Command::new(&ptxas.path).arg(format!("-arch={arch}")).arg("-o").arg(&cubin).arg(&source).output();
    let run = run.expect("ptxas starts");
    assert!(run.status.success(), "{}:\n{text}", String::from_utf8_lossy(&run.stderr));
    let run = Command::new(&nvdisasm.path).arg("-c").arg(&cubin).output().expect("nvdisasm starts");
    Ok(String::from_utf8_lossy(&run.stdout).into_owned())
}
