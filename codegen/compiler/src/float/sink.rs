//! Moves products to the sums that they may be fused with, where those stand in a later block, as nvcc does.
//!
//! ```text
//! before:           %p = fmul contract double %a, %b
//!                   br i1 %c, label %left, label %right        (both go on to %join)
//!         join:     %s = fadd contract double %p, %q
//! after:  join:     %p = fmul contract double %a, %b
//!                   %s = fadd contract double %p, %q
//! ```
//!
//! Instruction selection looks at one block at a time. nvcc moves computations to where their values are used if that keeps
//! no more values alive in between; measured with nvcc 13.0:
//! - What moves is the product, and what is computed for it alone, unless that is a sum of a product, which stays.
//! - Each operand of these that nothing else needs later is one more value to keep, and the product is one less. Parameters
//!   of kernels lie in memory, and count for nothing.
//! - One more is accepted where the sum's block follows at once, as after a loop.
//! - Nothing moves into a loop.

use std::collections::HashSet;

use super::operations::product;
use crate::llvm::{
    self, Attribute, AttributeLoc, BasicBlock, Context, FloatValue, FunctionValue, InstructionOpcode, InstructionValue,
    Use,
};

/// Moves the products of one function.
pub fn sink<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) {
    for instruction in llvm::instructions(function).collect::<Vec<_>>() {
        let Some(value) = llvm::float_result(instruction).filter(|value| product((*value).into()).is_some()) else {
            continue;
        };
        let (Some(from), Some((first, to))) = (instruction.get_parent(), sums(value)) else { continue };
        if from == to {
            continue;
        }
        let moved = needed_for(instruction, from);
        let limit = if successors(from).contains(&to) { 2 } else { 1 };
        if kept(&moved, from) <= limit && !is_in_loop_without(to, from) {
            llvm::move_before(context, &moved, first);
        }
    }
}

/// The first of the sums that a value is used by, if that is all, in one block.
fn sums<'ctx>(value: FloatValue<'ctx>) -> Option<(InstructionValue<'ctx>, BasicBlock<'ctx>)> {
    let mut users = llvm::uses(&value).into_iter().map(|user| match user {
        Use::Instruction(user) if is_fusible_sum(user) => Some((user, user.get_parent()?)),
        _ => None,
    });
    let (_, block) = users.next()??;
    if users.any(|user| user.is_none_or(|(_, other)| other != block)) {
        return None;
    }
    let first = block.get_instructions().find(|instruction| uses_operand(*instruction, value))?;
    Some((first, block))
}

/// The product and what is computed in its block for it alone, in order.
fn needed_for<'ctx>(product: InstructionValue<'ctx>, block: BasicBlock<'ctx>) -> Vec<InstructionValue<'ctx>> {
    let mut needed = vec![product];
    let mut next = product.get_previous_instruction();
    // Users stand behind what they use, so one walk back finds all.
    while let Some(instruction) = next {
        next = instruction.get_previous_instruction();
        let Some(value) = llvm::float_result(instruction).filter(|_| may_move(instruction)) else { continue };
        let users = llvm::uses(&value);
        let alone = |user: &Use<'ctx>| matches!(user, Use::Instruction(user) if needed.contains(user));
        if !users.is_empty() && users.iter().all(alone) {
            needed.push(instruction);
        }
    }
    debug_assert!(needed.iter().all(|instruction| instruction.get_parent() == Some(block)));
    needed.reverse();
    needed
}

/// How many values must be kept for `moved` that are not kept without.
fn kept(moved: &[InstructionValue<'_>], from: BasicBlock<'_>) -> usize {
    let operands = moved.iter().flat_map(|instruction| {
        (0..instruction.get_num_operands())
            .filter_map(|index| llvm::float_operand(*instruction, index)?.as_instruction())
    });
    let leaves: HashSet<InstructionValue<'_>> = operands.filter(|operand| !moved.contains(operand)).collect();
    let is_kept = |leaf: &InstructionValue<'_>| {
        llvm::float_result(*leaf).is_some_and(|value| {
            llvm::uses(&value).into_iter().any(|user| match user {
                Use::Instruction(user) => user.get_parent() != Some(from),
                Use::Global(_) => false,
            })
        })
    };
    leaves.iter().filter(|leaf| !is_kept(leaf)).count()
}

/// Whether an instruction computes a number of others alone, and is no sum of a product.
fn may_move(instruction: InstructionValue<'_>) -> bool {
    match instruction.get_opcode() {
        InstructionOpcode::FMul | InstructionOpcode::FDiv | InstructionOpcode::FNeg => true,
        InstructionOpcode::FAdd | InstructionOpcode::FSub => {
            !(is_fusible_sum(instruction)
                && (0..2)
                    .filter_map(|index| llvm::float_operand(instruction, index))
                    .any(|x| product(x.into()).is_some()))
        }
        InstructionOpcode::Call => llvm::called_function(instruction).is_some_and(is_intrinsic_of_numbers),
        _ => false,
    }
}

