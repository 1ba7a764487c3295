//! `cargo xtask curand`: CURAND's headers, which the random numbers of `ptx::random` are compared with.
//!
//! Its functions compile for the host, too: what they give there is `runtime/rand/tests/curand/vectors.txt`, which every
//! test run compares with. The device bundle compiles them for the GPU.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::shell;

/// CURAND of CUDA 13.0, and the headers that its own include.
const PACKAGES: [(&str, &str); 4] = [
    ("nvidia-curand", "10.4.0.35"),
    ("nvidia-cuda-runtime", "13.0.96"),
    ("nvidia-cuda-crt", "13.0.88"),
    ("nvidia-cuda-cccl", "13.0.85"),
];

/// What unpacks the headers of every wheel in a folder into another one.
const UNPACK: &str = "import glob, sys, zipfile
for wheel in glob.glob(sys.argv[1] + '/*.whl'):
    archive = zipfile.ZipFile(wheel)
    archive.extractall(sys.argv[2], [name for name in archive.namelist() if '/include/' in name])";

/// Where the program is whose output is the table, and where the table is.
const VECTORS: &str = "runtime/rand/tests/curand";

/// Writes the table anew.
pub fn run() -> Result<()> {
    let include = headers()?;
    let program = shell::target_dir()?.join("curand/vectors");
    let mut compiler = Command::new("g++");
    compiler.args(["-O1", "-std=c++17", "-I"]).arg(&include).arg("-I").arg(include.join("cccl"));
    shell::run(compiler.arg("-o").arg(&program).arg(format!("{VECTORS}/vectors.cpp")))?;
    let output = Command::new(&program).output().context("cannot run what g++ made")?;
    fs::write(format!("{VECTORS}/vectors.txt"), output.stdout)?;
    println!("{VECTORS}/vectors.txt is CURAND {}'s", PACKAGES[0].1);
    Ok(())
}

/// The folder of the headers, about 60 MB of downloads by pip the first time. They lie in the target folder, under
/// NVIDIA's licence.
pub fn headers() -> Result<PathBuf> {
    let folder = shell::target_dir()?.join("curand").join(PACKAGES[0].1);
    let include = folder.join("nvidia/cu13/include");
    if !include.is_dir() {
        let wheels = tempfile::tempdir()?;
        for (name, version) in PACKAGES {
            let mut pip = Command::new("python3");
            pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest"]);
            shell::run(pip.arg(wheels.path()).arg(format!("{name}=={version}")))?;
        }
        unpack(wheels.path(), &folder)?;
    }
    Ok(include)
}

/// All or nothing.
fn unpack(wheels: &Path, folder: &Path) -> Result<()> {
    let partial = folder.with_extension("partial");
    shell::run(Command::new("python3").args(["-c", UNPACK]).arg(wheels).arg(&partial))?;
    fs::rename(&partial, folder).with_context(|| format!("cannot rename {}", partial.display()))
}
