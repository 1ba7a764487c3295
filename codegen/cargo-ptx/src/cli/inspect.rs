//! `cargo ptx inspect`: shows what became of the kernels at every stage.

use std::path::Path;
use std::process::Command;

use ptx_codegen::abi::rows;
use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::report::{DeviceFunction, FloatModes, Kernel, Param, Report};
use ptx_codegen::request::Emit;
use ptx_project::options::suggest;
use ptx_project::progress::Progress;
use ptx_project::tools;

use super::arguments::{InspectArgs, What};
use super::{build, output};
use crate::extract;

/// Builds and shows it.
pub fn run(args: &InspectArgs, progress: &Progress) -> Result<()> {
    if args.what == What::Abi && args.types {
        print!("{}", types());
        return Ok(());
    }
    let emit: &[Emit] = match args.what {
        What::Llvm => &[Emit::LlvmIr],
        What::Sass => &[Emit::Cubin],
        What::Abi | What::Ptx | What::Float | What::Resources => &[],
    };
    let report = build::build(&args.build, emit, progress)?.report;
    let kernels = select(&report, args.kernel.as_deref())?;
    let functions = if args.kernel.is_none() { report.functions.as_slice() } else { &[] };
    let is_json = args.build.message_format.is_json();
    match args.what {
        What::Abi if is_json => {
            kernels.iter().for_each(|k| output::json("ptx-kernel", "kernel", k));
            functions.iter().for_each(|f| output::json("ptx-function", "function", f));
        }
        What::Float | What::Resources if is_json => {
            kernels.iter().for_each(|k| output::json("ptx-kernel", "kernel", k));
        }
        What::Abi => {
            kernels.iter().for_each(|kernel| println!("{}", abi(kernel)));
            functions.iter().for_each(|function| println!("{}", function_abi(function)));
        }
        What::Float => print!("{}", float(kernels.into_iter())),
        What::Resources => print!("{}", output::resources(&report, kernels.into_iter())),
        What::Llvm => texts(&report, Emit::LlvmIr, args, &read, extract::llvm)?,
        What::Ptx => texts(&report, Emit::Ptx, args, &read, extract::ptx)?,
        What::Sass => texts(&report, Emit::Cubin, args, &disassembler(None)?, extract::sass)?,
    }
    Ok(())
}

/// How a type of every kind is passed.
fn types() -> String {
    let cells: Vec<Vec<String>> = rows::ROWS.iter().map(rows::Row::cells).collect();
    output::table(&rows::HEADER, &cells)
}

/// The kernel of that name, or all.
fn select<'a>(report: &'a Report, name: Option<&str>) -> Result<Vec<&'a Kernel>> {
    let Some(name) = name else { return Ok(report.kernels.iter().collect()) };
    if let Some(kernel) = report.kernel(name) {
        return Ok(vec![kernel]);
    }
    let names: Vec<&str> = report.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    let error = Diagnostic::error(Code::Usage, format!("package `{}` has no kernel `{name}`", report.name));
    Err(suggest::among(error, name, &names).into())
}

/// A kernel's parameters.
fn abi(kernel: &Kernel) -> String {
    let title = format!("{}  {} at {}\n", kernel.name, kernel.path, kernel.span);
    title + &params(kernel.params.iter())
}

/// A device function's parameters and result.
fn function_abi(function: &DeviceFunction) -> String {
    let kind = if function.is_import { "import" } else { "export" };
    let title = format!("{}  {} at {} ({kind})\n", function.name, function.path, function.span);
    title + &params(function.params.iter().chain(&function.result))
}

/// The kernels' floating-point modes.
fn float<'a>(kernels: impl Iterator<Item = &'a Kernel>) -> String {
    let rows: Vec<Vec<String>> = kernels
        .map(|kernel| {
            let FloatModes { fmad, ftz, prec_div, prec_sqrt, fast_functions } = kernel.float;
            let modes = [fmad, ftz, prec_div, prec_sqrt, fast_functions].map(|mode| mode.to_string());
            std::iter::once(kernel.name.clone()).chain(modes).collect()
        })
        .collect();
    if rows.is_empty() {
        return "no kernel, only exported functions\n".into();
    }
    output::table(&["kernel", "fmad", "ftz", "prec-div", "prec-sqrt", "fast functions"], &rows)
}

fn params<'a>(params: impl Iterator<Item = &'a Param>) -> String {
    let rows: Vec<Vec<String>> = params
        .map(|p| vec![p.name.clone(), p.rust_type.clone(), p.size.to_string(), p.align.to_string(), p.ptx.join(", ")])
        .collect();
    if rows.is_empty() {
        return "no parameters\n".into();
    }
    output::table(&["parameter", "Rust type", "size", "align", "PTX parameters"], &rows)
}

