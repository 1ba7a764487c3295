//! Keeps sums of 64 bits of which only the lower half is used in 32, where a loop carries them from round to round.
//!
//! ```text
//! before: loop: %hits = phi i64 [ 0, %entry ], [ %sum, %loop ]
//!               %one = zext i1 %inside to i64
//!               %sum = add i64 %hits, %one
//!               br i1 %again, label %loop, label %end
//!         end:  store i32 (trunc i64 %sum to i32), ptr %to
//! after:  loop: %hits = phi i32 [ 0, %entry ], [ %sum, %loop ]
//!               %one = zext i1 %inside to i32
//!               %sum = add i32 %hits, %one
//!               br i1 %again, label %loop, label %end
//!         end:  store i32 %sum, ptr %to
//! ```
//!
//! So is `iter.filter(…).count() as u32`: an iterator counts in `usize`. LLVM narrows such numbers, but not across a phi. ptxas
//! sees that nobody wants the upper half, but no longer that a `bool` is added: of 32 bits it makes an addition and a move
//! under a predicate, which another pipe does than comparisons and logic; of 64 a `SEL` and an addition, both in that one.
//!
//! **Why it is right.** The lower 32 bits of a sum, a difference, a product, of what bits are joined with, of a choice and of
//! a shift to the left by less than 32 depend on nothing but the lower 32 bits of the operands, however it wraps. Only values
//! are taken all of whose uses are such operations that are taken themselves, or cut off the upper half: nobody sees that
//! it has gone. What LLVM was promised of wrapping is not repeated, so nothing means less than before. A shift to the right, a
//! division, a comparison and a shift by what is not a constant look at the upper half, or may: what they use stays. Only a
//! comparison that LLVM is to assume goes: it computes nothing, and less is known without it.

use std::collections::{HashMap, HashSet};

use super::plan::is_assumption;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, AnyTypeEnum, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue,
    InstructionOpcode as Op, InstructionValue, IntValue, Module, Use,
};
use crate::loops::Graph;

/// Halves what it may in every function.
pub fn halve<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 1) {
        let members = carried(&lower_only(function));
        if !members.is_empty() {
            Halves::new(context, function).write(&members).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot halve the sums of a function: {error}"))
            })?;
        }
    }
    Ok(())
}

/// The values of which only the lower half is used, each behind what it uses, but for phis.
fn lower_only<'ctx>(function: FunctionValue<'ctx>) -> Vec<InstructionValue<'ctx>> {
    // In code that is never reached a sum may be its own operand: it is left out.
    let blocks = Graph::of(function).by_dominance();
    let all = blocks.into_iter().flat_map(|block| block.get_instructions());
    let mut members: Vec<_> = all.filter(|from| is_lower_of_lower(*from)).collect();
    loop {
        let known: HashSet<_> = members.iter().copied().collect();
        let before = members.len();
        members.retain(|member| {
            llvm::uses(&llvm::result(*member)).into_iter().all(|user| match user {
                Use::Instruction(user) => known.contains(&user) || is_cut(user) || is_assumed(user),
                Use::Global(_) => false,
            })
        });
        if members.len() == before {
            return members;
        }
    }
}

/// Of these, what hangs together with a phi that a loop carries round. ptxas itself narrows the others.
fn carried<'ctx>(members: &[InstructionValue<'ctx>]) -> Vec<InstructionValue<'ctx>> {
    let known: HashSet<_> = members.iter().copied().collect();
    let used = |member| operands(member).into_iter().filter_map(|(value, _)| value.as_instruction_value());
    let mut beside: HashMap<_, Vec<_>> = HashMap::new();
    for member in members {
        for operand in used(*member).filter(|operand| known.contains(operand)) {
            beside.entry(*member).or_default().push(operand);
            beside.entry(operand).or_default().push(*member);
        }
    }
    let depends_on_itself = |phi: InstructionValue<'ctx>| {
        reached(vec![phi], |member| used(member).filter(|operand| known.contains(operand)).collect()).contains(&phi)
    };
    let phis = members.iter().copied().filter(|member| member.get_opcode() == Op::Phi);
    let phis: Vec<_> = phis.filter(|phi| depends_on_itself(*phi)).collect();
    let found = reached(phis, |member| beside.get(&member).cloned().unwrap_or_default());
    members.iter().copied().filter(|member| found.contains(member)).collect()
}

