//! Computes behind a loop what the loop only carries there.
//!
//! ```text
//! before: loop: %left = phi i64 [ %len, %before ], [ %left.next, %loop ]      ; the loop asks for it nowhere
//!               %k = phi i64 [ 0, %before ], [ %k.next, %loop ]
//!               %left.next = sub i64 %left, (mul i64 %n, 4)
//!               %k.next = add i64 %k, 4
//!         out:  %rest = phi i64 [ %left.next, %loop ]
//! after:  out:  %rounds = phi i64 [ %k.next, %loop ]
//!               %rest = sub i64 %len, (mul i64 %n, %rounds)
//! ```
//!
//! `chunks(n)` keeps how much is left, and where that begins, and what follows an unrolled loop goes on with both. In the loop
//! they take two instructions each, and four of the thirty-two registers that ptxas has for loads: the mean of a column
//! had seven loads under way at a time, and nvcc's, which has a counter alone, has sixteen.
//!
//! **Why it is right.** A value that grows by the same sum in every round is, behind the loop, what it was and as many of these
//! sums as there were rounds; and so many times its step is what the counter has grown by. It grows by a multiple of the
//! counter's step, so that no division is needed, and products of 64 bits hold whatever overflows. A pointer stays one into what
//! it pointed into.

use std::collections::HashSet;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntValue, Module, TargetMachine, Use,
};

use super::natural::{self, Graph, Loop};
use super::walks::growth;

/// What cleans up.
const CLEAN: &str = "adce";

/// Products that one value may take.
const MOST_PARTS: usize = 2;

/// Instructions that may compute what a loop carries.
const MOST_INSTRUCTIONS: usize = 16;

/// Does so for every loop.
pub fn leave<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine) -> Result<()> {
    for function in llvm::functions(module).filter(|function| may_carry(*function)) {
        // A twin of a loop has its end in common with it.
        natural::simplify_in(function, machine)?;
        let changed = leave_in(context, function).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot compute a value behind its loop: {error}"))
        })?;
        // The phis that nothing looks at any more but each other.
        if changed {
            llvm::run_passes_on_function(function, machine, CLEAN).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("LLVM's passes `{CLEAN}` failed: {error}"))
            })?;
        }
    }
    Ok(())
}

/// Whether a loop may carry something, which is quickly said.
fn may_carry(function: FunctionValue<'_>) -> bool {
    function.count_basic_blocks() > 1
        && Graph::of(function).innermost().iter().any(|found| {
            llvm::phis(found.head).any(|phi| first_and_askers(found, phi).is_some_and(|(_, askers)| !askers.is_empty()))
        })
}

/// What a phi is at first, and who asks behind the loop for what it is next; none if the loop itself looks at anything that is
/// computed from the phi.
fn first_and_askers<'ctx>(
    found: &Loop<'ctx>,
    phi: InstructionValue<'ctx>,
) -> Option<(BasicValueEnum<'ctx>, Vec<InstructionValue<'ctx>>)> {
    let (first, next) = found.incoming(llvm::result(phi))?;
    let is_wide = match first {
        BasicValueEnum::IntValue(number) => number.get_type().get_bit_width() == 64,
        BasicValueEnum::PointerValue(_) => true,
        _ => false,
    };
    let next = llvm::instruction_of(next).filter(|next| is_wide && *next != phi)?;
    let (mut seen, mut pending, mut askers) = (HashSet::from([phi]), vec![phi], Vec::new());
    while let Some(from) = pending.pop() {
        for user in llvm::uses(&llvm::result(from)) {
            let Use::Instruction(user) = user else { return None };
            let is_inside = user.get_parent().is_some_and(|block| found.contains(block));
            if user == phi {
                continue;
            } else if !is_inside && from == next {
                askers.push(user);
            } else if !is_inside || !llvm::is_pure(user) {
                return None;
            } else if seen.insert(user) {
                pending.push(user);
            }
        }
    }
    (seen.len() <= MOST_INSTRUCTIONS).then_some((first, askers))
}

