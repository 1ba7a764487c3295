//! nvJitLink on this machine's CPU: Rust's PTX and machine code with the twin in every form.

use std::path::Path;

use libtest_mimic::Trial;
use ptx::{Error, LinkInput, LinkKind};
use ptx_tests::{Scratch, trial};

use crate::cuda::Cuda;
use crate::rust;

pub fn trials() -> Vec<Trial> {
    let test = |name: &str, body: fn(&Cuda, &Scratch)| {
        trial(name, move || {
            let cuda = match Cuda::find() {
                Ok(cuda) => cuda,
                Err(reason) => return Some(reason),
            };
            if let Err(error) = ptx::nvjitlink_version() {
                return Some(error.to_string());
            }
            body(&cuda, &Scratch::default());
            None
        })
    };
    vec![
        test("nvJitLink links every form", |cuda, scratch| {
            rust::link(scratch, "sm_90", &["--emit=cubin", "--name=k", "--link-at-load"]).accepted();
            let source = cuda.twin(scratch);
            let archive = scratch.path().join("libtwin.a");
            let object = cuda.object(scratch, &source, "twin.o", "sm_90");
            let run = std::process::Command::new("ar").arg("rcs").args([&archive, &object]).status();
            assert!(run.expect("ar starts").success());
            let nvcc = |name, args: &[&str]| cuda.nvcc(scratch, &source, name, args);
            let twins = [
                (LinkKind::Ptx, nvcc("twin.ptx", &["-ptx", "-rdc=true", "-arch=sm_90"])),
                (LinkKind::Cubin, nvcc("twin.cubin", &["-dc", "-cubin", "-arch=sm_90"])),
                (LinkKind::Fatbin, nvcc("twin.fatbin", &["-dc", "-fatbin", "-arch=sm_90"])),
                (LinkKind::LtoIr, nvcc("twin.ltoir", &["-dc", "-dlto", "-ltoir", "-arch=sm_90"])),
                (LinkKind::Object, nvcc("lto.o", &["-dc", "-gencode", "arch=compute_90,code=lto_90"])),
                (LinkKind::Object, object),
                (LinkKind::Library, archive),
            ];
            for (kind, name) in [(LinkKind::Ptx, "out/k.ptx"), (LinkKind::Cubin, "out/k.sm_90.cubin")] {
                let ours = input(kind, &scratch.path().join(name));
                for (kind, file) in &twins {
                    let inputs = [ours.clone(), input(*kind, file)];
                    let cubin = ptx::link_without_device("sm_90", &inputs)
                        .unwrap_or_else(|error| panic!("{inputs:?}: {error}"));
                    cuda.has_both_sides(&scratch.write("linked.cubin", cubin));
                }
            }
        }),
        test("nvJitLink names what is undefined", |_, scratch| {
            rust::link(scratch, "sm_90", &["--ptxas=off", "--link-at-load"]).accepted();
            let inputs = [input(LinkKind::Ptx, &scratch.output())];
            let error = ptx::link_without_device("sm_90", &inputs).map(|_| "linked").unwrap_err();
            let Error::Link { undefined, .. } = &error else { panic!("{error}") };
            let mut undefined = undefined.to_vec();
            undefined.sort();
            assert_eq!(undefined, ["_ZN3cpp3addEii", "cpp_scale"], "{error}");
        }),
        test("nvJitLink's refusals are errors", |cuda, scratch| {
            rust::link(scratch, "sm_90", &["--ptxas=off", "--link-at-load"]).accepted();
            let ours = input(LinkKind::Ptx, &scratch.output());
            let source = cuda.twin(scratch);
            let twin = input(LinkKind::Cubin, &cuda.nvcc(scratch, &source, "t", &["-dc", "-cubin", "-arch=sm_75"]));
            let garbage = |kind| LinkInput { kind, bytes: b"garbage".into(), name: "garbage".into() };
            let cases: [(&[LinkInput<'_>], &str, &[&str]); 5] = [
                (&[garbage(LinkKind::Ptx)], "sm_90", &["nvJitLink could not link for sm_90", "garbage"]),
                (&[garbage(LinkKind::Cubin)], "sm_90", &["garbage"]),
                (&[ours.clone(), twin.clone()], "sm_90", &["t: NVJITLINK_ERROR"]),
                (std::slice::from_ref(&ours), "sm_91", &["NVJITLINK_ERROR_UNRECOGNIZED_ARCH"]),
                // nvJitLink crashes on it.
                (std::slice::from_ref(&ours), "sm_1", &["could not link for sm_1", "no arch"]),
            ];
            for (inputs, arch, parts) in cases {
                let error = ptx::link_without_device(arch, inputs).map(|_| "linked").unwrap_err().to_string();
                for part in parts {
                    assert!(error.contains(part), "`{part}` is not in: {error}");
                }
            }
        }),
    ]
}

fn input(kind: LinkKind, file: &Path) -> LinkInput<'static> {
    let bytes = std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    LinkInput { kind, bytes: bytes.into(), name: file.file_name().unwrap_or_default().to_string_lossy().into_owned() }
}