/// All that is one step or more from these.
fn reached<'ctx>(
    mut pending: Vec<InstructionValue<'ctx>>,
    next: impl Fn(InstructionValue<'ctx>) -> Vec<InstructionValue<'ctx>>,
) -> HashSet<InstructionValue<'ctx>> {
    let mut found = HashSet::new();
    while let Some(from) = pending.pop() {
        pending.extend(next(from).into_iter().filter(|step| found.insert(*step)));
    }
    found
}

/// Whether the lower half of what an instruction computes in 64 bits depends only on the lower halves of its operands.
fn is_lower_of_lower(from: InstructionValue<'_>) -> bool {
    matches!(from.get_type(), AnyTypeEnum::IntType(ty) if ty.get_bit_width() == 64)
        && match from.get_opcode() {
            Op::Phi | Op::Add | Op::Sub | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Select => true,
            Op::Shl => {
                let by = llvm::int_operand(from, 1).and_then(IntValue::get_zero_extended_constant);
                by.is_some_and(|by| by < 32)
            }
            _ => false,
        }
}

/// Whether a user takes no more than the lower half.
fn is_cut(user: InstructionValue<'_>) -> bool {
    user.get_opcode() == Op::Trunc && matches!(user.get_type(), AnyTypeEnum::IntType(ty) if ty.get_bit_width() <= 32)
}

/// Whether a comparison only tells LLVM what is known, as `core` does of what a filter counts.
fn is_assumed(user: InstructionValue<'_>) -> bool {
    user.get_opcode() == Op::ICmp && assumptions(user).is_some_and(|all| !all.is_empty())
}

/// What assumes a comparison, if nothing else uses it.
fn assumptions(comparison: InstructionValue<'_>) -> Option<Vec<InstructionValue<'_>>> {
    let uses = llvm::uses(&llvm::result(comparison)).into_iter().map(|user| match user {
        Use::Instruction(user) if is_assumption(user) => Some(user),
        _ => None,
    });
    uses.collect()
}

/// The operands of 64 bits, and of a phi where each comes from.
fn operands(member: InstructionValue<'_>) -> Vec<(IntValue<'_>, Option<llvm::BasicBlock<'_>>)> {
    let of_phi = || llvm::incoming(member).into_iter().map(|(value, from)| (value, Some(from)));
    let all: Vec<_> = match member.get_opcode() {
        Op::Phi => of_phi().collect(),
        _ => llvm::value_operands(member).map(|(_, value)| (value, None)).collect(),
    };
    all.into_iter()
        .filter_map(|(value, from)| match value {
            BasicValueEnum::IntValue(value) if value.get_type().get_bit_width() == 64 => Some((value, from)),
            _ => None,
        })
        .collect()
}

/// Writes lower halves, each once.
struct Halves<'ctx> {
    context: &'ctx Context,
    builder: Builder<'ctx>,
    function: FunctionValue<'ctx>,
    lower: HashMap<IntValue<'ctx>, IntValue<'ctx>>,
}

impl<'ctx> Halves<'ctx> {
    fn new(context: &'ctx Context, function: FunctionValue<'ctx>) -> Self {
        Self { context, builder: context.create_builder(), function, lower: HashMap::new() }
    }

