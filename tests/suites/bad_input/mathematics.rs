//! The maths library: files that are no libdevice, and functions that it does not have or has otherwise.

use libtest_mimic::Trial;
use ptx_codegen::tools::Tools;
use ptx_tests::{Linked, Scratch, test, trial};

use crate::ir;

pub fn trials() -> Vec<Trial> {
    vec![
        test("libdevice that is not there", || refused_library(None, &["No such file"])),
        test("libdevice that is empty", || refused_library(Some(b""), &["it is empty"])),
        test("libdevice that is text", || refused_library(Some(b"define float @__nv_sinf"), &["not LLVM bitcode"])),
        test("libdevice that only begins like one", || refused_library(Some(b"BC\xc0\xde"), &["LLVM says"])),
        test("bitcode that is no libdevice", || {
            let scratch = Scratch::default();
            let good = scratch.write("a.ll", ir::good("k"));
            let mut command = scratch.linker();
            command.args(["--arch=sm_80", "--ptxas=off", "--emit=llvm-bc", "--out-dir"]).arg(scratch.path()).arg(good);
            Linked::of(&mut command).accepted();
            let entries = std::fs::read_dir(scratch.path()).expect("our folder").flatten().map(|entry| entry.path());
            let file =
                entries.into_iter().find(|path| path.extension().is_some_and(|end| end == "bc")).expect("bitcode");
            refused_library(Some(&std::fs::read(file).expect("just written")), &["does not define `__nv_sinf`"]);
        }),
        trial("libdevice that is cut short", || {
            let Some(bytes) = Tools::find().libdevice().and_then(|found| std::fs::read(&found.path).ok()) else {
                return Some("libdevice was not found".into());
            };
            for len in [64, bytes.len() / 4 * 2, bytes.len() - 4] {
                refused_library(Some(&bytes[..len]), &[]);
            }
            None
        }),
        test("a function with another signature", || {
            for (name, ty, wanted) in [
                ("sinf", "double (double)", "float (float)"),
                ("sin", "float (float)", "double (double)"),
                ("__ptx_math_jnf", "float (float)", "float (i32, float)"),
            ] {
                let parts = ["PTX0039", name, &format!("`{ty}`"), &format!("`{wanted}`")];
                refused(name, ty, &[], &parts);
            }
        }),
        test("a function that neither libdevice nor libm has", || {
            refused("__nv_sineoff", "float (float)", &[], &["PTX0025", "`__nv_sineoff`"]);
        }),
        test("without libdevice and without the crate ptx", || {
            refused("cosf", "float (float)", &["--libdevice=off"], &["PTX0025", "`cosf`", "add the crate `ptx`"]);
        }),
    ]
}

/// A kernel that needs a library, with a file that holds `bytes` as libdevice.
fn refused_library(bytes: Option<&[u8]>, parts: &[&str]) {
    let scratch = Scratch::default();
    let library = scratch.path().join("libdevice.bc");
    if let Some(bytes) = bytes {
        scratch.write("libdevice.bc", bytes);
    }
    let body = "%x = load float, ptr %p\n%y = call float @sinf(float %x)\nstore float %y, ptr %p\nret void";
    let kernel = scratch.write("k.ll", ir::kernel("k", body, "declare float @sinf(float)"));
    let linked = scratch.link([kernel.display().to_string(), format!("--libdevice={}", library.display())]);
    let all: Vec<&str> = ["PTX0038", "libdevice.bc", "--libdevice"].into_iter().chain(parts.iter().copied()).collect();
    scratch.refused(&linked, &all);
}

/// A kernel that calls a function of that type.
fn refused(name: &str, ty: &str, args: &[&str], parts: &[&str]) {
    let scratch = Scratch::default();
    let (result, params) = ty.split_once(' ').expect("a result and parameters");
    let arguments = params.replace("float", "float 1.0").replace("double", "double 1.0").replace("i32", "i32 1");
    let body = format!("%y = call {result} @{name}{arguments}\nstore {result} %y, ptr %p\nret void");
    let kernel = scratch.write("k.ll", ir::kernel("k", &body, &format!("declare {result} @{name}{params}")));
    let mut all = vec![kernel.display().to_string()];
    all.extend(args.iter().map(ToString::to_string));
    scratch.refused(&scratch.link(all), parts);
}
