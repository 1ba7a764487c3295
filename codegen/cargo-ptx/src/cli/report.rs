//! `cargo ptx report`: one HTML page with what a build knows of its kernels.

use std::path::PathBuf;

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::report::Report;
use ptx_codegen::request::{DebugLevel, Emit};
use ptx_project::build::{self, DeviceBuild};
use ptx_project::progress::Progress;
use ptx_project::tools;

use super::arguments::BuildArgs;
use super::build::device_builds;
use super::{inspect, output};
use crate::page::{self, Built};

/// The page's file, in the folder of the outputs.
pub const PAGE: &str = "report.html";

/// Builds, and writes a page for every package.
pub fn run(args: &BuildArgs, progress: &Progress) -> Result<()> {
    for mut build in device_builds(args)? {
        let path = one(&mut build, args, progress)?;
        match args.message_format.is_json() {
            true => output::json("ptx-page", "page", &path),
            false => println!("{}", output::path(&path)),
        }
    }
    if args.message_format.is_json() {
        output::json("build-finished", "success", &true);
    }
    Ok(())
}

fn one(build: &mut DeviceBuild, args: &BuildArgs, progress: &Progress) -> Result<PathBuf> {
    let has_ptxas = tools::find().ptxas().is_some() && build.settings.ptxas.as_deref() != Some("off");
    let given = build.settings.clone().or(ptx_project::options::Settings::of_manifest(&build.manifest)?);
    if has_ptxas && !given.emit.contains(&Emit::Cubin) {
        build.settings.emit = given.emit.iter().copied().chain([Emit::Cubin]).collect();
    }
    if given.debug_level.is_none() {
        // Without lines there is nothing to stand side by side. Line tables change no code; what a debugger needs does.
        build.settings.debug_level = Some(DebugLevel::LineTables);
    }
    let built = build::run(build, progress)?;
    output::diagnostics(&built.report.diagnostics, args.message_format, &built.source_base);
    let path = build.out_dir.join(PAGE);
    let folder = build.manifest.parent().unwrap_or(&build.out_dir);
    let text = page::html(&built.report, &files(&built.report)?, &build.profile, folder);
    ptx_codegen::files::publish(&path, text.as_bytes())?;
    Ok(path)
}

/// What was built for each arch.
fn files(report: &Report) -> Result<Vec<Built>> {
    // A report without machine code says so.
    let disassembler = inspect::disassembler(Some("--print-line-info-inline")).ok();
    let mut builts = Vec::new();
    for ptx in report.outputs.iter().filter(|output| output.kind == Emit::Ptx) {
        let arch = ptx.arch.clone().unwrap_or_default();
        let text = std::fs::read_to_string(&ptx.path)
            .map_err(|e| Diagnostic::error(Code::ToolFailed, format!("cannot read `{}`: {e}", ptx.path.display())))?;
        let cubin = report.output(Emit::Cubin, Some(&arch));
        let sass = cubin.zip(disassembler.as_ref()).map(|(cubin, disassemble)| disassemble(&cubin.path)).transpose()?;
        builts.push(Built { arch, ptx: text, sass });
    }
    Ok(builts)
}