    fn write(mut self, members: &[InstructionValue<'ctx>]) -> std::result::Result<(), BuilderError> {
        let narrow = self.context.i32_type();
        let (phis, others): (Vec<_>, Vec<_>) = members.iter().partition(|member| member.get_opcode() == Op::Phi);
        let mut made = Vec::new();
        for phi in phis {
            self.builder.position_before(phi);
            let new = self.builder.build_phi(narrow, "")?.as_instruction();
            self.lower.insert(llvm::result(*phi).into_int_value(), llvm::result(new).into_int_value());
            made.push((*phi, new));
        }
        // Each stands behind what it uses.
        for member in others {
            let new = self.computed(*member)?;
            self.lower.insert(llvm::result(*member).into_int_value(), new);
        }
        for (phi, new) in made {
            for (value, from) in operands(phi) {
                let value = self.lower(value)?;
                llvm::add_incoming(new, value.into(), from.expect("a phi's operands come from blocks"));
            }
        }
        for member in members {
            self.replace_cuts(*member)?;
            forget(*member);
        }
        // Now they use only each other.
        let nothing = llvm::poison(self.context.i64_type().into());
        members.iter().for_each(|member| llvm::replace_uses(*member, nothing));
        members.iter().for_each(|member| member.erase_from_basic_block());
        Ok(())
    }

    fn computed(&mut self, member: InstructionValue<'ctx>) -> std::result::Result<IntValue<'ctx>, BuilderError> {
        let mut parts = Vec::new();
        for (value, _) in operands(member) {
            parts.push(self.lower(value)?);
        }
        let [left, right] = parts[..] else { unreachable!("it has two operands of 64 bits") };
        let builder = &self.builder;
        builder.position_before(&member);
        match member.get_opcode() {
            Op::Add => builder.build_int_add(left, right, ""),
            Op::Sub => builder.build_int_sub(left, right, ""),
            Op::Mul => builder.build_int_mul(left, right, ""),
            Op::And => builder.build_and(left, right, ""),
            Op::Or => builder.build_or(left, right, ""),
            Op::Xor => builder.build_xor(left, right, ""),
            Op::Shl => builder.build_left_shift(left, right, ""),
            _ => {
                let condition = llvm::int_operand(member, 0).expect("what is left chooses between integers");
                Ok(builder.build_select(condition, left, right, "")?.into_int_value())
            }
        }
    }

    /// The lower half of a value; a phi knows its own before the operands of any are asked for.
    fn lower(&mut self, value: IntValue<'ctx>) -> std::result::Result<IntValue<'ctx>, BuilderError> {
        let narrow = self.context.i32_type();
        if let Some(number) = value.get_zero_extended_constant() {
            return Ok(narrow.const_int(number & u64::from(u32::MAX), false));
        }
        if let Some(known) = self.lower.get(&value) {
            return Ok(*known);
        }
        // Once, where the value is made: a phi may have it from one block twice, and wants the same then.
        let mut place = match value.as_instruction_value() {
            Some(from) => from.get_next_instruction(),
            None => self.function.get_first_basic_block().and_then(|entry| entry.get_first_instruction()),
        };
        while let Some(phi) = place.filter(|next| next.get_opcode() == Op::Phi) {
            place = phi.get_next_instruction();
        }
        self.builder.position_before(&place.expect("a value is not the last in its block"));
        let inner = value
            .as_instruction_value()
            .and_then(|from| llvm::int_operand(from, 0).map(|inner| (from.get_opcode(), inner)));
        let new = match inner.map(|(code, inner)| (code, inner, inner.get_type().get_bit_width())) {
            Some((Op::ZExt | Op::SExt, inner, 32)) => inner,
            Some((Op::ZExt, inner, ..32)) => self.builder.build_int_z_extend(inner, narrow, "")?,
            Some((Op::SExt, inner, ..32)) => self.builder.build_int_s_extend(inner, narrow, "")?,
            _ => self.builder.build_int_truncate(value, narrow, "")?,
        };
        self.lower.insert(value, new);
        Ok(new)
    }

    /// Has what cuts the upper half off a value take the lower.
    fn replace_cuts(&self, member: InstructionValue<'ctx>) -> std::result::Result<(), BuilderError> {
        let value = llvm::result(member).into_int_value();
        for user in llvm::uses(&value) {
            let Use::Instruction(cut) = user else { continue };
            let AnyTypeEnum::IntType(ty) = cut.get_type() else { continue };
            if !is_cut(cut) {
                continue;
            }
            self.builder.position_before(&cut);
            let lower = self.lower[&value];
            let new = if ty.get_bit_width() == 32 { lower } else { self.builder.build_int_truncate(lower, ty, "")? };
            llvm::replace_uses(cut, new.into());
            cut.erase_from_basic_block();
        }
        Ok(())
    }
}

/// Removes what is assumed of a value.
fn forget(member: InstructionValue<'_>) {
    let is_comparison = |user: &Use<'_>| matches!(user, Use::Instruction(user) if is_assumed(*user));
    // Again from the start, since one may compare the value with itself.
    while let Some(Use::Instruction(comparison)) = llvm::uses(&llvm::result(member)).into_iter().find(is_comparison) {
        assumptions(comparison).into_iter().flatten().for_each(|call| call.erase_from_basic_block());
        comparison.erase_from_basic_block();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    fn halved(text: &str) -> String {
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        halve(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    /// A sum that a loop carries, with how the next is made of `%sum` and what is done with the last, `%next`.
    fn summed(step: &str, end: &str) -> String {
        halved(&format!(
            "declare void @llvm.assume(i1)
            define i64 @f(ptr %to, i64 %any, i32 %i, i64 %first) {{
            entry: br label %loop
            loop: %sum = phi i64 [ %first, %entry ], [ %next, %loop ]
              %k = phi i32 [ 0, %entry ], [ %more, %loop ]
              %inside = icmp ult i32 %k, %i
              {step}
              %more = add i32 %k, 1
              %again = icmp ne i32 %more, 99
              br i1 %again, label %loop, label %end
            end: {end}
            }}"
        ))
    }

    const STORED: &str = "%cut = trunc i64 %next to i32\n store i32 %cut, ptr %to\n ret i64 0";

    #[test]
    fn a_sum_of_which_the_lower_half_is_stored_has_32_bits() {
        let ir = summed("%one = zext i1 %inside to i64\n %next = add nuw nsw i64 %sum, %one", STORED);
        assert!(!ir.contains("phi i64") && !ir.contains("add i64"), "{ir}");
        // What was promised of 64 bits does not hold of 32.
        assert!(ir.contains("zext i1 %inside to i32") && ir.contains("add i32") && !ir.contains("nuw"), "{ir}");
        assert_eq!(ir.matches("trunc i64").count(), 1, "the first, before the loop: {ir}");
        assert!(ir.split_once("loop:").unwrap().0.contains("trunc i64 %first to i32"), "{ir}");
    }

    #[test]
    fn each_operation_whose_lower_half_comes_of_lower_halves_is_halved() {
        for (step, expected) in [
            ("%next = add i64 %sum, %any", "add i32"),
            ("%next = sub i64 %any, %sum", "sub i32"),
            ("%next = mul i64 %sum, -3", "mul i32"),
            ("%next = xor i64 %sum, 4294967297", "xor i32 %1, 1"),
            ("%next = and i64 %sum, %any", "and i32"),
            ("%next = or disjoint i64 %sum, %any", "or i32"),
            ("%next = shl nuw i64 %sum, 31", "shl i32"),
            ("%next = select i1 %inside, i64 %sum, i64 %any", "select i1 %inside, i32"),
            ("%s = sext i32 %i to i64\n %next = add i64 %sum, %s", ", %i"),
            ("%h = trunc i64 %any to i16\n %s = sext i16 %h to i64\n %next = add i64 %sum, %s", "sext i16 %h to i32"),
        ] {
            let ir = summed(step, STORED);
            assert!(ir.contains(expected) && !ir.contains("phi i64"), "{step}: {ir}");
        }
        // A byte of it is of the lower half, too.
        let ir = summed("%next = add i64 %sum, 1", "%cut = trunc i64 %next to i8\n store i8 %cut, ptr %to\n ret i64 0");
        assert!(ir.contains("phi i32") && ir.contains("to i8") && !ir.contains("phi i64"), "{ir}");
    }

    #[test]
    fn what_looks_at_the_upper_half_keeps_it() {
        for (step, end) in [
            ("%next = add i64 %sum, 1", "ret i64 %next"),
            ("%next = add i64 %sum, 1", "store i64 %next, ptr %to\n ret i64 0"),
            ("%next = add i64 %sum, 1", "%cut = trunc i64 %next to i33\n store i33 %cut, ptr %to\n ret i64 0"),
            (
                "%next = add i64 %sum, 1",
                "%h = lshr i64 %next, 32\n %c = trunc i64 %h to i32\n store i32 %c, ptr %to\n ret i64 0",
            ),
            ("%next = add i64 %sum, 1", "%c = icmp eq i64 %next, 7\n store i1 %c, ptr %to\n ret i64 0"),
            ("%next = lshr i64 %sum, 1", STORED),
            ("%next = udiv i64 %sum, 3", STORED),
            ("%next = shl i64 %sum, 32", STORED),
            // A shift by 32 and more leaves nothing of 32 bits, but something of 64.
            ("%next = shl i64 %sum, %any", STORED),
            ("%next = shl i64 %any, %sum", STORED),
            ("%p = getelementptr i8, ptr %to, i64 %sum\n store i8 1, ptr %p\n %next = add i64 %sum, 1", STORED),
            // One use of the upper half on the way is enough.
            ("%two = add i64 %sum, %any\n store volatile i64 %two, ptr %to\n %next = mul i64 %two, 3", STORED),
        ] {
            let ir = summed(step, end);
            assert!(ir.contains("phi i64") && !ir.contains("phi i32 [ %"), "{step}, {end}: {ir}");
        }
    }

    #[test]
    fn what_is_only_assumed_of_a_sum_is_forgotten() {
        let assumed = "%few = icmp ule i64 %next, %any\n call void @llvm.assume(i1 %few)\n";
        let ir = summed("%next = add i64 %sum, 1", &format!("{assumed}{STORED}"));
        assert!(!ir.contains("phi i64") && !ir.contains("assume") && !ir.contains("icmp ule"), "{ir}");
        // Not if it decides something, too.
        let ir = summed("%next = add i64 %sum, 1", &format!("{assumed} store i1 %few, ptr %to\n {STORED}"));
        assert!(ir.contains("phi i64") && ir.contains("assume"), "{ir}");
    }

    #[test]
    fn a_value_that_comes_twice_from_a_block_is_cut_once() {
        let ir = halved(
            "define void @f(ptr %to, i64 %any, i32 %i) {
            entry: br label %loop
            loop: %sum = phi i64 [ 0, %entry ], [ %next, %join ]
              %x = load volatile i64, ptr %to
              switch i32 %i, label %other [ i32 1, label %join i32 2, label %join ]
            other: br label %join
            join: %step = phi i64 [ %x, %loop ], [ %x, %loop ], [ %any, %other ]
              %next = add i64 %sum, %step
              %cut = trunc i64 %next to i32
              store volatile i32 %cut, ptr %to
              br label %loop
            }",
        );
        assert!(!ir.contains("phi i64") && ir.matches("trunc i64 %x").count() == 1, "{ir}");
    }

    #[test]
    fn without_a_loop_ptxas_does_it() {
        let text = "define i32 @f(i64 %a, i64 %b, i1 %c) {
            entry: br i1 %c, label %yes, label %end
            yes: %s = add i64 %a, %b
              br label %end
            end: %x = phi i64 [ %s, %yes ], [ %a, %entry ]
              %cut = trunc i64 %x to i32
              ret i32 %cut
            }";
        assert!(halved(text).contains("phi i64"));
    }
}
