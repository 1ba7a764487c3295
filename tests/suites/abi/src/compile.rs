//! Both compilers: ours on a generated crate, nvcc on a generated `.cu`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use object::{Object, ObjectSection};
use ptx_project::build;
use ptx_project::options::Settings;
use ptx_project::progress::Progress;
use ptx_project::tools;
use ptx_tests::folders::{root, target_dir};
use ptx_tests::kernels;

use crate::model::Case;
use crate::{cxx, rust};

/// The PTX of both.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Ours, or why there is none.
    pub rust: Result<String, String>,
    /// nvcc's, or why there is none.
    pub cxx: Result<String, String>,
}

/// Where generated sources and what becomes of them are kept, to be looked at.
pub fn folder(name: &str) -> PathBuf {
    target_dir().join("abi").join(name)
}

/// Whether nvcc is there.
pub fn has_nvcc() -> bool {
    tools::find().nvcc().is_some()
}

/// Compiles the cases as one crate and one `.cu`, both at the same time. Both sides have the kernels under the same
/// names, so with `kernels` they cannot be linked.
pub fn both(cases: &[Case], folder: &Path, kernels: bool, arch: &str) -> Compiled {
    thread::scope(|scope| {
        let cxx = scope.spawn(|| nvcc(cases, folder, kernels, arch));
        let rust = ours(cases, folder, kernels, arch);
        Compiled { rust, cxx: cxx.join().unwrap_or_else(|_| Err("nvcc's thread panicked".into())) }
    })
}

/// Our PTX.
pub fn ours(cases: &[Case], folder: &Path, kernels: bool, arch: &str) -> Result<String, String> {
    let krate = folder.join("crate");
    let manifest = format!(
        "[package]\nname = \"generated\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nptx = {{ path = {:?}, features = [\"half\"] }}\n",
        root().join("runtime/ptx")
    );
    let write = |path: PathBuf, text: &str| {
        ptx_codegen::files::write_if_changed(&path, text).map(drop).map_err(|failure| failure.to_string())
    };
    fs::create_dir_all(krate.join("src")).map_err(|error| error.to_string())?;
    // The versions that the repository has, so that nothing is looked up.
    let lock = fs::read_to_string(root().join("Cargo.lock")).map_err(|error| error.to_string())?;
    write(krate.join("Cargo.toml"), &manifest)?;
    if !krate.join("Cargo.lock").exists() {
        write(krate.join("Cargo.lock"), &lock)?;
    }
    write(krate.join("src/lib.rs"), &rust::krate(cases, kernels))?;
    let out_dir = folder.join("out");
    let settings =
        Settings { arch: vec![arch.into()], ptxas: Some("off".into()), link_at_load: true, ..Settings::default() };
    let build = kernels::device_build(krate.join("Cargo.toml"), settings, out_dir.clone(), self::folder("cargo"));
    build::report(&build, &Progress::quiet()).map_err(|failure| failure.to_string())?;
    let suffix = format!(".{arch}.ptx");
    let entries = fs::read_dir(&out_dir).map_err(|error| error.to_string())?;
    let ptx = entries.flatten().map(|entry| entry.path()).find(|path| path.to_string_lossy().ends_with(&suffix));
    let ptx = ptx.ok_or_else(|| format!("no PTX in {}", out_dir.display()))?;
    fs::read_to_string(ptx).map_err(|error| error.to_string())
}

/// nvcc's PTX.
pub fn nvcc(cases: &[Case], folder: &Path, kernels: bool, arch: &str) -> Result<String, String> {
    nvcc_source(&cxx::file(cases, kernels), folder, arch)
}

/// nvcc's PTX of a source.
pub fn nvcc_source(text: &str, folder: &Path, arch: &str) -> Result<String, String> {
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let source = folder.join("cases.cu");
    let output = folder.join("cases.ptx");
    fs::write(&source, text).map_err(|error| error.to_string())?;
    let tools = tools::find();
    let tool = tools.nvcc().ok_or("nvcc was not found")?;
    let mut command = Command::new(&tool.path);
    command.args(["-ptx", "-rdc=true", "-std=c++20", "-w", &format!("-arch={arch}"), "-o"]).arg(&output).arg(&source);
    let run = command.output().map_err(|error| error.to_string())?;
    if !run.status.success() {
        return Err(String::from_utf8_lossy(&run.stderr).into_owned());
    }
    fs::read_to_string(&output).map_err(|error| error.to_string())
}

/// A section of a cubin.
pub fn section(cubin: &Path, name: &str) -> Vec<u8> {
    let bytes = fs::read(cubin).unwrap_or_else(|error| panic!("{}: {error}", cubin.display()));
    let file = object::File::parse(&*bytes).unwrap_or_else(|error| panic!("{}: {error}", cubin.display()));
    let section = file.section_by_name(name).unwrap_or_else(|| panic!("{} has no {name}", cubin.display()));
    section.data().unwrap_or_else(|error| panic!("{}: {error}", cubin.display())).to_vec()
}
