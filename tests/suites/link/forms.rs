//! Every form of the CUDA C++ side, for several archs.

use std::path::PathBuf;
use std::process::Command;

use libtest_mimic::Trial;
use ptx_tests::{Sample, Scratch, trial};

use crate::cuda::{Cuda, code};
use crate::rust;

/// What is linked for; the lowest and the highest that ptxas 13 knows are among them.
const ARCHS: [&str; 4] = ["sm_75", "sm_80", "sm_90", "sm_120"];

/// How the twin is made: its name, whether one file serves all archs, and whether link-time optimisation melts its
/// functions into their callers.
const FORMS: [(&str, bool, bool); 10] = [
    ("twin.cu", true, false),
    ("twin.ptx", true, false),
    ("twin.cubin", false, false),
    ("cubin named twin.o", false, false),
    ("twin.o", true, false),
    ("twin.obj", true, false),
    ("libtwin.a", true, false),
    ("twin.fatbin", true, false),
    ("twin.ltoir", false, true),
    ("lto twin.o", true, true),
];

pub fn trials() -> Vec<Trial> {
    let archs = Sample::asked().of("GPUs for each form of what is linked", ARCHS, 2);
    let mut trials = Vec::new();
    for (form, serves_all, melts) in FORMS {
        let archs = archs.clone();
        trials.push(trial(format!("link {form}"), move || {
            let cuda = match Cuda::find() {
                Ok(cuda) => cuda,
                Err(reason) => return Some(reason),
            };
            let scratch = Scratch::default();
            let groups: Vec<String> =
                if serves_all { vec![archs.join(",")] } else { archs.into_iter().map(String::from).collect() };
            for archs in groups {
                let file = make(&cuda, &scratch, form, &archs);
                let link = format!("--link={}", file.display());
                let linked = rust::link(&scratch, &archs, &["--emit=cubin,fatbin", "--name=k", &link]);
                linked.accepted();
                for arch in archs.split(',') {
                    let cubin = scratch.path().join(format!("out/k.{arch}.cubin"));
                    cuda.has_both_sides(&cubin);
                    if !melts {
                        for name in ["cpp_scale", "_ZN3cpp3addEii", "rust_twice", "cpp_kernel"] {
                            assert!(cuda.defines(&cubin, name), "{arch}: no {name} in {:#?}", cuda.symbols(&cubin));
                        }
                    }
                }
                // The linked code and no PTX, which would lack the other side.
                let fatbin = scratch.path().join("out/k.fatbin");
                assert_eq!(cuda.list("-lelf", &fatbin).lines().count(), archs.split(',').count(), "{archs}");
                assert!(!cuda.list("-lptx", &fatbin).contains("PTX file"), "{}", cuda.list("-lptx", &fatbin));
            }
            None
        }));
    }
    trials.push(trial("a cubin for each arch", || {
        let cuda = match Cuda::find() {
            Ok(cuda) => cuda,
            Err(reason) => return Some(reason),
        };
        let scratch = Scratch::default();
        let source = cuda.twin(&scratch);
        let links = ["sm_75", "sm_90"].map(|arch| {
            let arg = format!("-arch={arch}");
            let file = cuda.nvcc(&scratch, &source, &format!("twin.{arch}.cubin"), &["-dc", "-cubin", &arg]);
            format!("--link={}", file.display())
        });
        rust::link(&scratch, "sm_75,sm_90", &["--name=k", &links[0], &links[1]]).accepted();
        for arch in ["sm_75", "sm_90"] {
            cuda.has_both_sides(&scratch.path().join(format!("out/k.{arch}.cubin")));
        }
        None
    }));
    trials
}

fn make(cuda: &Cuda, scratch: &Scratch, form: &str, archs: &str) -> PathBuf {
    let source = cuda.twin(scratch);
    let first = archs.split(',').next().unwrap_or_default();
    let arch = format!("-arch={first}");
    match form {
        "twin.cu" => source,
        "twin.ptx" => cuda.nvcc(scratch, &source, "twin.ptx", &["-ptx", "-rdc=true", &arch]),
        "twin.cubin" => cuda.nvcc(scratch, &source, "twin.cubin", &["-dc", "-cubin", &arch]),
        "cubin named twin.o" => cuda.nvcc(scratch, &source, "twin.o", &["-dc", "-cubin", &arch]),
        "twin.o" | "twin.obj" => cuda.object(scratch, &source, form, archs),
        "libtwin.a" => {
            let object = cuda.object(scratch, &source, "twin.o", archs);
            let archive = scratch.path().join("libtwin.a");
            let run = Command::new("ar").arg("rcs").args([&archive, &object]).status().expect("ar starts");
            assert!(run.success());
            archive
        }
        "twin.fatbin" => {
            let codes: Vec<String> = archs.split(',').map(|arch| code(arch, "sm")).collect();
            let mut args = vec!["-dc", "-fatbin"];
            args.extend(codes.iter().flat_map(|code| ["-gencode", code]));
            cuda.nvcc(scratch, &source, "twin.fatbin", &args)
        }
        "twin.ltoir" => cuda.nvcc(scratch, &source, "twin.ltoir", &["-dc", "-dlto", "-ltoir", &arch]),
        "lto twin.o" => {
            let codes: Vec<String> = archs.split(',').map(|arch| code(arch, "lto")).collect();
            let mut args = vec!["-dc"];
            args.extend(codes.iter().flat_map(|code| ["-gencode", code]));
            cuda.nvcc(scratch, &source, "twin.o", &args)
        }
        other => panic!("no such form: {other}"),
    }
}
