//! The pipeline. `phases/` has what each phase does, stage by stage.

use crate::diagnostic::Result;
use crate::dump::Dump;
use crate::llvm::{self, Context};
use crate::output;
use crate::phases::{self, Parts};
use crate::report::Report;
use crate::request::Options;

/// Links: inputs to outputs. Read it to know the order of the pipeline.
pub fn link(options: &Options) -> Result<Report> {
    llvm::install_fatal_handler();
    let mut dump = Dump::new(options.dump_dir.as_deref())?;
    let parts = Parts::find(options)?;
    let context = Context::create();

    let module = phases::read(options, &context, &parts)?;
    dump.module("read", &module)?;
    let mut program = phases::describe(options, &context, module)?;
    phases::lower(&program)?;
    dump.module("lower", &program.module)?;
    phases::reduce(&mut program, &parts)?;
    dump.module("reduce", &program.module)?;

    let ptxas = parts.assembler.as_ref().map(|assembler| assembler.version());
    let mut report = Report { debug: program.debug, ..Report::new(options, &program.table, &program.module, ptxas) };
    let mut artifacts = Vec::from_iter(program.header.take());
    for &arch in &options.archs {
        let target = phases::specialise(&program, arch)?;
        dump.module(&format!("{arch}-specialise"), &target.module)?;
        phases::optimise(&target)?;
        dump.module(&format!("{arch}-optimise"), &target.module)?;
        phases::legalise(&target)?;
        dump.module(&format!("{arch}-legalise"), &target.module)?;
        let emitted = phases::emit(&target, parts.assembler.is_some())?;
        dump.text(&format!("{arch}.ptx"), &emitted.ptx)?;
        phases::check(&target, &emitted)?;
        artifacts.extend(phases::assemble(&target, emitted, &parts, &mut report)?);
    }
    output::write(options, artifacts, &mut report)?;
    Ok(report)
}
