//! Address spaces and atomics: where statics lie, and what LLVM 22 leaves out of PTX's memory model.
//!
//! Before optimising, [`place`] moves shared and constant statics to their address spaces and writes the
//! calls of the crate `ptx`'s scoped atomics as LLVM's instructions. When functions are inlined, [`store_by_ways`] tells
//! apart the local variables that are stored to, and [`measure`] counts how far apart places of statics are. After it,
//! [`order`] writes atomic instructions as
//! PTX has them, with orderings and scopes.

mod apart;
mod atomics;
mod bodies;
mod distances;
mod mapping;
mod parts;
mod pointers;
mod reductions;
mod scoped;
mod spaces;
mod together;
mod unequal;
mod ways;

pub use apart::load_apart;
pub use parts::store_apart;
pub use together::store_together;
pub use unequal::compare_first;

use crate::abi::Table;
use crate::arch::{Arch, Needs};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{self, Context, Module, TargetMachine};
use crate::request::OptLevel;

/// Puts statics where they belong, and makes scoped atomics LLVM's; for the optimiser to see.
pub fn place<'ctx>(context: &'ctx Context, module: &Module<'ctx>, arch: Arch) -> Result<Needs> {
    spaces::place(context, module)?;
    scoped::expand(context, module, arch)
}

/// Stores to one of several local variables where control comes from, before LLVM makes values of them.
pub fn store_by_ways<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    let failed =
        |error| Diagnostic::error(Code::LlvmFailed, format!("cannot tell local variables apart: {error}")).into();
    let mut functions = llvm::functions(module).filter(|function| function.count_basic_blocks() > 1);
    functions.try_for_each(|function| ways::store(context, function)).map_err(failed)
}

/// Counts the bytes between two places of one shared static.
pub fn measure(module: &Module<'_>) {
    llvm::functions(module).for_each(distances::count);
}

/// Holds shared statics to what a block has, and gives atomics their orderings and scopes; after optimising.
pub fn order<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    machine: &TargetMachine,
    table: &Table,
    arch: Arch,
    level: OptLevel,
) -> Result<()> {
    spaces::check(module, table)?;
    atomics::order(context, module, machine, table, arch, level)
}
