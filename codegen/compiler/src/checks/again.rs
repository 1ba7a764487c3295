//! Compares again where a check has failed.
//!
//! ```text
//! before: a:    %one = icmp ult i32 %i, %len
//!               %other = icmp ult i32 %j, %len
//!               br i1 (select i1 %one, i1 %other, i1 false), label %b, label %slow
//!         slow: br i1 %one, label %panic.j, label %panic.i
//! after:  slow: %again = call i32 asm "mov.b32 $0, $1;", "=r,r"(i32 %i)
//!               br i1 (icmp ult i32 %again, %len), label %panic.j, label %panic.i
//! ```
//!
//! A check that has been merged with others is asked once more by the slow way, for the panic to tell its own numbers. As
//! long as each comparison has a second user, neither LLVM nor ptxas makes one of several: `max.u32` of three numbers and one
//! comparison. And each result keeps a predicate until the branch, of which a thread has seven. LLVM's code generator would
//! find that both compare the same (`GVN`), so one of the numbers is hidden. Computed of the same values,
//! it is the same. A check whose condition another block computes is nearly always such a one: it has been merged, and
//! stands in the copy that runs where not all hold. LLVM freezes what it asks for early, which is then of any value where it
//! means nothing; a check that is reached has always asked for something.

use std::collections::HashMap;

use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue,
    InstructionOpcode as Op, InstructionValue, IntValue,
};

/// Instructions that one condition may need.
const MOST_STEPS: usize = 24;

/// Compares again in every block of a function that is there for panics.
pub fn compare<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<(), BuilderError> {
    let (slow, checks) = slow(function);
    for block in slow {
        let all: Vec<_> = block.get_instructions().filter(|from| from.get_opcode() != Op::Phi).collect();
        compare_in(context, block, &all)?;
    }
    for block in checks {
        compare_in(context, block, block.get_terminator().as_slice())?;
    }
    Ok(())
}

/// Has these instructions of a block take comparisons of its own.
fn compare_in<'ctx>(
    context: &'ctx Context,
    block: BasicBlock<'ctx>,
    instructions: &[InstructionValue<'ctx>],
) -> Result<(), BuilderError> {
    let builder = context.create_builder();
    let mut known = HashMap::new();
    for instruction in instructions {
        for (index, condition) in llvm::value_operands(*instruction).collect::<Vec<_>>() {
            if comparison(condition, block).is_some() && can_be_made(condition, block, &mut { MOST_STEPS }) {
                builder.position_before(instruction);
                let again = make(context, &builder, condition, block, &mut known)?;
                instruction.set_operand(index, again);
            }
        }
    }
    Ok(())
}

/// The blocks from which no way leads back, with those that only choose between them and the function's end; and the other
/// blocks that end in a check.
fn slow<'ctx>(function: FunctionValue<'ctx>) -> (Vec<BasicBlock<'ctx>>, Vec<BasicBlock<'ctx>>) {
    let blocks = function.get_basic_blocks();
    let is_return = |block: &BasicBlock<'ctx>| block.get_terminator().is_some_and(|end| end.get_opcode() == Op::Return);
    let returning = llvm::returning_blocks(function);
    let is_panic = |block: &BasicBlock<'ctx>| !returning.contains(block);
    let is_end = |block: &BasicBlock<'ctx>| is_return(block) && block.get_first_instruction() == block.get_terminator();
    let chooses = |block: &BasicBlock<'ctx>| {
        let targets = block.get_terminator().and_then(llvm::branch_targets);
        let quiet = block.get_instructions().all(|i| i.is_terminator() || llvm::is_pure(i));
        targets.is_some_and(|(then, other)| {
            let is_out = |target: &BasicBlock<'ctx>| is_panic(target) || is_end(target);
            quiet && is_out(&then) && is_out(&other) && (is_panic(&then) || is_panic(&other))
        })
    };
    let checks = |block: &BasicBlock<'ctx>| {
        let targets = block.get_terminator().and_then(llvm::branch_targets);
        targets.is_some_and(|(then, other)| is_panic(&then) != is_panic(&other))
    };
    let (slow, rest): (Vec<_>, Vec<_>) = blocks.into_iter().partition(|block| is_panic(block) || chooses(block));
    (slow, rest.into_iter().filter(checks).collect())
}

