//! The phases that each arch has of its own: from a copy of the program to PTX and machine code.

use std::rc::Rc;

use super::parts::Parts;
use super::program::Program;
use crate::abi::Table;
use crate::addresses;
use crate::arch::Arch;
use crate::arch::PtxVersion;
use crate::artifact::Artifact;
use crate::barriers;
use crate::checks;
use crate::cold;
use crate::conditions;
use crate::copies;
use crate::debuginfo;
use crate::diagnostic::Result;
use crate::differences;
use crate::divisions;
use crate::emit;
use crate::float;
use crate::groups;
use crate::indices;
use crate::intrinsics;
use crate::libdevice;
use crate::llvm::{self, Context, Module, TargetMachine};
use crate::loops;
use crate::memory;
use crate::multiples;
use crate::offsets;
use crate::optimize;
use crate::panics;
use crate::parities;
use crate::products;
use crate::ptxas::{self, Job, Running, Traceable, WithoutPanics};
use crate::remainders;
use crate::report::Report;
use crate::request::{AfterPanic, DebugLevel, Emit, Linking, OptLevel, Options};
use crate::settled::{self, Shapes};
use crate::stacks::{self, Calls};
use crate::timings::{self, time};
use crate::verify::{self, Imports};
use crate::windows;
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

/// What [`emit`] wrote.
pub struct Emitted {
    /// The text with its debug information, as it goes to ptxas and to the output.
    pub ptx: String,
    /// The same in parts, if ptxas is to work on them one by one.
    parts: Vec<String>,
    /// What the PTX was made from, for ptxas's messages.
    source: Option<Traceable>,
    imports: Imports,
    calls: Calls,
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

/// How often what LLVM does not do for GPUs is done: a loop whose rounds were counted is unrolled, split or batched after that.
const ROUNDS: usize = 2;

/// The same at most, where loops are unrolled: how many rounds one has may show only when another is gone.
const MOST_ROUNDS: usize = 3;

/// Optimise: LLVM's pipeline; where speed counts, what it does not do for GPUs and the pipeline again, which makes use of
/// that; then what the arch lacks is refused, because only now what is never reached has gone.
pub fn optimise(target: &mut ForArch<'_, '_>) -> Result<()> {
    let ForArch { program, module, arch, machine, version } = target;
    let (context, level, has_lines) = (program.context, program.options.opt_level, program.has_lines);
    if level.is_for_speed() {
        let Program { options, table, debug, .. } = program;
        time!(conditions::decide_counted(module));
        time!(conditions::decide_nulls(context, module))?;
        // Before LLVM freezes what a loop does not change.
        time!(checks::drop_of_planes(context, module));
        time!(loops::join(context, module))?;
        time!(loops::delay(context, module));
        // What kernels share after this keeps them together.
        time!(optimize::inline(module, machine))?;
        let settings =
            |kernels: &[String]| format!("optimise {arch} {version} {level:?} {has_lines} {:?}", table.shapes(kernels));
        let request = groups::Request { options, may_split: *debug == DebugLevel::None, settings: &settings };
        let (arch, version) = (*arch, *version);
        *module = time!(groups::each(context, module, &request, |context, module| {
            let machine = time!(emit::machine(arch, version, level))?;
            level_of_llvm(context, module, &machine, level, arch, has_lines)?;
            for_speed(context, module, &machine, level, arch, table)
        }))?;
    } else {
        level_of_llvm(context, module, machine, level, *arch, has_lines)?;
    }
    time!(intrinsics::check(module, machine, &program.table, *arch))
}

/// LLVM's pipeline, and what depends on it alone.
fn level_of_llvm<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    machine: &TargetMachine,
    level: OptLevel,
    arch: Arch,
    has_lines: bool,
) -> Result<()> {
    time!(optimize::run_level(module, machine, level, arch))?;
    // Here, because circles that are left by now will stay.
    time!(stacks::refuse_without_lines(module, has_lines))?;
    if level.is_for_speed() {
        time!(loops::resume(context, module));
    }
    if level != OptLevel::O0 {
        time!(libdevice::fold(context, module, machine))?;
    }
    Ok(())
}

