//! What loops are told by metadata, and what local arrays take.

use inkwell::context::AsContextRef;
use inkwell::llvm_sys::core::{
    LLVMConstInt, LLVMConstIntGetZExtValue, LLVMGetMDKindIDInContext, LLVMGetMDNodeNumOperands, LLVMGetMDNodeOperands,
    LLVMGetMDString, LLVMGetMetadata, LLVMInt32TypeInContext, LLVMIsAConstantInt, LLVMIsAMDNode, LLVMMDNodeInContext2,
    LLVMMDStringInContext2, LLVMMetadataAsValue, LLVMSetMetadata, LLVMValueAsMetadata,
};
use inkwell::llvm_sys::debuginfo::{LLVMMetadataReplaceAllUsesWith, LLVMTemporaryMDNode};
use inkwell::llvm_sys::prelude::LLVMValueRef;

use super::{AsValueRef, BasicValueEnum, Context, GlobalValue, InstructionOpcode, InstructionValue, type_align};

/// How often a loop is unrolled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unroll {
    /// Not at all.
    None,
    /// All its rounds, if their number is a constant.
    Full,
    /// All its rounds, whose number is a constant; no stage needs to look at it before.
    Whole,
    /// All rounds that there are at most, if that is a constant; each but the first behind a branch.
    Bounded,
    /// That many rounds at a time.
    By(u32),
    /// That many rounds at a time, and ptxas may take several of these at once.
    AtLeast(u32),
    /// Not at all, because there are only so many rounds at most.
    Few(u32),
    /// Not yet, where LLVM does not know how many rounds there are.
    Later,
}

/// What LLVM says of a loop that it has unrolled, and we of one that is to stay as it is.
const DISABLE: &str = "llvm.loop.unroll.disable";

/// What we alone say of a loop that is to stay as it is; LLVM keeps what it does not know.
const KEPT: &str = "rust-ptx.unroll.disable";

/// What we alone say of a loop that was to be unrolled so often, which LLVM's mark is taken from when it is.
const ASKED: &str = "rust-ptx.unroll.count";

/// What we alone say of a loop that is to be unrolled so often at least.
const MORE: &str = "rust-ptx.unroll.more";

/// What we alone say of a loop: how many rounds it has at most, as far as its bounds tell.
const FEW: &str = "rust-ptx.rounds";

/// What LLVM is told of a loop that is to be unrolled even if only the most rounds that it has are known.
const ENABLE: &str = "llvm.loop.unroll.enable";

/// What we alone say of a loop of which nothing will be left.
const WHOLE: &str = "rust-ptx.unroll.full";

/// What LLVM is told of a loop whose rounds are counted at run time, and that is to be unrolled by a later pipeline.
const LATER: &str = "llvm.loop.unroll.runtime.disable";

