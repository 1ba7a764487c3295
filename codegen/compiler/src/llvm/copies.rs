//! Copies of blocks within their function, and of instructions.

use std::collections::{HashMap, HashSet};

use inkwell::llvm_sys::core::{
    LLVMAddIncoming, LLVMBasicBlockAsValue, LLVMBuildPhi, LLVMCountIncoming, LLVMCreateBuilderInContext,
    LLVMDisposeBuilder, LLVMGetCurrentDebugLocation2, LLVMGetFirstUse, LLVMGetIncomingBlock, LLVMGetIncomingValue,
    LLVMGetInstructionParent, LLVMGetMDKindIDInContext, LLVMGetMetadata, LLVMGetNUW, LLVMGetNextUse,
    LLVMGetNumOperands, LLVMGetNumSuccessors, LLVMGetOperand, LLVMGetSuccessor, LLVMGetSwitchCaseValue,
    LLVMGetTypeContext, LLVMGetUser, LLVMInsertIntoBuilder, LLVMInstructionClone, LLVMIsABranchInst, LLVMIsASwitchInst,
    LLVMIsATerminatorInst, LLVMIsConditional, LLVMPositionBuilderAtEnd, LLVMPositionBuilderBefore,
    LLVMReplaceAllUsesWith, LLVMSetCondition, LLVMSetMetadata, LLVMSetNUW, LLVMSetOperand, LLVMSetSuccessor,
    LLVMTypeOf, LLVMValueIsBasicBlock,
};
use inkwell::llvm_sys::debuginfo::LLVMInstructionSetDebugLoc;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMUseRef, LLVMValueRef};

use inkwell::values::PhiValue;

use crate::hash::QuickSet;

use super::{
    AsValueRef, BasicBlock, BasicValueEnum, Builder, Context, FunctionValue, InstructionOpcode, InstructionValue,
    IntValue,
};

/// Copies blocks behind the function's last one; returns the copies in their order.
///
/// What the blocks jump to outside has a value from the copies too wherever it has one from a block: outside of the blocks,
/// their values must be used by such phis alone (LLVM's `lcssa`). Jumps into the blocks stay as they are, and the first
/// block's phis keep what comes from outside, so whoever calls this also jumps to the copy from there.
pub fn copy_blocks<'ctx>(
    context: &'ctx Context,
    function: FunctionValue<'ctx>,
    blocks: &[BasicBlock<'ctx>],
) -> Vec<BasicBlock<'ctx>> {
    assert!(blocks.iter().all(|block| block.get_parent() == Some(function)), "the blocks are the function's");
    let copies: Vec<BasicBlock<'ctx>> = blocks.iter().map(|_| context.append_basic_block(function, "")).collect();
    let of_block: HashMap<LLVMBasicBlockRef, LLVMBasicBlockRef> =
        blocks.iter().zip(&copies).map(|(block, copy)| (block.as_mut_ptr(), copy.as_mut_ptr())).collect();
    let mut of_value: HashMap<LLVMValueRef, LLVMValueRef> = HashMap::new();
    // In their order: the order of a value's uses, which LLVM goes by, must not be another each time.
    let (mut phis, mut others) = (Vec::new(), Vec::new());
    let builder = context.create_builder();
    for (block, copy) in blocks.iter().zip(&copies) {
        builder.position_at_end(*copy);
        for instruction in block.get_instructions() {
            let value = instruction.as_value_ref();
            // SAFETY: all are live. A phi is made anew, because nothing changes the blocks of one; anything else is cloned
            // and put at the end of its block, with the operands that it has for now.
            let new = unsafe {
                if instruction.get_opcode() == InstructionOpcode::Phi {
                    let phi = LLVMBuildPhi(builder.as_mut_ptr(), LLVMTypeOf(value), c"".as_ptr());
                    phis.push((value, phi));
                    phi
                } else {
                    let clone = LLVMInstructionClone(value);
                    LLVMInsertIntoBuilder(builder.as_mut_ptr(), clone);
                    others.push(clone);
                    clone
                }
            };
            of_value.insert(value, new);
        }
    }
    let mapped = |value: LLVMValueRef| of_value.get(&value).copied().unwrap_or(value);
    // SAFETY: all values and blocks are live and of this function; operands are replaced by their copies, of the same type.
    unsafe {
        for new in others {
            for index in 0..LLVMGetNumOperands(new).cast_unsigned() {
                let operand = LLVMGetOperand(new, index);
                if !operand.is_null() && LLVMValueIsBasicBlock(operand) == 0 && of_value.contains_key(&operand) {
                    LLVMSetOperand(new, index, mapped(operand));
                }
            }
            if !LLVMIsATerminatorInst(new).is_null() {
                for index in 0..LLVMGetNumSuccessors(new) {
                    if let Some(copy) = of_block.get(&LLVMGetSuccessor(new, index)) {
                        LLVMSetSuccessor(new, index, *copy);
                    }
                }
            }
        }
        for (phi, new) in phis {
            for index in 0..LLVMCountIncoming(phi) {
                let from = LLVMGetIncomingBlock(phi, index);
                let (mut value, mut from) =
                    (mapped(LLVMGetIncomingValue(phi, index)), of_block.get(&from).copied().unwrap_or(from));
                LLVMAddIncoming(new, &mut value, &mut from, 1);
            }
        }
    }
    let outside = blocks.iter().flat_map(|block| block.get_terminator()).flat_map(super::block_operands);
    let mut seen = HashSet::new();
    for block in outside.filter(|block| !blocks.contains(block) && seen.insert(*block)) {
        for phi in block.get_instructions().take_while(|i| i.get_opcode() == InstructionOpcode::Phi) {
            let phi = phi.as_value_ref();
            // SAFETY: as above.
            unsafe {
                for index in 0..LLVMCountIncoming(phi) {
                    if let Some(copy) = of_block.get(&LLVMGetIncomingBlock(phi, index)) {
                        let (mut value, mut from) = (mapped(LLVMGetIncomingValue(phi, index)), *copy);
                        LLVMAddIncoming(phi, &mut value, &mut from, 1);
                    }
                }
            }
        }
    }
    copies
}

