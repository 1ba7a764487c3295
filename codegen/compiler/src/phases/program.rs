//! The phases that every arch shares: from rustc's files to one module with all that the kernels reach, and nothing else.

use super::parts::Parts;
use crate::abi::{self, Table};
use crate::artifact::Artifact;
use crate::codes::Code;
use crate::cold;
use crate::debuginfo;
use crate::device_link::{self, Linker, Prepared};
use crate::diagnostic::{Diagnostic, Result};
use crate::emit;
use crate::float;
use crate::harness::{self, Test};
use crate::header;
use crate::hints;
use crate::input;
use crate::interface::{self, Interface};
use crate::libdevice;
use crate::llvm::{Context, Module};
use crate::optimize;
use crate::panics;
use crate::request::{DebugLevel, Options};
use crate::timings::time;
use crate::verify;

/// The program, whichever arch it is for.
pub struct Program<'a, 'ctx> {
    /// What was asked for.
    pub options: &'a Options,
    /// nvlink and what it links with, where there is something.
    pub linker: Option<&'a Linker>,
    /// Of the module.
    pub context: &'ctx Context,
    /// All code.
    pub module: Module<'ctx>,
    /// What the program offers to the outside, and what it asks of it.
    pub interface: Interface<'ctx>,
    /// The interface as PTX has it.
    pub table: Table,
    /// The C++ header, where it was asked for.
    pub header: Option<Artifact>,
    /// The tests, where rustc was to build such.
    pub tests: Option<Vec<Test>>,
    /// The debug information that the outputs can have.
    pub debug: DebugLevel,
    /// Whether places in the source are known.
    pub has_lines: bool,
}

/// What becomes of the lines in the debug information that rustc always writes, for our messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// They stay.
    Kept,
    /// They are not read, or go once panics are known by them; what a message says then is of no use.
    LeftOut,
}

/// Read: the files' units that are referred to become one module; what it uses says whether nvlink comes afterwards.
pub fn read<'a, 'ctx>(
    options: &'a Options,
    context: &'ctx Context,
    parts: &'ctx Parts,
    lines: Lines,
) -> Result<(Module<'ctx>, Prepared<'a>)> {
    time!(panics::check(&options.panics, &options.inputs, &options.name))?;
    // Of which crate a panic is that was inlined, its line alone tells.
    let has_lines = lines == Lines::Kept || !options.panics.are_full();
    let module = time!(input::link(context, &parts.files, &options.name, &options.exports, has_lines))?;
    let prepared = time!(device_link::prepare(options, &module))?;
    Ok((module, prepared))
}

/// Describe: the macros' descriptors become the table of what crosses the boundary. Before any function changes, because a
/// descriptor is about what rustc wrote.
pub fn describe<'a, 'ctx>(
    prepared: &'a Prepared<'_>,
    context: &'ctx Context,
    module: Module<'ctx>,
    lines: Lines,
) -> Result<Program<'a, 'ctx>> {
    let (options, linker) = (&*prepared.options, prepared.linker.as_ref());
    let mut interface = time!(interface::read(&module, &options.exports))?;
    let tests = time!(harness::read(&module, &mut interface))?;
    if interface.is_empty() {
        return Err(Diagnostic::error(Code::NoKernels, "the crate has no kernel and exports no function")
            .help("mark a function with `#[ptx::kernel]` or `#[ptx::device(export)]`")
            .into());
    }
    time!(interface::check(&interface, &options.archs))?;
    let table = Table::new(&interface)?;
    let header = time!(header::artifact(options, &interface))?;
    Ok(Program {
        options,
        linker,
        context,
        module,
        interface,
        table,
        header,
        tests,
        debug: options.debug,
        has_lines: lines == Lines::Kept,
    })
}

/// Lower: functions get NVIDIA's ABI. While all is still as rustc wrote it: later stages may rely on the symbols.
pub fn lower(program: &Program<'_, '_>) -> Result<()> {
    time!(abi::lower(program.context, &program.module, &program.interface, &program.table))
}

/// Reduce: only what the kernels reach stays, with the maths library's part of it, and what each function needs to know
/// before it is inlined into another: its panics' strategy, its floating-point modes.
pub fn reduce<'ctx>(program: &mut Program<'_, 'ctx>, parts: &'ctx Parts) -> Result<()> {
    let Program { options, context, module, interface, table, debug, has_lines, .. } = program;
    let oldest = options.archs[0];
    let machine = time!(emit::machine(oldest, oldest.min_ptx(), options.opt_level))?;
    time!(optimize::internalize(module, interface, &machine))?;
    time!(libdevice::link(context, module, &parts.library, &parts.files, table))?;
    time!(panics::assign(context, module, &options.panics))?;
    time!(panics::hand_over(context, module, options.opt_level))?;
    time!(panics::shrink(context, module));
    time!(cold::mark(context, module, options.opt_level));
    time!(hints::unroll(context, module));
    *debug = time!(debuginfo::level(module, options.debug));
    time!(verify::supported(module, table))?;
    time!(float::assign(context, module, interface, options.float))?;
    if !*has_lines {
        // What came after the rest was read.
        time!(debuginfo::leave_out(module));
    }
    Ok(())
}
