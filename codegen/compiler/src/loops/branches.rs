//! What decides whether a loop goes on, and what it does.

use crate::llvm::{
    self, Attribute, AttributeLoc, BasicBlock, BasicValue, CallSiteValue, InstructionOpcode, InstructionValue,
    IntPredicate, IntValue,
};
use crate::marks::PANIC_WITH;

use super::natural::Loop;

/// A comparison that a block ends in: what it compares, and where it goes if it holds and if not.
pub struct Branch<'ctx> {
    pub condition: InstructionValue<'ctx>,
    pub predicate: IntPredicate,
    pub left: IntValue<'ctx>,
    pub right: IntValue<'ctx>,
    pub then: BasicBlock<'ctx>,
    pub other: BasicBlock<'ctx>,
}

impl<'ctx> Branch<'ctx> {
    pub fn of(block: BasicBlock<'ctx>) -> Option<Self> {
        let (condition, targets) = condition(block)?;
        Self::by(condition, targets)
    }

    /// The comparisons that all have to hold where a block goes on to another: one, or the parts of `a && b`. What is no
    /// comparison is none.
    pub fn parts(block: BasicBlock<'ctx>, to: BasicBlock<'ctx>) -> Vec<Option<Self>> {
        let Some((_, targets)) = condition(block) else { return Vec::new() };
        conditions(block, to).into_iter().map(|part| Self::by(part?, targets)).collect()
    }

    /// The same comparison, of another number in place of one that it compares.
    pub fn with(&self, old: IntValue<'ctx>, new: IntValue<'ctx>) -> Self {
        let of = |value| if value == old { new } else { value };
        Self { left: of(self.left), right: of(self.right), ..*self }
    }

    fn by(condition: InstructionValue<'ctx>, (then, other): (BasicBlock<'ctx>, BasicBlock<'ctx>)) -> Option<Self> {
        let predicate = condition.get_icmp_predicate()?;
        let (left, right) = (llvm::int_operand(condition, 0)?, llvm::int_operand(condition, 1)?);
        Some(Self { condition, predicate, left, right, then, other })
    }
}

/// What has to hold, or must not, where a block goes on to another: one condition, or the parts of `a && b`.
pub fn conditions<'ctx>(block: BasicBlock<'ctx>, to: BasicBlock<'ctx>) -> Vec<Option<InstructionValue<'ctx>>> {
    let Some((condition, targets)) = condition(block) else { return Vec::new() };
    let mut parts = Vec::new();
    collect(condition, targets.0 == to, MOST_PARTS, &mut parts);
    parts
}

/// How deep the parts of a condition may be joined.
const MOST_PARTS: usize = 4;

/// The parts of a condition of which all hold where it does, or none does where it does not.
fn collect<'ctx>(
    condition: InstructionValue<'ctx>,
    holds: bool,
    steps: usize,
    parts: &mut Vec<Option<InstructionValue<'ctx>>>,
) {
    let is = |index, wanted| {
        let constant = llvm::int_operand(condition, index).and_then(IntValue::get_zero_extended_constant);
        constant == Some(u64::from(wanted))
    };
    let indices = match condition.get_opcode() {
        InstructionOpcode::And if holds => [0, 1],
        InstructionOpcode::Or if !holds => [0, 1],
        InstructionOpcode::Select if holds && is(2, false) => [0, 1],
        InstructionOpcode::Select if !holds && is(1, true) => [0, 2],
        _ => return parts.push(Some(condition)),
    };
    for index in indices {
        match llvm::int_operand(condition, index).and_then(|part| part.as_instruction_value()) {
            Some(part) if steps > 0 => collect(part, holds, steps - 1, parts),
            _ => parts.push(None),
        }
    }
}

/// What a block's end asks, and where it goes if that holds and if not.
fn condition<'ctx>(block: BasicBlock<'ctx>) -> Option<(InstructionValue<'ctx>, (BasicBlock<'ctx>, BasicBlock<'ctx>))> {
    let end = block.get_terminator().filter(|end| end.get_opcode() == InstructionOpcode::Br)?;
    let targets = llvm::branch_targets(end)?;
    Some((llvm::int_operand(end, 0)?.as_instruction_value()?, targets))
}

/// Blocks between a loop and the panic that it ends in: of the exit that two loops have in common, each has a block of its own.
const MOST_JUMPS: usize = 4;

/// Whether a block outside of a loop leads to panics and nowhere else.
pub fn panics(outside: BasicBlock<'_>) -> bool {
    leads_to_panics(outside, MOST_JUMPS)
}

fn leads_to_panics(block: BasicBlock<'_>, steps: usize) -> bool {
    block.get_terminator().is_some_and(|end| match end.get_opcode() {
        InstructionOpcode::Unreachable => true,
        InstructionOpcode::Br if steps > 0 => {
            llvm::block_operands(end).into_iter().all(|next| leads_to_panics(next, steps - 1))
        }
        _ => false,
    })
}

