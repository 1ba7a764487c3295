//! The pipeline. `phases/` has what each phase does, stage by stage.

use std::collections::VecDeque;

use crate::arch::Arch;
use crate::artifact::Artifact;
use crate::diagnostic::Result;
use crate::dump::Dump;
use crate::llvm::{self, Context};
use crate::output;
use crate::phases::{self, Assembling, Lines, Parts, Program};
use crate::report::Report;
use crate::request::{DebugLevel, Emit, Options};
use crate::timings::{self, time};

/// Links: inputs to outputs. Read [`make`] and [`compile`] to know the order of the pipeline.
pub fn link(options: &Options) -> Result<Report> {
    llvm::install_fatal_handler();
    // Lines cost LLVM a tenth of its time, and most programs give no reason to say one.
    let lines = if needs_lines(options) { Lines::Kept } else { Lines::LeftOut };
    let mut made = make(options, lines);
    if lines == Lines::LeftOut && made.as_ref().map_or(true, |(_, report)| !report.diagnostics.is_empty()) {
        made = make(options, Lines::Kept);
    }
    let (artifacts, mut report) = made?;
    time!(output::write(options, artifacts, &mut report))?;
    Ok(report)
}

/// Whether lines are asked for, in what is written.
fn needs_lines(options: &Options) -> bool {
    let has_ir = options.emit.iter().any(|emit| matches!(emit, Emit::LlvmIr | Emit::LlvmBc));
    options.debug != DebugLevel::None || options.dump_dir.is_some() || has_ir
}

/// What there is to write, and the report.
fn make(options: &Options, lines: Lines) -> Result<(Vec<Artifact>, Report)> {
    let mut dump = Dump::new(options.dump_dir.as_deref())?;
    let parts = time!(phases::find(options))?;
    let context = Context::create();

    let (module, prepared) = time!(phases::read(options, &context, &parts, lines))?;
    dump.module("read", &module)?;
    let options = &*prepared.options;
    let mut program = time!(phases::describe(&prepared, &context, module, lines))?;
    time!(phases::lower(&program))?;
    dump.module("lower", &program.module)?;
    time!(phases::reduce(&mut program, &parts))?;
    dump.module("reduce", &program.module)?;

    let ptxas = parts.assembler.as_ref().map(|assembler| assembler.version());
    let mut report = Report {
        debug: program.debug,
        tests: program.tests.clone().unwrap_or_default(),
        ..Report::new(options, &program.table, &program.module, ptxas)
    };
    let mut artifacts = Vec::from_iter(program.header.take());
    let mut begun = VecDeque::new();
    for &arch in &options.archs {
        let next = compile(&program, arch, &parts, &mut dump);
        // Errors are those of the first arch that has any, however fast ptxas is.
        let at_once = if next.is_ok() { phases::most_at_once() } else { 1 };
        while begun.len() >= at_once
            && let Some(first) = begun.pop_front()
        {
            artifacts.extend(time!(phases::finish(first, &parts, &mut report))?);
        }
        begun.push_back(next?);
    }
    for first in begun {
        artifacts.extend(time!(phases::finish(first, &parts, &mut report))?);
    }
    Ok((artifacts, report))
}

/// The program for one arch, up to where ptxas begins: it goes on while the next arch is compiled.
fn compile<'a, 'ctx>(
    program: &'a Program<'a, 'ctx>,
    arch: Arch,
    parts: &Parts,
    dump: &mut Dump<'_>,
) -> Result<Assembling<'a, 'ctx>> {
    let _span = timings::begin(arch.name());
    let mut target = time!(phases::specialise(program, arch))?;
    dump.module(&format!("{arch}-specialise"), &target.module)?;
    time!(phases::inline(&mut target))?;
    let has_ptxas = parts.assembler.is_some();
    let (written, has_more) = time!(phases::divide(&mut target, |unit| {
        if !time!(phases::optimise(unit))? {
            return Ok(None);
        }
        let needs = time!(phases::legalise(unit))?;
        time!(phases::write(unit, needs)).map(Some)
    }))?;
    let mut left = None;
    if has_more {
        dump.module(&format!("{arch}-optimise"), &target.module)?;
        let needs = time!(phases::legalise(&target.unit()))?;
        dump.module(&format!("{arch}-legalise"), &target.module)?;
        left = Some(time!(phases::emit(&mut target, needs, has_ptxas))?);
    }
    let emitted = time!(phases::join(&target, written, left, has_ptxas))?;
    dump.text(&format!("{arch}.ptx"), &emitted.ptx)?;
    time!(phases::assemble(target, emitted, parts))
}
