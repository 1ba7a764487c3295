//! How often a loop runs that ends when a counter is equal to a bound, as those do that LLVM has unrolled.
//!
//! ```text
//! loop: %k = phi i64 [ 0, %before ], [ %next, %loop ]            ; from 0 to the largest %bound, less 4
//!       %x = load float, ptr (getelementptr inbounds float, ptr %from, i64 %k)
//!       %next = add i64 %k, 4
//!       br i1 (icmp eq i64 %next, %bound), label %end, label %loop
//! ```
//!
//! Taken by itself, the counter may jump over the bound, come round, and so be any number. But not where each round
//! loads from an address that grows by `d` bytes, of an index `inbounds`: the addresses of all rounds lie in one
//! object, which has less than 2^63 bytes. Two that follow each other differ by `d` and by less than 2^63, hence each
//! is `d` above the last, and there are at most 2^63 / `d` + 1 of them. A counter that begins at a small constant and
//! grows by no more than `d` has not come round by then, so it was never above the bound: a loop that jumped over it
//! would load from outside of its object, which nothing defines. So there are at most (bound - first) / step rounds,
//! for every other number that each round adds to as well.
//!
//! The loop is one block, and does nothing else that could end it or that others see.
//!
//! Where the bound is at or above the first number that is compared with it, and a multiple of the step away, the
//! counter meets it and cannot have come round before. So a loop has no more rounds than that, whatever its blocks do
//! and where else it ends, if it is asked on every way round, at the end or before, and the loop goes on by the other
//! way alone: `(0..n)` of which a branch has told that `n` is not 0, or four rounds at a time up to a multiple of four.
//! That is known of their ranges, or of a branch before the loop that compares the two. Then any phi that each round
//! adds numbers to which are not negative lies between the first one and so many of the largest.

use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue,
};

use super::ranges::{Facts, Interval, Ranges, constant};

/// The highest number at which a counter may begin, and by which it may grow.
const MOST: i128 = 1 << 31;

/// How many branches before a loop are looked at.
const MOST_BRANCHES: usize = 16;

/// How many numbers a round adds to a phi.
const MOST_TERMS: usize = 8;

/// Of a phi that each round adds to.
struct Counted<'ctx> {
    first: IntValue<'ctx>,
    /// The block before the loop.
    before: BasicBlock<'ctx>,
    /// The block that jumps back.
    latch: BasicBlock<'ctx>,
    next: IntValue<'ctx>,
    step: i128,
}

impl<'ctx> Counted<'ctx> {
    /// The next number is computed of the phi, whose block is therefore on every way to where that number comes from: the
    /// jump from there goes back.
    fn of(phi: InstructionValue<'ctx>) -> Option<Self> {
        let incoming = llvm::incoming(phi);
        let [one, other] = incoming[..] else { return None };
        let ((first, before), (next, latch)) = match (grown(phi, one.0), grown(phi, other.0)) {
            (None, Some(_)) => (one, other),
            (Some(_), None) => (other, one),
            _ => return None,
        };
        let BasicValueEnum::IntValue(first) = first else { return None };
        let (next, step) = grown(phi, next)?;
        Some(Self { first, before, latch, next, step })
    }
}

/// What a phi becomes by a constant step.
fn grown<'ctx>(phi: InstructionValue<'ctx>, next: BasicValueEnum<'ctx>) -> Option<(IntValue<'ctx>, i128)> {
    let BasicValueEnum::IntValue(next) = next else { return None };
    let (from, step) = sum_with_constant(next)?;
    (from == phi && (1..=MOST).contains(&step)).then_some((next, step))
}

