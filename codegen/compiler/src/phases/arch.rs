//! The phases that each arch has of its own: from a copy of the program to PTX and machine code.

use std::borrow::Cow;
use std::collections::HashSet;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::parts::Parts;
use super::program::Program;
use super::unit::{Settings, Unit};
use crate::arch::{Arch, Needs, PtxVersion};
use crate::artifact::Artifact;
use crate::checks;
use crate::codes::Code;
use crate::conditions;
use crate::debuginfo;
use crate::diagnostic::{Diagnostic, Failure, Result};
use crate::emit;
use crate::float;
use crate::groups;
use crate::intrinsics;
use crate::libdevice;
use crate::llvm::{self, Module, TargetMachine};
use crate::loops;
use crate::memory;
use crate::optimize;
use crate::panics;
use crate::products;
use crate::ptxas::{self, Job, Running, Traceable, WithoutPanics};
use crate::report::Report;
use crate::request::{AfterPanic, DebugLevel, Emit, Linking, OptLevel, Options};
use crate::stacks::{self, Calls};
use crate::timings::{self, time};
use crate::verify::{self, Imports};
use crate::workarounds;

/// The program for one arch.
pub struct ForArch<'a, 'ctx> {
    program: &'a Program<'a, 'ctx>,
    /// A copy of the program's.
    pub module: Module<'ctx>,
    /// The GPU that the module is specialised for.
    pub arch: Arch,
    version: PtxVersion,
    machine: Rc<TargetMachine>,
}

impl<'a, 'ctx> ForArch<'a, 'ctx> {
    /// What the module is compiled for.
    fn settings(&self) -> Settings<'a> {
        let Program { options, table, has_lines, tests, .. } = self.program;
        // The next test runs in the same context.
        let after = if tests.is_some() { AfterPanic::Exit } else { options.panics.after };
        Settings { options, table, arch: self.arch, version: self.version, has_lines: *has_lines, after }
    }

    /// The module as a whole.
    pub fn unit(&self) -> Unit<'_, 'ctx> {
        let Self { program, module, machine, .. } = self;
        Unit { context: program.context, module, machine, settings: self.settings() }
    }
}

/// A group's PTX, and who calls whom in it.
pub struct Written {
    group: groups::Group,
    calls: Calls,
}

/// What stands in front of a group's text where it is kept.
#[derive(Serialize, Deserialize)]
struct Facts {
    copied: HashSet<String>,
    calls: Calls,
}

/// The program as PTX.
#[derive(Default)]
pub struct Emitted {
    /// The text with its debug information, as it goes to ptxas and to the output.
    pub ptx: String,
    /// The same in parts, if ptxas is to work on them one by one.
    parts: Vec<String>,
    /// What the PTX was made from, for ptxas's messages.
    source: Option<Traceable>,
    imports: Imports,
    calls: Calls,
    /// Statics of which there may be copies.
    copied: HashSet<String>,
    without_panics: Option<WithoutPanics>,
    artifacts: Vec<Artifact>,
}

/// Specialise: what depends on the arch gets its body. Before optimising, so that all of it is inlined and folded.
pub fn specialise<'a, 'ctx>(program: &'a Program<'a, 'ctx>, arch: Arch) -> Result<ForArch<'a, 'ctx>> {
    let Program { options, context, table, debug, .. } = program;
    // Also for the only arch: LLVM's choices depend on the order of uses, which is another in a copy, and the PTX for one
    // arch must not depend on which others are asked for.
    let module = llvm::copy_module(&program.module);
    let placed = time!(memory::place(context, &module, arch))?;
    let defined = time!(intrinsics::define(context, &module, table, arch))?;
    time!(float::stamp(context, &module))?;
    let needs = placed.and(defined).and(time!(debuginfo::needs(*debug, options)));
    let version = time!(emit::ptx_version(options, arch, table, needs))?;
    let machine = Rc::new(time!(emit::machine(arch, version, options.opt_level))?);
    time!(libdevice::specialize(context, &module, &machine, arch))?;
    time!(intrinsics::infer(context, &module, &machine))?;
    Ok(ForArch { program, module, arch, version, machine })
}

