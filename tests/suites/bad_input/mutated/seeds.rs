//! What is mutated: files that the linker reads when all is well. Bitcode is rustc's own where there is a device sysroot.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::{fs, io};

use ptx_codegen::request::TARGET;
use ptx_project::progress::Progress;
use ptx_project::sysroot::{self, Rustc};
use ptx_project::tools;
use ptx_tests::Scratch;

use crate::{bytes, ir};

/// Loops, a table, a closure called through a pointer, wide integers, floats and a function of libdevice; nothing of it can
/// panic.
const RUST: &str = r#"
#![feature(abi_ptx)]
#![no_std]
unsafe extern "C" { safe fn sinf(x: f32) -> f32; }
static TABLE: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
#[derive(Clone, Copy)]
pub enum Shape { Circle(f32), Square { side: f64 }, None }
#[inline(never)]
fn area(shape: Shape) -> f64 {
    match shape { Shape::Circle(r) => (r * sinf(r)) as f64 * 3.14, Shape::Square { side } => side * side, Shape::None => 0.0 }
}
#[inline(never)]
fn twice(f: &dyn Fn(u32) -> u32, x: u32) -> u32 { f(f(x)) }
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn k(p: *mut u32, n: u32, wide: u64) {
    let mut sum = 0_u32;
    for i in 0..n {
        let i = TABLE.get(i as usize & 7).copied().unwrap_or(0);
        sum = sum.wrapping_add(twice(&|x| x.wrapping_mul(i), i));
    }
    let product = (wide as u128).wrapping_mul(u128::MAX / 3) >> 70;
    let shape = match sum % 3 { 0 => Shape::Circle(sum as f32), 1 => Shape::Square { side: 2.0 }, _ => Shape::None };
    unsafe { p.write(sum ^ product as u32 ^ area(shape) as u32) }
}
"#;

/// A function for kernels to call, and one that calls back.
pub const PTX: &str = ".version 7.0\n.target sm_75\n.address_size 64\n\
    .extern .func (.param .b32 r) back (.param .b32 x);\n.global .align 4 .b8 table[16] = {1, 2, 3, 4, 5, 6, 7, 8};\n\
    .visible .func (.param .b32 r) helper (.param .b32 x) {\n.reg .b32 %r<4>;\n.reg .pred %p;\n\
    ld.param.b32 %r1, [x];\nsetp.gt.s32 %p, %r1, 7;\n@%p bra DONE;\nadd.s32 %r1, %r1, 1;\nDONE:\n\
    st.param.b32 [r], %r1;\nret;\n}\n";

/// The other side of [`PTX`].
pub const CALLER: &str = "define ptx_kernel void @k(ptr %p) {\n%x = load i32, ptr %p\n%y = call i32 @helper(i32 %x)\n\
    store i32 %y, ptr %p\nret void\n}\ndefine i32 @back(i32 %x) {\nret i32 %x\n}\ndeclare i32 @helper(i32)\n";

/// A package's manifest with every setting.
pub const MANIFEST: &str = r#"[package]
name = "kernels"
version = "0.1.0"

[package.metadata.ptx]
arch = ["sm_80", "sm_90a"]
emit = ["ptx", "llvm-ir", "header"]
debug-level = "line-tables"
ptxas = "off"
libdevice = "auto"
ptx-version = "8.0"
link = []
link-at-load = false
nvcc-flags = ["-O3"]
host-only = ["clap"]
panic = "location"
panic-for = { sha2 = "trap", core = "full" }
fmad = true
ftz = false
prec-div = true
prec-sqrt = true
use-fast-math = false
"#;

/// Another, to splice in.
pub const OTHER_MANIFEST: &str = "[workspace]\nmembers = [\"a\"]\n[package.metadata]\nptx = 3\n[package.metadata.ptx.panic]\n\
    arch = \"sm_75\"\n[[package.metadata.ptx.link]]\npath = \"a.cu\"\n";