impl<'ctx> Ranges<'_, 'ctx> {
    /// Between which numbers a phi lies that grows by a constant in each round, if its loop is known to end.
    pub(super) fn counted(&self, phi: InstructionValue<'ctx>, steps: u32) -> Option<Interval> {
        let counted = Counted::of(phi)?;
        let head = phi.get_parent()?;
        let by_loads = if counted.latch == head { self.rounds_of_loads(head, steps) } else { None };
        let most = by_loads.or_else(|| self.rounds_to_bound(head, counted.latch, steps))?;
        let first = self.look(counted.first, &self.facts(counted.before), steps);
        Some(Interval::new(first.low, first.high + (most - 1) * counted.step))
    }

    /// How often a loop of one block runs at most, each time it is reached, because of what it loads.
    fn rounds_of_loads(&self, block: BasicBlock<'ctx>, steps: u32) -> Option<i128> {
        let (next, bound) = met(block, block)?;
        if !block.get_instructions().all(is_quiet) {
            return None;
        }
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

    /// How many rounds a loop has at most that begins with a block and jumps back from another, if it ends where a counter
    /// meets a bound that is a multiple of the step above it.
    fn rounds_to_bound(&self, head: BasicBlock<'ctx>, latch: BasicBlock<'ctx>, steps: u32) -> Option<i128> {
        let (compared, bound) = met(head, latch).or_else(|| self.met_before(head, latch))?;
        let from = compared.as_instruction_value()?;
        let (counter, ahead) = if from.get_opcode() == Op::Phi { (from, 0) } else { sum_with_constant(compared)? };
        if counter.get_opcode() != Op::Phi || counter.get_parent() != Some(head) {
            return None;
        }
        let counted = Counted::of(counter).filter(|counted| counted.latch == latch)?;
        // What is computed before the loop is the same in all rounds.
        let is_before =
            |from: InstructionValue<'ctx>| from.get_parent().is_some_and(|block| self.is_above(block, head));
        if !bound.as_instruction_value().is_none_or(is_before) || !is_met(&counted, ahead, bound) {
            return None;
        }
        let mut facts = self.facts(counted.before);
        self.learn_from_edge(counted.before, head, &mut facts, steps);
        let (first, last) = (self.look(counted.first, &facts, steps), self.look(bound, &facts, steps));
        let way = Interval::new(last.low - first.high - ahead, last.high - first.low - ahead);
        let is_told = || {
            let are_positive = first.low >= 0 && last.low >= 0;
            // Where the first number is compared itself, it may be the bound.
            let or_equal = ahead == 0;
            let way = (counted.before, head);
            are_positive && (0..=1).contains(&ahead) && self.is_told_below(counted.first, bound, or_equal, way)
        };
        let is_ahead = way.low >= 0 || is_told();
        (is_ahead && way.high >= 0).then_some(way.high / counted.step + 1)
    }

    /// What a loop compares in a block on every way round, and with which bound, if it ends there where both are equal.
    fn met_before(&self, head: BasicBlock<'ctx>, latch: BasicBlock<'ctx>) -> Option<(IntValue<'ctx>, IntValue<'ctx>)> {
        let above = std::iter::successors(Some(latch), |block| self.graph.dominator(*block).filter(|_| *block != head));
        above.take(MOST_BRANCHES).find_map(|next| {
            let mut before = self.graph.before(next);
            let from = before.next().filter(|_| next != head && before.next().is_none())?;
            met(next, from)
        })
    }

    /// Whether a block is on every way to another one.
    fn is_above(&self, block: BasicBlock<'ctx>, other: BasicBlock<'ctx>) -> bool {
        block != other && self.graph.is_reached_by_way_of(other, block)
    }

    /// Whether a branch on the way from one block to another has compared two numbers that are not negative, and the first
    /// was below, or not above.
    fn is_told_below(
        &self,
        small: IntValue<'ctx>,
        large: IntValue<'ctx>,
        or_equal: bool,
        (before, head): (BasicBlock<'ctx>, BasicBlock<'ctx>),
    ) -> bool {
        let above = std::iter::successors(Some(before), |block| self.graph.dominator(*block));
        let only_way = |block| {
            let mut before = self.graph.before(block);
            before.next().filter(|_| before.next().is_none()).map(|from| (from, block))
        };
        let edges = std::iter::once((before, head)).chain(above.take(MOST_BRANCHES).filter_map(only_way));
        edges.into_iter().any(|(from, to)| {
            let end = from.get_terminator().filter(|end| end.get_opcode() == Op::Br);
            let Some((end, (then, other))) = end.and_then(|end| Some((end, llvm::branch_targets(end)?))) else {
                return false;
            };
            let condition = llvm::int_operand(end, 0).and_then(|condition| condition.as_instruction_value());
            then != other
                && condition.is_some_and(|condition| says_below(condition, then == to, or_equal, (small, large)))
        })
    }

    /// Between which numbers a phi lies that each round adds to, if it is known how many rounds there are at most.
    pub(super) fn summed(&self, phi: InstructionValue<'ctx>, steps: u32) -> Option<Interval> {
        let incoming = llvm::incoming(phi);
        let [one, other] = incoming[..] else { return None };
        let ((first, before), (next, latch)) = match (terms(phi, one.0), terms(phi, other.0)) {
            (None, Some(_)) => (one, other),
            (Some(_), None) => (other, one),
            _ => return None,
        };
        let rounds = self.rounds_to_bound(phi.get_parent()?, latch, steps)?;
        let BasicValueEnum::IntValue(first) = first else { return None };
        let facts = self.facts(latch);
        let terms = terms(phi, next)?;
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
        let (left, right) = (llvm::int_operand(at, 0)?, llvm::int_operand(at, 1)?);
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

/// What is compared where a block jumps to another one, and with which bound, if it goes elsewhere where both are equal.
fn met<'ctx>(next: BasicBlock<'ctx>, from: BasicBlock<'ctx>) -> Option<(IntValue<'ctx>, IntValue<'ctx>)> {
    let end = from.get_terminator()?;
    let (then, other) = llvm::branch_targets(end)?;
    let comparison = llvm::int_operand(end, 0)?.as_instruction_value().filter(|from| from.get_opcode() == Op::ICmp)?;
    let goes_on = match comparison.get_icmp_predicate()? {
        IntPredicate::EQ => other,
        IntPredicate::NE => then,
        _ => return None,
    };
    let compared = Some((llvm::int_operand(comparison, 0)?, llvm::int_operand(comparison, 1)?));
    compared.filter(|_| goes_on == next && then != other)
}

/// Whether a counter that does not pass its bound is equal to it at some time.
fn is_met(counted: &Counted<'_>, ahead: i128, bound: IntValue<'_>) -> bool {
    let Some(first) = constant(counted.first) else { return counted.step == 1 };
    let is_multiple = |number: i128| number % counted.step == 0;
    match constant(bound) {
        Some(bound) => is_multiple(bound - first - ahead),
        None => counted.step == 1 || is_multiple(first + ahead) && has_factor(bound, counted.step),
    }
}

/// Whether a number is a multiple of a power of two.
fn has_factor(number: IntValue<'_>, factor: i128) -> bool {
    let Some(from) = number.as_instruction_value().filter(|_| factor.count_ones() == 1) else { return false };
    let second = llvm::int_operand(from, 1).and_then(constant);
    match (from.get_opcode(), second) {
        (Op::And, Some(mask)) => mask % factor == 0,
        (Op::Shl, Some(by)) => (0..32).contains(&by) && (1 << by) % factor == 0,
        _ => false,
    }
}

/// Whether a condition that holds, or does not, says of two numbers that are not negative that the first is below, or not above.
fn says_below<'ctx>(
    condition: InstructionValue<'ctx>,
    holds: bool,
    or_equal: bool,
    (small, large): (IntValue<'ctx>, IntValue<'ctx>),
) -> bool {
    use IntPredicate as P;
    if condition.get_opcode() != Op::ICmp {
        return false;
    }
    let (Some(left), Some(right), Some(predicate)) =
        (llvm::int_operand(condition, 0), llvm::int_operand(condition, 1), condition.get_icmp_predicate())
    else {
        return false;
    };
    // Where the left one is below, or not above, it is the small one; where the right one is, that is.
    let (is_left, is_strict) = match predicate {
        P::ULT | P::SLT => (holds, holds),
        P::UGT | P::SGT => (!holds, holds),
        P::UGE | P::SGE => (!holds, !holds),
        P::ULE | P::SLE => (holds, !holds),
        P::EQ | P::NE => return false,
    };
    let ordered = if is_left { (left, right) } else { (right, left) };
    (is_strict || or_equal) && ordered == (small, large)
}