/// Inline: where speed counts, functions become part of what calls them. Of the whole program: what kernels share after this keeps
/// them together.
pub fn inline(target: &mut ForArch<'_, '_>) -> Result<()> {
    let ForArch { program, module, machine, .. } = target;
    let Program { options, context, .. } = program;
    if !options.opt_level.is_for_speed() {
        return Ok(());
    }
    time!(conditions::decide_counted(module));
    time!(conditions::decide_nulls(context, module))?;
    // Before LLVM freezes what a loop does not change.
    time!(checks::drop_of_planes(context, module));
    time!(loops::join(context, module))?;
    time!(loops::delay(context, module));
    time!(optimize::inline(module, machine))?;
    time!(memory::store_by_ways(context, module))
}

/// Divide: each group of kernels goes through `work` on its own, where speed counts; up to its PTX, or what is left becomes the
/// module again. Returns the PTX, and whether something is left.
pub fn divide(
    target: &mut ForArch<'_, '_>,
    work: impl for<'c> Fn(&Unit<'_, 'c>) -> Result<Option<Written>> + Sync,
) -> Result<(Vec<Written>, bool)> {
    let settings = target.settings();
    let Settings { options, table, arch, version, has_lines, after } = settings;
    let level = options.opt_level;
    if !level.is_for_speed() {
        let written = work(&target.unit())?;
        return Ok((Vec::from_iter(written), true));
    }
    let heeded = |kernels: &[String]| {
        let linking = options.linking();
        format!("{arch} {version} {level:?} {has_lines} {after:?} {linking:?} {:?}", table.shapes(kernels))
    };
    let may_split = target.program.debug == DebugLevel::None;
    let request = groups::Request { options, may_split, settings: &heeded };
    let made = time!(groups::apart(&target.module, &request, |context, module| {
        let machine = time!(emit::machine(arch, version, level))?;
        let written = work(&Unit { context, module, machine: &machine, settings })?;
        Ok(written.map(Written::into_bytes))
    }))?;
    let (written, left): (Vec<_>, Vec<_>) = made.into_iter().partition(|made| made.is_done);
    if !left.is_empty() {
        target.module = time!(groups::together(target.program.context, &target.module, &left))?;
    }
    let written: Result<Vec<_>> = written.iter().map(|made| Written::of(&made.bytes)).collect();
    Ok((written?, !left.is_empty()))
}

/// Write: a group's PTX, as LLVM has it.
pub fn write(unit: &Unit<'_, '_>, needs: Needs) -> Result<Written> {
    let Unit { module, machine, settings, .. } = unit;
    let Settings { options, table, arch, version, .. } = settings;
    if needs.ptx > Some(*version) {
        return Err(not_apart());
    }
    time!(verify::undefined_symbols(module, table, options.linking()))?;
    let calls = time!(stacks::read(module));
    time!(emit::limit_debug_info(module, machine, DebugLevel::None))?;
    time!(optimize::drop_unused(module, machine))?;
    let copied = time!(groups::copies(module));
    let text = finished(&time!(emit::emit(module, machine, *arch))?, *arch, options.opt_level);
    Ok(Written { group: groups::Group { text, copied }, calls })
}

/// Join: the PTX of groups that went apart, and of what was left, is that of the program.
pub fn join(target: &ForArch<'_, '_>, written: Vec<Written>, left: Option<Emitted>, traced: bool) -> Result<Emitted> {
    let Program { options, debug, .. } = &target.program;
    let mut emitted = left.unwrap_or_default();
    if !written.is_empty() {
        let (mut groups, mut calls): (Vec<_>, Vec<_>) = written.into_iter().map(|one| (one.group, one.calls)).unzip();
        if !emitted.ptx.is_empty() {
            groups.push(groups::Group { text: emitted.ptx, copied: emitted.copied });
            calls.push(emitted.calls);
        }
        (emitted.ptx, emitted.copied) = time!(groups::join(&target.program.module, &groups))?;
        emitted.calls = Calls::of_all(calls);
    }
    if traced {
        emitted.parts = in_parts(options, *debug, &emitted.ptx, &emitted.copied);
    }
    for text in emitted.parts.iter_mut().chain([&mut emitted.ptx]) {
        if let Cow::Owned(pooled) = time!(panics::pool(text)) {
            *text = pooled;
        }
    }
    Ok(emitted)
}

