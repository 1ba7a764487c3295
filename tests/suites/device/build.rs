//! Compiles the test kernels, which are packages of their own, for the GPU; those of `link_kernels` once with every form of
//! their CUDA C++ twin.

use std::path::{Path, PathBuf};
use std::process::Command;

use ptx_build::{AfterPanic, Builder};
use ptx_codegen::tool::Name;
use ptx_project::tools;

#[path = "build/crates.rs"]
mod crates;
#[path = "build/float.rs"]
mod float;
#[path = "build/halfwords.rs"]
mod halfwords;
#[path = "build/panics.rs"]
mod panics;
#[path = "build/rand.rs"]
mod rand;

/// The forms that are linked here, by file name in `OUT_DIR`; the CUDA C++ source is one more.
const FORMS: [&str; 6] = ["ptx", "cubin", "fatbin", "o", "a", "ltoir"];

fn main() {
    for folder in [
        "../../kernels/basics",
        "../../kernels/block",
        "../../kernels/litmus",
        "../../kernels/memory",
        "../../kernels/syscalls",
        "../../kernels/textures",
    ] {
        Builder::new().kernels(folder).profile("release").build();
    }
    // A child's panic is to leave the device to the other tests.
    let children = Builder::new().kernels("../../kernels/children").profile("release");
    children.after_panic(AfterPanic::Exit).build();
    let surviving = Builder::new().kernels("../../kernels/memory").profile("release").name("memory_exit");
    surviving.after_panic(AfterPanic::Exit).build();
    let cubins = Builder::new().kernels("../../kernels/cubins").profile("release").name("cubins");
    cubins.after_panic(AfterPanic::Exit).build();
    crates::build();
    panics::build();
    for (profile, name) in [("dev", "stack_debug"), ("release", "stack_release")] {
        Builder::new().kernels("../../kernels/stack").profile(profile).name(name).build();
    }
    // Under compute-sanitizer, for which a trap is an error.
    for (profile, name) in [("dev", "stack_exit_debug"), ("release", "stack_exit_release")] {
        let kernels = Builder::new().kernels("../../kernels/stack").profile(profile).name(name);
        kernels.after_panic(AfterPanic::Exit).build();
    }
    Builder::new().kernels("../../kernels/stack").profile("release").ptxas("off").name("stack_ptx").build();
    halfwords::build(tools::find().ptxas().map(|tool| tool.path.as_path()));
    println!("cargo::rustc-check-cfg=cfg(twin)");
    let nvcc = nvcc();
    float::build(nvcc.as_deref().ok());
    rand::build(nvcc.as_deref().ok());
    match nvcc {
        Ok(nvcc) => {
            println!("cargo::rustc-cfg=twin");
            twin(&nvcc);
        }
        Err(reason) => println!("cargo::rustc-env=TWIN_MISSING={reason}"),
    }
}

/// nvcc, if all that linking needs is there.
fn nvcc() -> Result<PathBuf, String> {
    let tools = tools::find();
    let path = |name: Name| tools.get(name).map(|tool| tool.path.clone()).ok_or(format!("{name} was not found"));
    for name in [Name::Ptxas, Name::Nvlink, Name::Fatbinary] {
        path(name)?;
    }
    if Command::new("g++").arg("--version").output().is_err() {
        return Err("g++ was not found, and nvcc needs it".into());
    }
    path(Name::Nvcc)
}

fn twin(nvcc: &Path) {
    let out_dir = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let archs = std::env::var("RUST_PTX_ARCH").unwrap_or_else(|_| "sm_75,sm_90".into());
    let archs: Vec<&str> = archs.split(',').map(str::trim).collect();
    let source = Path::new("../../kernels/link/cuda/twin.cu");
    let compile = |name: &str, args: &[String]| {
        let output = out_dir.join(name);
        let run = Command::new(nvcc).args(args).arg("-o").arg(&output).arg(source).output().expect("nvcc starts");
        assert!(run.status.success(), "nvcc {args:?}: {}", String::from_utf8_lossy(&run.stderr));
        output
    };
    let number = |arch: &str| arch.trim_start_matches("sm_").to_string();
    let codes =
        archs.iter().flat_map(|arch| ["-gencode".to_string(), format!("arch=compute_{0},code=sm_{0}", number(arch))]);
    let all = |first: &[&str]| first.iter().map(ToString::to_string).chain(codes.clone()).collect::<Vec<_>>();
    let lowest = format!("-arch={}", archs[0]);
    let one = |first: &[&str]| first.iter().map(ToString::to_string).chain([lowest.clone()]).collect::<Vec<_>>();

    let mut cubins = String::new();
    let mut cubin_files = Vec::new();
    for arch in &archs {
        let args = ["-dc".into(), "-cubin".into(), format!("-arch={arch}")];
        let file = compile(&format!("twin.{arch}.cubin"), &args);
        cubins += &format!("({arch:?}, include_bytes!({:?}) as &[u8]), ", file.display().to_string());
        cubin_files.push(file);
    }
    std::fs::write(out_dir.join("cubins.rs"), format!("&[{cubins}]")).expect("our own folder");
    let object = compile("twin.o", &all(&["-dc"]));
    let archive = out_dir.join("twin.a");
    // `ar` would add to one that is there.
    _ = std::fs::remove_file(&archive);
    let run = Command::new("ar").arg("rcs").args([&archive, &object]).status().expect("ar comes with g++");
    assert!(run.success(), "ar failed");
    compile("twin.ptx", &one(&["-ptx", "-rdc=true"]));
    compile("twin.fatbin", &all(&["-dc", "-fatbin"]));
    compile("twin.ltoir", &one(&["-dc", "-dlto", "-ltoir"]));

    let kernels = |name: &str| Builder::new().kernels("../../kernels/link").profile("release").name(name);
    kernels("linked_cu").link(source).build();
    for form in FORMS {
        let files = if form == "cubin" { cubin_files.clone() } else { vec![out_dir.join(format!("twin.{form}"))] };
        files.into_iter().fold(kernels(&format!("linked_{form}")), Builder::link).build();
    }
    kernels("link_at_load").link_at_load().build();
}