/// Prints the files of one kind, or one kernel's part of them, as text.
fn texts(
    report: &Report,
    kind: Emit,
    args: &InspectArgs,
    to_text: &dyn Fn(&Path) -> Result<String>,
    cut: for<'a> fn(&'a str, &str) -> Option<&'a str>,
) -> Result<()> {
    let files: Vec<_> = report.outputs.iter().filter(|output| output.kind == kind).collect();
    for file in &files {
        let arch = file.arch.as_deref().unwrap_or_default();
        let text = to_text(&file.path)?;
        let part = match &args.kernel {
            None => Some(text.trim_end()),
            Some(name) => cut(&text, name),
        };
        let part = part.ok_or_else(|| {
            let name = args.kernel.as_deref().unwrap_or_default();
            Diagnostic::error(Code::ToolFailed, format!("kernel `{name}` does not stand in `{}`", file.path.display()))
        })?;
        if args.build.message_format.is_json() {
            let text = serde_json::json!({ "kind": kind, "arch": arch, "kernel": args.kernel, "text": part });
            output::json("ptx-text", "text", &text);
            continue;
        }
        if files.len() > 1 {
            let comment = if kind == Emit::LlvmIr { ";" } else { "//" };
            println!("{comment} {arch}");
        }
        println!("{part}\n");
    }
    Ok(())
}

fn read(path: &Path) -> Result<String> {
    let broken = |e| Diagnostic::error(Code::ToolFailed, format!("cannot read `{}`: {e}", path.display()));
    Ok(std::fs::read_to_string(path).map_err(broken)?)
}

/// NVIDIA's disassembler, with one more option.
pub fn disassembler(option: Option<&'static str>) -> Result<impl Fn(&Path) -> Result<String>> {
    let Some(tool) = tools::find().nvdisasm().cloned() else {
        return Err(Diagnostic::error(
            Code::ToolFailed,
            "machine code is shown by NVIDIA's nvdisasm, which was not found",
        )
        .help("install it by `cargo ptx setup`")
        .into());
    };
    Ok(move |path: &Path| {
        let failed =
            |why: String| Diagnostic::error(Code::ToolFailed, format!("`{}` failed: {why}", tool.path.display()));
        let output = Command::new(&tool.path)
            .arg("--print-code")
            .args(option)
            .arg(path)
            .output()
            .map_err(|e| failed(e.to_string()))?;
        if !output.status.success() {
            return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_string()).into());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_abi::float::Modes;
    use ptx_codegen::diagnostic::Span;
    use ptx_codegen::report::Param;

    fn kernel() -> Kernel {
        let param = |name: &str, rust_type: &str, size, ptx: &[&str]| Param {
            name: name.into(),
            rust_type: rust_type.into(),
            size,
            align: 8,
            ptx: ptx.iter().map(ToString::to_string).collect(),
        };
        Kernel {
            name: "saxpy".into(),
            path: "demo::saxpy".into(),
            span: Span { file: "src/lib.rs".into(), line: 7, column: 1 },
            params: vec![param("a", "f64", 8, &[".f64"]), param("x", "&[f64]", 16, &[".u64", ".u64"])],
            abi_hash: 1,
            resources: Default::default(),
            float: Modes { fmad: false, ..Modes::DEFAULT }.into(),
        }
    }

    #[test]
    fn the_abi_is_a_table() {
        assert_eq!(
            abi(&kernel()),
            "saxpy  demo::saxpy at src/lib.rs:7:1\n\
             parameter  Rust type  size  align  PTX parameters\n\
             a          f64           8      8  .f64\n\
             x          &[f64]       16      8  .u64, .u64\n"
        );
        assert!(abi(&Kernel { params: vec![], ..kernel() }).ends_with("no parameters\n"));
        let function = DeviceFunction {
            name: "_Z3foox".into(),
            is_import: true,
            path: "demo::foo".into(),
            span: kernel().span,
            params: vec![],
            result: Some(Param { name: "result".into(), ..kernel().params.remove(0) }),
        };
        assert_eq!(
            function_abi(&function),
            "_Z3foox  demo::foo at src/lib.rs:7:1 (import)\n\
             parameter  Rust type  size  align  PTX parameters\n\
             result     f64           8      8  .f64\n"
        );
    }

    #[test]
    fn the_modes_are_a_table() {
        let table = float([&kernel()].into_iter());
        let words = |line: usize| table.lines().nth(line).unwrap().split_whitespace().collect::<Vec<_>>();
        assert_eq!(words(0), ["kernel", "fmad", "ftz", "prec-div", "prec-sqrt", "fast", "functions"]);
        assert_eq!(words(1), ["saxpy", "false", "false", "true", "true", "false"]);
    }

    #[test]
    fn an_unknown_kernel_names_the_known_ones() {
        let report = Report {
            name: "demo".into(),
            version: String::new(),
            llvm: String::new(),
            ptxas: None,
            debug: Default::default(),
            kernels: vec![kernel()],
            functions: vec![],
            tests: vec![],
            outputs: vec![],
            diagnostics: vec![],
            linking: Default::default(),
            linked: vec![],
        };
        assert_eq!(select(&report, Some("saxpy")).unwrap().len(), 1);
        let error = select(&report, Some("saxy")).unwrap_err().to_string();
        assert!(error.contains("no kernel `saxy`") && error.contains("`saxpy`"), "{error}");
    }
}