/// Whether a loop may end in a panic, but for its last block.
pub fn has_checks(found: &Loop<'_>) -> bool {
    let may_panic = |block: &BasicBlock<'_>| {
        let targets = block.get_terminator().and_then(llvm::branch_targets);
        targets.is_some_and(|(then, other)| {
            let outside = if found.contains(then) { other } else { then };
            !found.contains(outside) && panics(outside)
        })
    };
    found.blocks.iter().any(|block| !found.latches.contains(block) && may_panic(block))
}

/// The instruction that computes a number, if it is of this kind.
pub fn instruction(value: IntValue<'_>, opcode: InstructionOpcode) -> Option<InstructionValue<'_>> {
    value.as_instruction_value().filter(|from| from.get_opcode() == opcode)
}

/// Whether a value is one less than another.
pub fn is_one_less<'ctx>(less: IntValue<'ctx>, value: IntValue<'ctx>) -> bool {
    if let (Some(less), Some(value)) = (less.get_sign_extended_constant(), value.get_sign_extended_constant()) {
        return less.wrapping_add(1) == value;
    }
    less.as_instruction_value().is_some_and(|sum| {
        sum.get_opcode() == InstructionOpcode::Add
            && llvm::int_operand(sum, 0) == Some(value)
            && llvm::int_operand(sum, 1).and_then(IntValue::get_sign_extended_constant) == Some(-1)
    })
}

/// Whether threads of a warp must run an instruction together.
pub fn is_convergent(instruction: InstructionValue<'_>) -> bool {
    if !matches!(
        instruction.get_opcode(),
        InstructionOpcode::Call | InstructionOpcode::Invoke | InstructionOpcode::CallBr
    ) {
        return false;
    }
    let kind = Attribute::get_named_enum_kind_id("convergent");
    let called = CallSiteValue::try_from(instruction).ok();
    let Some(callee) = llvm::called_function(instruction) else {
        // Assembly that only computes, as a quotient of libdevice's, and has no names of its own.
        let text = llvm::inline_assembly(instruction).filter(|_| llvm::is_promised_pure(instruction));
        let computes = text.is_some_and(|text| !text.contains([':', '{']));
        return !computes || called.is_none_or(|call| call.get_enum_attribute(AttributeLoc::Function, kind).is_some());
    };
    let name = callee.get_name().to_string_lossy().into_owned();
    let is_known = name.starts_with("llvm.") || name.starts_with(PANIC_WITH);
    !is_known
        || callee.get_enum_attribute(AttributeLoc::Function, kind).is_some()
        || called.is_none_or(|call| call.get_enum_attribute(AttributeLoc::Function, kind).is_some())
}

/// Whether nobody sees that an instruction was run, nor whether it was before another.
pub fn is_quiet(instruction: InstructionValue<'_>) -> bool {
    llvm::is_pure(instruction)
        || llvm::is_promised_pure(instruction)
        || llvm::is_plain_load(instruction)
        || matches!(instruction.get_opcode(), InstructionOpcode::Br | InstructionOpcode::Phi)
        || computes(instruction) && !is_convergent(instruction)
}

/// Whether an instruction calls a function of LLVM's that only computes, as `llvm.fma.f32`.
fn computes(instruction: InstructionValue<'_>) -> bool {
    let memory = Attribute::get_named_enum_kind_id("memory");
    llvm::called_function(instruction).is_some_and(|callee| {
        // `memory` with 0 is `memory(none)`.
        let attribute = callee.get_enum_attribute(AttributeLoc::Function, memory);
        callee.get_name().to_bytes().starts_with(b"llvm.")
            && attribute.is_some_and(|memory| memory.get_enum_value() == 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{Context, InstructionOpcode as Op, instructions, parse_ir};

    #[test]
    fn assembly_that_only_computes_meets_no_threads() {
        let meets = |call: &str, attributes: &str| {
            let text = format!(
                "define float @f(float %x) {{
                %y = call float asm {call}(float %x) #0
                ret float %y
                }}
                attributes #0 = {{ {attributes} }}"
            );
            let context = Context::create();
            let module = parse_ir(&context, text.as_bytes(), "m").unwrap_or_else(|error| panic!("{}", error.0));
            let function = module.get_function("f").unwrap();
            let call = instructions(function).find(|from| from.get_opcode() == Op::Call).unwrap();
            is_convergent(call)
        };
        let quotient = "\"rcp.approx.ftz.f32 $0,$1;\", \"=f,f\"";
        assert!(!meets(quotient, "nounwind memory(none)"));
        assert!(meets(quotient, "nounwind") && meets(quotient, "convergent memory(none)"));
        // A name in it can be there once.
        assert!(meets("\"a: rcp.approx.ftz.f32 $0,$1;\", \"=f,f\"", "memory(none)"));
    }
}
