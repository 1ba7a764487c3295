//! Builds the device sysroot from nothing, and compiles with it what needs every part of it.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use ptx_project::progress::Progress;
use ptx_project::sysroot::{self, Rustc};

/// What rustc's LLVM cannot do alone, or leaves to a function by name; and `alloc`.
const KERNELS: &str = r#"
#![no_std]
extern crate alloc;

#[unsafe(no_mangle)]
pub fn same(a: &[u8], b: &[u8]) -> bool { a == b }
#[unsafe(no_mangle)]
pub fn copy(from: &[u64; 4000], to: &mut [u64; 4000]) { *to = *from; }
#[unsafe(no_mangle)]
pub fn boxed(n: usize) -> alloc::vec::Vec<u32> { (0..n as u32).map(|i| i * i).collect() }
"#;

const PANIC_HANDLER: &str = "#[panic_handler] fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }";

/// A function, the types of its operands and result, the operation in it, and the builtin that does it;
/// none where LLVM does it well.
const OPERATIONS: &[(&str, &str, &str, &str, Option<&str>)] = &[
    ("udiv", "u128", "u128", "a / b", Some("__udivti3")),
    ("urem", "u128", "u128", "a % b", Some("__umodti3")),
    ("idiv", "i128", "i128", "a.wrapping_div(b)", Some("__divti3")),
    ("irem", "i128", "i128", "a.wrapping_rem(b)", Some("__modti3")),
    // By numbers of 64 bits it is another builtin, which is inlined.
    ("ten", "u128", "u128", "a / 10 + b", None),
    ("sixteen", "u128", "u128", "a / 16 + b", None),
    ("fixunssf", "f32", "u128", "(a + b) as u128", Some("__fixunssfti")),
    ("fixunsdf", "f64", "u128", "(a + b) as u128", Some("__fixunsdfti")),
    ("fixsf", "f32", "i128", "(a + b) as i128", Some("__fixsfti")),
    ("fixdf", "f64", "i128", "(a + b) as i128", Some("__fixdfti")),
    ("unchecked", "f64", "u128", "unsafe { (a + b).to_int_unchecked() }", Some("__fixunsdfti")),
    ("floatunsf", "u128", "f32", "(a ^ b) as f32", Some("__floatuntisf")),
    ("floatundf", "u128", "f64", "(a ^ b) as f64", Some("__floatuntidf")),
    ("floatsf", "i128", "f32", "(a ^ b) as f32", Some("__floattisf")),
    ("floatdf", "i128", "f64", "(a ^ b) as f64", Some("__floattidf")),
    ("remsf", "f32", "f32", "a % b", Some("fmodf")),
    ("remdf", "f64", "f64", "a % b", Some("fmod")),
    // `memcmp` is inlined.
    ("same", "[u8; 99]", "bool", "a == b", None),
    ("small", "u64", "u64", "a / b", None),
];

#[test]
fn a_sysroot_is_built_from_nothing_and_works() {
    let temp = tempfile::tempdir().unwrap();
    // SAFETY: this is the only test of this program, so nothing else reads the environment meanwhile.
    unsafe { std::env::set_var("RUST_PTX_CACHE", temp.path().join("cache")) };
    let rustc = Rustc::query(Path::new(&std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))).unwrap();

    let begun = Instant::now();
    let built = sysroot::ensure(&rustc, None, &Progress::quiet()).unwrap();
    println!("sysroot built from {} in {:.1} s", built.source, begun.elapsed().as_secs_f64());
    let begun = Instant::now();
    assert_eq!(sysroot::ensure(&rustc, None, &Progress::quiet()).unwrap(), built, "built twice");
    println!("found again in {:.1} ms", begun.elapsed().as_secs_f64() * 1e3);

    let libraries = built.path.join("lib/rustlib/nvptx64-nvidia-cuda/lib");
    let mut names: Vec<_> =
        fs::read_dir(&libraries).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["liballoc.rlib", "libcompiler_builtins.rlib", "libcore.rlib"]);
    assert!(!built.path.join("scratch").exists());
    let listed = sysroot::list().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0].0, &listed[0].1.release), (&built.path, &rustc.release));

    // It may be given by path, too.
    let given = sysroot::ensure(&rustc, Some(&built.path), &Progress::quiet()).unwrap();
    assert_eq!((given.path, given.source), (built.path.clone(), sysroot::Source::Explicit));

    let compile = |name: &str, text: &str, args: &[&str]| {
        let source = temp.path().join(name).with_extension("rs");
        fs::write(&source, text.to_string() + PANIC_HANDLER).unwrap();
        let output = temp.path().join(name);
        let run = Command::new(rustc.sysroot.join("bin/rustc"))
            .args(["--edition=2024", "--target=nvptx64-nvidia-cuda", "-Cpanic=abort", "-g"])
            .args(args)
            .arg(format!("-Clinker={}", env!("CARGO_BIN_EXE_ptx-linker")))
            .arg("--sysroot")
            .arg(&built.path)
            .arg("-o")
            .args([&output, &source])
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        fs::read(&output).unwrap()
    };
    for level in ["-Copt-level=0", "-Copt-level=3"] {
        let bitcode = compile("kernels.bc", KERNELS, &["--crate-type=rlib", "--emit=llvm-bc", level]);
        assert_eq!(bitcode[..2], *b"BC");

        for (name, operand, result, operation, builtin) in OPERATIONS {
            let text = format!(
                "#![no_std] #[unsafe(no_mangle)] pub extern \"C\" fn {name}(a: &{operand}, b: &{operand}, to: &mut {result}) {{\n\
                 let (a, b) = (*a, *b);\n*to = {operation};\n}}\n"
            );
            let ptx = compile("operation.ptx", &text, &["--crate-type=cdylib", level]);
            let ptx = String::from_utf8(ptx).unwrap();
            let called = |name: &str| ptx.contains(&format!(" {name},")) && ptx.contains(&format!(" {name}("));
            match builtin {
                Some(builtin) => assert!(called(builtin), "{name} does not call {builtin}:\n{ptx}"),
                None => assert!(!called("__udivti3"), "{name} calls a builtin:\n{ptx}"),
            }
        }
    }
}
