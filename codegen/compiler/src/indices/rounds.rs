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
//!
//! Where first number, step and bound are constants, and the bound is a multiple of the step away, a loop has no more rounds
//! than that, whatever its blocks do and where else it ends. Then a phi that each round adds numbers to which are not
//! negative lies between the first one and so many of the largest.

use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue,
};

use super::ranges::{Facts, Interval, Ranges, constant, integer};

/// The highest number at which a counter may begin, and by which it may grow.
const MOST: i128 = 1 << 31;

/// How many numbers a round adds to a phi.
const MOST_TERMS: usize = 8;

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

    /// Between which numbers a phi lies that each round adds to, if a constant says how many rounds there are at most.
    pub(super) fn summed(&self, phi: InstructionValue<'ctx>, steps: u32) -> Option<Interval> {
        let incoming = llvm::incoming(phi);
        let [one, other] = incoming[..] else { return None };
        let ((first, before), (next, latch)) = match (terms(phi, one.0), terms(phi, other.0)) {
            (None, Some(_)) => (one, other),
            (Some(_), None) => (other, one),
            _ => return None,
        };
        let rounds = constant_rounds(phi.get_parent()?, latch)?;
        let BasicValueEnum::IntValue(first) = first else { return None };
        let facts = self.facts(latch);
        let terms = terms(phi, next)?;
        // A counter costs nothing in 64 bits: it becomes a part of addresses.
        if terms.iter().all(|term| term.is_const()) {
            return None;
        }
        let mut most = 0;
        for term in terms {
            let range = self.look(term, &facts, steps);
            most += Some(range.high).filter(|high| range.low >= 0 && *high <= MOST)?;
        }
        let first = self.look(first, &self.facts(before), steps);
        Some(Interval::new(first.low, first.high + (rounds - 1) * most))
    }
}

/// What is added to a phi to make a number of it.
fn terms<'ctx>(phi: InstructionValue<'ctx>, sum: BasicValueEnum<'ctx>) -> Option<Vec<IntValue<'ctx>>> {
    let mut at = sum.as_instruction_value()?;
    let mut found = Vec::new();
    while at != phi {
        let (left, right) = (integer(at, 0)?, integer(at, 1)?);
        if at.get_opcode() != Op::Add || found.len() == MOST_TERMS {
            return None;
        }
        let leads = |value: IntValue<'ctx>| {
            let from = value.as_instruction_value();
            from.filter(|from| *from == phi || from.get_opcode() == Op::Add)
        };
        let (next, term) = match (leads(left), leads(right)) {
            (Some(next), None) => (next, right),
            (None, Some(next)) => (next, left),
            _ => return None,
        };
        found.push(term);
        at = next;
    }
    (!found.is_empty()).then_some(found)
}

/// How many rounds a loop has at most that begins with a block, and jumps back from another.
fn constant_rounds(head: BasicBlock<'_>, latch: BasicBlock<'_>) -> Option<i128> {
    let end = latch.get_terminator()?;
    let (then, other) = llvm::branch_targets(end)?;
    let comparison = integer(end, 0)?.as_instruction_value().filter(|from| from.get_opcode() == Op::ICmp)?;
    let goes_on = match comparison.get_icmp_predicate()? {
        IntPredicate::EQ => other,
        IntPredicate::NE => then,
        _ => return None,
    };
    let (compared, bound) = (integer(comparison, 0)?, constant(integer(comparison, 1)?)?);
    let (counter, ahead) = sum_with_constant(compared)?;
    if goes_on != head || then == other || counter.get_opcode() != Op::Phi || counter.get_parent() != Some(head) {
        return None;
    }
    let incoming = llvm::incoming(counter);
    let (next, _) = *incoming.iter().find(|(_, from)| *from == latch)?;
    let BasicValueEnum::IntValue(next) = next else { return None };
    let (from, step) = sum_with_constant(next)?;
    let [first] = incoming.iter().filter(|(_, from)| *from != latch).map(|(value, _)| *value).collect::<Vec<_>>()[..]
    else {
        return None;
    };
    let BasicValueEnum::IntValue(first) = first else { return None };
    let way = bound - constant(first)? - ahead;
    let is_met = from == counter && (1..=MOST).contains(&step) && (0..=MOST).contains(&way) && way % step == 0;
    is_met.then_some(way / step + 1)
}

