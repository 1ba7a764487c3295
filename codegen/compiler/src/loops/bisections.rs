//! Knows the checks of binary searches: what lies in the middle is below where the search began.
//!
//! ```text
//! before: loop:  %high = phi i64 [ %len, %before ], [ %new.high, %look ]     ; entered where %first.low is below %len
//!                %low = phi i64 [ %first.low, %before ], [ %new.low, %look ]
//!                %mid = lshr i64 (add nuw i64 %low, %high), 1
//!                br i1 (icmp ult i64 %mid, %len), label %look, label %panic
//!         look:  %new.high = select i1 %less, i64 %high, i64 %mid
//!                br i1 (icmp ult i64 %new.low, %new.high), label %loop, label %end
//! after:         br label %look
//! ```
//!
//! `while low < high { let mid = (low + high) / 2; if sorted[mid] < key { low = mid + 1 } else { high = mid } }` is how people
//! search a table. LLVM knows nothing of a number that depends on another one that depends on it. Each round waits for its load,
//! and the check stood between the load and what it is loaded for.
//!
//! Where the search begins with the last element, `len - 1`, only an empty slice fails, and whether it is empty is asked in place
//! of the check, which is the same in all rounds.
//!
//! **Why it is right.** In each round `%low` is below `%high`: the loop is entered and goes on by that. So the middle is below
//! `%high`, if what it is computed by does not wrap around: `%low + (%high - %low) / 2` does not, and `%low + %high` says so
//! itself. `%high` becomes the middle or stays, and is never more than it was at first. Where that is the length, the smaller
//! one of the length and something, or a half of one of them, no middle fails the check. Where it is the length less one, none does unless the length is 0;
//! then that is the largest number there is, the length is not above anything, and every check fails.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntPredicate, IntValue, Module,
};
use crate::settled;

use super::below::conditions_of_order;
use super::branches::is_one_less;
use super::natural::{Graph, Loop};

/// How many choices may stand between a middle and what is to be the end of the next part, or between a length and the first.
const MOST_STEPS: u32 = 4;

/// How many blocks before a loop are looked at.
const MOST_BLOCKS: usize = 8;

/// Answers what the checks of searches ask, in every function.
pub fn bisect<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in settled::open(module).filter(|function| function.count_basic_blocks() > 1) {
        bisect_in(context, function).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot answer the check of a search: {error}"))
        })?;
    }
    Ok(())
}

fn bisect_in<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> std::result::Result<(), BuilderError> {
    let builder = context.create_builder();
    for found in Graph::of(function).innermost() {
        let searches: Vec<_> = llvm::phis(found.head).filter_map(|high| Search::of(&found, high)).collect();
        for search in searches {
            for comparison in found.blocks.iter().flat_map(|block| block.get_instructions()).collect::<Vec<_>>() {
                if let Some(answer) = search.answer(&builder, &found, comparison)? {
                    llvm::replace_uses(comparison, answer.into());
                }
            }
        }
    }
    Ok(())
}

/// A part of a slice that becomes smaller in each round of a loop, and is not empty in any.
struct Search<'ctx> {
    /// Where it begins.
    low: IntValue<'ctx>,
    /// Where it ends.
    high: IntValue<'ctx>,
    /// Where it ends at first.
    first: IntValue<'ctx>,
}

impl<'ctx> Search<'ctx> {
    /// Of a loop, and the phi of where its part ends.
    fn of(found: &Loop<'ctx>, high: InstructionValue<'ctx>) -> Option<Self> {
        let [latch] = found.latches[..] else { return None };
        let high = IntValue::try_from(high).ok()?;
        let (BasicValueEnum::IntValue(first), BasicValueEnum::IntValue(next)) = found.incoming(high)? else {
            return None;
        };
        // The phis of which the loop goes on by the next numbers, and was entered by the first.
        let goes_on = conditions_of_order(latch, found.head);
        llvm::phis(found.head).find_map(|phi| {
            let low = IntValue::try_from(phi).ok()?;
            let (BasicValueEnum::IntValue(first_low), BasicValueEnum::IntValue(next_low)) = found.incoming(low)? else {
                return None;
            };
            let search = Self { low, high, first };
            let is_one = goes_on.contains(&(next_low, next))
                && is_entered_by(found, first_low, first)
                && search.becomes_less(found, next, MOST_STEPS);
            is_one.then_some(search)
        })
    }