/// What LLVM does not do for GPUs.
fn for_speed<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    machine: &TargetMachine,
    level: OptLevel,
    arch: Arch,
    table: &Table,
) -> Result<()> {
    time!(indices::bound(context, module))?;
    for round in 1..=MOST_ROUNDS {
        // In the first round, LLVM has been through all but once, and may find more in what stays.
        let shapes = (round > 1).then(|| Shapes::of(context, module));
        time!(conditions::decide(module));
        time!(checks::drop_of_planes(context, module));
        time!(optimize::thread_jumps(module))?;
        time!(conditions::choose(context, module, machine))?;
        time!(loops::join(context, module))?;
        time!(loops::catch_up(context, module))?;
        time!(loops::end_inclusive(context, module))?;
        time!(loops::end_once(context, module))?;
        time!(remainders::fold(context, module))?;
        time!(multiples::fold(context, module))?;
        time!(divisions::narrow(context, module))?;
        time!(indices::narrow_casts(context, module))?;
        if round == 1 {
            time!(checks::ask_of_areas(context, module))?;
        }
        time!(loops::keep(context, module))?;
        time!(loops::remember(context, module))?;
        let mut unfinished = time!(loops::unroll(context, module));
        let form = loops::SimpleForm::of(machine);
        let counted = time!(windows::count(context, module, &form))?;
        unfinished.extend(counted);
        time!(loops::widen(context, module, &form))?;
        time!(loops::chunk(context, module, &form))?;
        time!(loops::step_over(context, module, &form))?;
        time!(loops::count(context, module, &form))?;
        time!(loops::widen_checked(context, module, &form))?;
        time!(loops::pass(context, module, &form))?;
        time!(loops::split(context, module, &form))?;
        time!(loops::shorten(context, module, &form))?;
        time!(loops::batch(context, module, &form, table))?;
        time!(loops::gather(context, module, &form, table))?;
        time!(loops::pack(context, module, &form))?;
        time!(loops::foresee(context, module, &form))?;
        time!(loops::repeat(context, module));
        if let Some(shapes) = shapes {
            let changed = unfinished.union(&shapes.changed(context, module)).copied().collect();
            if settled::settle(context, module, changed) {
                break;
            }
        }
        time!(optimize::run_again(module, machine, level, arch))?;
        time!(loops::join(context, module))?;
        time!(loops::count_simply(context, module))?;
        time!(optimize::unroll_again(module, machine, level, arch))?;
        time!(libdevice::fold(context, module, machine))?;
        if round >= ROUNDS && settled::settle(context, module, unfinished) {
            break;
        }
    }
    settled::open_all(module);
    // LLVM may have unrolled a loop over neighbours at last.
    time!(remainders::fold(context, module))?;
    time!(checks::merge(context, module, machine))?;
    time!(indices::narrow(context, module, machine, arch))?;
    time!(indices::halve(context, module))?;
    time!(conditions::join(context, module, machine))?;
    time!(differences::fold(context, module))?;
    time!(parities::fold(context, module))?;
    time!(loops::order(context, module, machine))?;
    time!(divisions::share(context, module, machine))?;
    time!(loops::reunite(context, module, machine))
}