impl Written {
    fn into_bytes(self) -> Vec<u8> {
        let facts = Facts { copied: self.group.copied, calls: self.calls };
        let mut bytes = serde_json::to_vec(&facts).unwrap_or_default();
        bytes.push(b'\n');
        bytes.extend(self.group.text.into_bytes());
        bytes
    }

    fn of(bytes: &[u8]) -> Result<Self> {
        let parts = std::str::from_utf8(bytes).ok().and_then(|text| text.split_once('\n'));
        let (facts, text) = parts.ok_or_else(not_apart)?;
        let Facts { copied, calls } = serde_json::from_str(facts).map_err(|_| not_apart())?;
        Ok(Self { group: groups::Group { text: text.into(), copied }, calls })
    }
}

/// Nobody sees it: the program is made again, as a whole.
fn not_apart() -> Failure {
    Diagnostic::error(Code::LlvmFailed, "a group of kernels needs to know of the others").into()
}

/// Emit: the PTX of what did not go apart, with debug information that cuda-gdb reads. `traced` keeps what explains ptxas's messages.
pub fn emit(target: &mut ForArch<'_, '_>, needs: Needs, traced: bool) -> Result<Emitted> {
    let Program { options, table, debug, .. } = target.program;
    if needs.ptx > Some(target.version) {
        target.version = time!(emit::ptx_version(options, target.arch, table, needs))?;
        target.machine = Rc::new(time!(emit::machine(target.arch, target.version, options.opt_level))?);
    }
    let target = &*target;
    let ForArch { program, module, arch, version, machine, .. } = target;
    let imports = time!(verify::undefined_symbols(module, table, options.linking()))?;
    let calls = time!(stacks::read(module));
    let without_panics = if traced { without_panics(target, &calls)? } else { None };
    // Before the debug information is limited.
    let source = (traced && program.has_lines).then(|| {
        let machine = Rc::clone(machine);
        Traceable { bitcode: module.write_bitcode_to_memory(), machine, arch: *arch }
    });
    time!(emit::limit_debug_info(module, machine, *debug))?;
    let artifacts = time!(emit::artifacts(options, module, *arch));
    let prepared = time!(debuginfo::prepare(module, *debug))?;
    let copied = time!(groups::copies(module));
    let text = text(target)?;
    let ptx = finished(&prepared.rewrite(text, table, *version)?, *arch, options.opt_level);
    Ok(Emitted { ptx, parts: Vec::new(), source, imports, calls, copied, without_panics, artifacts })
}

/// The text in parts for ptxas; none where somebody asks for one file, something is linked, or the text has debug information,
/// which is about all of it.
fn in_parts(options: &Options, debug: DebugLevel, ptx: &str, copied: &HashSet<String>) -> Vec<String> {
    let is_one = options.emit.iter().any(|emit| matches!(emit, Emit::Cubin | Emit::Fatbin));
    let may_cut = options.opt_level.is_for_speed() && debug == DebugLevel::None && options.linking() == Linking::None;
    if may_cut && !is_one { time!(groups::cut(ptx, copied)) } else { Vec::new() }
}

/// LLVM's text as it is to be.
fn finished(text: &str, arch: Arch, level: OptLevel) -> String {
    let text = time!(workarounds::rewrite(text, arch));
    time!(products::rewrite(&text, level))
}

/// LLVM's text; that of groups where it has no debug information, which is about the whole program.
fn text(target: &ForArch<'_, '_>) -> Result<String> {
    let ForArch { program, module, arch, version, machine, .. } = target;
    let Program { options, debug, .. } = program;
    let level = options.opt_level;
    if !level.is_for_speed() {
        return time!(emit::emit(module, machine, *arch));
    }
    let settings = |_: &[String]| format!("emit {arch} {version} {level:?}");
    let request = groups::Request { options, may_split: *debug == DebugLevel::None, settings: &settings };
    let (arch, version) = (*arch, *version);
    time!(groups::text(&program.module, module, &request, |_, module| {
        let machine = time!(emit::machine(arch, version, level))?;
        time!(emit::emit(module, &machine, arch))
    }))
}

