//! Between which numbers an integer lies where it is used.
//!
//! An interval is of the number as its type has it: with a sign for 64 bits, since an index may be one below 0 on its way,
//! and without one for fewer. What an operation makes of intervals is computed exactly; if it does not fit into the type,
//! nothing is known. Beside that count the branches that lead to a block, and the conditions that a `select` asks first.

use std::cell::{Cell, RefCell};

use super::checked::Checked;
pub use super::facts::Facts;
pub use super::intervals::Interval;
use crate::hash::QuickMap;
use crate::intrinsics::dimensions;
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue,
    Use,
};
use crate::loops::{Graph, opposite};

/// How deep a value is looked into.
const MOST_STEPS: u32 = 12;

/// How many conditions that are joined are looked through, one in the other.
const MOST_CONDITIONS: u32 = 48;

/// How many users of a number are looked at for a difference.
const MOST_USES: usize = 16;

/// How many facts are kept of a block, the nearest ones.
const MOST_FACTS: usize = 64;

/// How many values are looked at for one question; of further ones nothing is known but their type.
const MOST_LOOKS: u32 = 4000;

/// The intervals of a function's values.
pub struct Ranges<'a, 'ctx> {
    pub(super) graph: &'a Graph<'ctx>,
    /// What is taken for granted of some values everywhere.
    given: &'a QuickMap<IntValue<'ctx>, Interval>,
    /// Of values that are the same number, the one that stands for all.
    same: &'a QuickMap<IntValue<'ctx>, IntValue<'ctx>>,
    at: QuickMap<BasicBlock<'ctx>, Facts<'ctx>>,
    looks: Cell<u32>,
    /// What was found by which facts, and how deep: a number is mostly used more than once by what is made of it.
    known: RefCell<QuickMap<(u64, IntValue<'ctx>, u32), Interval>>,
    found: RefCell<QuickMap<(BasicBlock<'ctx>, IntValue<'ctx>), Interval>>,
}

impl<'a, 'ctx> Ranges<'a, 'ctx> {
    pub fn of_function(
        graph: &'a Graph<'ctx>,
        given: &'a QuickMap<IntValue<'ctx>, Interval>,
        same: &'a QuickMap<IntValue<'ctx>, IntValue<'ctx>>,
    ) -> Self {
        Self::of_blocks(graph, &graph.by_dominance(), given, same)
    }