    /// Whether a number is in the middle of the part.
    fn is_middle(&self, number: IntValue<'ctx>) -> bool {
        let halved = |value: IntValue<'ctx>, opcode| {
            let half = value.as_instruction_value().filter(|half| half.get_opcode() == Op::LShr)?;
            let by_two = llvm::int_operand(half, 1)?.get_zero_extended_constant() == Some(1);
            llvm::int_operand(half, 0)?.as_instruction_value().filter(|whole| by_two && whole.get_opcode() == opcode)
        };
        let are = |from: InstructionValue<'ctx>, one, other| {
            (llvm::int_operand(from, 0), llvm::int_operand(from, 1)) == (Some(one), Some(other))
        };
        if let Some(sum) = halved(number, Op::Add) {
            let is_whole = are(sum, self.low, self.high) || are(sum, self.high, self.low);
            return is_whole && llvm::has_no_unsigned_wrap(sum);
        }
        let is_half = |value| halved(value, Op::Sub).is_some_and(|way| are(way, self.high, self.low));
        number.as_instruction_value().filter(|sum| sum.get_opcode() == Op::Add).is_some_and(|sum| {
            let parts = (llvm::int_operand(sum, 0), llvm::int_operand(sum, 1));
            let (Some(one), Some(other)) = parts else { return false };
            one == self.low && is_half(other) || other == self.low && is_half(one)
        })
    }

    /// Whether what the part ends at next is a middle, or where it ends.
    fn becomes_less(&self, found: &Loop<'ctx>, next: IntValue<'ctx>, steps: u32) -> bool {
        if next == self.high || self.is_middle(next) {
            return true;
        }
        let Some(from) = next.as_instruction_value().filter(|_| steps > 0) else { return false };
        let is_one = |value| match value {
            BasicValueEnum::IntValue(value) => self.becomes_less(found, value, steps - 1),
            _ => false,
        };
        match from.get_opcode() {
            Op::Select => {
                [1, 2].into_iter().all(|index| llvm::int_operand(from, index).is_some_and(|value| is_one(value.into())))
            }
            // Another phi of the head is a number of the round before.
            Op::Phi => {
                from.get_parent().is_some_and(|block| block != found.head && found.contains(block))
                    && llvm::incoming(from).into_iter().all(|(value, _)| is_one(value))
            }
            _ => false,
        }
    }

    /// What a comparison is known to say.
    fn answer(
        &self,
        builder: &Builder<'ctx>,
        found: &Loop<'ctx>,
        comparison: InstructionValue<'ctx>,
    ) -> std::result::Result<Option<IntValue<'ctx>>, BuilderError> {
        let Some(predicate) = comparison.get_icmp_predicate() else { return Ok(None) };
        let (Some(left), Some(right)) = (llvm::int_operand(comparison, 0), llvm::int_operand(comparison, 1)) else {
            return Ok(None);
        };
        let (middle, len, is_below) = match predicate {
            IntPredicate::ULT => (left, right, true),
            IntPredicate::UGE => (left, right, false),
            IntPredicate::UGT => (right, left, true),
            IntPredicate::ULE => (right, left, false),
            _ => return Ok(None),
        };
        if !self.is_middle(middle) || !found.is_invariant(len.into()) {
            return Ok(None);
        }
        if is_at_most(self.first, len, MOST_STEPS) {
            let condition = len.get_type().get_context().bool_type();
            return Ok(Some(condition.const_int(u64::from(is_below), false)));
        }
        if is_one_less(self.first, len) {
            builder.position_before(&comparison);
            let predicate = if is_below { IntPredicate::NE } else { IntPredicate::EQ };
            return builder.build_int_compare(predicate, len, len.get_type().const_zero(), "").map(Some);
        }
        Ok(None)
    }
}

/// Whether a loop is only entered where a number is below another one.
fn is_entered_by<'ctx>(found: &Loop<'ctx>, low: IntValue<'ctx>, high: IntValue<'ctx>) -> bool {
    let is_start = low.get_zero_extended_constant() == Some(0);
    let mut block = found.head;
    for _ in 0..MOST_BLOCKS {
        let mut above =
            llvm::predecessors(block).into_iter().filter(|from| block != found.head || !found.contains(*from));
        let (Some(from), None) = (above.next(), above.next()) else { return false };
        if conditions_of_order(from, block).contains(&(low, high)) || is_start && is_not_zero(from, block, high) {
            return true;
        }
        block = from;
    }
    false
}

/// Whether a branch says that a number is not 0.
fn is_not_zero<'ctx>(from: llvm::BasicBlock<'ctx>, to: llvm::BasicBlock<'ctx>, number: IntValue<'ctx>) -> bool {
    let Some(end) = from.get_terminator() else { return false };
    let Some((then, other)) = llvm::branch_targets(end) else { return false };
    let compared = llvm::int_operand(end, 0).and_then(|condition| condition.as_instruction_value());
    compared.is_some_and(|compared| {
        let leads = match compared.get_icmp_predicate() {
            Some(IntPredicate::EQ) => other,
            Some(IntPredicate::NE) => then,
            _ => return false,
        };
        then != other
            && leads == to
            && llvm::int_operand(compared, 0) == Some(number)
            && llvm::int_operand(compared, 1).and_then(IntValue::get_zero_extended_constant) == Some(0)
    })
}

