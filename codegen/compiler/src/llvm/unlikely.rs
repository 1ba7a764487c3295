//! Which way a branch seldom takes.

use inkwell::context::AsContextRef;
use inkwell::llvm_sys::core::{
    LLVMConstInt, LLVMConstIntGetZExtValue, LLVMGetMDKindIDInContext, LLVMGetMetadata, LLVMInt32TypeInContext,
    LLVMIsAConstantInt, LLVMMDNodeInContext2, LLVMMDStringInContext2, LLVMMetadataAsValue, LLVMSetMetadata,
    LLVMValueAsMetadata,
};

use super::loops::operands;
use super::{AsValueRef, BasicBlock, Context, InstructionValue, branch_targets};

/// Begins what LLVM is told of how often a branch goes where (Language Reference, "Branch Weight Metadata").
const WEIGHTS: &str = "branch_weights";

/// How often the first way is taken for each time that the second one is, as `llvm.expect` has it.
const OFTEN: u32 = 2000;

/// How much more often the other way is taken, at least, where one is unlikely.
const LEAST: u64 = 1000;

/// Says that a branch seldom takes its second way.
pub fn set_unlikely(context: &Context, branch: InstructionValue<'_>) {
    assert!(branch_targets(branch).is_some(), "it has two ways");
    let context = context.as_ctx_ref();
    // SAFETY: the node is of the context, and so is the instruction, which is live.
    unsafe {
        let number = |number| LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(context), number, 0));
        let mut operands =
            [LLVMMDStringInContext2(context, WEIGHTS.as_ptr().cast(), WEIGHTS.len()), number(OFTEN.into()), number(1)];
        let node = LLVMMDNodeInContext2(context, operands.as_mut_ptr(), operands.len());
        LLVMSetMetadata(branch.as_value_ref(), kind(context), LLVMMetadataAsValue(context, node));
    }
}

/// Where a branch seldom goes, if that was said.
pub fn unlikely_target<'ctx>(context: &Context, branch: InstructionValue<'ctx>) -> Option<BasicBlock<'ctx>> {
    let (then, other) = branch_targets(branch)?;
    // SAFETY: the instruction is live, and so are its metadata.
    let weights: Vec<u64> = unsafe {
        let node = LLVMGetMetadata(branch.as_value_ref(), kind(context.as_ctx_ref()));
        operands(node)
            .into_iter()
            .filter(|operand| !operand.is_null() && !LLVMIsAConstantInt(*operand).is_null())
            .map(|number| LLVMConstIntGetZExtValue(number))
            .collect()
    };
    match weights[..] {
        [often, seldom] if seldom.saturating_mul(LEAST) < often => Some(other),
        [seldom, often] if seldom.saturating_mul(LEAST) < often => Some(then),
        _ => None,
    }
}

fn kind(context: inkwell::llvm_sys::prelude::LLVMContextRef) -> u32 {
    const KIND: &str = "prof";
    // SAFETY: the context is live.
    unsafe { LLVMGetMDKindIDInContext(context, KIND.as_ptr().cast(), KIND.len() as u32) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::parse_ir;

    #[test]
    fn what_is_said_of_a_branch_is_read() {
        let text = "define void @f(i1 %c) {
            entry: br i1 %c, label %often, label %seldom
            often: br i1 %c, label %seldom, label %end, !prof !0
            seldom: br i1 %c, label %end, label %seldom, !prof !1
            end: ret void
        }
        !0 = !{!\"branch_weights\", i32 1, i32 2000}
        !1 = !{!\"branch_weights\", i32 3, i32 2}";
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let blocks = module.get_function("f").unwrap().get_basic_blocks();
        let seldom = |at: usize| unlikely_target(&context, blocks[at].get_terminator().unwrap());
        assert_eq!([seldom(0), seldom(1), seldom(2), seldom(3)], [None, Some(blocks[2]), None, None]);
        set_unlikely(&context, blocks[0].get_terminator().unwrap());
        module.verify().unwrap();
        assert_eq!(seldom(0), Some(blocks[2]));
    }
}
