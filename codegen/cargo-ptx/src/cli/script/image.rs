//! The expression of type `ptx::Image` that the host program includes, in the `unsafe` block of `ptx::image!()`.

use std::fmt::Write;

use ptx_codegen::Report;
use ptx_codegen::report::{Kernel, OutputFile, Resources};
use ptx_codegen::request::Emit;
use ptx_codegen::stacks::Recursion;

/// The crate's path where the expression stands: `::core` is nothing in edition 2015.
const CORE: &str = "::ptx::__private::core";

/// Rust text; the files are included by their paths, so rustc tracks them.
pub fn expression(report: &Report) -> String {
    let mut text = String::from("// Written by cargo-ptx for ptx-build.\n::ptx::Image::new(\n");
    let mut line = |indent: usize, content: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:1$}{content}", "", indent * 4);
    };
    line(1, &format!("{:?},", report.name));
    line(1, &format!("::ptx::Linking::{:?},", report.linking));
    line(1, "&[");
    for ptx in report.outputs.iter().filter(|output| output.kind == Emit::Ptx) {
        for object in objects(ptx, report) {
            line(2, &object);
        }
    }
    line(1, "],");
    line(1, "&[");
    for kernel in &report.kernels {
        line(2, &record(kernel));
    }
    line(1, "],");
    line(0, ")");
    text
}

/// Those of an arch: one for each cubin, which are parts of the program if there are several.
fn objects(ptx: &OutputFile, report: &Report) -> Vec<String> {
    let arch = ptx.arch.as_deref().unwrap_or_default();
    let path = format!("{:?}", ptx.path.display().to_string());
    let object = |cubin: String| {
        let text = format!("{CORE}::include_str!({path})");
        format!("::ptx::Object {{ arch: {arch:?}, ptx: {text}, ptx_path: {path}, cubin: {cubin} }},")
    };
    let is_cubin =
        |output: &&OutputFile| matches!(output.kind, Emit::Cubin | Emit::CubinParts) && output.arch == ptx.arch;
    let cubins = report.outputs.iter().filter(is_cubin).map(|cubin| {
        let path = cubin.path.display().to_string();
        object(format!("{CORE}::option::Option::Some({CORE}::include_bytes!({path:?}))"))
    });
    let objects: Vec<String> = cubins.collect();
    if objects.is_empty() { vec![object(format!("{CORE}::option::Option::None"))] } else { objects }
}

fn record(kernel: &Kernel) -> String {
    let resources: Vec<String> = kernel.resources.iter().map(|(arch, used)| resource(arch, used)).collect();
    format!(
        "::ptx::KernelRecord {{ name: {:?}, path: {:?}, signature: {:?}, abi_hash: {:#018x}, resources: &[{}] }},",
        kernel.name,
        kernel.path,
        signature(kernel),
        kernel.abi_hash,
        resources.join(", "),
    )
}

/// As in the source: `saxpy(a: f32, x: &[f32])`.
fn signature(kernel: &Kernel) -> String {
    let params: Vec<String> = kernel.params.iter().map(|p| format!("{}: {}", p.name, p.rust_type)).collect();
    format!("{}({})", kernel.name, params.join(", "))
}