/// The comparison, or what joins some, if another block makes it.
fn comparison<'ctx>(value: BasicValueEnum<'ctx>, block: BasicBlock<'ctx>) -> Option<InstructionValue<'ctx>> {
    let BasicValueEnum::IntValue(condition) = value else { return None };
    let from = value.as_instruction_value().filter(|_| condition.get_type().get_bit_width() == 1)?;
    let compares = matches!(from.get_opcode(), Op::ICmp | Op::And | Op::Or | Op::Xor | Op::Select | Op::Freeze);
    (compares && from.get_parent() != Some(block)).then_some(from)
}

/// Whether it is made of comparisons alone.
fn can_be_made<'ctx>(value: BasicValueEnum<'ctx>, block: BasicBlock<'ctx>, steps: &mut usize) -> bool {
    if value.as_instruction_value().is_none() {
        return llvm::is_constant(&value);
    }
    let Some(from) = comparison(value, block).filter(|_| *steps > 0) else { return false };
    *steps -= 1;
    if from.get_opcode() == Op::ICmp {
        return first_number(from).is_some_and(|number| matches!(number.get_type().get_bit_width(), 32 | 64));
    }
    llvm::value_operands(from).all(|(_, part)| can_be_made(part, block, steps))
}

fn make<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    value: BasicValueEnum<'ctx>,
    block: BasicBlock<'ctx>,
    known: &mut HashMap<InstructionValue<'ctx>, BasicValueEnum<'ctx>>,
) -> Result<BasicValueEnum<'ctx>, BuilderError> {
    let Some(from) = comparison(value, block) else { return Ok(value) };
    if let Some(made) = known.get(&from) {
        return Ok(*made);
    }
    let parts =
        llvm::value_operands(from).map(|(index, part)| Ok((index, make(context, builder, part, block, known)?)));
    let parts: Vec<_> = match from.get_opcode() {
        Op::ICmp => {
            let number = first_number(from).expect("`can_be_made` has seen a number");
            vec![(0, llvm::build_hidden(context, builder, number)?.into())]
        }
        _ => parts.collect::<Result<Vec<_>, BuilderError>>()?,
    };
    let made = llvm::result(llvm::build_copy(builder, from, &parts));
    known.insert(from, made);
    Ok(made)
}

/// What a comparison of integers compares.
fn first_number(comparison: InstructionValue<'_>) -> Option<IntValue<'_>> {
    match llvm::value_operands(comparison).next()? {
        (0, BasicValueEnum::IntValue(number)) => Some(number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    #[test]
    fn only_the_way_to_a_panic_compares_again() {
        let text = "declare void @panic(i32) noreturn
            define void @f(i32 %i, i32 %j, i32 %len, ptr %to) {
            a: %one = icmp ult i32 %i, %len
              %other = icmp ult i32 %j, %len
              %both = select i1 %one, i1 %other, i1 false
              br i1 %both, label %b, label %slow
            b: %which = select i1 %one, i32 %i, i32 %j
              store i32 %which, ptr %to
              ret void
            slow: br i1 %one, label %panic, label %end
            panic: %told = select i1 %both, i32 %i, i32 %j
              call void @panic(i32 %told)
              unreachable
            end: ret void
            }";
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        compare(&context, function).unwrap();
        module.verify().unwrap();
        let ir = function.print_to_string().to_string();
        let blocks: Vec<usize> = ir.split("\n\n").map(|block| block.matches("icmp ult").count()).collect();
        // In the slow way one, and two for the panic; the store takes what is known.
        assert_eq!(blocks, [2, 0, 1, 2, 0], "{ir}");
        assert_eq!(ir.matches("select i1 %one, i32").count(), 1, "{ir}");
    }
}