/// Legalise: all that LLVM's optimiser must not see, or would undo.
pub fn legalise(target: &mut ForArch<'_, '_>) -> Result<()> {
    let ForArch { program, module, arch, version, machine } = target;
    let (context, options, level) = (program.context, program.options, program.options.opt_level);
    time!(cold::keep_loops(context, module));
    time!(copies::widen(context, module, machine, level))?;
    time!(barriers::align(context, module, level))?;
    time!(checks::separate(context, module, *arch))?;
    time!(memory::order(context, module, machine, &program.table, *arch, level))?;
    if level.is_for_speed() {
        time!(loops::spread(context, module, machine))?;
    }
    time!(float::lower(context, module, level))?;
    if level.is_for_speed() {
        time!(loops::follow(context, module, machine))?;
        time!(addresses::share(context, module));
        time!(addresses::lift(context, module));
        time!(addresses::follow_rows(context, module))?;
        time!(offsets::share(context, module))?;
        time!(loops::walk(context, module, machine))?;
        time!(loops::leave(context, module, machine))?;
        time!(float::part(context, module))?;
        time!(loops::hasten(context, module));
        time!(loops::saturate(context, module))?;
        time!(loops::count_down(context, module))?;
        time!(indices::compare(context, module))?;
        time!(checks::read_early(context, module))?;
        time!(checks::compute_ahead(context, module))?;
    }
    // As late as this, because recursion may be gone by now, and what is left may need a higher version.
    let needs = time!(stacks::check(context, module, &options.panics, program.has_lines))?;
    if needs.ptx > Some(*version) {
        *version = time!(emit::ptx_version(options, *arch, &program.table, needs))?;
        *machine = Rc::new(time!(emit::machine(*arch, *version, level))?);
    }
    // The next test runs in the same context.
    let after = if program.tests.is_some() { AfterPanic::Exit } else { options.panics.after };
    time!(panics::lower(context, module, level, after))
}

/// Emit: the PTX, with debug information that cuda-gdb reads. `traced` keeps what explains ptxas's messages.
pub fn emit(target: &ForArch<'_, '_>, traced: bool) -> Result<Emitted> {
    let ForArch { program, module, arch, version, machine } = target;
    let Program { options, table, debug, .. } = program;
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
    let text = text(target)?;
    let text = prepared.rewrite(text, table, *version)?;
    let ptx = finished(&text, *arch, options.opt_level);
    let parts = if traced && may_cut(options, *debug) { time!(groups::cut(module, &ptx)) } else { Vec::new() };
    Ok(Emitted { ptx, parts, source, imports, calls, without_panics, artifacts })
}

/// Whether ptxas may work on parts of the program: where nobody asks for one file, nothing is linked, and the text has no debug
/// information, which is about all of it.
fn may_cut(options: &Options, debug: DebugLevel) -> bool {
    let is_one = options.emit.iter().any(|emit| matches!(emit, Emit::Cubin | Emit::Fatbin));
    options.opt_level.is_for_speed() && debug == DebugLevel::None && options.linking() == Linking::None && !is_one
}

/// LLVM's text as it is to be. Of the whole program, not of each group: what ptxas gets wrong depends on whether there are
/// floats anywhere, and with debug information there is one group.
fn finished(text: &str, arch: Arch, level: OptLevel) -> String {
    let text = time!(workarounds::rewrite(text, arch));
    time!(products::rewrite(&text, level))
}

/// LLVM's text; that of groups where it has no debug information, which is about the whole program.
fn text(target: &ForArch<'_, '_>) -> Result<String> {
    let ForArch { program, module, arch, version, machine } = target;
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
    let parts = if may_cut(options, *debug) { time!(groups::cut(&module, &ptx)) } else { Vec::new() };
    Ok(Some(WithoutPanics { ptx, parts, calls }))
}

/// Check: the PTX has the signatures of the table. Of the text itself, because that is what a caller meets.
pub fn check(target: &ForArch<'_, '_>, emitted: &Emitted) -> Result<()> {
    time!(verify::signatures(&emitted.ptx, &target.program.table, target.arch))
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

/// Assemble: ptxas begins to check the PTX and to make machine code, while the next arch goes through the phases.
pub fn assemble<'a, 'ctx>(target: ForArch<'a, 'ctx>, emitted: Emitted, parts: &Parts) -> Result<Assembling<'a, 'ctx>> {
    let ForArch { program, arch, .. } = target;
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