/// Computes what `instruction` does where the builder stands, of other operands of the same types. The copy is of the builder's
/// place in the source, and nothing is known of what it does not alias.
pub fn copy_instruction<'ctx>(
    builder: &Builder<'ctx>,
    instruction: InstructionValue<'ctx>,
    operands: &[BasicValueEnum<'ctx>],
) -> BasicValueEnum<'ctx> {
    let operands: Vec<(u32, BasicValueEnum<'ctx>)> = (0..).zip(operands.iter().copied()).collect();
    let copy = build_copy(builder, instruction, &operands);
    let value = copy.as_value_ref();
    forget(copy, &["noalias", "alias.scope", "tbaa"]);
    // SAFETY: the copy is live.
    unsafe {
        assert_eq!(LLVMGetNumOperands(value).cast_unsigned() as usize, operands.len(), "as many operands");
        LLVMInstructionSetDebugLoc(value, LLVMGetCurrentDebugLocation2(builder.as_mut_ptr()));
    }
    super::result(copy)
}

/// Takes from a load what it promises of its number, which may not be so where the load did not stand: to load another one is
/// undefined behaviour at once.
pub fn forget_value(load: InstructionValue<'_>) {
    forget(load, &["noundef", "range", "nonnull", "align", "dereferenceable", "dereferenceable_or_null"]);
}

/// Takes from a load what another one of the same place does not say, for which it will stand as well.
pub fn keep_promises(load: InstructionValue<'_>, other: InstructionValue<'_>) {
    const KINDS: [&str; 11] = [
        "noundef",
        "range",
        "nonnull",
        "align",
        "dereferenceable",
        "dereferenceable_or_null",
        "noalias",
        "alias.scope",
        "tbaa",
        "invariant.load",
        "nontemporal",
    ];
    let said = |instruction: InstructionValue<'_>, kind: &str| {
        let value = instruction.as_value_ref();
        // SAFETY: the instruction is live.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(value));
            LLVMGetMetadata(value, LLVMGetMDKindIDInContext(context, kind.as_ptr().cast(), kind.len() as u32))
        }
    };
    for kind in KINDS.into_iter().filter(|kind| said(load, kind) != said(other, kind)) {
        forget(load, &[kind]);
    }
}

fn forget(instruction: InstructionValue<'_>, kinds: &[&str]) {
    let value = instruction.as_value_ref();
    for kind in kinds {
        // SAFETY: the instruction is live. Null takes metadata away.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(value));
            let kind = LLVMGetMDKindIDInContext(context, kind.as_ptr().cast(), kind.len() as u32);
            LLVMSetMetadata(value, kind, std::ptr::null_mut());
        }
    }
}