fn resource(arch: &str, used: &Resources) -> String {
    let constant = match used.constant {
        Some(bytes) => format!("{CORE}::option::Option::Some({bytes})"),
        None => format!("{CORE}::option::Option::None"),
    };
    let recursion = match used.recursion {
        Some(Recursion { level, reserve }) => {
            format!("{CORE}::option::Option::Some(::ptx::Recursion {{ level: {level}, reserve: {reserve} }})")
        }
        None => format!("{CORE}::option::Option::None"),
    };
    format!(
        "::ptx::ResourceRecord {{ arch: {arch:?}, registers: {}, stack: {}, recursion: {recursion}, spill_stores: {}, \
         spill_loads: {}, shared: {}, constant: {constant} }}",
        used.registers, used.stack, used.spill_stores, used.spill_loads, used.shared,
    )
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use ptx_codegen::Span;
    use ptx_codegen::report::Param;
    use ptx_codegen::request::Linking;

    fn report(dir: &std::path::Path) -> Report {
        let output = |kind, arch: &str, name: &str| OutputFile { kind, arch: Some(arch.into()), path: dir.join(name) };
        let param = |name: &str, rust_type: &str| Param {
            name: name.into(),
            rust_type: rust_type.into(),
            size: 4,
            align: 4,
            ptx: vec![".f32".into()],
        };
        Report {
            name: "saxpy".into(),
            version: "0.1.0".into(),
            llvm: "22.1.4".into(),
            debug: ptx_codegen::request::DebugLevel::None,
            ptxas: None,
            tests: vec![],
            kernels: vec![Kernel {
                name: "saxpy".into(),
                path: "saxpy::kernels".into(),
                span: Span { file: "src/lib.rs".into(), line: 1, column: 1 },
                params: vec![param("a", "f32"), param("x", "&[f32]")],
                abi_hash: 0xdead_beef,
                float: ptx_codegen::request::Modes::DEFAULT.into(),
                resources: [(
                    "sm_80".to_string(),
                    Resources {
                        registers: 12,
                        constant: Some(352),
                        recursion: Some(Recursion { level: 64, reserve: 96 }),
                        ..Resources::default()
                    },
                )]
                .into(),
            }],
            functions: Vec::new(),
            outputs: vec![
                output(Emit::Ptx, "sm_80", "a \"b\".ptx"),
                output(Emit::Cubin, "sm_80", "k.cubin"),
                output(Emit::Ptx, "sm_75", "k.ptx"),
                output(Emit::Ptx, "sm_90", "k.ptx"),
                output(Emit::CubinParts, "sm_90", "k.1.cubin"),
                output(Emit::CubinParts, "sm_90", "k.2.cubin"),
            ],
            diagnostics: vec![],
            linking: Linking::AtBuild,
            linked: vec![],
        }
    }

    /// The types of the contract, as ptx-host has them.
    const TYPES: &str = r#"
        mod ptx {
            pub mod __private {
                pub use core;
            }
            #[derive(Clone, Copy, Debug, PartialEq)] pub enum Linking { None, AtBuild, AtLoad }
            pub struct Image { pub name: &'static str, pub linking: Linking, pub objects: &'static [Object], pub kernels: &'static [KernelRecord] }
            impl Image {
                pub const unsafe fn new(
                    name: &'static str, linking: Linking, objects: &'static [Object], kernels: &'static [KernelRecord],
                ) -> Self { Self { name, linking, objects, kernels } }
            }
            pub struct Object { pub arch: &'static str, pub ptx: &'static str, pub ptx_path: &'static str, pub cubin: Option<&'static [u8]> }
            pub struct KernelRecord { pub name: &'static str, pub path: &'static str, pub signature: &'static str, pub abi_hash: u64, pub resources: &'static [ResourceRecord] }
            #[derive(Clone, Copy, Debug, PartialEq)] pub struct Recursion { pub level: u32, pub reserve: u32 }
            pub struct ResourceRecord { pub arch: &'static str, pub registers: u32, pub stack: u32, pub recursion: Option<Recursion>, pub spill_stores: u32, pub spill_loads: u32, pub shared: u32, pub constant: Option<u32> }
        }
    "#;

    #[test]
    fn the_expression_is_an_image() {
        let dir = tempfile::tempdir().unwrap();
        let files = [("a \"b\".ptx", "// ptx 80"), ("k.cubin", "\x7fELF"), ("k.ptx", "// ptx 75")];
        for (name, content) in files.into_iter().chain([("k.1.cubin", "first"), ("k.2.cubin", "second")]) {
            std::fs::write(dir.path().join(name), content).unwrap();
        }
        let image = expression(&report(dir.path())).replace("::ptx::", "crate::ptx::");
        let checks = r#"
            fn main() {
                assert_eq!((IMAGE.name, IMAGE.objects.len(), IMAGE.kernels.len()), ("saxpy", 4, 1));
                assert_eq!((IMAGE.objects[0].arch, IMAGE.objects[0].ptx), ("sm_80", "// ptx 80"));
                assert!(IMAGE.objects[0].ptx_path.ends_with("a \"b\".ptx"));
                assert_eq!(IMAGE.objects[0].cubin, Some(&b"\x7fELF"[..]));
                assert_eq!(IMAGE.objects[1].cubin, None);
                let parts = [IMAGE.objects[2].cubin, IMAGE.objects[3].cubin];
                assert_eq!(parts, [Some(&b"first"[..]), Some(&b"second"[..])]);
                assert_eq!((IMAGE.objects[2].arch, IMAGE.objects[3].arch), ("sm_90", "sm_90"));
                assert_eq!(IMAGE.objects[2].ptx, IMAGE.objects[3].ptx);
                let kernel = &IMAGE.kernels[0];
                assert_eq!((kernel.name, kernel.path, kernel.abi_hash), ("saxpy", "saxpy::kernels", 0xdead_beef));
                assert_eq!(kernel.signature, "saxpy(a: f32, x: &[f32])");
                assert_eq!((kernel.resources[0].arch, kernel.resources[0].registers), ("sm_80", 12));
                assert_eq!(kernel.resources[0].recursion, Some(ptx::Recursion { level: 64, reserve: 96 }));
                assert_eq!((kernel.resources[0].constant, IMAGE.linking), (Some(352), ptx::Linking::AtBuild));
            }
        "#;
        let source = format!("#![allow(dead_code)]{TYPES}\nstatic IMAGE: ptx::Image = unsafe {{ {image} }};\n{checks}");
        std::fs::write(dir.path().join("main.rs"), source).unwrap();
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let run = |command: &mut Command| {
            let output = command.current_dir(dir.path()).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        run(Command::new(rustc).args(["--edition", "2024", "main.rs", "-o", "main"]));
        run(&mut Command::new(dir.path().join("main")));
    }
}
