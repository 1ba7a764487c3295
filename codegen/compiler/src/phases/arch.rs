//! The phases that each arch has of its own: from a copy of the program to PTX and machine code.

use super::parts::Parts;
use super::program::Program;
use crate::arch::Arch;
use crate::arch::PtxVersion;
use crate::artifact::Artifact;
use crate::barriers;
use crate::checks;
use crate::cold;
use crate::copies;
use crate::debuginfo;
use crate::diagnostic::Result;
use crate::divisions;
use crate::emit;
use crate::float;
use crate::intrinsics;
use crate::libdevice;
use crate::llvm::{Module, TargetMachine};
use crate::loops;
use crate::memory;
use crate::optimize;
use crate::panics;
use crate::ptxas::{self, Job, Traceable};
use crate::report::Report;
use crate::request::{Emit, Linking};
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
    machine: TargetMachine,
}

/// What [`emit`] wrote.
pub struct Emitted<'a, 'ctx> {
    /// The text with its debug information, as it goes to ptxas and to the output.
    pub ptx: String,
    /// What the PTX was made from, for ptxas's messages.
    source: Option<Traceable<'a, 'ctx>>,
    imports: Imports,
    artifacts: Vec<Artifact>,
}

/// Specialise: what depends on the arch gets its body. Before optimising, so that all of it is inlined and folded.
pub fn specialise<'a, 'ctx>(program: &'a Program<'a, 'ctx>, arch: Arch) -> Result<ForArch<'a, 'ctx>> {
    let Program { options, context, table, debug, .. } = program;
    // Also for the only arch: LLVM's choices depend on the order of uses, which is another in a copy, and the PTX for one
    // arch must not depend on which others are asked for.
    let module = program.module.clone();
    let placed = memory::place(context, &module, arch)?;
    let defined = intrinsics::define(context, &module, table, arch)?;
    float::stamp(context, &module)?;
    let needs = placed.and(defined).and(debuginfo::needs(*debug, options));
    let version = emit::ptx_version(options, arch, table, needs)?;
    let machine = emit::machine(arch, version, options.opt_level)?;
    libdevice::specialize(context, &module, &machine, arch)?;
    Ok(ForArch { program, module, arch, version, machine })
}

/// How often what LLVM does not do for GPUs is done at most: how many rounds a loop has may show only when another is gone.
const MOST_ROUNDS: usize = 3;

/// Optimise: LLVM's pipeline; where speed counts, what it does not do for GPUs and the pipeline again, which makes use of
/// that; then what the arch lacks is refused, because only now what is never reached has gone.
pub fn optimise(target: &ForArch<'_, '_>) -> Result<()> {
    let ForArch { program, module, arch, machine, .. } = target;
    let (context, level) = (program.context, program.options.opt_level);
    optimize::run_level(module, machine, level, *arch)?;
    for _ in 0..if level.is_for_speed() { MOST_ROUNDS } else { 0 } {
        optimize::thread_jumps(module)?;
        divisions::narrow(context, module)?;
        let unrolled = loops::unroll(context, module);
        loops::count(context, module, machine)?;
        loops::split(context, module, machine)?;
        optimize::run_level(module, machine, level, *arch)?;
        if !unrolled {
            break;
        }
    }
    if level.is_for_speed() {
        checks::merge(context, module, machine)?;
    }
    intrinsics::check(module, machine, &program.table, *arch)
}

/// Legalise: all that LLVM's optimiser must not see, or would undo.
pub fn legalise(target: &ForArch<'_, '_>) -> Result<()> {
    let ForArch { program, module, arch, machine, .. } = target;
    let (context, level) = (program.context, program.options.opt_level);
    cold::keep_loops(context, module);
    copies::widen(context, module, machine, level)?;
    barriers::align(context, module, level)?;
    checks::separate(context, module)?;
    memory::order(context, module, machine, &program.table, *arch, level)?;
    float::lower(context, module, level)?;
    panics::lower(context, module, level)
}

/// Emit: the PTX, with debug information that cuda-gdb reads. `traced` keeps what explains ptxas's messages.
pub fn emit<'a, 'ctx>(target: &'a ForArch<'_, 'ctx>, traced: bool) -> Result<Emitted<'a, 'ctx>> {
    let ForArch { program, module, arch, version, machine } = target;
    let Program { options, table, debug, .. } = program;
    let imports = verify::undefined_symbols(module, table, options.linking())?;
    // Before the debug information is limited.
    let copy = traced.then(|| module.clone());
    emit::limit_debug_info(module, machine, *debug)?;
    let artifacts = emit::artifacts(options, module, *arch);
    let prepared = debuginfo::prepare(module, *debug)?;
    let text = emit::emit(module, machine, *arch)?;
    let ptx = workarounds::widen(&prepared.rewrite(text, table, *version)?, *arch);
    let source = copy.map(|module| Traceable { module, machine, arch: *arch });
    Ok(Emitted { ptx, source, imports, artifacts })
}

/// Check: the PTX has the signatures of the table. Of the text itself, because that is what a caller meets.
pub fn check(target: &ForArch<'_, '_>, emitted: &Emitted<'_, '_>) -> Result<()> {
    verify::signatures(&emitted.ptx, &target.program.table, target.arch)
}

/// Assemble: ptxas checks the PTX and makes machine code, and nvlink links that with other device code.
pub fn assemble(
    target: &ForArch<'_, '_>,
    emitted: Emitted<'_, '_>,
    parts: &Parts,
    report: &mut Report,
) -> Result<Vec<Artifact>> {
    let Emitted { ptx, source, imports, mut artifacts } = emitted;
    let Program { options, table, debug, .. } = target.program;
    if let Some(assembler) = &parts.assembler {
        let relocatable = options.linking() != Linking::None;
        let source = source.as_ref().map(|source| source as &dyn ptxas::Trace);
        let level = options.opt_level;
        let job = Job { ptx: &ptx, arch: target.arch, debug: *debug, level, table, relocatable, source };
        let assembled = ptxas::assemble(options, assembler, job, report)?;
        artifacts.extend(match (&parts.linker, assembled) {
            (Some(linker), Some(object)) => Some(linker.link(object, job, &imports, report)?),
            (_, assembled) => assembled,
        });
    }
    artifacts.push(Artifact { kind: Emit::Ptx, arch: Some(target.arch), bytes: ptx.into_bytes() });
    Ok(artifacts)
}
