//! Kernels that launch kernels: the device runtime is linked in by itself.

use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;
use ptx_codegen::Report;
use ptx_codegen::request::Linking;
use ptx_project::tools;
use ptx_tests::{Linked, Scratch, trial};

use crate::cuda::test;

/// A kernel `k` that launches itself.
const SOURCE: &str = "target triple = \"nvptx64-nvidia-cuda\"
define ptx_kernel void @k(ptr %p) {
  %b = call ptr @__cudaCDP2GetParameterBufferV2(ptr @k, [3 x i32] [i32 1, i32 1, i32 1], [3 x i32] [i32 32, i32 1, i32 1], i32 0)
  store ptr %p, ptr %b
  %r = call i32 @__cudaCDP2LaunchDeviceV2(ptr %b, i64 4)
  store i32 %r, ptr %p
  ret void
}
declare ptr @__cudaCDP2GetParameterBufferV2(ptr, [3 x i32], [3 x i32], i32)
declare i32 @__cudaCDP2LaunchDeviceV2(ptr, i64)
";

/// A kernel `k` that sets a condition.
const CONDITION: &str = "target triple = \"nvptx64-nvidia-cuda\"
define ptx_kernel void @k(i64 %condition, i32 %value) {
  call void @cudaGraphSetConditional(i64 %condition, i32 %value)
  ret void
}
declare void @cudaGraphSetConditional(i64, i32)
";

pub fn trials() -> Vec<Trial> {
    vec![
        test("kernels that launch kernels are linked with the device runtime", |cuda| {
            let scratch = Scratch::default();
            let out = scratch.path().join("all");
            let args = ["--emit=cubin,fatbin", "--name=k", "--arch=sm_75,sm_90,sm_120"];
            Linked::of(link(&scratch).args(args).arg(format!("--out-dir={}", out.display()))).accepted();
            for arch in ["sm_75", "sm_90", "sm_120"] {
                let symbols = cuda.symbols(&out.join(format!("k.{arch}.cubin")));
                let has = |part: &str| symbols.iter().any(|symbol| symbol.contains(part));
                // What stays undefined is the driver's.
                assert!(has("STV_DEFAULT __cudaCDP2LaunchDeviceV2") && has("STO_ENTRY k"), "{symbols:#?}");
                assert!(!has("U __cudaCDP2"), "{symbols:#?}");
            }
            let text = std::fs::read_to_string(out.join("report.json")).unwrap();
            let report: Report = serde_json::from_str(&text).unwrap();
            assert_eq!(report.linking, Linking::AtBuild);
            let names: Vec<_> = report.linked.iter().filter_map(|file| file.path.file_name()).collect();
            assert_eq!(names, ["libcudadevrt.a"], "{:?}", report.linked);
        }),
        test("a kernel that sets a graph's condition is linked with nothing, as by nvcc", |cuda| {
            let scratch = Scratch::default();
            let out = scratch.path().join("all");
            let args = ["--emit=cubin", "--name=k", "--arch=sm_75,sm_90,sm_120"];
            Linked::of(of(CONDITION, &scratch).args(args).arg(format!("--out-dir={}", out.display()))).accepted();
            for arch in ["sm_75", "sm_90", "sm_120"] {
                let symbols = cuda.symbols(&out.join(format!("k.{arch}.cubin")));
                assert!(symbols.iter().any(|symbol| symbol.ends_with("cudaGraphSetConditional")), "{symbols:#?}");
            }
            let text = std::fs::read_to_string(out.join("report.json")).unwrap();
            let report: Report = serde_json::from_str(&text).unwrap();
            assert_eq!((report.linking, report.linked.len()), (Linking::None, 0));
        }),
        test("at run time the device runtime is the caller's to give", |cuda| {
            let scratch = Scratch::default();
            Linked::of(link(&scratch).args(["--emit=cubin", "--name=k", "--arch=sm_90", "--link-at-load"])).accepted();
            let symbols = cuda.symbols(&scratch.path().join("out/k.sm_90.cubin"));
            assert!(symbols.iter().any(|symbol| symbol.contains("U __cudaCDP2LaunchDeviceV2")), "{symbols:#?}");
        }),
        trial("without the device runtime the message says what to install", || {
            let Some(ptxas) = tools::find().ptxas().map(|tool| tool.path.clone()) else {
                return Some("ptxas was not found; `cargo xtask setup` installs it".into());
            };
            if Path::new("/usr/local/cuda/bin/ptxas").exists() {
                return Some("the toolkit in /usr/local/cuda has the library".into());
            }
            let scratch = Scratch::default();
            // No place has the library.
            let missing = link(&scratch)
                .args(["--arch=sm_90", &format!("--ptxas={}", ptxas.display())])
                .env("PATH", "")
                .env("CUDA_HOME", scratch.path())
                .env("RUST_PTX_CACHE", scratch.path().join("cache"))
                .output()
                .expect("the linker starts");
            let stderr = String::from_utf8_lossy(&missing.stderr);
            for part in ["PTX0029", "a kernel launches kernels", "`libcudadevrt.a` was not found", "cargo ptx setup"] {
                assert!(stderr.contains(part), "`{part}` is not in:\n{stderr}");
            }
            None
        }),
    ]
}

/// The linker on the kernel.
fn link(scratch: &Scratch) -> Command {
    of(SOURCE, scratch)
}

/// The linker on this code.
fn of(source: &str, scratch: &Scratch) -> Command {
    let mut command = scratch.linker();
    command.arg("-O3").arg(scratch.write("kernels.ll", source));
    command
}
