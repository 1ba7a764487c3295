//! Has a loop whose step is at most a constant, as a warp's threads are at most 32, run with the constant where it is that.
//!
//! ```text
//! before: %n = call i32 @llvm.umin.i32(i32 %rest, i32 32)         ; the threads of this warp
//!         %step = zext i32 %n to i64
//!   loop: %column = phi i64 [ %lane, %before ], [ (add i64 %column, %step), %loop ]
//! after:  br i1 (icmp eq i32 %n, 32), label %copy, label %loop
//!   copy: %column = phi i64 [ %lane, %before ], [ (add i64 %column, 32), %copy ]
//! ```
//!
//! A warp shares a row or a part: each thread has every element that is further by the number of its threads. The last warp of
//! a block may have fewer than 32. LLVM unrolls no loop over a step that it does not know, and each round has an address to
//! compute. All other warps run a loop like `i += 32` of CUDA C++.
//!
//! **Why it is right.** Both are the same loop, and in the copy the step is what the branch found it to be. The branch asks
//! once, before the loop, about a number that is the same in all rounds.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntPredicate, IntValue, Module, Unroll,
};
use crate::settled;

use super::checks::may_be_split;
use super::natural::{Graph, Loop, SimpleForm};

/// Instructions of a loop that is copied.
const MOST_INSTRUCTIONS: usize = 100;

/// Copies such loops.
pub fn run_whole_warps<'ctx>(context: &'ctx Context, module: &Module<'ctx>, form: &SimpleForm<'_>) -> Result<()> {
    form.give(module)?;
    for function in settled::open_and_fast(module).filter(|function| function.count_basic_blocks() > 1) {
        let graph = Graph::of(function);
        for found in graph.innermost() {
            let Some(before) = graph.block_before(&found).filter(|_| may_be_split(context, &found, MOST_INSTRUCTIONS))
            else {
                continue;
            };
            let Some(step) = llvm::phis(found.head).find_map(|phi| Step::of(&found, phi)) else { continue };
            form.lose();
            step.write(context, function, &found, before).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot copy a loop for whole warps: {error}"))
            })?;
        }
    }
    Ok(())
}

/// A step that is at most a constant.
struct Step<'ctx> {
    /// As it is added, and what that was extended from.
    added: IntValue<'ctx>,
    number: IntValue<'ctx>,
    most: u64,
}

impl<'ctx> Step<'ctx> {
    /// By which a phi of the head grows.
    fn of(found: &Loop<'ctx>, phi: InstructionValue<'ctx>) -> Option<Self> {
        let (_, next) = found.incoming_of(llvm::result(phi))?;
        let from =
            llvm::instruction_of(next).filter(|from| matches!(from.get_opcode(), Op::Add | Op::GetElementPtr))?;
        let operands = || llvm::value_operands(from).map(|(_, operand)| operand);
        let is_of_phi = operands().any(|operand| operand == llvm::result(phi));
        let added = operands().find_map(|operand| match operand {
            BasicValueEnum::IntValue(number) if found.is_invariant(operand) => Some(number),
            _ => None,
        })?;
        let number = llvm::instruction_of(added.into())
            .filter(|from| from.get_opcode() == Op::ZExt)
            .and_then(|extended| llvm::int_operand(extended, 0))
            .unwrap_or(added);
        let most = most(number).filter(|_| is_of_phi)?;
        Some(Self { added, number, most })
    }

    fn write(
        &self,
        context: &'ctx Context,
        function: FunctionValue<'ctx>,
        found: &Loop<'ctx>,
        before: BasicBlock<'ctx>,
    ) -> std::result::Result<(), BuilderError> {
        let Some(end) = before.get_terminator() else { return Ok(()) };
        let builder = context.create_builder();
        builder.position_before(&end);
        let most = self.number.get_type().const_int(self.most, false);
        // A step that means nothing would be looked at here, but not by a loop that ends in its first round.
        let number = llvm::build_freeze(&builder, self.number);
        let is_whole = builder.build_int_compare(IntPredicate::EQ, number, most, "")?;
        let copies = llvm::copy_blocks(context, function, &found.blocks);
        end.erase_from_basic_block();
        builder.position_at_end(before);
        builder.build_conditional_branch(is_whole, copies[0], found.head)?;
        for instruction in copies.iter().flat_map(|block| block.get_instructions()) {
            for (index, operand) in llvm::value_operands(instruction).collect::<Vec<_>>() {
                let BasicValueEnum::IntValue(read) = operand else { continue };
                if read == self.added || read == self.number {
                    instruction.set_operand(index, read.get_type().const_int(self.most, false));
                }
            }
        }
        // It is asked once; the loop of a broken warp is not to be long.
        llvm::set_unroll(context, &found.jumps_back(), Unroll::None);
        Ok(())
    }
}

/// The constant that a number is at most, if it is the lower one of that and another.
fn most(number: IntValue<'_>) -> Option<u64> {
    let least = number.as_instruction_value().filter(|from| {
        llvm::called_function(*from).is_some_and(|callee| callee.get_name().to_bytes().starts_with(b"llvm.umin."))
    })?;
    let of = |index| llvm::int_operand(least, index)?.get_zero_extended_constant();
    of(0).or_else(|| of(1)).filter(|most| *most > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loops::staged;

    fn after(step: &str, next: &str, mark: &str) -> String {
        let text = format!(
            "declare i32 @llvm.umin.i32(i32, i32)
            define void @f(ptr %to, ptr %from, i32 %rest, i64 %lane, i64 %width) {{
            entry: %n = {step}
              %step = zext i32 %n to i64
              br label %loop
            loop: %i = phi i64 [ %lane, %entry ], [ %next, %loop ]
              %at = getelementptr float, ptr %from, i64 %i
              %x = load float, ptr %at
              %out = getelementptr float, ptr %to, i64 %i
              store float %x, ptr %out
              %next = {next}
              %more = icmp ult i64 %next, %width
              br i1 %more, label %loop, label %end{mark}
            end: ret void
            }}
            !0 = distinct !{{!0, !1}}
            !1 = !{{!\"llvm.loop.unroll.disable\"}}"
        );
        staged::after(&text, |context, module, machine| {
            let form = SimpleForm::of(machine);
            run_whole_warps(context, module, &form).unwrap();
            // Once only.
            run_whole_warps(context, module, &form).unwrap();
        })
    }

    #[test]
    fn a_whole_warp_has_a_constant_step() {
        for step in ["call i32 @llvm.umin.i32(i32 %rest, i32 32)", "call i32 @llvm.umin.i32(i32 32, i32 %rest)"] {
            let ir = after(step, "add i64 %i, %step", "");
            let steps = ir.lines().filter(|line| line.contains(" = add i64 ")).collect::<Vec<_>>();
            assert_eq!((steps.len(), steps.iter().filter(|line| line.ends_with(", 32")).count()), (2, 1), "{ir}");
            assert!(ir.contains("icmp eq i32"), "{ir}");
        }
    }

    #[test]
    fn others_stay() {
        let whole = "call i32 @llvm.umin.i32(i32 %rest, i32 32)";
        for (step, next, mark) in [
            ("add i32 %rest, 32", "add i64 %i, %step", ""),
            ("call i32 @llvm.umin.i32(i32 %rest, i32 %rest)", "add i64 %i, %step", ""),
            (whole, "add i64 %i, %lane", ""),
            (whole, "mul i64 %i, %step", ""),
            (whole, "add i64 %i, %step", ", !llvm.loop !0"),
        ] {
            assert_eq!(after(step, next, mark).matches("load float").count(), 1, "{step}, {next}");
        }
    }
}
