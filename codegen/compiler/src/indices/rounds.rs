//! How often a loop runs that ends when a counter is equal to a bound, as those do that LLVM has unrolled.
//!
//! ```text
//! loop: %k = phi i64 [ 0, %before ], [ %next, %loop ]            ; from 0 to the largest %bound, less 4
//!       %x = load float, ptr (getelementptr inbounds float, ptr %from, i64 %k)
//!       %next = add i64 %k, 4
//!       br i1 (icmp eq i64 %next, %bound), label %end, label %loop
//! ```
//!
//! Taken by itself, the counter may jump over the bound, come round, and so be any number. But not where each round loads
//! from an address that grows by `d` bytes, of an index `inbounds`: the addresses of all rounds lie in one object, which has
//! less than 2^63 bytes. Two that follow each other differ by `d` and by less than 2^63, hence each is `d` above the last,
//! and there are at most 2^63 / `d` + 1 of them. A counter that begins at a small constant and grows by no more than `d`
//! has not come round by then, so it was never above the bound: a loop that jumped over it would load from outside of its
//! object, which nothing defines. So there are at most (bound - first) / step rounds, for every other number that each round
//! adds to as well.
//!
//! The loop is one block, and does nothing else that could end it or that others see.

use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue,
};

use super::ranges::{Facts, Interval, Ranges, constant, integer};

/// The highest number at which a counter may begin, and by which it may grow.
const MOST: i128 = 1 << 31;

/// Of a phi that each round adds to.
struct Counted<'ctx> {
    first: IntValue<'ctx>,
    /// The block before the loop.
    before: BasicBlock<'ctx>,
    next: IntValue<'ctx>,
    step: i128,
}

impl<'ctx> Counted<'ctx> {
    fn of(phi: InstructionValue<'ctx>) -> Option<Self> {
        let block = phi.get_parent()?;
        let incoming = llvm::incoming(phi);
        let [one, other] = incoming[..] else { return None };
        let ((first, before), (next, _)) = match (one.1 == block, other.1 == block) {
            (false, true) => (one, other),
            (true, false) => (other, one),
            _ => return None,
        };
        let (BasicValueEnum::IntValue(first), BasicValueEnum::IntValue(next)) = (first, next) else { return None };
        let sum = next.as_instruction_value().filter(|sum| sum.get_opcode() == Op::Add)?;
        let is_phi = integer(sum, 0)?.as_instruction_value() == Some(phi);
        let step = constant(integer(sum, 1)?).filter(|step| is_phi && (1..=MOST).contains(step))?;
        Some(Self { first, before, next, step })
    }
}

impl<'ctx> Ranges<'_, 'ctx> {
    /// Between which numbers a phi lies, if its block is such a loop.
    pub(super) fn counted(&self, phi: InstructionValue<'ctx>, steps: u32) -> Option<Interval> {
        let counted = Counted::of(phi)?;
        let most = self.most_rounds(phi.get_parent()?, steps)?;
        let first = self.look(counted.first, &self.facts(counted.before), steps);
        Some(Interval::new(first.low, first.high + (most - 1) * counted.step))
    }

    /// How often a loop of one block runs at most, each time it is reached.
    fn most_rounds(&self, block: BasicBlock<'ctx>, steps: u32) -> Option<i128> {
        let end = block.get_terminator()?;
        let (then, other) = llvm::branch_targets(end)?;
        let comparison = integer(end, 0)?.as_instruction_value().filter(|from| from.get_opcode() == Op::ICmp)?;
        let goes_on = match comparison.get_icmp_predicate()? {
            IntPredicate::EQ => other,
            IntPredicate::NE => then,
            _ => return None,
        };
        if goes_on != block || then == other || !block.get_instructions().all(is_quiet) {
            return None;
        }
        let (next, bound) = (integer(comparison, 0)?, integer(comparison, 1)?);
        let counter = llvm::phis(block).filter_map(Counted::of).find(|counter| counter.next == next)?;
        let is_same = bound.as_instruction_value().is_none_or(|from| from.get_parent() != Some(block));
        let first = constant(counter.first).filter(|first| is_same && (0..=MOST).contains(first))?;
        let growth = block.get_instructions().filter_map(growth_of_address).max()?;
        let facts: Facts<'ctx> = self.facts(counter.before);
        let bound = self.look(bound, &facts, steps);
        // Below 2^63 in all rounds; or below 2^64, and equal to the bound before 2^63.
        let holds = 2 * counter.step <= growth || counter.step <= growth && bound.low >= 0;
        holds.then(|| ((bound.high - first) / counter.step).max(1))
    }
}

