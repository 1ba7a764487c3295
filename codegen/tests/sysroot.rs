//! Builds the device sysroot from nothing, and compiles with it what needs every part of it.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use ptx_codegen::progress::Progress;
use ptx_codegen::sysroot::{self, Rustc};

/// What rustc's LLVM cannot do alone, or leaves to a function by name; and `alloc`.
const KERNELS: &str = r#"
#![no_std]
extern crate alloc;

#[unsafe(no_mangle)]
pub fn divide(a: u128, b: u128) -> u128 { a / b + a % b }
#[unsafe(no_mangle)]
pub fn convert(a: f64) -> u128 { a as u128 }
#[unsafe(no_mangle)]
pub fn copy(from: &[u64; 4000], to: &mut [u64; 4000]) { *to = *from; }
#[unsafe(no_mangle)]
pub fn same(a: &[u8], b: &[u8]) -> bool { a == b }
#[unsafe(no_mangle)]
pub fn boxed(n: usize) -> alloc::vec::Vec<u32> { (0..n as u32).map(|i| i * i).collect() }

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }
"#;

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

    let source = temp.path().join("kernels.rs");
    fs::write(&source, KERNELS).unwrap();
    for level in ["0", "3"] {
        let bitcode = temp.path().join("kernels.bc");
        let output = Command::new(rustc.sysroot.join("bin/rustc"))
            .args(["--edition=2024", "--crate-type=rlib", "--target=nvptx64-nvidia-cuda", "-Cpanic=abort", "-g"])
            .arg(format!("-Copt-level={level}"))
            .arg("--emit=llvm-bc")
            .arg("-o")
            .arg(&bitcode)
            .arg("--sysroot")
            .arg(&built.path)
            .arg(&source)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(fs::read(&bitcode).unwrap()[..2], *b"BC");
    }
}
