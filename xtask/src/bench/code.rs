//! The code of the benchmark's kernels, in Rust and in CUDA C++: registers, stack, spills and instructions, without a GPU.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use ptx_bench_table::rows;
use ptx_codegen::ptx_text::{self, Definition, Kind};
use ptx_codegen::ptxas::{self, Calls};
use ptx_codegen::report::{self, Report, Resources};
use ptx_codegen::request::Emit;
use ptx_codegen::tool::Tool;
use ptx_project::tools;
use serde_json::{Value, json};

use crate::shell;

/// The kernels in CUDA C++.
pub const TWINS: &str = "tests/kernels/bench/cuda/all.cu";

/// What one compiler made for one arch.
struct Compiled {
    ptx: String,
    sass: String,
    resources: BTreeMap<String, Resources>,
}

/// Compiles all kernels for these archs, by both compilers, and reads what came out: by kernel, arch and language.
pub fn read(archs: &[String], folder: &Path) -> Result<Value> {
    let tools = tools::find();
    let tool = |tool: Option<&Tool>, name: &str| {
        tool.cloned().with_context(|| format!("{name} was not found: `cargo xtask setup` installs it"))
    };
    let (nvcc, nvdisasm) = (tool(tools.nvcc(), "nvcc")?, tool(tools.nvdisasm(), "nvdisasm")?);
    let report = device_build(archs, folder)?;
    let mut kernels: BTreeMap<&str, BTreeMap<&str, Value>> = BTreeMap::new();
    for arch in archs {
        let (rust, cuda) = (ours(&report, arch, &nvdisasm)?, theirs(arch, folder, &nvcc, &nvdisasm)?);
        for row in rows() {
            let same = (parameters(&rust.ptx, row.name)?, parameters(&cuda.ptx, row.twin)?);
            ensure!(
                same.0 == same.1,
                "{}: the parameters differ: {:?} in Rust, {:?} in CUDA C++",
                row.name,
                same.0,
                same.1
            );
            let both = json!({ "rust": figures(&rust, row.name)?, "cuda": figures(&cuda, row.twin)? });
            kernels.entry(row.name).or_default().insert(arch, both);
        }
    }
    Ok(json!({ "kernels": kernels }))
}

/// The kernels in Rust, in default settings, as `cargo ptx build` compiles them.
fn device_build(archs: &[String], folder: &Path) -> Result<Report> {
    let out = folder.join("rust");
    let mut build = shell::cargo();
    build.args(["run", "--quiet", "--bin", "cargo-ptx", "--", "ptx", "build", "--quiet", "--release"]);
    build.args(["--package", "ptx-bench-kernels", "--emit", "ptx,cubin", "--arch", &archs.join(",")]);
    // The table that it prints is part of ours.
    shell::output(build.arg("--out").arg(&out))?;
    let path = out.join(report::FILE_NAME);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not a report", path.display()))
}

fn ours(report: &Report, arch: &str, nvdisasm: &Tool) -> Result<Compiled> {
    let path = |kind: Emit| {
        let output = report.output(kind, Some(arch)).map(|output| output.path.clone());
        output.with_context(|| format!("the device build made no {kind:?} for {arch}"))
    };
    let resources =
        report.kernels.iter().filter_map(|kernel| Some((kernel.name.clone(), *kernel.resources.get(arch)?)));
    Ok(Compiled {
        ptx: fs::read_to_string(path(Emit::Ptx)?)?,
        sass: disassemble(nvdisasm, &path(Emit::Cubin)?)?,
        resources: resources.collect(),
    })
}

fn theirs(arch: &str, folder: &Path, nvcc: &Tool, nvdisasm: &Tool) -> Result<Compiled> {
    let compile = |kind: &str| -> Result<(PathBuf, String)> {
        let output = folder.join(format!("twins.{arch}.{kind}"));
        let mut command = Command::new(&nvcc.path);
        command
            .args(["-O3", &format!("-{kind}"), &format!("-arch={arch}"), "-Xptxas", "-v", "-o"])
            .arg(&output)
            .arg(TWINS);
        let run = command.output().with_context(|| format!("cannot run {command:?}"))?;
        let log = String::from_utf8_lossy(&run.stderr).into_owned();
        ensure!(run.status.success(), "{command:?}: {log}");
        Ok((output, log))
    };
    let (cubin, log) = compile("cubin")?;
    Ok(Compiled {
        ptx: fs::read_to_string(compile("ptx")?.0)?,
        sass: disassemble(nvdisasm, &cubin)?,
        resources: ptxas::resources(&log, Calls::OfKernels),
    })
}

fn disassemble(nvdisasm: &Tool, cubin: &Path) -> Result<String> {
    shell::output(Command::new(&nvdisasm.path).arg("--print-code").arg(cubin))
}

fn figures(compiled: &Compiled, name: &str) -> Result<Value> {
    let resources = compiled.resources.get(name).with_context(|| format!("ptxas says nothing of `{name}`"))?;
    let sass = instructions(&compiled.sass, name);
    ensure!(!sass.is_empty(), "nvdisasm shows no code of `{name}`");
    let of = |opcode: &str| sass.iter().filter(|found| found.split('.').next() == Some(opcode)).count();
    Ok(json!({
        "registers": resources.registers,
        "stack": resources.stack,
        "spills": resources.spill_stores + resources.spill_loads,
        "shared": resources.shared,
        "ptx": statements(definition(&compiled.ptx, name)?.body),
        "sass": sass.len(),
        "local": of("LDL") + of("STL"),
    }))
}