/// Whether a number is another one, the smaller of that and something, or a part of it. LLVM may have written a first round
/// before the loop, which then begins with one of two such numbers.
fn is_at_most<'ctx>(number: IntValue<'ctx>, most: IntValue<'ctx>, steps: u32) -> bool {
    let Some(from) = number.as_instruction_value().filter(|_| number != most && steps > 0) else {
        return number == most;
    };
    let is = |index| llvm::int_operand(from, index).is_some_and(|value| is_at_most(value, most, steps - 1));
    match from.get_opcode() {
        Op::Select => is(1) && is(2),
        Op::LShr => is(0),
        _ => llvm::calls(from, &["llvm.umin."]) && (is(0) || is(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A search that begins with these, after the stage.
    fn searched(high: &str, guard: &str, middle: &str, new_high: &str, goes_on: &str) -> String {
        let text = format!(
            "declare i64 @llvm.umin.i64(i64, i64)
            define i64 @f(ptr %sorted, i64 %len, i64 %other, i32 %key) {{
            entry: %less = add nsw i64 %len, -1
              %smaller = call i64 @llvm.umin.i64(i64 %other, i64 %len)
              %first.half = lshr i64 %smaller, 1
              %is.more = icmp ugt i64 %other, 9
              %one.of.two = select i1 %is.more, i64 %len, i64 %first.half
              %one.of.others = select i1 %is.more, i64 %other, i64 %len
              {guard}
            before: br label %loop
            loop: %high = phi i64 [ {high}, %before ], [ %new.high, %look ]
              %low = phi i64 [ 0, %before ], [ %new.low, %look ]
              %sum = add nuw i64 %low, %high
              %plain = add i64 %low, %high
              %way = sub i64 %high, %low
              %half = lshr i64 %way, 1
              %mid = {middle}
              %in = icmp ult i64 %mid, %len
              br i1 %in, label %look, label %panic
            look: %at = getelementptr i32, ptr %sorted, i64 %mid
              %x = load i32, ptr %at
              %is = icmp ult i32 %x, %key
              %next = add i64 %mid, 1
              %new.low = select i1 %is, i64 %next, i64 %low
              %new.high = {new_high}
              %go = {goes_on}
              br i1 %go, label %loop, label %end
            panic: unreachable
            end: ret i64 %low
            }}"
        );
        let context = Context::create();
        let module =
            parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        bisect(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    const ANY: &str =
        "%some = icmp ne i64 %len, 0\n br i1 %some, label %before, label %end.early\n end.early: ret i64 0";
    const SUM: &str = "lshr i64 %sum, 1";
    const WAY: &str = "add i64 %low, %half";
    const CHOICE: &str = "select i1 %is, i64 %high, i64 %mid";
    const GO: &str = "icmp ult i64 %new.low, %new.high";

    #[test]
    fn a_search_asks_nothing() {
        let below = |high: &str| {
            format!(
                "%some = icmp ult i64 0, {high}\n br i1 %some, label %before, label %end.early\n end.early: ret i64 0"
            )
        };
        for (high, guard) in [
            ("%len", ANY),
            ("%len", &below("%len")),
            ("%smaller", &below("%smaller")),
            ("%one.of.two", &below("%one.of.two")),
        ] {
            for middle in [SUM, WAY] {
                let ir = searched(high, guard, middle, CHOICE, GO);
                assert!(ir.contains("br i1 true, label %look"), "{ir}");
            }
        }
        let ir = searched("%less", &below("%less"), WAY, CHOICE, GO);
        assert!(ir.contains("icmp ne i64 %len, 0") && !ir.contains("br i1 %in"), "{ir}");
    }

    #[test]
    fn others_ask() {
        let free = "br label %before";
        for (high, guard, middle, new_high, goes_on) in [
            ("%len", free, SUM, CHOICE, GO),
            ("%other", ANY, SUM, CHOICE, GO),
            (
                "%one.of.others",
                "%in.others = icmp ult i64 0, %one.of.others\n br i1 %in.others, label %before, label %end.early\n end.early: ret i64 0",
                SUM,
                CHOICE,
                GO,
            ),
            ("%less", ANY, WAY, CHOICE, GO),
            ("%len", ANY, "lshr i64 %plain, 1", CHOICE, GO),
            ("%len", ANY, "lshr i64 %sum, 2", CHOICE, GO),
            ("%len", ANY, "add i64 %low, %way", CHOICE, GO),
            ("%len", ANY, SUM, "select i1 %is, i64 %high, i64 %next", GO),
            ("%len", ANY, SUM, CHOICE, "icmp ule i64 %new.low, %new.high"),
            ("%len", ANY, SUM, CHOICE, "icmp slt i64 %new.low, %new.high"),
            ("%len", ANY, SUM, CHOICE, "icmp ult i64 %low, %new.high"),
        ] {
            let ir = searched(high, guard, middle, new_high, goes_on);
            assert!(ir.contains("br i1 %in"), "{high} {guard} {middle} {new_high} {goes_on}: {ir}");
        }
    }
}
