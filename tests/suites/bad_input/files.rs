//! Files that cannot be read: damaged, foreign, or of another kind.

use std::fs;

use libtest_mimic::Trial;
use ptx_tests::{Scratch, test};

use crate::{bytes, ir};

pub fn trials() -> Vec<Trial> {
    vec![
        test("empty file", || refused("a.o", b"", &["PTX0004", "a.o", "empty"])),
        test("text file", || refused("a.o", b"hello, world\n", &["a.o", "neither LLVM bitcode nor an archive"])),
        test("missing file", || {
            let scratch = Scratch::default();
            scratch.refused(&scratch.link(["missing.o"]), &["missing.o", "No such file"]);
        }),
        test("folder", || {
            let scratch = Scratch::default();
            scratch.refused(&scratch.link(["out"]), &["out"]);
        }),
        test("broken IR text", || refused("a.ll", ir::module("define oops").as_bytes(), &["a.ll"])),
        test("truncated bitcode", truncated_bitcode),
        test("bitcode with flipped bits", flipped_bits),
        test("bitcode of a later LLVM", || {
            let wanted = ["PTX0003", "a.o", "another LLVM", "LLVM99.0.0", "same rustc"];
            refused("a.o", &bytes::foreign_bitcode("LLVM99.0.0", 0), &wanted);
        }),
        test("bitcode of another epoch", || {
            refused("a.o", &bytes::foreign_bitcode("LLVM99.0.0", 7), &["a.o", "another LLVM", "same rustc"]);
        }),
        test("host object", || {
            let program = fs::read(std::env::current_exe().unwrap()).unwrap();
            refused("a.o", &program, &["PTX0005", "a.o", "machine code", "nvptx64-nvidia-cuda"]);
        }),
        test("host object in an rlib", || {
            // A header is all that it takes to know an ELF object.
            let program = fs::read(std::env::current_exe().unwrap()).unwrap();
            let archive = bytes::archive(&[("lib.rmeta", b"metadata"), ("c_code.o", &program)]);
            refused("liba.rlib", &archive, &["liba.rlib(c_code.o)", "machine code"]);
        }),
        test("empty archive", || {
            let scratch = Scratch::default();
            let archive = scratch.write("liba.rlib", b"!<arch>\n");
            let good = scratch.write("good.ll", ir::good("k"));
            scratch.link([good, archive]).accepted();
        }),
        test("empty member of an archive", || {
            refused("liba.rlib", &bytes::archive(&[("b.o", b"")]), &["liba.rlib(b.o)", "empty"]);
        }),
        test("text member of an archive", || {
            refused("liba.rlib", &bytes::archive(&[("b.o", b"hello")]), &["liba.rlib(b.o)", "not LLVM bitcode"]);
        }),
        test("damaged bitcode in an archive", || {
            let bitcode = bitcode();
            let archive = bytes::archive(&[("b.o", &bitcode[..bitcode.len() / 2])]);
            refused("liba.rlib", &archive, &["liba.rlib(b.o)"]);
        }),
        test("truncated archive", || {
            let archive = bytes::archive(&[("b.o", &bitcode())]);
            for length in [9, 40, 67, 70, 200, archive.len() - 40] {
                refused("liba.rlib", &archive[..length], &["liba.rlib"]);
            }
        }),
        test("no kernel", || refused("a.ll", ir::module("").as_bytes(), &["no kernel", "#[ptx::kernel]"])),
    ]
}

/// The linker refuses this file, given beside a good one.
#[track_caller]
fn refused(name: &str, contents: &[u8], parts: &[&str]) {
    let scratch = Scratch::default();
    let bad = scratch.write(name, contents);
    let linked = if parts.contains(&"no kernel") {
        scratch.link([bad])
    } else {
        scratch.link([scratch.write("good.ll", ir::good("k")), bad])
    };
    scratch.refused(&linked, parts);
}

/// Real bitcode, by the linker itself.
fn bitcode() -> Vec<u8> {
    let scratch = Scratch::default();
    let source = scratch.write("a.ll", ir::good("b"));
    scratch.link([source.as_os_str(), "--emit=llvm-bc".as_ref(), "--export-symbol=b".as_ref()]).accepted();
    let name = scratch.outputs().into_iter().find(|name| name.ends_with(".bc")).expect("--emit=llvm-bc writes bitcode");
    fs::read(scratch.path().join("out").join(name)).unwrap()
}

fn truncated_bitcode() {
    let whole = bitcode();
    for length in (1..whole.len()).step_by((whole.len() / 40).max(1)) {
        refused("a.o", &whole[..length], &["a.o"]);
    }
}

/// Whatever the damage is: a refusal with a message, or output, but no crash.
fn flipped_bits() {
    let whole = bitcode();
    for at in (8..whole.len()).step_by((whole.len() / 60).max(1)) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        let scratch = Scratch::default();
        let linked = scratch.link([scratch.write("a.o", &damaged)]);
        // 101 is a bug of ours.
        let ended_well = matches!(linked.code, Some(0 | 1)) && !linked.stderr.contains("panicked at");
        assert!(ended_well, "byte {at}: {linked:?}");
        assert!(
            linked.code == Some(0) || scratch.outputs().is_empty(),
            "byte {at}: left behind {:?}",
            scratch.outputs()
        );
    }
}