/// What a constant is added to, and which.
fn sum_with_constant(sum: IntValue<'_>) -> Option<(InstructionValue<'_>, i128)> {
    let sum = sum.as_instruction_value().filter(|sum| sum.get_opcode() == Op::Add)?;
    Some((llvm::int_operand(sum, 0)?.as_instruction_value()?, constant(llvm::int_operand(sum, 1)?)?))
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
    use super::*;
    use crate::hash::QuickMap;
    use crate::llvm::{Context, parse_ir};
    use crate::loops::Graph;

    const ANY: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);

    /// Between which numbers each phi of a function lies, of whose parameters some are below 2^15.
    fn ranges_of_phis(text: &str, small: &[u32]) -> Vec<(i128, i128)> {
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        let param = |at: &u32| function.get_nth_param(*at).unwrap().into_int_value();
        let given = small.iter().map(|at| (param(at), Interval::new(0, (1 << 15) - 1))).collect();
        let (graph, same) = (Graph::of(function), QuickMap::default());
        let ranges = Ranges::of_function(&graph, &given, &same);
        let phis = llvm::instructions(function).filter(|from| from.get_opcode() == Op::Phi);
        phis.map(|phi| ranges.in_block(llvm::result(phi).into_int_value(), phi.get_parent().unwrap()))
            .map(|range| (range.low, range.high))
            .collect()
    }

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
        let found = ranges_of_phis(&text, &[1]);
        [found[0], found[1]]
    }

    const INSIDE: &str = "getelementptr inbounds float, ptr %from, i64 %k";

    #[test]
    fn what_loads_ends_at_its_bound() {
        // Of %n - 9 the multiple of four below: from -12 to 32756.
        assert_eq!(ranges("0", INSIDE, "", "eq i64 %next, %bound"), [(0, 32752), (5, 5 + 32752 / 4)]);
        assert_eq!(ranges("8", INSIDE, "", "eq i64 %next, %n"), [(8, 8 + (32767 - 8) / 4 * 4 - 4), (5, 5 + 8188)]);
    }

    #[test]
    fn a_loop_may_end_in_its_middle() {
        let of = |asks: &str, bound: &str| {
            let text = format!(
                "define void @f(ptr %to, i1 %c) {{
                entry: br label %loop
                loop: %k = phi i64 [ 0, %entry ], [ %next, %again ]
                  store volatile i32 7, ptr %to
                  %ends = icmp eq i64 %k, {bound}
                  {asks}
                again: %next = add i64 %k, 2
                  br label %loop
                out: ret void
                }}"
            );
            ranges_of_phis(&text, &[])[0]
        };
        let plain = "br i1 %ends, label %out, label %again";
        assert_eq!(of(plain, "510"), (0, 510));
        // It jumps over the bound; it goes on all the same; it does not ask in every round.
        for (asks, bound) in [
            (plain, "511"),
            ("br i1 %ends, label %other, label %again\nother: br i1 %c, label %out, label %again", "510"),
            ("br i1 %c, label %asks, label %again\nasks: br i1 %ends, label %out, label %again", "510"),
        ] {
            assert_eq!(of(asks, bound), ANY, "{asks}");
        }
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
        ranges_of_phis(&text, &[1])[1]
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

    /// Between which numbers `%k` lies in a loop of several blocks, which loads only where a condition holds; `%n` and `%m`
    /// are below 2^15.
    fn bounded(before: &str, first: &str, step: &str, end: &str) -> (i128, i128) {
        let text = format!(
            "define void @f(ptr %from, i64 %n, i64 %m, i64 %any, i1 %c) {{
            entry: {before}
            loop:
              %k = phi i64 [ {first}, %before ], [ %next, %latch ]
              br i1 %c, label %loads, label %latch
            loads:
              %at = getelementptr float, ptr %from, i64 %k
              %x = load float, ptr %at
              br label %latch
            latch:
              %next = add i64 %k, {step}
              %late = add i64 %any, 0
              %ends = icmp {end}
              br i1 %ends, label %end, label %loop
            end: ret void
            }}"
        );
        ranges_of_phis(&text, &[1, 2])[0]
    }

    const NOT_0: &str = "%none = icmp eq i64 %n, 0\n br i1 %none, label %end, label %before\n before: br label %loop";
    const FOUR: &str = "%few = icmp ult i64 %n, 4\n br label %before\n before: %fours = and i64 %n, -4
        br i1 %few, label %end, label %loop";
    const ORDER: &str = "%less = icmp ult i64 %m, %n\n br i1 %less, label %before, label %end\n before: br label %loop";

    const NOT_ABOVE: &str = "%in = icmp uge i64 %n, %m\n br i1 %in, label %before, label %end\n before: br label %loop";
    const ABOVE: &str = "%out = icmp ugt i64 %m, %n\n br i1 %out, label %end, label %before\n before: br label %loop";

    #[test]
    fn a_counter_meets_a_bound_above_it() {
        for (before, first, step, end, expected) in [
            (NOT_0, "0", "1", "eq i64 %next, %n", (0, 32766)),
            // It is compared before it grows.
            (NOT_0, "1", "1", "eq i64 %k, %n", (1, 32767)),
            (FOUR, "0", "4", "eq i64 %next, %fours", (0, 32760)),
            (ORDER, "%m", "1", "eq i64 %next, %n", (0, 65532)),
            // The first number may be the bound.
            (NOT_ABOVE, "%m", "1", "eq i64 %k, %n", (0, 65534)),
            (ABOVE, "%m", "1", "eq i64 %k, %n", (0, 65534)),
        ] {
            assert_eq!(bounded(before, first, step, end), expected, "{before}, {first}, {step}, {end}");
        }
    }

    #[test]
    fn a_counter_may_pass_other_bounds() {
        let free = "br label %before\n before: br label %loop";
        let order = |condition: &str| ORDER.replace("icmp ult i64 %m, %n", condition);
        for (before, first, step, end) in [
            // The bound may be 0, or not be a multiple of the step.
            (free.to_owned(), "0", "1", "eq i64 %next, %n"),
            (NOT_0.to_owned(), "0", "2", "eq i64 %next, %n"),
            (NOT_0.to_owned(), "1", "1", "eq i64 %next, %n"),
            (FOUR.replace("-4", "-2"), "0", "4", "eq i64 %next, %fours"),
            (FOUR.to_owned(), "1", "4", "eq i64 %next, %fours"),
            (FOUR.replace("label %end, label %loop", "label %loop, label %end"), "0", "4", "eq i64 %next, %fours"),
            // The bound may be below, or another one in each round.
            (order("icmp ule i64 %m, %n"), "%m", "1", "eq i64 %next, %n"),
            (order("icmp ugt i64 %m, %n"), "%m", "1", "eq i64 %next, %n"),
            (ORDER.to_owned(), "%m", "2", "eq i64 %next, %n"),
            (NOT_ABOVE.to_owned(), "%m", "1", "eq i64 %next, %n"),
            (NOT_ABOVE.replace("uge", "ule"), "%m", "1", "eq i64 %k, %n"),
            (ABOVE.replace("ugt", "ult"), "%m", "1", "eq i64 %k, %n"),
            (NOT_0.to_owned(), "0", "1", "eq i64 %next, %late"),
            (NOT_0.to_owned(), "0", "-1", "eq i64 %next, %n"),
        ] {
            let range = bounded(&before, first, step, end);
            assert!(range == ANY || range.1 > 1 << 60, "{before}, {first}, {step}, {end}: {range:?}");
        }
    }
}
