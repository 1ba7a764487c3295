//! Gives a barrier the aligned form where all threads of a block come to it together.
//!
//! ```text
//! before: call void @llvm.nvvm.barrier.cta.sync.all(i32 0)              ; barrier.sync 0
//! after:  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)      ; bar.sync 0, as of `__syncthreads()`
//! ```
//!
//! At the form in which each thread arrives by itself, ptxas must expect the threads of a warp one by one: where a panic may
//! have been left behind, it writes all that follows twice, once for a whole warp and once for a broken one. The aligned form
//! is defined only if all threads of a warp run the same `barrier` (PTX ISA, "bar, barrier"), so it must be proven.
//!
//! The proof: threads part at a branch whose condition differs between them, and are together again where all ways from it
//! meet. If no barrier is on the ways between, every thread comes to the same barriers in the same order. Ways that end in a
//! panic do not count: the first thread that panics ends the grid, whoever waits for it.

mod flow;
mod values;

use std::collections::HashSet;

use flow::Flow;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{self, BasicBlock, BuilderError, Context, FunctionValue, InstructionValue, Intrinsic, Module};
use crate::request::OptLevel;

/// The barrier at which each thread arrives by itself, and the one at which warps do.
const SINGLE: &str = "llvm.nvvm.barrier.cta.sync.all";
const ALIGNED: &str = "llvm.nvvm.barrier.cta.sync.aligned.all";

/// Aligns what can be, in kernels: who calls another function, and where, is not seen.
pub fn align<'ctx>(context: &'ctx Context, module: &Module<'ctx>, level: OptLevel) -> Result<()> {
    let Some(single) = module.get_function(SINGLE).filter(|_| level != OptLevel::O0) else { return Ok(()) };
    for kernel in llvm::functions(module).filter(|function| function.get_call_conventions() == llvm::PTX_KERNEL) {
        let calls = |instruction: &InstructionValue<'ctx>| llvm::called_function(*instruction) == Some(single);
        let barriers: Vec<InstructionValue<'ctx>> = llvm::instructions(kernel).filter(calls).collect();
        if !barriers.is_empty() {
            align_in(context, module, kernel, &barriers)
                .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("cannot align a barrier: {error}")))?;
        }
    }
    Ok(())
}

fn align_in<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    kernel: FunctionValue<'ctx>,
    barriers: &[InstructionValue<'ctx>],
) -> Result<(), BuilderError> {
    let flow = Flow::of(kernel);
    let parting = values::parting(kernel, &flow);
    let together = |block: &BasicBlock<'ctx>| !parting.iter().any(|branch| flow.is_between(*branch, *block));
    let blocks: HashSet<BasicBlock<'ctx>> =
        barriers.iter().filter_map(|barrier| barrier.get_parent()).filter(|block| flow.ends(*block)).collect();
    let aligned: HashSet<BasicBlock<'ctx>> = blocks.into_iter().filter(together).collect();
    let Some(form) = Intrinsic::find(ALIGNED).and_then(|form| form.get_declaration(module, &[])) else { return Ok(()) };
    let builder = context.create_builder();
    for barrier in barriers.iter().filter(|barrier| barrier.get_parent().is_some_and(|block| aligned.contains(&block)))
    {
        let Some(number) = barrier.get_operand(0).and_then(|number| number.value()) else { continue };
        builder.position_before(barrier);
        builder.build_call(form, &[number.into()], "")?;
        barrier.erase_from_basic_block();
    }
    Ok(())
}
