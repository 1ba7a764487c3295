//! What cannot be linked: a message that names file, symbol and remedy, and nothing half-written.

use std::path::{Path, PathBuf};

use libtest_mimic::Trial;
use object::LittleEndian;
use object::elf::{FileHeader64, SectionHeader64};
use object::read::elf::FileHeader as _;
use ptx_tests::{Linked, Scratch, trial};

use crate::cuda::{Cuda, TWIN};
use crate::rust;

/// A bad file, and the parts that the message must have.
type Case = (&'static str, fn(&Cuda, &Scratch) -> PathBuf, &'static [&'static str]);

const CASES: [Case; 31] = [
    ("no such file", |_, s| s.path().join("none.cu"), &["PTX0026", "none.cu", "No such file", "relative to"]),
    ("a folder", |_, s| s.path().join("out"), &["PTX0026", "out"]),
    ("an empty object", |_, s| s.write("e.o", ""), &["PTX0026", "e.o", "empty"]),
    ("an extension of C++", |_, s| s.write("a.cpp", "int x;"), &["PTX0026", "a.cpp", ".cu, .ptx, .cubin"]),
    ("no extension", |_, s| s.write("twin", "int x;"), &["PTX0026", ".cu, .ptx"]),
    ("Rust bitcode", |_, s| s.write("a.bc", "BC"), &["PTX0026", "a.bc", "dependency of the crate"]),
    ("text named .o", |_, s| s.write("t.o", "text"), &["PTX0026", "t.o", "it is text"]),
    ("text named .cubin", |_, s| s.write("t.cubin", "text"), &["PTX0026", "it is text"]),
    ("text named .a", |_, s| s.write("t.a", "text"), &["PTX0026", "it is text"]),
    ("text named .fatbin", |_, s| s.write("t.fatbin", "text"), &["PTX0026", "it is text"]),
    ("text named .ltoir", |_, s| s.write("t.ltoir", "text"), &["PTX0026", "it is text"]),
    ("bytes named .cu", |_, s| s.write("b.cu", [0_u8, 1, 2]), &["PTX0026", "b.cu", "something else"]),
    ("PTX named .cu", |c, s| rename(&ptx(c, s), "p.cu"), &["PTX0027", "p.cu"]),
    ("a cubin named .ptx", |c, s| rename(&cubin(c, s, "sm_75"), "c.ptx"), &["PTX0026", "it is a cubin"]),
    ("a host object", |c, s| host(c, s), &["PTX0026", "host.o", "host code only", "nvcc -dc"]),
    ("an archive of host objects", |c, s| archive(&host(c, s)), &["PTX0026", "lib.a", "relocatable device code"]),
    (
        "an object compiled as a whole program",
        |c, s| c.nvcc(s, &c.twin_alone(s), "whole.o", &["-c", "-arch=sm_75"]),
        &["PTX0026", "whole.o", "whole program", "nvcc -dc"],
    ),
    (
        "a cubin that is linked already",
        |c, s| c.nvcc(s, &c.twin_alone(s), "whole.cubin", &["-cubin", "-arch=sm_75"]),
        &["PTX0026", "whole.cubin", "linked already", "nvcc -dc"],
    ),
    ("a cubin cut short", |c, s| cut(&cubin(c, s, "sm_75")), &["PTX0026", "cut.cubin", "damaged"]),
    ("an object cut short", |c, s| cut(&object(c, s, "sm_75")), &["PTX0026", "cut.o", "damaged"]),
    (
        // nvlink pads what it writes for ever.
        "a cubin with an alignment that is none",
        |c, s| misaligned(&cubin(c, s, "sm_75")),
        &["PTX0026", "misaligned.cubin", "damaged", "aligned to 3 bytes"],
    ),
    ("a cubin for another arch", |c, s| cubin(c, s, "sm_90"), &["PTX0026", "code for sm_90", "sm_75", "--arch sm_90"]),
    (
        "an object for another arch",
        |c, s| object(c, s, "sm_90"),
        &["PTX0006", "cpp_scale", "twin.o has no code for sm_75", "src/kernels.rs:42", "arch=compute_75,code=sm_75"],
    ),
    ("PTX that is none", |_, s| s.write("g.ptx", "garbage"), &["PTX0027", "g.ptx:1", ".version"]),
    (
        "PTX with a mistake",
        |_, s| s.write("m.ptx", ".version 7.0\n.target sm_75\n.address_size 64\n.func f() {\n  bad.u32 %r1;\n}\n"),
        &["PTX0027", "m.ptx:5", "bad"],
    ),
    (
        "CUDA C++ with a mistake",
        |_, s| s.write("m.cu", "__device__ int f() {\n  return 1 + ;\n}\n"),
        &["PTX0027", "m.cu:2", "expected an expression"],
    ),
    (
        "CUDA C++ without its header",
        |_, s| s.write("h.cu", "#include \"nobody_has_this.h\"\n"),
        &["PTX0027", "h.cu:1", "nobody_has_this.h", "nvcc-flags"],
    ),
    (
        "undefined on both sides",
        |_, s| {
            s.write("u.cu", "extern \"C\" __device__ int more(int);\nextern \"C\" __device__ int cpp_scale(int a, int b) { return more(a + b); }\n")
        },
        &["PTX0006", "`more`", "used in", "u.cu", "`cpp::add(int, int)`", "src/kernels.rs:43", "no_mangle"],
    ),
    (
        "a C++ name where C is meant",
        |_, s| {
            s.write("n.cu", "__device__ int cpp_scale(int a, int b) { return a; }\nnamespace cpp { __device__ int add(int a, int b) { return a; } }\n")
        },
        &["PTX0006", "`cpp_scale`", "n.cu defines `cpp_scale(int, int)`", "_Z9cpp_scaleii", "extern \"C\""],
    ),
    (
        "a definition of what Rust defines",
        |_, s| {
            s.write(
                "d.cu",
                &(TWIN.replace("#include \"twin.cuh\"", "#define MORE 1")
                    + "extern \"C\" __device__ int rust_twice(int x) { return x; }\n"),
            )
        },
        &["PTX0028", "`rust_twice` is defined twice", "the Rust code", "d.cu", "rename"],
    ),
    (
        "another prototype",
        |_, s| {
            s.write(
                "p.cu",
                TWIN.replace("#include \"twin.cuh\"", "#define MORE 1")
                    .replace("cpp_scale(int x, int by)", "cpp_scale(double x, int by)"),
            )
        },
        &["PTX0028", "`cpp_scale`", "another signature", "src/kernels.rs:42"],
    ),
];

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = CASES
        .into_iter()
        .map(|(name, make, parts)| {
            trial(format!("refused: {name}"), move || {
                let cuda = match Cuda::find() {
                    Ok(cuda) => cuda,
                    Err(reason) => return Some(reason),
                };
                let scratch = Scratch::default();
                let file = make(&cuda, &scratch);
                let linked = rust::link(&scratch, "sm_75", &[&format!("--link={}", file.display())]);
                scratch.refused(&linked, parts);
                None
            })
        })
        .collect();
    trials.push(trial("refused: two files that define the same", || {
        let cuda = match Cuda::find() {
            Ok(cuda) => cuda,
            Err(reason) => return Some(reason),
        };
        let scratch = Scratch::default();
        let source = cuda.twin(&scratch);
        let archive = archive(&object(&cuda, &scratch, "sm_75"));
        let links = [source, archive].map(|file| format!("--link={}", file.display()));
        let linked = rust::link(&scratch, "sm_75", &[&links[0], &links[1]]);
        scratch.refused(&linked, &["PTX0028", "`cpp_scale` is defined twice", "twin.cu", "lib.a (twin.o)"]);
        None
    }));
    trials.push(trial("refused: no host compiler", || {
        let cuda = match Cuda::find() {
            Ok(cuda) => cuda,
            Err(reason) => return Some(reason),
        };
        let scratch = Scratch::default();
        let link = format!("--link={}", cuda.twin(&scratch).display());
        let linked = Linked::of(rust::command(&scratch, "sm_75").arg(link).env("NVCC_CCBIN", "/nonexistent/g++"));
        scratch.refused(&linked, &["PTX0029", "twin.cu", "host compiler", "NVCC_CCBIN"]);
        None
    }));
    trials.push(trial("refused: no nvlink", || {
        let cuda = match Cuda::find() {
            Ok(cuda) => cuda,
            Err(reason) => return Some(reason),
        };
        let scratch = Scratch::default();
        let link = format!("--link={}", cuda.twin(&scratch).display());
        let fake = scratch.write_program("nvlink", "#!/bin/sh\necho 'nvlink fatal   : out of luck' >&2\nexit 1\n");
        let linked = Linked::of(rust::command(&scratch, "sm_75").arg(&link).env("RUST_PTX_NVLINK", &fake));
        scratch.refused(&linked, &["PTX0028", "out of luck"]);
        let silent = scratch.write_program("nvlink", "#!/bin/sh\nexit 3\n");
        let linked = Linked::of(rust::command(&scratch, "sm_75").arg(&link).env("RUST_PTX_NVLINK", &silent));
        scratch.refused(&linked, &["PTX0028", "without a message"]);
        // The system does that to it once it has had its time.
        let endless = "#!/bin/sh\n[ $(ulimit -t) = 30 ] && kill -XCPU $$\n";
        let endless = scratch.write_program("nvlink", endless);
        let linked = Linked::of(rust::command(&scratch, "sm_75").arg(&link).env("RUST_PTX_NVLINK", &endless));
        scratch.refused(&linked, &["PTX0028", "did not come to an end", "twin.cu", "damaged"]);
        None
    }));
    trials.push(trial("refused: without ptxas", || {
        let scratch = Scratch::default();
        let link = format!("--link={}", scratch.write("a.cu", "").display());
        scratch.refused(&rust::link(&scratch, "sm_75", &["--ptxas=off", &link]), &["linking needs ptxas"]);
        None
    }));
    trials.push(trial("refused: undefined without a file names the option", || {
        let scratch = Scratch::default();
        let linked = rust::link(&scratch, "sm_75", &["--ptxas=off"]);
        scratch.refused(&linked, &["PTX0006", "`cpp::add(int, int)`", "src/kernels.rs:43", "--link FILE"]);
        None
    }));
    trials
}

impl Cuda {
    /// A source that needs nothing from Rust.
    fn twin_alone(&self, scratch: &Scratch) -> PathBuf {
        scratch.write(
            "alone.cu",
            "extern \"C\" __device__ int cpp_scale(int a, int b) { return a * b; }\n__global__ void g() {}\n",
        )
    }
}

fn ptx(cuda: &Cuda, scratch: &Scratch) -> PathBuf {
    cuda.nvcc(scratch, &cuda.twin(scratch), "twin.ptx", &["-ptx", "-rdc=true", "-arch=sm_75"])
}

fn cubin(cuda: &Cuda, scratch: &Scratch, arch: &str) -> PathBuf {
    cuda.nvcc(scratch, &cuda.twin(scratch), "twin.cubin", &["-dc", "-cubin", &format!("-arch={arch}")])
}

fn object(cuda: &Cuda, scratch: &Scratch, arch: &str) -> PathBuf {
    cuda.object(scratch, &cuda.twin(scratch), "twin.o", arch)
}

fn host(cuda: &Cuda, scratch: &Scratch) -> PathBuf {
    cuda.nvcc(scratch, &scratch.write("host.cpp", "int host() { return 1; }\n"), "host.o", &["-c"])
}

fn archive(object: &PathBuf) -> PathBuf {
    let archive = object.with_file_name("lib.a");
    let run = std::process::Command::new("ar").arg("rcs").args([&archive, object]).status().expect("ar starts");
    assert!(run.success());
    archive
}

fn rename(file: &PathBuf, name: &str) -> PathBuf {
    let renamed = file.with_file_name(name);
    std::fs::rename(file, &renamed).expect("our own file");
    renamed
}

/// The first half of a file.
/// Its first section is aligned to three bytes.
fn misaligned(file: &Path) -> PathBuf {
    let mut bytes = std::fs::read(file).expect("our own file");
    let header = FileHeader64::<LittleEndian>::parse(bytes.as_slice()).expect("nvcc writes ELF");
    let section = header.e_shoff(LittleEndian) as usize + size_of::<SectionHeader64<LittleEndian>>();
    let align = section + std::mem::offset_of!(SectionHeader64<LittleEndian>, sh_addralign);
    bytes[align..align + 8].copy_from_slice(&3_u64.to_le_bytes());
    let misaligned = file.with_file_name("misaligned.cubin");
    std::fs::write(&misaligned, bytes).expect("our own folder");
    misaligned
}

fn cut(file: &PathBuf) -> PathBuf {
    let bytes = std::fs::read(file).expect("our own file");
    let mut cut = file.with_file_name("cut");
    cut.set_extension(file.extension().unwrap_or_default());
    std::fs::write(&cut, &bytes[..bytes.len() / 2]).expect("our own folder");
    cut
}