/// The options that a command line is made of. They name no file outside the scratch folder.
pub const OPTIONS: [&str; 34] = [
    "--target",
    TARGET,
    "-o",
    "out/k.ptx",
    "--export-symbol",
    "k",
    "--arch=sm_80",
    "--arch=sm_75,sm_90",
    "--ptxas=off",
    "--ptxas=auto",
    "--emit=ptx",
    "--emit=llvm-ir,llvm-bc",
    "--emit=header",
    "--debug-level=none",
    "--debug-level=full",
    "--debug",
    "-O0",
    "-O3",
    "-Oz",
    "--fmad=false",
    "--ftz",
    "--use-fast-math=true",
    "--panic=trap",
    "--panic-for=core=trap",
    "--ptx-version=7.8",
    "--name=k",
    "--out-dir=out",
    "--message-format=json",
    "--source-base=src",
    "--libdevice=off",
    "--link-at-load",
    "--target-cpu",
    "sm_86",
    "--target-feature=+ptx70",
];

/// The kinds of bitcode and archives.
pub struct Files {
    /// Modules of one kernel `k`.
    pub bitcode: Vec<Vec<u8>>,
    /// Archives with such modules.
    pub archives: Vec<Vec<u8>>,
}

/// Made once.
pub fn files() -> &'static Files {
    static FILES: OnceLock<Files> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut bitcode = vec![of_linker(&ir::good("k")), of_linker(&ir::module(CALLER))];
        let mut archives =
            vec![bytes::archive(&[("a.o", &bitcode[0]), ("lib.rmeta", b"metadata"), ("b.o", &bitcode[1])])];
        match of_rustc() {
            Ok((objects, archive)) => {
                bitcode.extend(objects);
                archives.push(archive);
            }
            Err(reason) => println!("no bitcode of rustc is mutated: {reason}"),
        }
        Files { bitcode, archives }
    })
}

/// A relocatable cubin with what [`CALLER`] needs; none without ptxas.
pub fn cubin() -> Option<&'static [u8]> {
    static CUBIN: OnceLock<Option<Vec<u8>>> = OnceLock::new();
    let make = || {
        let scratch = Scratch::default();
        let (source, output) = (scratch.write("a.ptx", PTX), scratch.path().join("a.cubin"));
        let ptxas = tools::find().ptxas()?.path.clone();
        let run = Command::new(ptxas).args(["-c", "-arch=sm_90", "-o"]).arg(&output).arg(source).output().ok()?;
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        Some(fs::read(output).expect("ptxas wrote it"))
    };
    CUBIN.get_or_init(make).as_deref()
}

/// The module as bitcode, by the linker itself.
fn of_linker(ir: &str) -> Vec<u8> {
    let scratch = Scratch::default();
    let source = scratch.write("a.ll", ir);
    scratch.link([source.as_os_str(), "--emit=llvm-bc".as_ref(), "--link-at-load".as_ref()]).accepted();
    let name = scratch.outputs().into_iter().find(|name| name.ends_with(".bc")).expect("--emit=llvm-bc writes bitcode");
    fs::read(scratch.path().join("out").join(name)).expect("it is there")
}

/// Bitcode with and without optimising, and a whole library, as rustc hands them to the linker.
fn of_rustc() -> Result<(Vec<Vec<u8>>, Vec<u8>), String> {
    let rustc = Rustc::query(Path::new("rustc")).map_err(|e| e.to_string())?;
    let sysroot = sysroot::ensure(&rustc, None, &Progress::quiet()).map_err(|e| e.to_string())?.path;
    let scratch = Scratch::default();
    let source = scratch.write("kernels.rs", RUST);
    let compile = |args: &[&str], output: &str| -> Result<Vec<u8>, String> {
        let output = scratch.path().join(output);
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition=2024", "--target", TARGET, "-Clinker-plugin-lto", "-Ccodegen-units=1", "-Awarnings"]);
        rustc.arg("--sysroot").arg(&sysroot).args(args).arg(&source).arg("-o").arg(&output);
        let run = rustc.output().map_err(|e: io::Error| e.to_string())?;
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        fs::read(output).map_err(|e| e.to_string())
    };
    let object = ["--crate-type=lib", "--emit=obj"];
    let slow = compile(&[&object[..], &["-g"]].concat(), "slow.o")?;
    let fast = compile(&[&object[..], &["-O"]].concat(), "fast.o")?;
    Ok((vec![slow, fast], compile(&["--crate-type=rlib", "-O", "-g"], "libkernels.rlib")?))
}