/// Marks the jumps back to a loop's head, which LLVM asks about the loop (Language Reference, `llvm.loop`). All of them get
/// the same node: with two, LLVM would heed none.
pub fn set_unroll(context: &Context, latches: &[InstructionValue<'_>], unroll: Unroll) {
    let is_jump =
        |latch: &InstructionValue<'_>| matches!(latch.get_opcode(), InstructionOpcode::Br | InstructionOpcode::Switch);
    assert!(latches.iter().all(is_jump), "a loop's mark stands at a jump");
    let hints: &[(&str, Option<u32>)] = match unroll {
        Unroll::None => &[(DISABLE, None), (KEPT, None)],
        Unroll::Few(rounds) => &[(DISABLE, None), (KEPT, None), (FEW, Some(rounds))],
        Unroll::Later => &[(LATER, None)],
        Unroll::Full => &[("llvm.loop.unroll.full", None)],
        Unroll::Whole => &[("llvm.loop.unroll.full", None), (WHOLE, None)],
        Unroll::Bounded => &[(ENABLE, None)],
        Unroll::By(count) => &[("llvm.loop.unroll.count", Some(count)), (ASKED, None)],
        Unroll::AtLeast(count) => &[("llvm.loop.unroll.count", Some(count)), (ASKED, None), (MORE, None)],
    };
    let (context, kind) = (context.as_ctx_ref(), "llvm.loop");
    // SAFETY: all nodes are of the context, and so are the instructions, which are live. The temporary node is replaced by
    // the node that has it as its first operand, which makes that refer to itself, as a loop's identity does; replacing
    // frees it.
    unsafe {
        let itself = LLVMTemporaryMDNode(context, std::ptr::null_mut(), 0);
        let mut operands = vec![itself];
        for (name, count) in hints {
            let mut hint = vec![LLVMMDStringInContext2(context, name.as_ptr().cast(), name.len())];
            if let Some(count) = count {
                let count = LLVMConstInt(LLVMInt32TypeInContext(context), u64::from(*count), 0);
                hint.push(LLVMValueAsMetadata(count));
            }
            operands.push(LLVMMDNodeInContext2(context, hint.as_mut_ptr(), hint.len()));
        }
        let identity = LLVMMDNodeInContext2(context, operands.as_mut_ptr(), operands.len());
        LLVMMetadataReplaceAllUsesWith(itself, identity);
        let kind = LLVMGetMDKindIDInContext(context, kind.as_ptr().cast(), kind.len() as u32);
        let identity = LLVMMetadataAsValue(context, identity);
        for latch in latches {
            LLVMSetMetadata(latch.as_value_ref(), kind, identity);
        }
    }
}

/// Takes from the jumps back to a loop's head all that was said of the loop; a copy must not pass for what it is a copy of.
pub fn forget_loop(context: &Context, latches: &[InstructionValue<'_>]) {
    let kind = "llvm.loop";
    // SAFETY: the instructions are live; null takes metadata away.
    unsafe {
        let kind = LLVMGetMDKindIDInContext(context.as_ctx_ref(), kind.as_ptr().cast(), kind.len() as u32);
        latches.iter().for_each(|latch| LLVMSetMetadata(latch.as_value_ref(), kind, std::ptr::null_mut()));
    }
}

/// Whether a loop is not to be unrolled, because a user said so, or LLVM, which has done it; or it will be gone.
pub fn unroll_is_disabled(context: &Context, latches: &[InstructionValue<'_>]) -> bool {
    has_hint(context, latches, DISABLE) || is_to_be_unrolled(context, latches)
}

/// Whether [`set_unroll`] said that a loop is to be gone, and it is still there.
pub fn is_to_be_unrolled(context: &Context, latches: &[InstructionValue<'_>]) -> bool {
    has_hint(context, latches, WHOLE)
}

/// Whether [`set_unroll`] said that a loop is not to be unrolled.
pub fn unroll_was_disabled(context: &Context, latches: &[InstructionValue<'_>]) -> bool {
    has_hint(context, latches, KEPT)
}

/// Whether [`set_unroll`] said that a loop is to be unrolled later, and nothing has been said since.
pub fn unroll_was_delayed(context: &Context, latches: &[InstructionValue<'_>]) -> bool {
    has_hint(context, latches, LATER) && !unroll_is_disabled(context, latches)
}

/// Whether [`set_unroll`] asked for all rounds that there are at most.
pub fn is_bounded(context: &Context, latches: &[InstructionValue<'_>]) -> bool {
    has_hint(context, latches, ENABLE)
}

/// Whether anything was said of a loop.
pub fn has_loop_mark(context: &Context, latches: &[InstructionValue<'_>]) -> bool {
    let kind = "llvm.loop";
    // SAFETY: the instructions are live.
    latches.iter().any(|latch| unsafe {
        let kind = LLVMGetMDKindIDInContext(context.as_ctx_ref(), kind.as_ptr().cast(), kind.len() as u32);
        !LLVMGetMetadata(latch.as_value_ref(), kind).is_null()
    })
}

/// Whether [`set_unroll`] said how often a loop is to be unrolled, and it may have been done.
pub fn unroll_was_asked(context: &Context, latches: &[InstructionValue<'_>]) -> bool {
    has_hint(context, latches, ASKED)
}

/// Whether [`set_unroll`] said that a loop may be unrolled more often.
pub fn unroll_may_go_on(context: &Context, latches: &[InstructionValue<'_>]) -> bool {
    has_hint(context, latches, MORE)
}

/// How many rounds [`set_unroll`] said that a loop has at most.
pub fn few_rounds(context: &Context, latches: &[InstructionValue<'_>]) -> Option<u64> {
    let number = hint(context, latches, FEW)?;
    // SAFETY: the hint is a node, whose second operand is the number that `set_unroll` wrote.
    unsafe {
        let number = operands(number).get(1).copied().filter(|number| !LLVMIsAConstantInt(*number).is_null())?;
        Some(LLVMConstIntGetZExtValue(number))
    }
}

fn has_hint(context: &Context, latches: &[InstructionValue<'_>], wanted: &str) -> bool {
    hint(context, latches, wanted).is_some()
}

fn hint(context: &Context, latches: &[InstructionValue<'_>], wanted: &str) -> Option<LLVMValueRef> {
    let kind = "llvm.loop";
    latches.iter().find_map(|latch| {
        // SAFETY: the instruction is live, and so are its metadata: a node whose operands after the first are nodes, each of
        // which begins with a text.
        unsafe {
            let kind = LLVMGetMDKindIDInContext(context.as_ctx_ref(), kind.as_ptr().cast(), kind.len() as u32);
            let node = LLVMGetMetadata(latch.as_value_ref(), kind);
            let hints = if node.is_null() { Vec::new() } else { operands(node) };
            hints.into_iter().skip(1).find(|hint| {
                let mut len = 0;
                let text = operands(*hint).first().map_or(std::ptr::null(), |name| LLVMGetMDString(*name, &mut len));
                !text.is_null() && std::slice::from_raw_parts(text.cast::<u8>(), len as usize) == wanted.as_bytes()
            })
        }
    })
}

/// # Safety
/// `node` must be null or a live value.
pub(super) unsafe fn operands(node: LLVMValueRef) -> Vec<LLVMValueRef> {
    // SAFETY: LLVM says how many operands a node has, and writes as many.
    unsafe {
        if node.is_null() || LLVMIsAMDNode(node).is_null() {
            return Vec::new();
        }
        let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
        LLVMGetMDNodeOperands(node, operands.as_mut_ptr());
        operands
    }
}

/// How many bytes a static takes, if it is defined here.
pub fn static_bytes(global: GlobalValue<'_>) -> Option<u64> {
    Some(type_align(global.get_initializer()?.get_type()).0)
}

/// How many bytes a local variable takes, if that is a constant.
pub fn allocated_bytes(alloca: InstructionValue<'_>) -> Option<u64> {
    let ty = alloca.get_allocated_type().ok()?;
    let count = match alloca.get_operand(0)?.value()? {
        BasicValueEnum::IntValue(count) => count.get_zero_extended_constant()?,
        _ => return None,
    };
    Some(type_align(ty).0 * count)
}
