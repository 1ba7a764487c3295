//! `cargo xtask setup`: the device sysroot and NVIDIA's tools, each installed once.

use std::path::Path;

use anyhow::Result;
use ptx_codegen::progress::Progress;
use ptx_codegen::sysroot::{self as device_sysroot, Rustc};
use ptx_codegen::tools;

/// Installs what is missing. The tools come from PyPI; without network or Python the tests that need them are
/// skipped, which is not a reason to run none.
pub fn run() -> Result<()> {
    sysroot()?;
    let found = tools::find();
    if [found.ptxas(), found.nvcc(), found.fatbinary(), found.cuobjdump()].iter().any(Option::is_none)
        && let Err(failure) = tools::install(&Progress::new())
    {
        eprintln!("NVIDIA's tools could not be installed; tests that need them are skipped.\n{failure}");
    }
    Ok(())
}

/// Builds the device sysroot where there is none.
pub fn sysroot() -> Result<()> {
    device_sysroot::ensure(&Rustc::query(Path::new("rustc"))?, None, &Progress::new())?;
    Ok(())
}