/// What a constant is added to, and which.
fn sum_with_constant(sum: IntValue<'_>) -> Option<(InstructionValue<'_>, i128)> {
    let sum = sum.as_instruction_value().filter(|sum| sum.get_opcode() == Op::Add)?;
    Some((integer(sum, 0)?.as_instruction_value()?, constant(integer(sum, 1)?)?))
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
        let same = HashMap::new();
        let ranges = Ranges::of_function(&graph, &given, &same);
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

    /// Between which numbers `%at` lies, to which each round of a loop with a check adds `added`; `%n` is below 2^15.
    fn summed(counter: (&str, &str, &str), first: &str, added: &str) -> (i128, i128) {
        let (start, step, end) = counter;
        let text = format!(
            "define i64 @f(ptr %from, i64 %n, i64 %any, i16 %small, i1 %c) {{
            entry: %byte = lshr i16 %small, 8
              %few = zext i16 %byte to i64
              br label %loop
            loop:
              %k = phi i64 [ {start}, %entry ], [ %next, %inside ]
              %at = phi i64 [ {first}, %entry ], [ %sum, %inside ]
              %checked = lshr i64 %at, 5
              %fine = icmp ult i64 %checked, %n
              br i1 %fine, label %inside, label %panic
            inside:
              {added}
              %ahead = add i64 %k, 1
              %next = add i64 %k, {step}
              {end}
            panic: ret i64 1
            end: ret i64 0
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        let n = function.get_nth_param(1).unwrap().into_int_value();
        let given = HashMap::from([(n, Interval::new(0, (1 << 15) - 1))]);
        let graph = Graph::of(function);
        let same = HashMap::new();
        let ranges = Ranges::of_function(&graph, &given, &same);
        let block = function.get_basic_blocks()[1];
        let phi = llvm::phis(block).nth(1).unwrap();
        let range = ranges.of(llvm::result(phi).into_int_value(), &ranges.facts(block));
        (range.low, range.high)
    }

    const ONCE: &str = "%sum = add i64 %at, %few";
    const UNTIL_32: &str = "%ends = icmp eq i64 %ahead, 32\n br i1 %ends, label %end, label %loop";

    #[test]
    fn a_constant_number_of_rounds_adds_so_much() {
        // Sixteen rounds, the last of which begins after fifteen sums.
        assert_eq!(summed(("1", "2", "br label %loop"), "7", ONCE), ANY, "it does not end");
        assert_eq!(summed(("1", "2", UNTIL_32), "7", ONCE), (7, 7 + 15 * 255));
        let twice = "%half = add i64 %few, %at\n %sum = add i64 %half, %n";
        assert_eq!(summed(("1", "2", UNTIL_32), "%n", twice), (0, 32767 + 15 * (255 + 32767)));
        let until_next = UNTIL_32.replace("%ahead", "%next").replace("icmp eq", "icmp ne");
        let until_next = until_next.replace("label %end, label %loop", "label %loop, label %end");
        assert_eq!(summed(("0", "4", &until_next), "0", ONCE), (0, 7 * 255));
    }

    #[test]
    fn other_sums_may_be_any() {
        for (counter, first, added) in [
            // It jumps over the bound, begins behind it, goes down, ends where something else says so.
            (("0", "2", UNTIL_32), "7", ONCE),
            (("33", "2", UNTIL_32), "7", ONCE),
            (("63", "-2", UNTIL_32), "7", ONCE),
            (("%any", "2", UNTIL_32), "7", ONCE),
            (("1", "%n", UNTIL_32), "7", ONCE),
            (("1", "2", "br i1 %c, label %end, label %loop"), "7", ONCE),
            // Any number, one that may be negative, no sum; what begins anywhere.
            (("1", "2", UNTIL_32), "7", "%sum = add i64 %at, %any"),
            (("1", "2", UNTIL_32), "7", "%less = sub i64 %few, 9\n %sum = add i64 %at, %less"),
            (("1", "2", UNTIL_32), "7", "%sum = mul i64 %at, %few"),
            (("1", "2", UNTIL_32), "7", "%sum = add i64 %at, %at"),
            (("1", "2", UNTIL_32), "%any", ONCE),
        ] {
            let range = summed(counter, first, added);
            assert!(range == ANY || range.1 > 1 << 60, "{counter:?}, {first}, {added}: {range:?}");
        }
    }
}