/// Says whether there was such a value.
fn leave_in<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> std::result::Result<bool, BuilderError> {
    let mut changed = false;
    for found in Graph::of(function).innermost() {
        let Some(end) = End::of(&found) else { continue };
        let carried: Vec<_> = llvm::phis(found.head).filter_map(|phi| end.carried(phi)).collect();
        let is_needed = |phi: &InstructionValue<'ctx>| carried.iter().all(|carried| carried.phi != *phi);
        let counter = llvm::phis(found.head).filter(is_needed).find_map(|phi| Counter::of(context, &found, phi));
        let Some(counter) = counter else { continue };
        for carried in &carried {
            changed |= carried.leave(context, &end, &counter)?;
        }
    }
    Ok(changed)
}

/// Where a loop ends, and only there.
struct End<'a, 'ctx> {
    found: &'a Loop<'ctx>,
    latch: BasicBlock<'ctx>,
    block: BasicBlock<'ctx>,
}

impl<'a, 'ctx> End<'a, 'ctx> {
    /// Of a loop that ends where it jumps back.
    fn of(found: &'a Loop<'ctx>) -> Option<Self> {
        let [latch] = found.latches[..] else { return None };
        let (then, other) = llvm::branch_targets(latch.get_terminator()?)?;
        let block = if then == found.head { other } else { then };
        let is_alone = !found.contains(block) && llvm::predecessors(block) == [latch];
        is_alone.then_some(Self { found, latch, block })
    }

    /// The value of a phi, if the loop only carries it to phis behind the end.
    fn carried(&self, phi: InstructionValue<'ctx>) -> Option<Carried<'ctx>> {
        let (first, asked) = first_and_askers(self.found, phi)?;
        let is_behind =
            |user: &InstructionValue<'ctx>| user.get_parent() == Some(self.block) && user.get_opcode() == Op::Phi;
        (!asked.is_empty() && asked.iter().all(is_behind)).then_some(Carried { phi, first, asked })
    }
}

/// A number that grows by a constant in every round.
struct Counter<'ctx> {
    first: IntValue<'ctx>,
    next: IntValue<'ctx>,
    step: i64,
}

impl<'ctx> Counter<'ctx> {
    fn of(context: &'ctx Context, found: &Loop<'ctx>, phi: InstructionValue<'ctx>) -> Option<Self> {
        let (BasicValueEnum::IntValue(first), BasicValueEnum::IntValue(next)) = found.incoming(llvm::result(phi))?
        else {
            return None;
        };
        let is_wide = first.is_const() && first.get_type().get_bit_width() == 64;
        let growth: Vec<_> = growth(context, found, phi).filter(|_| is_wide)?.parts().collect();
        match growth[..] {
            [(None, step)] if step != 0 => Some(Self { first, next, step }),
            _ => None,
        }
    }
}

/// So many times a number, as a multiple of what that is a multiple of.
fn multiple<'ctx>((value, count): (Option<IntValue<'ctx>>, i64)) -> (Option<IntValue<'ctx>>, i64) {
    let shift = value.and_then(|value| value.as_instruction_value()).filter(|from| from.get_opcode() == Op::Shl);
    let parts = shift.and_then(|from| {
        Some((llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?.get_zero_extended_constant()?))
    });
    match parts {
        Some((inner, by)) if by < 32 => (Some(inner), count.wrapping_mul(1 << by)),
        _ => (value, count),
    }
}

/// What a loop only carries.
struct Carried<'ctx> {
    phi: InstructionValue<'ctx>,
    first: BasicValueEnum<'ctx>,
    /// Phis behind the loop that are what it is next.
    asked: Vec<InstructionValue<'ctx>>,
}