/// Where a conditional branch goes if its condition holds, and where if not; `None` for any other jump, and where it goes to
/// one block either way.
pub fn branch_targets<'ctx>(branch: InstructionValue<'ctx>) -> Option<(BasicBlock<'ctx>, BasicBlock<'ctx>)> {
    let value = branch.as_value_ref();
    // SAFETY: the instruction is live; only a branch with a condition is asked for its two targets.
    let (then, other) = unsafe {
        if LLVMIsABranchInst(value).is_null() || LLVMIsConditional(value) == 0 {
            return None;
        }
        (BasicBlock::new(LLVMGetSuccessor(value, 0))?, BasicBlock::new(LLVMGetSuccessor(value, 1))?)
    };
    (then != other).then_some((then, other))
}

/// Where a switch goes if no value is that of a case, and the cases.
pub fn switch_targets<'ctx>(
    switch: InstructionValue<'ctx>,
) -> Option<(BasicBlock<'ctx>, Vec<(IntValue<'ctx>, BasicBlock<'ctx>)>)> {
    let value = switch.as_value_ref();
    // SAFETY: the instruction is live; only a switch is asked for its successors, the first of which is the default, and for
    // its operands: the condition, the default, and then a value and a block for each case.
    unsafe {
        if LLVMIsASwitchInst(value).is_null() {
            return None;
        }
        let block = |index| BasicBlock::new(LLVMGetSuccessor(value, index));
        let case = |index: u32| Some((IntValue::new(LLVMGetSwitchCaseValue(value, index)), block(index)?));
        let cases = (1..LLVMGetNumSuccessors(value)).map(case).collect::<Option<_>>()?;
        Some((block(0)?, cases))
    }
}

/// Has a conditional branch always go to the first of its targets, or to the other one. Both stay its targets, so that phis
/// need no change; LLVM removes the jump that is never made.
pub fn always_branch(context: &Context, branch: InstructionValue<'_>, to_first: bool) {
    assert!(branch_targets(branch).is_some(), "it has a condition");
    let condition = context.bool_type().const_int(u64::from(to_first), false);
    // SAFETY: the branch is live and has a condition, which is of this type.
    unsafe { LLVMSetCondition(branch.as_value_ref(), condition.as_value_ref()) };
}

/// Gives a conditional branch another condition.
pub fn set_condition<'ctx>(branch: InstructionValue<'ctx>, condition: IntValue<'ctx>) {
    assert!(branch_targets(branch).is_some(), "it has a condition");
    assert!(condition.get_type().get_bit_width() == 1, "it is one");
    // SAFETY: the branch is live and has a condition, which is of this type.
    unsafe { LLVMSetCondition(branch.as_value_ref(), condition.as_value_ref()) };
}

/// Has a jump go to another block wherever it goes to one; what their phis take is the caller's to say.
pub fn retarget<'ctx>(jump: InstructionValue<'ctx>, old: BasicBlock<'ctx>, new: BasicBlock<'ctx>) {
    assert!(jump.is_terminator(), "it is a jump");
    let value = jump.as_value_ref();
    // SAFETY: the instruction is live and a terminator, and the blocks are of its function.
    unsafe {
        for index in 0..LLVMGetNumSuccessors(value) {
            if LLVMGetSuccessor(value, index) == old.as_mut_ptr() {
                LLVMSetSuccessor(value, index, new.as_mut_ptr());
            }
        }
    }
}

/// Whether an instruction is a sum or a product.
fn is_sum_or_product(instruction: InstructionValue<'_>) -> bool {
    matches!(instruction.get_opcode(), InstructionOpcode::Add | InstructionOpcode::Mul)
}

/// Says of a sum or a product that it does not overflow, as a number without sign.
pub fn set_no_unsigned_wrap(instruction: InstructionValue<'_>) {
    assert!(is_sum_or_product(instruction), "it has the flag");
    // SAFETY: the instruction is live, and one that has the flag.
    unsafe { LLVMSetNUW(instruction.as_value_ref(), 1) };
}

/// Whether that is said of a sum, a product or a difference.
pub fn has_no_unsigned_wrap(instruction: InstructionValue<'_>) -> bool {
    let has_flag = is_sum_or_product(instruction) || instruction.get_opcode() == InstructionOpcode::Sub;
    // SAFETY: the instruction is live; only one that has the flag is asked for it.
    has_flag && unsafe { LLVMGetNUW(instruction.as_value_ref()) } != 0
}

/// What a phi is, by the block that control comes from.
pub fn incoming(phi: InstructionValue<'_>) -> Vec<(BasicValueEnum<'_>, BasicBlock<'_>)> {
    PhiValue::try_from(phi).map(|phi| phi.get_incomings().collect()).unwrap_or_default()
}