    /// Those of some of its blocks, each behind the one that is on every way to it. Of others nothing is known.
    pub fn of_blocks(
        graph: &'a Graph<'ctx>,
        blocks: &[BasicBlock<'ctx>],
        given: &'a QuickMap<IntValue<'ctx>, Interval>,
        same: &'a QuickMap<IntValue<'ctx>, IntValue<'ctx>>,
    ) -> Self {
        let (at, looks, known, found) = (QuickMap::default(), Cell::new(0), RefCell::default(), RefCell::default());
        let mut ranges = Self { graph, given, same, at, looks, known, found };
        for block in blocks.iter().copied() {
            ranges.looks.set(0);
            let mut facts = match graph.dominator(block) {
                Some(above) => ranges.at.get(&above).cloned().unwrap_or_default(),
                None => Facts::new(),
            };
            let mut before = graph.before(block);
            if let (Some(from), None) = (before.next(), before.next()) {
                ranges.learn_from_edge(from, block, &mut facts, MOST_STEPS);
            }
            for condition in assumed(block) {
                ranges.follow(condition, true, &mut facts, (MOST_CONDITIONS, MOST_STEPS));
            }
            facts.keep_last(MOST_FACTS);
            ranges.at.insert(block, facts);
            // Of what comes round nothing was known yet.
            ranges.known.borrow_mut().clear();
        }
        ranges
    }

    /// What is known in a block; nothing of one that is never reached.
    pub fn facts(&self, block: BasicBlock<'ctx>) -> Facts<'ctx> {
        self.at.get(&block).cloned().unwrap_or_default()
    }

    /// Whether control may come to a block, as far as branches say.
    pub fn may_reach(&self, block: BasicBlock<'ctx>) -> bool {
        self.at.get(&block).is_none_or(are_possible)
    }

    /// Adds what is known where control goes from one block to another.
    pub(super) fn learn_from_edge(
        &self,
        from: BasicBlock<'ctx>,
        to: BasicBlock<'ctx>,
        facts: &mut Facts<'ctx>,
        steps: u32,
    ) {
        let Some(end) = from.get_terminator().filter(|end| end.get_opcode() == Op::Br) else { return };
        let Some((then, _)) = llvm::branch_targets(end) else { return };
        if let Some(condition) = llvm::int_operand(end, 0) {
            self.follow(condition, then == to, facts, (MOST_CONDITIONS, steps));
        }
    }

    /// Adds what follows from a condition that holds, or does not.
    pub fn learn(&self, condition: IntValue<'ctx>, holds: bool, facts: &mut Facts<'ctx>) {
        self.looks.set(0);
        self.follow(condition, holds, facts, (MOST_CONDITIONS, MOST_STEPS));
    }

    /// The same, with how deep the condition is looked into, and what it compares.
    fn follow(&self, condition: IntValue<'ctx>, holds: bool, facts: &mut Facts<'ctx>, (steps, values): (u32, u32)) {
        let Some(from) = condition.as_instruction_value().filter(|_| steps > 0) else { return };
        let deeper = (steps - 1, values);
        let (first, second) = (llvm::int_operand(from, 0), llvm::int_operand(from, 1));
        match (from.get_opcode(), first, second) {
            (Op::And, Some(first), Some(second)) if holds => {
                self.follow(first, true, facts, deeper);
                self.follow(second, true, facts, deeper);
            }
            (Op::Or, Some(first), Some(second)) if !holds => {
                self.follow(first, false, facts, deeper);
                self.follow(second, false, facts, deeper);
            }
            (Op::Xor, Some(first), Some(second)) if second.get_zero_extended_constant() == Some(1) => {
                self.follow(first, !holds, facts, deeper);
            }
            (Op::Select, Some(first), Some(second)) => {
                let Some(third) = llvm::int_operand(from, 2) else { return };
                if holds && is_bool(third, false) {
                    self.follow(first, true, facts, deeper);
                    self.follow(second, true, facts, deeper);
                } else if !holds && is_bool(second, true) {
                    self.follow(first, false, facts, deeper);
                    self.follow(third, false, facts, deeper);
                }
            }
            (Op::ICmp, Some(left), Some(right)) => {
                if let Some(predicate) = from.get_icmp_predicate() {
                    self.compare(if holds { predicate } else { opposite(predicate) }, left, right, facts, values);
                }
            }
            (Op::FCmp, _, _) => self.learn_of_casts(from, holds, facts, values),
            _ => {}
        }
    }

    fn compare(
        &self,
        predicate: IntPredicate,
        left: IntValue<'ctx>,
        right: IntValue<'ctx>,
        facts: &mut Facts<'ctx>,
        steps: u32,
    ) {
        use IntPredicate as P;
        let (a, b) = (self.look(left, facts, steps), self.look(right, facts, steps));
        let known = facts.len();
        match predicate {
            P::EQ => {
                if a.high < b.low || b.high < a.low {
                    never(left, facts);
                }
                know(left, a.meet(b), facts);
                know(right, b.meet(a), facts);
                if let Some(constant) = constant(right).filter(|constant| *constant >= 0) {
                    self.equal(left, constant, facts, steps);
                }
            }
            P::NE => {
                for (value, own, other) in [(left, a, b), (right, b, a)] {
                    if other.low == other.high {
                        let low = own.low + i128::from(own.low == other.low);
                        let high = own.high - i128::from(own.high == other.low);
                        if low > high {
                            never(value, facts);
                        }
                        know(value, own.meet(Interval::new(low, high)), facts);
                    }
                }
            }
            _ => {
                let strict = i128::from(matches!(predicate, P::ULT | P::UGT | P::SLT | P::SGT));
                let signed = matches!(predicate, P::SLT | P::SLE | P::SGT | P::SGE);
                let is_less = matches!(predicate, P::ULT | P::ULE | P::SLT | P::SLE);
                let (small, large) = if is_less { ((left, a), (right, b)) } else { ((right, b), (left, a)) };
                less(signed, strict, small, large, facts);
                difference(strict, small, large, facts);
            }
        }
        for (value, range) in facts.take_behind(known) {
            if range.low > 0 {
                self.product(value, facts, steps);
            }
            self.part(value, range, facts, steps);
            facts.push((value, range));
        }
    }

    /// Adds what follows for a number from what it is with a constant: `x + 1 < width`.
    fn part(&self, sum: IntValue<'ctx>, range: Interval, facts: &mut Facts<'ctx>, steps: u32) {
        let Some(from) = sum.as_instruction_value().filter(|from| from.get_opcode() == Op::Add) else { return };
        let (Some(part), Some(by)) = (llvm::int_operand(from, 0), llvm::int_operand(from, 1)) else { return };
        let Some(by) = constant(by) else { return };
        let own = self.look(part, facts, steps);
        // Where the sum passes no end of its type.
        if Interval::new(own.low + by, own.high + by).is_inside(Interval::of_bits(sum.get_type().get_bit_width())) {
            know(part, own.meet(Interval::new(range.low - by, range.high - by)), facts);
        }
    }

    /// Adds that no factor of a product is 0 that is not: `i < width * height`.
    fn product(&self, product: IntValue<'ctx>, facts: &mut Facts<'ctx>, steps: u32) {
        let Some(from) = product.as_instruction_value().filter(|from| from.get_opcode() == Op::Mul) else { return };
        for factor in [llvm::int_operand(from, 0), llvm::int_operand(from, 1)].into_iter().flatten() {
            let range = self.look(factor, facts, steps);
            if range.low == 0 {
                know(factor, range.meet(Interval::new(1, range.high)), facts);
            }
        }
    }

    /// Adds what follows for its operands from a value being a number that is not negative.
    fn equal(&self, value: IntValue<'ctx>, number: i128, facts: &mut Facts<'ctx>, steps: u32) {
        let Some(from) = value.as_instruction_value().filter(|_| steps > 0) else { return };
        let (Some(first), Some(second)) = (llvm::int_operand(from, 0), llvm::int_operand(from, 1)) else { return };
        match (from.get_opcode(), constant(second)) {
            // No bit of either is another.
            (Op::Or, _) => {
                for part in [first, second] {
                    know(part, Interval::new(0, number), facts);
                    if number == 0 {
                        self.equal(part, 0, facts, steps - 1);
                    }
                }
            }
            (Op::Xor, Some(mask)) if mask >= 0 => {
                know(first, Interval::new(number ^ mask, number ^ mask), facts);
                self.equal(first, number ^ mask, facts, steps - 1);
            }
            _ => {}
        }
    }

    /// Whether a comparison holds, if that is the same for all numbers that its operands may be where these facts hold.
    pub fn decide(&self, comparison: InstructionValue<'ctx>, facts: &Facts<'ctx>) -> Option<bool> {
        self.looks.set(0);
        self.decide_in(comparison, facts, MOST_STEPS)
    }

    pub(super) fn decide_in(
        &self,
        comparison: InstructionValue<'ctx>,
        facts: &Facts<'ctx>,
        steps: u32,
    ) -> Option<bool> {
        if comparison.get_opcode() != Op::ICmp {
            return None;
        }
        let [left, right] = [llvm::int_operand(comparison, 0)?, llvm::int_operand(comparison, 1)?];
        let at = |value| self.look(value, facts, steps);
        decide(comparison, at(left), at(right)).or_else(|| self.decide_sums(comparison, [left, right], facts, steps))
    }

    /// The same of one number with two constants, neither of which takes it below 0 or past the end: the constants decide.
    fn decide_sums(
        &self,
        comparison: InstructionValue<'ctx>,
        sides: [IntValue<'ctx>; 2],
        facts: &Facts<'ctx>,
        steps: u32,
    ) -> Option<bool> {
        let bits = sides[0].get_type().get_bit_width();
        let [(base, a), (other, b)] = sides.map(without_constants);
        if base != other || bits > 64 {
            return None;
        }
        let (range, all) = (self.look(base, facts, steps), Interval::new(0, i64::MAX as i128 >> (64 - bits)));
        let stays = |by: i128| Interval::new(range.low + by, range.high + by).is_inside(all);
        let number = |by: i128| Interval::new(by - a.min(b), by - a.min(b));
        if stays(a) && stays(b) { decide(comparison, number(a), number(b)) } else { None }
    }

    /// Between which numbers a value lies, where these facts hold.
    pub fn of(&self, value: IntValue<'ctx>, facts: &Facts<'ctx>) -> Interval {
        self.looks.set(0);
        self.look(value, facts, MOST_STEPS)
    }

    /// What a product is at most where it is of a quotient and its divisor.
    pub fn most_divided(&self, product: InstructionValue<'ctx>, facts: &Facts<'ctx>) -> Option<i128> {
        self.looks.set(0);
        self.divided(product, facts, MOST_STEPS).map(|whole| whole.high)
    }

    /// Between which numbers a value lies in a block.
    pub fn in_block(&self, value: IntValue<'ctx>, block: BasicBlock<'ctx>) -> Interval {
        if let Some(known) = self.found.borrow().get(&(block, value)) {
            return *known;
        }
        let none = Facts::new();
        let found = self.of(value, self.at.get(&block).unwrap_or(&none));
        self.found.borrow_mut().insert((block, value), found);
        found
    }

    pub(super) fn look(&self, value: IntValue<'ctx>, facts: &Facts<'ctx>, steps: u32) -> Interval {
        let bits = value.get_type().get_bit_width();
        let all = Interval::of_bits(bits);
        if bits > 64 {
            return Interval::new(i128::MIN, i128::MAX);
        }
        if let Some(constant) = constant(value) {
            return Interval::new(constant, constant);
        }
        self.looks.set(self.looks.get() + 1);
        let key = (facts.number(), value, steps);
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        let computed = match value.as_instruction_value() {
            Some(from) if steps > 0 && self.looks.get() < MOST_LOOKS => self.compute(from, facts, steps - 1),
            _ => None,
        };
        let mut range = computed.filter(|range| range.is_inside(all)).unwrap_or(all);
        if let Some(given) = self.given.get(&value) {
            range = range.meet(*given);
        }
        let meet = |range: Interval, (_, fact): &(IntValue<'ctx>, Interval)| range.meet(*fact);
        let range = match self.same.get(&value) {
            None => facts.iter().filter(|(known, _)| *known == value).fold(range, meet),
            one => facts.iter().filter(|(known, _)| self.same.get(known) == one).fold(range, meet),
        };
        // Below 0 on its way, as `width - 1` may be, and known not to be.
        let has_no_sign = range.is_inside(Interval::new(0, i64::MAX as i128 >> (64 - bits)));
        let as_signed = computed.filter(|range| has_no_sign && range.is_inside(Interval::with_sign(bits)));
        let range = as_signed.map_or(range, |computed| range.meet(computed));
        if self.looks.get() < MOST_LOOKS {
            self.known.borrow_mut().insert(key, range);
        }
        range
    }

    /// What an instruction makes of the intervals of its operands, as if numbers had no end.
    fn compute(&self, from: InstructionValue<'ctx>, facts: &Facts<'ctx>, steps: u32) -> Option<Interval> {
        let at = |index| llvm::int_operand(from, index).map(|value| self.look(value, facts, steps));
        let positive = |index| at(index).filter(|range| range.low >= 0);
        let bits = |index| llvm::int_operand(from, index).map(|value| value.get_type().get_bit_width());
        Some(match from.get_opcode() {
            Op::Add => match llvm::int_operand(from, 1).and_then(|by| negative(by)) {
                Some(by) => at(0)?.corners(Interval::new(by, by), |a, b| a + b),
                None => at(0)?.corners(at(1)?, |a, b| a + b),
            },
            Op::Sub => {
                let difference = at(0)?.corners(at(1)?, |a, b| a - b);
                match self.rest(from, facts, steps) {
                    Some(rest) => difference.meet(rest),
                    None => difference,
                }
            }
            // Two numbers of 64 bits have a product of 127.
            Op::Mul => {
                let product = at(0)?.corners(at(1)?, |a, b| a.saturating_mul(b));
                match self.divided(from, facts, steps) {
                    Some(whole) => product.meet(Interval::new(0, whole.high)),
                    None => product,
                }
            }
            Op::Shl => {
                let by = constant(llvm::int_operand(from, 1)?).filter(|by| (0..32).contains(by))?;
                at(0)?.corners(Interval::new(1 << by, 1 << by), |a, b| a.saturating_mul(b))
            }
            Op::LShr => {
                let by = constant(llvm::int_operand(from, 1)?).filter(|by| (0..64).contains(by))?;
                match positive(0) {
                    Some(range) => Interval::new(range.low >> by, range.high >> by),
                    None if by > 0 => Interval::new(0, i128::from(u64::MAX >> by)),
                    None => return None,
                }
            }
            Op::And => {
                let most = |index| positive(index).map(|range| range.high);
                match llvm::int_operand(from, 1).and_then(constant) {
                    // The multiple of a power of two at or below a number.
                    Some(mask) if mask < 0 && (-mask).count_ones() == 1 => {
                        let range = at(0)?;
                        Interval::new(range.low & mask, range.high & mask)
                    }
                    // The same, of a number that has no bit above those of the mask.
                    Some(mask) if is_run_of_bits(mask) && positive(0).is_some_and(|range| range.high <= mask) => {
                        let range = positive(0)?;
                        Interval::new(range.low & mask, range.high & mask)
                    }
                    _ => Interval::new(0, most(0).into_iter().chain(most(1)).min()?),
                }
            }
            Op::Or | Op::Xor => {
                let most = positive(0)?.high.max(positive(1)?.high);
                Interval::new(0, i128::from(u64::MAX >> u64::try_from(most).ok()?.leading_zeros().min(63)))
            }
            Op::UDiv => {
                let (range, by) = (positive(0)?, positive(1)?);
                Interval::new(range.low / by.high.max(1), range.high / by.low.max(1))
            }
            Op::URem => {
                let most = positive(0).map(|range| range.high);
                let by = positive(1).map(|range| (range.high - 1).max(0));
                Interval::new(0, most.into_iter().chain(by).min()?)
            }
            Op::Select => {
                let condition = llvm::int_operand(from, 0)?;
                let arm = |index, holds| {
                    let mut facts = facts.clone();
                    self.follow(condition, holds, &mut facts, (2, steps));
                    let value = llvm::int_operand(from, index)?;
                    // Where one of many checks has failed, as many choices find the index that it was of.
                    let is_choice = |of: InstructionValue<'ctx>| of.get_opcode() == Op::Select;
                    let more = u32::from(value.as_instruction_value().is_some_and(is_choice));
                    Some(self.look(value, &facts, steps + more))
                };
                arm(1, true)?.join(arm(2, false)?)
            }
            Op::ZExt if llvm::is_not_negative(from) => {
                let half = 1_i128 << (bits(0)? - 1);
                let range = at(0)?.meet(Interval::new(0, half - 1));
                // One less than 0 is known to be none of them, though in 32 bits it is the largest.
                let sum = llvm::int_operand(from, 0)?
                    .as_instruction_value()
                    .filter(|sum| matches!(sum.get_opcode(), Op::Add | Op::Sub));
                let sum = sum.filter(|_| steps > 0).and_then(|sum| self.compute(sum, facts, steps - 1));
                match sum.filter(|sum| -half <= sum.low && sum.high < half && sum.high >= 0) {
                    Some(sum) => range.meet(Interval::new(sum.low.max(0), sum.high)),
                    None => range,
                }
            }
            Op::ZExt => at(0)?,
            Op::SExt if bits(0)? < 64 => {
                let (range, half) = (at(0)?, 1_i128 << (bits(0)? - 1));
                if range.high < half { range } else { Interval::new(-half, half - 1) }
            }
            Op::Trunc => at(0)?,
            Op::Phi => {
                let block = from.get_parent()?;
                if let Some(counted) = self.counted(from, steps.saturating_sub(2)) {
                    return Some(counted);
                }
                if let Some(summed) = self.summed(from, steps.saturating_sub(2)) {
                    return Some(summed);
                }
                if let Some(moved) = self.moved(from, steps.saturating_sub(2)) {
                    return Some(moved);
                }
                let mut all: Option<Interval> = None;
                for (value, before) in llvm::incoming(from) {
                    let BasicValueEnum::IntValue(value) = value else { return None };
                    let mut facts = self.facts(before);
                    let steps = steps.saturating_sub(2);
                    self.learn_from_edge(before, block, &mut facts, steps);
                    let range = self.look(value, &facts, steps);
                    all = Some(all.map_or(range, |all| all.join(range)));
                }
                all?
            }
            Op::ExtractValue => {
                let checked = Checked::of_number(from)?;
                let operand =
                    |index| llvm::int_operand(checked.call, index).map(|value| self.look(value, facts, steps));
                checked.exact([operand(0)?, operand(1)?])?
            }
            Op::Call if llvm::is_position(from) => of_position(from)?,
            Op::Call => {
                if let Some(cast) = self.cast(from, facts, steps) {
                    return Some(cast);
                }
                let name = llvm::called_function(from)?.get_name().to_string_lossy().into_owned();
                at(0)?.chosen(at(1)?, name.strip_prefix("llvm.")?, bits(0)?)?
            }
            _ => return None,
        })
    }
}

/// Whether a comparison holds, if that is the same for all numbers of two intervals.
fn decide(comparison: InstructionValue<'_>, a: Interval, b: Interval) -> Option<bool> {
    let bits = llvm::int_operand(comparison, 0)?.get_type().get_bit_width();
    comparison.get_icmp_predicate().filter(|_| bits <= 64).and_then(|predicate| a.decide(predicate, b, bits))
}

/// What constants are added to, and their sum.
fn without_constants(value: IntValue<'_>) -> (IntValue<'_>, i128) {
    let (mut base, mut by) = (value, 0);
    // In a block that is never reached, a number may be made of itself.
    for _ in 0..MOST_STEPS {
        let Some(from) = base.as_instruction_value().filter(|from| from.get_opcode() == Op::Add) else { break };
        let (Some(part), Some(more)) = (llvm::int_operand(from, 0), llvm::int_operand(from, 1)) else { break };
        let Some(more) = more.get_sign_extended_constant() else { break };
        (base, by) = (part, by + i128::from(more));
    }
    (base, by)
}

/// A constant that is negative, as a number with a sign: to add it is to subtract.
fn negative(value: IntValue<'_>) -> Option<i128> {
    value.get_sign_extended_constant().map(i128::from).filter(|number| *number < 0)
}

/// Between which numbers a special register lies (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability").
fn of_position(read: InstructionValue<'_>) -> Option<Interval> {
    let callee = llvm::called_function(read)?;
    let (register, axis) = callee.get_name().to_str().ok()?.strip_prefix(dimensions::REGISTER)?.split_once('.')?;
    let most = match (register.contains("cta"), axis) {
        (false, "x" | "y") => 1024,
        (false, "z") => 64,
        (true, "x") => i32::MAX.into(),
        (true, "y" | "z") => 65_535,
        _ => return None,
    };
    match register {
        "tid" | "ctaid" => Some(Interval::new(0, most - 1)),
        "ntid" | "nctaid" => Some(Interval::new(1, most)),
        _ => None,
    }
}

/// What LLVM is told where a block begins, before anything that could end it: control that comes to the block comes there.
fn assumed(block: BasicBlock<'_>) -> Vec<IntValue<'_>> {
    let goes_on = |from: &InstructionValue<'_>| {
        matches!(from.get_opcode(), Op::Phi | Op::Freeze) || llvm::is_pure(*from) || is_harmless_call(*from)
    };
    let assumptions = block.get_instructions().take_while(goes_on).filter(|from| is_call_of(*from, "llvm.assume"));
    assumptions.filter_map(|from| llvm::int_operand(from, 0)).collect()
}

/// Whether an instruction calls what neither stops nor waits.
fn is_harmless_call(from: InstructionValue<'_>) -> bool {
    const HARMLESS: [&str; 4] =
        ["llvm.assume", "llvm.experimental.noalias.scope.decl", "llvm.lifetime.", "llvm.nvvm.read.ptx.sreg."];
    HARMLESS.iter().any(|name| is_call_of(from, name))
}

/// Whether an instruction calls a function whose name begins so.
fn is_call_of(from: InstructionValue<'_>, name: &str) -> bool {
    from.get_opcode() == Op::Call
        && llvm::called_function(from).is_some_and(|callee| callee.get_name().to_bytes().starts_with(name.as_bytes()))
}

/// Adds what follows from one number being less than another by `strict` at least.
fn less<'ctx>(
    signed: bool,
    strict: i128,
    (small, a): (IntValue<'ctx>, Interval),
    (large, b): (IntValue<'ctx>, Interval),
    facts: &mut Facts<'ctx>,
) {
    let bits = small.get_type().get_bit_width();
    if bits > 64 {
        return;
    }
    let Some([below, above]) = a.less(b, strict, signed, bits) else { return never(small, facts) };
    [(small, below), (large, above)].into_iter().for_each(|(value, range)| {
        if let Some(range) = range {
            know(value, range, facts);
        }
    });
}

/// Adds that what is computed as the difference of two numbers is not negative where one is less than the other by `strict` at
/// least: what is left of a slice behind a start that has been checked.
fn difference<'ctx>(
    strict: i128,
    (small, a): (IntValue<'ctx>, Interval),
    (large, b): (IntValue<'ctx>, Interval),
    facts: &mut Facts<'ctx>,
) {
    let bits = small.get_type().get_bit_width();
    // Of fewer than 64 bits an interval has no sign, which the comparison may have.
    let has_no_sign =
        |range: Interval| bits <= 64 && range.is_inside(Interval::new(0, i64::MAX as i128 >> (64 - bits)));
    if !has_no_sign(a) || !has_no_sign(b) || b.high - a.low < strict {
        return;
    }
    for user in llvm::uses(&large).into_iter().take(MOST_USES) {
        let Use::Instruction(user) = user else { continue };
        if user.get_opcode() == Op::Sub
            && llvm::int_operand(user, 0) == Some(large)
            && llvm::int_operand(user, 1) == Some(small)
        {
            know(llvm::result(user).into_int_value(), Interval::new(strict, b.high - a.low), facts);
        }
    }
}

/// Adds where a value lies, what was extended to it, and what it has the bits of.
fn know<'ctx>(value: IntValue<'ctx>, range: Interval, facts: &mut Facts<'ctx>) {
    if facts.iter().any(|known| *known == (value, range)) {
        return;
    }
    facts.push((value, range));
    let Some(from) = value.as_instruction_value() else { return };
    match (from.get_opcode(), llvm::int_operand(from, 0), llvm::int_operand(from, 1)) {
        (Op::ZExt, Some(inner), _) => facts.push((inner, range)),
        (Op::Or, Some(first), Some(second)) if range.low >= 0 => {
            for part in [first, second] {
                know(part, Interval::new(0, range.high), facts);
            }
        }
        _ => {}
    }
}

/// Adds that no number is left which a value could be: control does not come here.
fn never<'ctx>(value: IntValue<'ctx>, facts: &mut Facts<'ctx>) {
    facts.push((value, Interval::NONE));
}

/// Whether control may come where these facts hold.
pub fn are_possible(facts: &Facts<'_>) -> bool {
    !facts.iter().any(|(_, range)| *range == Interval::NONE)
}

/// A constant, as an interval has it.
pub fn constant(value: IntValue<'_>) -> Option<i128> {
    if value.get_type().get_bit_width() == 64 {
        value.get_sign_extended_constant().map(i128::from)
    } else {
        value.get_zero_extended_constant().map(i128::from)
    }
}

/// Whether a condition is this constant.
pub fn is_bool(value: IntValue<'_>, wanted: bool) -> bool {
    value.get_type().get_bit_width() == 1 && value.get_zero_extended_constant() == Some(u64::from(wanted))
}

/// Whether the bits of a mask follow each other.
fn is_run_of_bits(mask: i128) -> bool {
    mask > 0 && ((mask >> mask.trailing_zeros()) + 1).count_ones() == 1
}

#[cfg(test)]
#[path = "ranges_tests.rs"]
mod tests;
