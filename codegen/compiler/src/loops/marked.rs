//! What was said of a loop.

use crate::llvm::{self, Context, InstructionValue};

/// Whether anything was said of a loop that decides what is done with it; LLVM also says that it is one.
pub fn is_marked(context: &Context, jumps: &[InstructionValue<'_>]) -> bool {
    llvm::unroll_is_disabled(context, jumps)
        || llvm::unroll_was_asked(context, jumps)
        || llvm::few_rounds(context, jumps).is_some()
}
