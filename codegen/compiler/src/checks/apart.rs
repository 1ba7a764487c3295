//! Keeps the ends of two copies apart while LLVM joins what branches end in alike.
//!
//! ```text
//! before: fast: %a = load …                        slow: %b = load …
//!               br label %end                            br label %end
//! after:  fast: %a = load …                        slow: %b = load …
//!               call void @llvm.sideeffect()             br label %end
//!               br label %end
//! ```
//!
//! Both copies of a kernel end in the same instructions, and LLVM would have them once, behind both. Of a filter that is also the
//! last neighbour, whose loads then stand in a block of their own with phis for their addresses: ptxas gives no predicates to what
//! two ways lead to, and begins these loads only when all others have come. An instruction that the other copy has not ends what is
//! alike, and LLVM neither moves nor drops this one. It does nothing, and goes once LLVM joins no more.
//!
//! Not where a single way leads to the end, or only a loop does: nothing that has a condition stands before it then, and with one end
//! for both copies the other one takes fewer registers.

use super::copy::Version;
use crate::llvm::{
    self, BasicBlock, Builder, BuilderError, InstructionOpcode as Op, InstructionValue, Intrinsic, Module,
};
use crate::loops::Loop;

const MARK: &str = "llvm.sideeffect";

/// Marks where the copy of these blocks is left, where ways come together or right behind that.
pub fn keep<'ctx>(
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    version: &Version<'ctx>,
    blocks: &[BasicBlock<'ctx>],
    loops: &[Loop<'ctx>],
) -> Result<(), BuilderError> {
    let Some(mark) = Intrinsic::find(MARK).and_then(|mark| mark.get_declaration(module, &[])) else { return Ok(()) };
    let is_in_loop = |block: &BasicBlock<'ctx>| loops.iter().any(|found| found.contains(*block));
    let meet = |ways: &[BasicBlock<'ctx>]| ways.len() > 1 && !ways.iter().any(is_in_loop);
    for block in blocks {
        let Some(end) = block.get_terminator() else { continue };
        let targets = llvm::block_operands(end);
        let meet_behind = || {
            let ways = targets.iter().flat_map(|target| llvm::predecessors(*target));
            meet(&ways.filter(|way| blocks.contains(way)).collect::<Vec<_>>())
        };
        let leaves = end.get_opcode() == Op::Return || targets.len() == 1 && !blocks.contains(&targets[0]);
        if leaves && (meet(&llvm::predecessors(*block)) || meet_behind()) {
            builder.position_before(&version.copy_of_instruction(end));
            builder.build_call(mark, &[], "")?;
        }
    }
    Ok(())
}

/// Drops the marks.
pub fn drop(module: &Module<'_>) {
    let is_mark = |from: &InstructionValue<'_>| llvm::calls(*from, &[MARK]);
    for function in llvm::functions(module) {
        let marks: Vec<_> = llvm::instructions(function).filter(is_mark).collect();
        marks.into_iter().for_each(|mark| mark.erase_from_basic_block());
    }
}