/// Such as `llvm.fma.f64`.
pub(super) fn is_intrinsic_of_numbers(function: FunctionValue<'_>) -> bool {
    let attribute = |name| function.get_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id(name));
    // `memory` with 0 is `memory(none)`.
    function.get_name().to_bytes().starts_with(b"llvm.")
        && attribute("memory").is_some_and(|memory| memory.get_enum_value() == 0)
        && attribute("convergent").is_none()
        && function
            .get_type()
            .get_param_types()
            .iter()
            .all(|ty| matches!(ty, llvm::BasicMetadataTypeEnum::FloatType(_)))
}

fn is_fusible_sum(instruction: InstructionValue<'_>) -> bool {
    matches!(instruction.get_opcode(), InstructionOpcode::FAdd | InstructionOpcode::FSub)
        && llvm::float_flags(instruction).contract
}

fn uses_operand(instruction: InstructionValue<'_>, value: FloatValue<'_>) -> bool {
    (0..instruction.get_num_operands()).any(|index| llvm::float_operand(instruction, index) == Some(value))
}

fn successors(block: BasicBlock<'_>) -> Vec<BasicBlock<'_>> {
    block.get_terminator().map(llvm::block_operands).unwrap_or_default()
}

/// Whether one gets from a block to itself without passing through another, which dominates it.
fn is_in_loop_without(block: BasicBlock<'_>, other: BasicBlock<'_>) -> bool {
    let mut seen = HashSet::from([other]);
    let mut pending = successors(block);
    while let Some(next) = pending.pop() {
        if next == block {
            return true;
        }
        if seen.insert(next) {
            pending.extend(successors(next));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::parse_ir;

    /// The function after products were moved: `%p` is computed by `before` in the first block, and `join` adds to it.
    fn sunk(before: &str, between: &str, join: &str) -> String {
        let context = Context::create();
        let text = format!(
            "declare double @llvm.fma.f64(double, double, double)\n\
             define void @f(ptr %m, i1 %c) {{\n\
             %n = getelementptr double, ptr %m, i64 1\n%a = load double, ptr %m\n%b = load double, ptr %n\n{before}\n\
             br i1 %c, label %left, label %right\n\
             left:\n{between}\nbr label %join\n\
             right:\nstore double 1.0, ptr %n\nbr label %join\n\
             join:\n%q = load double, ptr %n\n{join}\nstore double %s, ptr %m\nret void\n}}"
        );
        let module = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
        sink(&context, module.get_function("f").expect("it defines `f`"));
        module.verify().expect("it is still sound");
        module.print_to_string().to_string()
    }

    fn moves(before: &str, between: &str, join: &str) -> bool {
        let text = sunk(before, between, join);
        text.find("%p = ").expect("the product") > text.find("join:").expect("the block")
    }

    const SUM: &str = "%s = fadd contract double %p, %q";
    const KEPT: &str = "store double %a, ptr %n";

    #[test]
    fn a_product_moves_if_it_keeps_no_more() {
        let product = "%p = fmul contract double %a, %b";
        assert!(!moves(product, "", SUM), "two loaded numbers for one");
        assert!(moves(product, KEPT, SUM), "one of them is needed anyway");
        assert!(moves("%p = fmul contract double %a, %a", "", SUM), "one for one");
        assert!(!moves("%p = fmul double %a, %a", "", "%s = fadd double %p, %q"), "not to be fused");
        assert!(!moves(product, KEPT, "%s = fsub contract double %p, %q\nstore double %p, ptr %n"), "used otherwise");
    }

    #[test]
    fn what_is_computed_for_it_alone_moves_with_it() {
        let chain = "%x = fmul double %a, %a\n%y = call double @llvm.fma.f64(double %x, double 0.5, double 0.75)\n\
                     %p = fmul contract double %y, %a";
        let text = sunk(chain, "", SUM);
        let join = text.find("join:").unwrap();
        assert!(["%x = ", "%y = ", "%p = "].iter().all(|value| text.find(value).unwrap() > join), "{text}");
        assert!(!moves(&format!("{chain}\n%z = fadd double %y, 1.0\nstore double %z, ptr %m"), "", SUM), "{chain}");
    }

    #[test]
    fn a_sum_of_a_product_stays() {
        let sum = "%x = fmul contract double %a, %a\n%y = fadd contract double %x, 1.0\n";
        assert!(!moves(&format!("{sum}%p = fmul contract double %y, %b"), "", SUM));
        // One for one.
        let text = sunk(&format!("{sum}%p = fmul contract double %y, %y"), "", SUM);
        assert!(text.find("%p = ").unwrap() > text.find("join:").unwrap(), "{text}");
        assert!(text.find("%y = ").unwrap() < text.find("join:").unwrap(), "{text}");
    }

    #[test]
    fn nothing_moves_into_a_loop() {
        let product = "%p = fmul contract double %a, %a";
        let join = "%s = fadd contract double %p, %q\nbr i1 %c, label %join, label %end\nend:";
        assert!(!moves(product, "", join));
    }
}