/// What a phi is if control comes from a block that jumps to its own.
pub fn incoming_from<'ctx>(phi: InstructionValue<'ctx>, block: BasicBlock<'ctx>) -> Option<BasicValueEnum<'ctx>> {
    incoming(phi).into_iter().find(|(_, from)| *from == block).map(|(value, _)| value)
}

/// Says what a phi is if control comes from a block that it says nothing of yet; the jump is the caller's to write.
pub fn add_incoming<'ctx>(phi: InstructionValue<'ctx>, value: BasicValueEnum<'ctx>, from: BasicBlock<'ctx>) {
    let phi = PhiValue::try_from(phi).expect("it is a phi");
    assert!(phi.as_basic_value().get_type() == value.get_type(), "types are kept");
    phi.add_incoming(&[(&value, from)]);
}

/// A block's phis.
pub fn phis(block: BasicBlock<'_>) -> impl Iterator<Item = InstructionValue<'_>> {
    block.get_instructions().take_while(|instruction| instruction.get_opcode() == InstructionOpcode::Phi)
}

/// The blocks of a function from which it returns, on some way; from the others it panics, or goes on for ever.
pub fn returning_blocks(function: FunctionValue<'_>) -> QuickSet<BasicBlock<'_>> {
    let is_return = |block: &BasicBlock<'_>| {
        block.get_terminator().is_some_and(|end| end.get_opcode() == InstructionOpcode::Return)
    };
    let mut returning: QuickSet<_> = function.get_basic_block_iter().filter(is_return).collect();
    let mut next: Vec<_> = returning.iter().copied().collect();
    while let Some(block) = next.pop() {
        next.extend(predecessors(block).into_iter().filter(|before| returning.insert(*before)));
    }
    returning
}

/// The blocks that jump to a block, each once.
pub fn predecessors(block: BasicBlock<'_>) -> Vec<BasicBlock<'_>> {
    // Thousands jump to where a large function panics.
    let mut seen = QuickSet::default();
    jumps_to(block).filter(|from| seen.insert(*from)).collect()
}

/// Whether they are more than one.
pub fn has_several_predecessors(block: BasicBlock<'_>) -> bool {
    let mut from = jumps_to(block);
    from.next().is_some_and(|first| from.any(|other| other != first))
}

/// The blocks that jump to a block, as often as they name it.
fn jumps_to<'ctx>(block: BasicBlock<'ctx>) -> impl Iterator<Item = BasicBlock<'ctx>> {
    let live = |at: LLVMUseRef| (!at.is_null()).then_some(at);
    // SAFETY: the block is live, and so is what uses it, whose list nobody changes before the iterator is at its end.
    let (first, next) = unsafe {
        (live(LLVMGetFirstUse(LLVMBasicBlockAsValue(block.as_mut_ptr()))), move |at: &_| live(LLVMGetNextUse(*at)))
    };
    let uses = std::iter::successors(first, next);
    // SAFETY: the user is live; terminators, which alone do as a target, have a parent.
    uses.filter_map(|at| unsafe {
        let user = LLVMGetUser(at);
        if LLVMIsATerminatorInst(user).is_null() { None } else { BasicBlock::new(LLVMGetInstructionParent(user)) }
    })
}

/// Has what came to a block from `old` come from `new`, with the values that `of` returns for the old ones, of the same types;
/// the jump is the caller's to move.
pub fn replace_predecessor<'ctx>(
    block: BasicBlock<'ctx>,
    old: BasicBlock<'ctx>,
    new: BasicBlock<'ctx>,
    mut of: impl FnMut(BasicValueEnum<'ctx>) -> BasicValueEnum<'ctx>,
) {
    for phi in phis(block).collect::<Vec<_>>() {
        let from_new = |(value, from)| if from == old { (of(value), new) } else { (value, from) };
        make_anew(phi, incoming(phi).into_iter().map(from_new).collect());
    }
}

/// Has a phi of the same type take the place of another one, because nothing changes the blocks of one.
fn make_anew<'ctx>(phi: InstructionValue<'ctx>, incoming: Vec<(BasicValueEnum<'ctx>, BasicBlock<'ctx>)>) {
    let value = phi.as_value_ref();
    // SAFETY: all are live. The new phi takes the place of the old one, which nothing uses then.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(value)));
        LLVMPositionBuilderBefore(builder, value);
        let made = LLVMBuildPhi(builder, LLVMTypeOf(value), c"".as_ptr());
        LLVMDisposeBuilder(builder);
        for (told, from) in incoming {
            assert!(LLVMTypeOf(told.as_value_ref()) == LLVMTypeOf(value), "types are kept");
            LLVMAddIncoming(made, &mut told.as_value_ref(), &mut from.as_mut_ptr(), 1);
        }
        LLVMReplaceAllUsesWith(value, made);
    }
    phi.erase_from_basic_block();
}

