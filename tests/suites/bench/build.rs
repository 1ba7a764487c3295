//! Compiles the benchmark's kernels in Rust, in default settings, with `panic = "trap"` and with `after-panic = "exit"`, and
//! their twins in CUDA C++ by `nvcc -O3`; and the host's side in CUDA C++.

use std::path::{Path, PathBuf};
use std::process::Command;

use ptx_build::{AfterPanic, Builder, PanicStrategy};
use ptx_codegen::tool::Name;
use ptx_project::tools;

/// What `[package.metadata.ptx]` of the kernels says.
const ARCHS: &str = "sm_75,sm_80,sm_90,sm_120";

/// The folder of the twins.
const CUDA: &str = "../../kernels/bench/cuda";

/// The host's side in CUDA C++.
const HOST: &str = "cuda/host.cpp";

fn main() {
    let kernels = || Builder::new().kernels("../../kernels/bench").profile("release");
    kernels().build();
    kernels().panic(PanicStrategy::Trap).name("trap").build();
    kernels().after_panic(AfterPanic::Exit).name("exit").build();
    println!("cargo::rerun-if-changed={CUDA}");
    println!("cargo::rerun-if-changed={HOST}");
    let library = out_dir().join("host.so");
    let (missing, objects) = match nvcc() {
        Ok(nvcc) => {
            host(&nvcc, &library);
            (String::new(), twins(&nvcc))
        }
        Err(missing) => {
            std::fs::write(library, []).expect("our own folder");
            (missing, "&[]".into())
        }
    };
    println!("cargo::rustc-env=TWINS_MISSING={missing}");
    std::fs::write(out_dir().join("twins.rs"), objects).expect("our own folder");
}

/// nvcc, if all that it needs is there; otherwise what is missing.
fn nvcc() -> Result<PathBuf, String> {
    let tools = tools::find();
    let path = |name: Name| tools.get(name).map(|tool| tool.path.clone()).ok_or(format!("{name} was not found"));
    path(Name::Ptxas)?;
    if Command::new("g++").arg("--version").output().is_err() {
        return Err("g++ was not found, and nvcc needs it".into());
    }
    path(Name::Nvcc)
}

/// The twins for every arch, as an expression of type `&[ptx::Object]`.
fn twins(nvcc: &Path) -> String {
    let compile = |arch: &str, kind: &str| {
        let output = out_dir().join(format!("twins.{arch}.{kind}"));
        let mut command = Command::new(nvcc);
        command.args(["-O3", &format!("-{kind}"), &format!("-arch={arch}"), "-o"]).arg(&output);
        let run = command.arg(Path::new(CUDA).join("all.cu")).output().expect("nvcc starts");
        assert!(run.status.success(), "{command:?}: {}", String::from_utf8_lossy(&run.stderr));
        output.display().to_string()
    };
    let archs = std::env::var("RUST_PTX_ARCH").unwrap_or_else(|_| ARCHS.into());
    let object = |arch: &str| {
        let (ptx, cubin) = (compile(arch, "ptx"), compile(arch, "cubin"));
        format!(
            "::ptx::Object {{ arch: {arch:?}, ptx: include_str!({ptx:?}), ptx_path: {ptx:?}, cubin: Some(include_bytes!({cubin:?})) }}, "
        )
    };
    format!("&[{}]", archs.split(',').map(str::trim).map(object).collect::<String>())
}

/// Makes a library of the host's side. Machines without a GPU have no driver to link it with, so that an empty library of the
/// driver's name stands for it.
fn host(nvcc: &Path, library: &Path) {
    let driver = out_dir().join("libcuda.so.1");
    run(Command::new("g++").args(["-shared", "-Wl,-soname,libcuda.so.1", "-x", "c++", "/dev/null", "-o"]).arg(&driver));
    let mut command = Command::new(nvcc);
    command.args([
        "-O3",
        "-shared",
        "-Xcompiler",
        "-fPIC",
        "-cudart",
        "none",
        "-Xlinker",
        "--no-as-needed",
        "-Xlinker",
    ]);
    run(command.arg(&driver).arg("-o").arg(library).arg(HOST));
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn out_dir() -> PathBuf {
    std::env::var_os("OUT_DIR").expect("cargo sets it").into()
}