/// The program without panics, for ptxas to say what they cost where the device makes their messages. Not where nothing is
/// optimised, or linked: there ptxas does not say what a kernel needs with what it calls.
fn without_panics(target: &ForArch<'_, '_>, calls: &Calls) -> Result<Option<WithoutPanics>> {
    let ForArch { program, module, arch, machine, .. } = target;
    let Program { options, context, table, debug, .. } = program;
    let is_plain = options.opt_level != OptLevel::O0 && options.linking() == Linking::None;
    let is_wanted = is_plain && table.kernels.iter().any(|kernel| calls.makes_text(&kernel.name));
    let Some(module) = time!(panics::without(context, module, machine, is_wanted))? else { return Ok(None) };
    let calls = time!(stacks::read(&module));
    let ptx = finished(&time!(emit::emit(&module, machine, *arch))?, *arch, options.opt_level);
    let parts = in_parts(options, *debug, &ptx, &time!(groups::copies(&module)));
    Ok(Some(WithoutPanics { ptx, parts, calls }))
}

/// How many archs ptxas may work on at once: memory and cores have an end.
pub fn most_at_once() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What [`assemble`] began.
pub struct Assembling<'a, 'ctx> {
    program: &'a Program<'a, 'ctx>,
    arch: Arch,
    emitted: Emitted,
    /// None where there is no ptxas.
    running: Option<Running>,
}

impl Assembling<'_, '_> {
    fn job(&self) -> Job<'_> {
        job(self.program, self.arch, &self.emitted)
    }
}

fn job<'a>(program: &'a Program<'_, '_>, arch: Arch, emitted: &'a Emitted) -> Job<'a> {
    let Program { options, table, debug, .. } = program;
    let relocatable = options.linking() != Linking::None;
    let source = emitted.source.as_ref().map(|source| source as &dyn ptxas::Trace);
    let (calls, without_panics) = (&emitted.calls, emitted.without_panics.as_ref());
    Job {
        ptx: &emitted.ptx,
        parts: &emitted.parts,
        arch,
        debug: *debug,
        level: options.opt_level,
        table,
        calls,
        relocatable,
        entries: &[],
        without_panics,
        source,
    }
}

/// Assemble: the PTX has the signatures of the table, seen in the text itself, because that is what a caller meets; and ptxas begins
/// to check it and to make machine code, while the next arch goes through the phases.
pub fn assemble<'a, 'ctx>(target: ForArch<'a, 'ctx>, emitted: Emitted, parts: &Parts) -> Result<Assembling<'a, 'ctx>> {
    let ForArch { program, arch, .. } = target;
    time!(verify::signatures(&emitted.ptx, &program.table, arch))?;
    let running = match &parts.assembler {
        Some(assembler) => Some(time!(ptxas::start(assembler, job(program, arch, &emitted)))?),
        None => None,
    };
    Ok(Assembling { program, arch, emitted, running })
}

/// Finish: ptxas has ended, and nvlink links its machine code with other device code.
pub fn finish(mut assembling: Assembling<'_, '_>, parts: &Parts, report: &mut Report) -> Result<Vec<Artifact>> {
    let mut artifacts = std::mem::take(&mut assembling.emitted.artifacts);
    if let (Some(assembler), Some(running)) = (&parts.assembler, assembling.running.take()) {
        let job = assembling.job();
        let assembled = time!(ptxas::finish(assembling.program.options, assembler, running, job, report))?;
        for object in assembled {
            artifacts.push(match assembling.program.linker {
                Some(linker) => {
                    let _nvlink = timings::begin("device_link");
                    linker.link(object, job, &assembling.emitted.imports, report)?
                }
                None => object,
            });
        }
    }
    let bytes = assembling.emitted.ptx.into_bytes();
    artifacts.push(Artifact { kind: Emit::Ptx, arch: Some(assembling.arch), part: None, bytes });
    Ok(artifacts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_a_group_is_what_was_written() {
        let copied = HashSet::from(["text".to_string()]);
        let group = groups::Group { text: ".version 7.8\n\n{\"\n".into(), copied };
        let written = Written::of(&Written { group: group.clone(), calls: Calls::default() }.into_bytes());
        let Ok(written) = written else { panic!("it was written so") };
        assert_eq!((written.group, written.calls), (group, Calls::default()));
        assert!(Written::of(b"no line ends here").is_err() && Written::of(b"{}\n.version 7.8\n").is_err());
    }
}