/// Leaves a block's phis what they take from some of the blocks that they name.
pub fn keep_incoming<'ctx>(block: BasicBlock<'ctx>, keeps: impl Fn(BasicBlock<'ctx>) -> bool) {
    for phi in phis(block).collect::<Vec<_>>() {
        make_anew(phi, incoming(phi).into_iter().filter(|(_, from)| keeps(*from)).collect());
    }
}

/// Has what came to a block from several others come from one new block, which gets phis for what differs and is empty
/// before; the jumps are the caller's to move.
pub fn join_predecessors<'ctx>(block: BasicBlock<'ctx>, old: &[BasicBlock<'ctx>], new: BasicBlock<'ctx>) {
    for phi in phis(block).collect::<Vec<_>>() {
        let (joined, kept): (Vec<_>, Vec<_>) = incoming(phi).into_iter().partition(|(_, from)| old.contains(from));
        let value = phi.as_value_ref();
        let same =
            joined.first().filter(|(first, _)| joined.iter().all(|(told, _)| told == first)).map(|(told, _)| *told);
        // SAFETY: all are live. Phis of the same type take the place of the old one, which nothing uses then.
        unsafe {
            let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(value)));
            let mut of_all = if let Some(same) = same {
                same.as_value_ref()
            } else {
                LLVMPositionBuilderAtEnd(builder, new.as_mut_ptr());
                let before = LLVMBuildPhi(builder, LLVMTypeOf(value), c"".as_ptr());
                for (told, from) in joined {
                    LLVMAddIncoming(before, &mut told.as_value_ref(), &mut from.as_mut_ptr(), 1);
                }
                before
            };
            LLVMPositionBuilderBefore(builder, value);
            let made = LLVMBuildPhi(builder, LLVMTypeOf(value), c"".as_ptr());
            LLVMDisposeBuilder(builder);
            for (told, from) in kept {
                LLVMAddIncoming(made, &mut told.as_value_ref(), &mut from.as_mut_ptr(), 1);
            }
            LLVMAddIncoming(made, &mut of_all, &mut new.as_mut_ptr(), 1);
            LLVMReplaceAllUsesWith(value, made);
        }
        phi.erase_from_basic_block();
    }
}

/// Writes an instruction that computes a value once more, with other operands of the same types.
pub fn build_copy<'ctx>(
    builder: &Builder<'ctx>,
    instruction: InstructionValue<'ctx>,
    operands: &[(u32, BasicValueEnum<'ctx>)],
) -> InstructionValue<'ctx> {
    assert!(builder.get_insert_block().is_some(), "the builder has a place");
    let opcode = instruction.get_opcode();
    assert!(opcode != InstructionOpcode::Phi && !instruction.is_terminator(), "it can stand anywhere in a block");
    // SAFETY: the instruction is live, and its clone is put into a block; operands are replaced by others of their types.
    unsafe {
        let copy = LLVMInstructionClone(instruction.as_value_ref());
        LLVMInsertIntoBuilder(builder.as_mut_ptr(), copy);
        for (index, operand) in operands {
            assert!(LLVMTypeOf(LLVMGetOperand(copy, *index)) == LLVMTypeOf(operand.as_value_ref()), "types are kept");
            LLVMSetOperand(copy, *index, operand.as_value_ref());
        }
        InstructionValue::new(copy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    #[test]
    fn copies_are_written_in_one_order() {
        let arms: String = (0..12)
            .map(|arm| {
                format!("a{arm}: %c{arm} = icmp ult i32 %n, {arm}\n br i1 %c{arm}, label %end, label %a{}\n", arm + 1)
            })
            .collect();
        let text =
            format!("define void @f(i32 %n) {{\nentry: br label %a0\n{arms}a12: br label %end\nend: ret void\n}}");
        let written = || {
            let context = Context::create();
            let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
            let function = module.get_function("f").unwrap();
            let blocks = function.get_basic_blocks();
            copy_blocks(&context, function, &blocks[1..blocks.len() - 1]);
            // With who comes to each block, which is in the order of uses.
            function.print_to_string().to_string()
        };
        let first = written();
        assert!((0..8).all(|_| written() == first), "{first}");
    }
}