impl<'ctx> Carried<'ctx> {
    /// Says whether it was of use.
    fn leave(
        &self,
        context: &'ctx Context,
        end: &End<'_, 'ctx>,
        counter: &Counter<'ctx>,
    ) -> std::result::Result<bool, BuilderError> {
        let Some(growth) = growth(context, end.found, self.phi) else { return Ok(false) };
        let growth: Vec<_> = growth.parts().map(multiple).collect();
        let is_whole = growth.iter().all(|(_, count)| count.checked_rem(counter.step) == Some(0));
        let Some(top) = end.block.get_instructions().find(|from| from.get_opcode() != Op::Phi) else {
            return Ok(false);
        };
        if growth.len() > MOST_PARTS || !is_whole {
            return Ok(false);
        }
        let builder = context.create_builder();
        let wide = context.i64_type();
        if let Some(first) = end.block.get_first_instruction() {
            builder.position_before(&first);
        }
        let counted = builder.build_phi(wide, "counted")?;
        counted.add_incoming(&[(&counter.next, end.latch)]);
        builder.position_before(&top);
        let grown = builder.build_int_sub(counted.as_basic_value().into_int_value(), counter.first, "grown")?;
        let mut sum = wide.const_zero();
        for (value, count) in growth {
            let times = wide.const_int((count / counter.step).cast_unsigned(), true);
            let part = match value {
                Some(value) => builder.build_int_mul(builder.build_int_mul(grown, value, "")?, times, "")?,
                None => builder.build_int_mul(grown, times, "")?,
            };
            sum = if sum == wide.const_zero() { part } else { builder.build_int_add(sum, part, "")? };
        }
        let value = match self.first {
            // SAFETY: without `inbounds`, an address may be any.
            BasicValueEnum::PointerValue(first) => unsafe {
                builder.build_gep(context.i8_type(), first, &[sum], "")?.into()
            },
            first => builder.build_int_add(first.into_int_value(), sum, "")?.as_basic_value_enum(),
        };
        for asked in &self.asked {
            llvm::replace_uses(*asked, value);
            asked.erase_from_basic_block();
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loops::staged::after;

    /// A loop with `%left` and `%at`, of which what follows it asks, after the stage.
    fn left(body: &str, next: &str, step: &str) -> String {
        let text = format!(
            "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
            target triple = \"nvptx64-nvidia-cuda\"
            define i64 @f(ptr %x, i64 %len, i64 %n, i64 %whole, ptr %to) {{
            entry: %by = shl i64 %n, 2
              br label %loop
            loop: %left = phi i64 [ %len, %entry ], [ %left.next, %loop ]
              %at = phi ptr [ %x, %entry ], [ %at.next, %loop ]
              %k = phi i64 [ 8, %entry ], [ %k.next, %loop ]
              {body}
              %left.next = {next}
              %at.next = getelementptr float, ptr %at, i64 %by
              %k.next = add i64 %k, {step}
              %more = icmp ne i64 %k.next, %whole
              br i1 %more, label %loop, label %out
            out: %rest = phi i64 [ %left.next, %loop ]
              %end = phi ptr [ %at.next, %loop ]
              store ptr %end, ptr %to
              ret i64 %rest
            }}"
        );
        after(&text, |context, module, machine| leave(context, module, machine).unwrap())
    }

    const STORE: &str = "store volatile i64 %k, ptr %to";

    #[test]
    fn a_loop_keeps_its_counter_alone() {
        for next in ["sub i64 %left, %by", "add i64 %left, 12"] {
            let ir = left(STORE, next, "4");
            assert!(!ir.contains("%left =") && !ir.contains("%at ="), "{ir}");
            assert!(ir.contains("%grown = sub i64 %counted, 8"), "{ir}");
        }
        // It shrinks by 4 n where the counter grows by 4.
        let ir = left(STORE, "sub i64 %left, %by", "4");
        assert!(ir.contains("mul i64 %grown, %n") && ir.contains("getelementptr i8, ptr %x"), "{ir}");
    }

    #[test]
    fn what_a_loop_looks_at_stays() {
        let looked = left("store volatile i64 %left, ptr %to", "sub i64 %left, %by", "4");
        assert!(looked.contains("%left =") && !looked.contains("%at ="), "{looked}");
        // What is no multiple of the step, does not grow by the same in every round, or may be anything.
        for next in ["add i64 %left, 5", "mul i64 %left, %n", "add i64 %left, %k", "xor i64 %left, %n"] {
            assert!(left(STORE, next, "4").contains("%left ="), "{next}");
        }
        // Without a counter by a constant.
        assert!(left(STORE, "sub i64 %left, %by", "%n").contains("%left ="));
    }
}
