//! The code of the benchmark's kernels, in Rust and in CUDA C++: registers, stack, spills and instructions, without a GPU.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use ptx_bench_table::rows;
use ptx_bench_table::sass::{Listing, loops};
use ptx_codegen::ptx_text::{self, Definition, Kind};
use ptx_codegen::ptxas::{self, Functions};
use ptx_codegen::report::{self, Report, Resources};
use ptx_codegen::request::Emit;
use ptx_codegen::tool::Tool;
use ptx_project::tools;
use serde_json::{Value, json};
use xtask::shell;

/// The kernels in CUDA C++.
pub const TWINS: &str = "tests/kernels/bench/cuda/all.cu";

/// What one compiler made for one arch.
struct Compiled {
    ptx: String,
    sass: Listing,
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
    let resources = ptxas::resources(&log, Functions::OfKernels).into_iter();
    Ok(Compiled {
        ptx: fs::read_to_string(compile("ptx")?.0)?,
        sass: disassemble(nvdisasm, &cubin)?,
        resources: resources.map(|(kernel, used)| (kernel, used.resources)).collect(),
    })
}

fn disassemble(nvdisasm: &Tool, cubin: &Path) -> Result<Listing> {
    let listing = shell::output(Command::new(&nvdisasm.path).arg("--print-code").arg(cubin))?;
    Ok(Listing::parse(&listing))
}

fn figures(compiled: &Compiled, name: &str) -> Result<Value> {
    let resources = compiled.resources.get(name).with_context(|| format!("ptxas says nothing of `{name}`"))?;
    let in_loops = loops(&compiled.sass, name).map_err(anyhow::Error::msg)?;
    let of = |opcode: &str| compiled.sass.opcodes(name).filter(|found| found.split('.').next() == Some(opcode)).count();
    Ok(json!({
        "registers": resources.registers,
        "stack": resources.stack,
        "spills": resources.spill_stores + resources.spill_loads,
        "shared": resources.shared,
        "ptx": statements(definition(&compiled.ptx, name)?.body),
        "sass": compiled.sass.opcodes(name).count(),
        "loops": in_loops.iter().sum::<usize>(),
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

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".visible .entry k(\n\t.param .u64 .ptr .global k_0,\n\t.param .f32 k_1,\n\t.param .align 4 .b8 k_2[8]\n)\n{\n\
        \t.reg .b32 %r<3>;\n\tmov.b32 %r1, 0;\n$L_1:\n\t@%p1 bra $L_1;\n\t// a comment\n\tret;\n}\n";

    #[test]
    fn ptx_is_counted_and_its_parameters_compared() {
        assert_eq!(statements(definition(PTX, "k").unwrap().body), 3);
        assert_eq!(parameters(PTX, "k").unwrap(), ["64", "32", "align"]);
        assert!(definition(PTX, "l").is_err());
    }
}