fn definition<'a>(ptx: &'a str, name: &str) -> Result<Definition<'a>> {
    let mut kernels = ptx_text::definitions(ptx).filter(|definition| definition.function.is_kernel);
    kernels
        .find(|definition| definition.function.name == name)
        .with_context(|| format!("the PTX has no kernel `{name}`"))
}

/// The bits of each parameter: names and signs may differ.
fn parameters(ptx: &str, name: &str) -> Result<Vec<String>> {
    let definition = definition(ptx, name)?;
    let head = definition.text.strip_suffix('}').unwrap_or(definition.text).split('{').next().unwrap_or_default();
    let types = head.split(".param").skip(1).filter_map(|parameter| parameter.split_whitespace().next());
    Ok(types.map(|ty| ty.trim_start_matches(['.', 'b', 'f', 's', 'u']).to_string()).collect())
}

/// How many instructions a function's body has.
fn statements(body: &str) -> usize {
    let is_instruction = |line: &ptx_text::Line<'_>| line.kind == Kind::Statement && !line.code().starts_with('.');
    ptx_text::lines(body).filter(|line| is_instruction(line) && line.code().ends_with(';')).count()
}

/// The opcodes of a kernel in nvdisasm's listing, without what only fills up the end.
fn instructions<'a>(listing: &'a str, name: &str) -> Vec<&'a str> {
    let begin = format!("//--------------------- .text.{name} ");
    let lines = listing.lines().skip_while(|line| !line.starts_with(&begin)).skip(1);
    let lines = lines.take_while(|line| !line.starts_with("//---------------------"));
    lines.filter_map(opcode).filter(|opcode| *opcode != "NOP").collect()
}

/// Of a line such as `        /*0010*/              @!P0 LDG.E R2, [R2.64] ;`.
fn opcode(line: &str) -> Option<&str> {
    let (_, code) = line.trim_start().strip_prefix("/*")?.split_once("*/")?;
    let mut words = code.trim().strip_suffix(';').or(code.contains(';').then_some(code))?.split_whitespace();
    words.find(|word| !word.starts_with('@'))
}

/// The figures as text: Rust's beside nvcc's.
pub fn table(code: &Value, filters: &[String]) -> String {
    let mut text = format!(
        "{:20} {:7} {:>11} {:>11} {:>11} {:>13} {:>13} {:>11}\n",
        "Rust / nvcc", "arch", "registers", "stack", "spills", "PTX", "SASS", "LDL, STL"
    );
    for row in rows() {
        if !filters.is_empty() && !filters.iter().any(|part| row.name.contains(&**part)) {
            continue;
        }
        for (arch, both) in code["kernels"][row.name].as_object().into_iter().flatten() {
            let pair = |what: &str| format!("{} / {}", both["rust"][what], both["cuda"][what]);
            let _ = writeln!(
                text,
                "{:20} {arch:7} {:>11} {:>11} {:>11} {:>13} {:>13} {:>11}",
                row.name,
                pair("registers"),
                pair("stack"),
                pair("spills"),
                pair("ptx"),
                pair("sass"),
                pair("local"),
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "\t.headerflags @\"EF\"\n//--------------------- .text.ab                         --------------------------\n\
        \t.section\t.text.ab,\"ax\"\n.text.ab:\n        /*0000*/                   MOV R1, c[0x0][0x28] ;\n\
        \u{20}       /*0010*/              @!P0 LDL.64 R2, [R1] ;\n.L_x_1:\n        /*0020*/                   NOP ;\n\
        //--------------------- .text.a                         --------------------------\n\
        \u{20}       /*0000*/                   EXIT ;\n";

    #[test]
    fn instructions_are_those_of_the_kernel_alone() {
        assert_eq!(instructions(LISTING, "ab"), ["MOV", "LDL.64"]);
        assert_eq!(instructions(LISTING, "a"), ["EXIT"]);
        assert!(instructions(LISTING, "b").is_empty());
    }

    const PTX: &str = ".visible .entry k(\n\t.param .u64 .ptr .global k_0,\n\t.param .f32 k_1,\n\t.param .align 4 .b8 k_2[8]\n)\n{\n\
        \t.reg .b32 %r<3>;\n\tmov.b32 %r1, 0;\n$L_1:\n\t@%p1 bra $L_1;\n\t// a comment\n\tret;\n}\n";

    #[test]
    fn ptx_is_counted_and_its_parameters_compared() {
        assert_eq!(statements(definition(PTX, "k").unwrap().body), 3);
        assert_eq!(parameters(PTX, "k").unwrap(), ["64", "32", "align"]);
        assert!(definition(PTX, "l").is_err());
    }

    #[test]
    fn the_table_has_a_line_a_kernel_and_arch() {
        let side = |registers: u32| json!({ "registers": registers, "stack": 0, "spills": 0, "ptx": 9, "sass": 8, "local": 0 });
        let both = json!({ "rust": side(50), "cuda": side(10) });
        let code = json!({ "kernels": { "copy": { "sm_80": both, "sm_90": both }, "saxpy": { "sm_90": both } } });
        let all = table(&code, &[]);
        assert_eq!((all.lines().count(), table(&code, &["sax".into()]).lines().count()), (4, 2));
        assert!(all.contains("50 / 10"), "{all}");
    }
}