/// Whether an instruction neither ends a loop nor does what others see.
fn is_quiet(instruction: InstructionValue<'_>) -> bool {
    llvm::is_pure(instruction)
        || llvm::is_plain_load(instruction)
        || llvm::is_division(instruction)
        || matches!(instruction.get_opcode(), Op::Phi | Op::Br | Op::Freeze)
}

/// By how many bytes the address of a load grows in each round, if what it is within is known not to change.
fn growth_of_address(load: InstructionValue<'_>) -> Option<i128> {
    if !llvm::is_plain_load(load) {
        return None;
    }
    let address = load.get_operand(0)?.value()?.as_instruction_value()?;
    let (base, size, index) = llvm::element_of(address).filter(|_| llvm::is_in_bounds(address))?;
    let phi = index.as_instruction_value().filter(|phi| phi.get_opcode() == Op::Phi)?;
    let is_within = |block: Option<BasicBlock<'_>>| block.is_some() && block == load.get_parent();
    let is_same = base.as_instruction_value().is_none_or(|from| !is_within(from.get_parent()));
    let counted = Counted::of(phi).filter(|_| is_same && is_within(phi.get_parent()))?;
    (index.get_type().get_bit_width() == 64).then_some(counted.step * i128::from(size))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::llvm::{Context, parse_ir};
    use crate::loops::Graph;

    const ANY: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);

    /// Between which numbers `%k` and `%more` lie; `%n` is below 2^15.
    fn ranges(first: &str, address: &str, more: &str, end: &str) -> [(i128, i128); 2] {
        let text = format!(
            "declare void @anything()
            define void @f(ptr %from, i64 %n, i64 %any, ptr %to) {{
            entry: %short = sub i64 %n, 9
              %bound = and i64 %short, -4
              br label %loop
            loop:
              %k = phi i64 [ {first}, %entry ], [ %next, %loop ]
              %more = phi i64 [ 5, %entry ], [ %more.next, %loop ]
              %at = {address}
              %x = load float, ptr %at
              {more}
              %next = add i64 %k, 4
              %more.next = add i64 %more, 1
              %ends = icmp {end}
              br i1 %ends, label %end, label %loop
            end: ret void
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        let n = function.get_nth_param(1).unwrap().into_int_value();
        let given = HashMap::from([(n, Interval::new(0, (1 << 15) - 1))]);
        let graph = Graph::of(function);
        let ranges = Ranges::of_function(&graph, &given);
        let block = function.get_basic_blocks()[1];
        let phis: Vec<_> = llvm::phis(block).collect();
        [phis[0], phis[1]].map(|phi| {
            let range = ranges.of(llvm::result(phi).into_int_value(), &ranges.facts(block));
            (range.low, range.high)
        })
    }

    const INSIDE: &str = "getelementptr inbounds float, ptr %from, i64 %k";

    #[test]
    fn what_loads_ends_at_its_bound() {
        // Of %n - 9 the multiple of four below: from -12 to 32756.
        assert_eq!(ranges("0", INSIDE, "", "eq i64 %next, %bound"), [(0, 32752), (5, 5 + 32752 / 4)]);
        assert_eq!(ranges("8", INSIDE, "", "eq i64 %next, %n"), [(8, 8 + (32767 - 8) / 4 * 4 - 4), (5, 5 + 8188)]);
    }

    #[test]
    fn others_may_come_round() {
        let by = |address: &str| format!("getelementptr {address}");
        for (first, address, more, end) in [
            ("0", by("float, ptr %from, i64 %k"), "", "eq i64 %next, %bound"),
            // Bytes, and a bound that may be negative: the counter may be above 2^63.
            ("0", by("inbounds i8, ptr %from, i64 %k"), "", "eq i64 %next, %bound"),
            ("0", by("inbounds float, ptr %from, i64 %any"), "", "eq i64 %next, %bound"),
            ("%any", INSIDE.into(), "", "eq i64 %next, %bound"),
            ("-4", INSIDE.into(), "", "eq i64 %next, %bound"),
            ("0", INSIDE.into(), "", "eq i64 %next, %any"),
            ("0", INSIDE.into(), "", "eq i64 %k, %bound"),
            // It may end before, or be seen by others.
            ("0", INSIDE.into(), "call void @anything()", "eq i64 %next, %bound"),
            ("0", INSIDE.into(), "store volatile float %x, ptr %to", "eq i64 %next, %bound"),
        ] {
            let [k, more_range] = ranges(first, &address, more, end);
            assert!(k == ANY || k.1 > 1 << 60, "{first}, {address}, {more}, {end}: {k:?}");
            assert!(more_range == ANY || more_range.1 > 1 << 60, "{first}, {address}, {more}, {end}: {more_range:?}");
        }
    }
}
