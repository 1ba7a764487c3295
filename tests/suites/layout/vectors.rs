//! CUDA's vector types: sizes, alignments, offsets and lanes are nvcc's.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use ptx::vec;
use ptx_codegen::tools::Tools;
use ptx_tests::Skip;

/// A `static_assert` for each of our types.
macro_rules! assertions {
    ($($name:ident, $make:ident, $cuda:literal, $lane:ident, $kind:ident, [$($field:ident),*], $align:tt;)*) => {
        fn assertions() -> String {
            let mut text = String::new();
            $({
                let (size, align) = (size_of::<vec::$name>(), align_of::<vec::$name>());
                writeln!(text, "static_assert(sizeof({0}) == {size} && alignof({0}) == {align}, \"{0}\");", $cuda).unwrap();
                $(
                    let offset = std::mem::offset_of!(vec::$name, $field);
                    let (member, lane) = (stringify!($field), cxx(stringify!($lane), $cuda));
                    writeln!(text, "static_assert(offsetof({0}, {member}) == {offset}, \"{0}.{member}\");", $cuda).unwrap();
                    writeln!(text, "static_assert(std::is_same_v<decltype({0}::{member}), {lane}>, \"{0}.{member}\");", $cuda)
                        .unwrap();
                )*
            })*
            text
        }
    };
}
ptx_device::native_vectors!(assertions);

fn cxx(lane: &str, vector: &str) -> &'static str {
    match (lane, vector.contains("longlong")) {
        ("i8", _) => "signed char",
        ("u8", _) => "unsigned char",
        ("i16", _) => "short",
        ("u16", _) => "unsigned short",
        ("i32", _) => "int",
        ("u32", _) => "unsigned int",
        ("i64", false) => "long",
        ("u64", false) => "unsigned long",
        ("i64", true) => "long long",
        ("u64", true) => "unsigned long long",
        ("f32", _) => "float",
        ("f64", _) => "double",
        other => panic!("no lane is a {other:?}"),
    }
}

/// nvcc accepts all of them.
pub fn nvcc() -> Skip {
    let tools = Tools::find();
    let Some(nvcc) = tools.nvcc() else { return Some("nvcc was not found".into()) };
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let source = scratch.path().join("vectors.cu");
    let text = format!("#include <cstddef>\n#include <type_traits>\n{}", assertions());
    assert!(text.matches("sizeof").count() >= 58, "every type is there");
    fs::write(&source, text).expect("a fresh file");
    let mut command = Command::new(&nvcc.path);
    command.args(["-std=c++17", "-ptx", "-D__NV_NO_VECTOR_DEPRECATION_DIAG", "-o", "/dev/null"]).arg(&source);
    let output = command.output().expect("nvcc starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    None
}
