//! Which uses of a function's values are replaced, and what of 64 bits goes by that.

use std::collections::{HashMap, HashSet};

use crate::llvm::{
    self, AnyTypeEnum, BasicBlock, BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntPredicate, IntValue, Use,
};
use crate::loops::{Graph, Loop, is_convergent};

use super::cases::{CaseFacts, Cases};
use super::checked::Checked;
use super::floats::Cast;
use super::ranges::{Interval, is_bool};

/// How many conditions are looked through above a comparison.
const MOST_CONDITIONS: u32 = 4;

/// How deep an index may be computed that a loop adds to.
const MOST_STEPS: u32 = 12;

/// How many uses of an address are looked at.
const MOST_LOOKS: u32 = 16;

/// How an instruction of 64 bits is computed in 32.
#[derive(Clone, Copy, PartialEq)]
pub enum Form {
    /// By the same operation on the lower halves; with the flags that say that it does not overflow as a number with a sign,
    /// and as one without.
    Lower { no_wrap: bool, no_unsigned_wrap: bool },
    /// By the same operation, since no operand has more bits, and none is negative that must not be.
    Small,
    /// Not at all: the lower half is taken of what it computes.
    Cut,
}

impl Form {
    /// On the lower halves, with nothing known of an overflow.
    const WRAPS: Self = Self::Lower { no_wrap: false, no_unsigned_wrap: false };
}

/// For how many instructions one in a loop counts.
const IN_A_LOOP: usize = 2;

/// For how many instructions a float counts that is turned into 64 bits: that takes as long as four, and what Rust wants of NaN
/// and of the upper half are more.
const OF_A_CAST: usize = 12;

/// What takes the place of an operand.
#[derive(Clone, Copy)]
pub enum New<'ctx> {
    /// The lower half of the value that it is, with its sign extended.
    Extended(IntValue<'ctx>),
    /// A comparison in 32 bits.
    Compared(InstructionValue<'ctx>),
    /// A comparison that always has the same result.
    Decided(bool),
    /// In place of the conversion to a float that uses it, that of the lower half, with its sign: the same number.
    Converted(IntValue<'ctx>),
}

/// An operand of an instruction that is replaced.
pub struct Change<'ctx> {
    pub user: InstructionValue<'ctx>,
    pub index: u32,
    pub new: New<'ctx>,
}

/// What is done to a function.
pub struct Plan<'ctx> {
    pub changes: Vec<Change<'ctx>>,
    pub forms: HashMap<InstructionValue<'ctx>, Form>,
    gone: usize,
    gone_apart: usize,
    told: HashMap<(BasicBlock<'ctx>, IntValue<'ctx>), CaseFacts<'ctx>>,
}

impl<'ctx> Plan<'ctx> {
    pub fn of(kernel: FunctionValue<'ctx>, graph: &Graph<'ctx>, ranges: &Cases<'_, 'ctx>) -> Self {
        Self::with_shared(kernel, graph, ranges, &[])
    }

    /// The same, if it is worth a copy, without what several blocks of a loop share in 64 bits.
    pub fn sharing(self, kernel: FunctionValue<'ctx>, graph: &Graph<'ctx>, ranges: &Cases<'_, 'ctx>) -> Self {
        let loops = graph.innermost();
        let shares: Vec<_> =
            loops.iter().filter(|found| found.blocks.len() > 1).map(|found| (found, shared(found))).collect();
        if shares.iter().all(|(_, shares)| shares.is_empty()) {
            return self;
        }
        let Self { gone, gone_apart, .. } = self;
        Self { gone, gone_apart, ..Self::with_shared(kernel, graph, ranges, &shares) }
    }

    fn with_shared(
        kernel: FunctionValue<'ctx>,
        graph: &Graph<'ctx>,
        ranges: &Cases<'_, 'ctx>,
        shares: &[(&Loop<'ctx>, HashSet<IntValue<'ctx>>)],
    ) -> Self {
        let reached = graph.by_dominance();
        let loops = graph.innermost();
        let (changes, forms, told) = (Vec::new(), HashMap::new(), HashMap::new());
        let mut plan = Self { changes, forms, gone: 0, gone_apart: 0, told };
        for block in kernel.get_basic_blocks().into_iter().filter(|block| reached.contains(block)) {
            let within = loops.iter().find(|found| found.blocks[..] == [block]);
            let shares = shares.iter().find(|(found, _)| found.contains(block));
            let is_kept = |index| {
                let is_shared = |(found, shares): &(&Loop<'ctx>, HashSet<IntValue<'ctx>>)| {
                    shares.contains(&step_of(index).0) && is_walked(found, index)
                };
                within.is_some_and(|found| is_walked(found, index)) || shares.is_some_and(is_shared)
            };
            for instruction in block.get_instructions() {
                plan.extend(instruction, block, &is_kept, ranges);
                plan.compare(instruction, ranges);
            }
        }
        plan.told.clear();
        plan.count(kernel, &loops, &graph.loops());
        plan
    }

    /// How many instructions of 64 bits go, less those that stay and are computed twice; one in a loop counts as several.
    pub fn gone(&self) -> usize {
        self.gone
    }

    /// The same in those innermost loops that are run again by another one, and in which no threads meet.
    pub fn gone_apart(&self) -> usize {
        self.gone_apart
    }

    /// Replaces operands by what has 32 bits, but for indices that become a part of an address in a loop.
    fn extend(
        &mut self,
        user: InstructionValue<'ctx>,
        block: BasicBlock<'ctx>,
        is_kept: &dyn Fn(IntValue<'ctx>) -> bool,
        ranges: &Cases<'_, 'ctx>,
    ) {
        if is_arithmetic(user) || matches!(user.get_opcode(), Op::ICmp | Op::Freeze) || is_assumption(user) {
            return;
        }
        for (index, value) in llvm::value_operands(user) {
            let BasicValueEnum::IntValue(value) = value else { continue };
            let is_wide = value.get_type().get_bit_width() == 64;
            let is_converted = is_wide && is_converted(user, ranges.in_block(value, block));
            if !is_computed(value) && !is_converted || is_address(user) && is_kept(value) {
                continue;
            }
            if user.get_opcode() == Op::Trunc {
                // Of 32 bits or fewer, which are those of the lower half.
                if bits(user).is_some_and(|bits| bits <= 32) {
                    self.form(value, ranges);
                    self.changes.push(Change { user, index, new: New::Extended(value) });
                }
            } else if is_converted {
                self.form(value, ranges);
                self.changes.push(Change { user, index, new: New::Converted(value) });
            } else if ranges.in_block(value, block).is_narrow() || is_narrow_in_use(user, value, ranges) {
                self.form(value, ranges);
                self.changes.push(Change { user, index, new: New::Extended(value) });
            }
        }
    }

    /// Replaces operands by comparisons of 32 bits.
    fn compare(&mut self, user: InstructionValue<'ctx>, ranges: &Cases<'_, 'ctx>) {
        if user.get_opcode() == Op::Phi || is_assumption(user) {
            return;
        }
        for (index, condition) in llvm::value_operands(user) {
            if let Some(checked) = condition.as_instruction_value().and_then(Checked::of_flag) {
                let facts = self.facts_of_use(user, index, ranges);
                if facts.is_some_and(|facts| is_exact(checked, ranges, &facts)) {
                    self.changes.push(Change { user, index, new: New::Decided(false) });
                }
                continue;
            }
            let Some(comparison) = condition.as_instruction_value().filter(|from| is_wide_comparison(*from)) else {
                continue;
            };
            let (Some(left), Some(right)) = (llvm::int_operand(comparison, 0), llvm::int_operand(comparison, 1)) else {
                continue;
            };
            let Some(facts) = self.facts_of_use(user, index, ranges) else { continue };
            let (a, b) = (ranges.of(left, &facts), ranges.of(right, &facts));
            if let Some(holds) = ranges.decide(comparison, &facts) {
                self.changes.push(Change { user, index, new: New::Decided(holds) });
            } else if is_told_by_lower(comparison, a, b) {
                self.form(left, ranges);
                self.form(right, ranges);
                self.changes.push(Change { user, index, new: New::Compared(comparison) });
            }
        }
    }

    /// Finds out how a value is computed in 32 bits, and all that it is computed from.
    fn form(&mut self, value: IntValue<'ctx>, ranges: &Cases<'_, 'ctx>) {
        let mut pending = vec![value];
        while let Some(value) = pending.pop() {
            let Some(from) = value.as_instruction_value() else { continue };
            if value.get_type().get_bit_width() != 64 || self.forms.contains_key(&from) {
                continue;
            }
            let Some(block) = from.get_parent() else { continue };
            let form = form_of(from, value, block, ranges);
            self.forms.insert(from, form);
            if form != Form::Cut {
                pending.extend(llvm::value_operands(computing(from)).filter_map(|(_, operand)| match operand {
                    BasicValueEnum::IntValue(operand) => Some(operand),
                    _ => None,
                }));
            }
        }
    }

    /// What is known where a condition is used: in the user's block, and where others were asked before.
    fn facts_of_use(
        &mut self,
        user: InstructionValue<'ctx>,
        index: u32,
        ranges: &Cases<'_, 'ctx>,
    ) -> Option<CaseFacts<'ctx>> {
        let block = user.get_parent()?;
        let mut facts: Option<CaseFacts<'ctx>> = None;
        let (mut user, mut index) = (user, index);
        for _ in 0..MOST_CONDITIONS {
            if user.get_opcode() == Op::Select {
                let asked = llvm::int_operand(user, 0)?;
                let arms = (llvm::int_operand(user, 1), llvm::int_operand(user, 2));
                if index == 1 && arms.1.is_some_and(|other| is_bool(other, false)) {
                    match &mut facts {
                        Some(facts) => ranges.learn(asked, true, facts),
                        None => facts = Some(self.told(block, asked, ranges)),
                    }
                } else if index == 2 && arms.0.is_some_and(|other| is_bool(other, true)) {
                    ranges.learn(asked, false, facts.get_or_insert_with(|| ranges.facts(block)));
                }
            }
            // What only one place looks at is used there.
            if !is_condition(user) {
                break;
            }
            let value = llvm::result(user);
            let users = llvm::uses(&value);
            let [Use::Instruction(above)] = users[..] else { break };
            if above.get_opcode() == Op::Phi || above.get_parent() != user.get_parent() {
                break;
            }
            let Some((at, _)) = llvm::value_operands(above).find(|(_, operand)| *operand == value) else { break };
            (user, index) = (above, at);
        }
        Some(facts.unwrap_or_else(|| ranges.facts(block)))
    }

    /// What is known in a block where a condition holds. Of conditions that are asked in turn each is looked at once.
    fn told(&mut self, block: BasicBlock<'ctx>, asked: IntValue<'ctx>, ranges: &Cases<'_, 'ctx>) -> CaseFacts<'ctx> {
        if let Some(known) = self.told.get(&(block, asked)) {
            return known.clone();
        }
        let joined = asked.as_instruction_value().filter(|from| match from.get_opcode() {
            Op::And => true,
            Op::Select => llvm::int_operand(*from, 2).is_some_and(|other| is_bool(other, false)),
            _ => false,
        });
        let parts = joined.and_then(|from| llvm::int_operand(from, 0).zip(llvm::int_operand(from, 1)));
        let (mut facts, last) = match parts {
            Some((first, second)) => (self.told(block, first, ranges), second),
            None => (ranges.facts(block), asked),
        };
        ranges.learn(last, true, &mut facts);
        self.told.insert((block, asked), facts.clone());
        facts
    }

    /// Counts what nobody needs any more.
    fn count(&mut self, kernel: FunctionValue<'ctx>, loops: &[Loop<'ctx>], all: &[Loop<'ctx>]) {
        let changed: HashSet<(InstructionValue<'ctx>, u32)> =
            self.changes.iter().map(|change| (change.user, change.index)).collect();
        let follows = |from: InstructionValue<'ctx>| {
            is_arithmetic(from)
                || from.get_opcode() == Op::ICmp
                || is_condition(from)
                || Checked::of_call(from).is_some()
                || Checked::of_flag(from).is_some()
        };
        let mut needed: HashSet<InstructionValue<'ctx>> = HashSet::new();
        let is_cut = |from: &InstructionValue<'ctx>| self.forms.get(from) == Some(&Form::Cut);
        let is_root = |from: &InstructionValue<'ctx>| !follows(*from) && !is_assumption(*from) || is_cut(from);
        let mut pending: Vec<InstructionValue<'ctx>> = llvm::instructions(kernel).filter(is_root).collect();
        needed.extend(&pending);
        while let Some(user) = pending.pop() {
            for (index, operand) in llvm::value_operands(user) {
                if changed.contains(&(user, index)) {
                    continue;
                }
                if let Some(from) = operand.as_instruction_value().filter(|from| follows(*from))
                    && needed.insert(from)
                {
                    pending.push(from);
                }
            }
        }
        let compared = self.changes.iter().filter_map(|change| match change.new {
            New::Compared(comparison) => Some(comparison),
            _ => None,
        });
        let decided = self.changes.iter().filter_map(|change| match change.new {
            New::Decided(_) => {
                llvm::int_operand(change.user, change.index).and_then(|value| value.as_instruction_value())
            }
            _ => None,
        });
        let computed = self.forms.iter().filter(|(_, form)| **form != Form::Cut).map(|(from, _)| *from);
        let new: HashSet<InstructionValue<'ctx>> = compared.chain(computed).filter(|from| !is_free(*from)).collect();
        let decided: HashSet<InstructionValue<'ctx>> = decided.collect();
        let is_run_again = |from: &InstructionValue<'ctx>| {
            from.get_parent().is_some_and(|block| loops.iter().any(|found| found.contains(block)))
        };
        let weight = |from: &InstructionValue<'ctx>| {
            (if is_run_again(from) { IN_A_LOOP } else { 1 }) * if Cast::of(*from).is_some() { OF_A_CAST } else { 1 }
        };
        let halved = halved(&new);
        let counting: HashSet<InstructionValue<'ctx>> =
            loops.iter().filter(|found| found.blocks.len() == 1).flat_map(counting).collect();
        let is_free = |from: &InstructionValue<'ctx>| halved.contains(from) || counting.contains(from);
        let goes = |from: &&InstructionValue<'ctx>| !needed.contains(from) && !is_free(from);
        let twice = |from: &&InstructionValue<'ctx>| needed.contains(from) && !counting.contains(from);
        // ptxas, which unrolls such a loop, compares again how many rounds are left.
        let ends = new.iter().filter(|from| counting.contains(from) && from.get_opcode() == Op::ICmp).count();
        let gone = |counts: &dyn Fn(InstructionValue<'ctx>) -> bool| {
            let goes = new.iter().chain(&decided).filter(goes).filter(|from| counts(**from)).map(weight).sum::<usize>();
            let twice = new.iter().filter(twice).filter(|from| counts(**from)).map(weight).sum::<usize>();
            (goes, twice)
        };
        let (goes, more) = gone(&|_| true);
        self.gone = (goes + ends).saturating_sub(more);
        let apart: Vec<_> = loops.iter().filter(|found| is_within(all, found) && !meets_in(found)).collect();
        let is_apart = |block| apart.iter().any(|found| found.contains(block));
        let (goes, more) = gone(&|from| from.get_parent().is_some_and(is_apart));
        self.gone_apart = goes.saturating_sub(more);
    }
}

/// Whether a loop is in another one.
fn is_within(all: &[Loop<'_>], found: &Loop<'_>) -> bool {
    all.iter().any(|other| other.head != found.head && other.contains(found.head))
}

/// Whether threads meet in a loop.
fn meets_in(found: &Loop<'_>) -> bool {
    found.blocks.iter().flat_map(|block| block.get_instructions()).any(is_convergent)
}

/// Those of some instructions of whose results only the lower halves are looked at: ptxas computes no more of them. So the
/// number of elements that a loop has counted as a `usize`, where it becomes a `u32`.
fn halved<'ctx>(some: &HashSet<InstructionValue<'ctx>>) -> HashSet<InstructionValue<'ctx>> {
    let passes_halves = |user: InstructionValue<'_>| matches!(user.get_opcode(), Op::Add | Op::Sub | Op::Mul | Op::Phi);
    let mut halved: HashSet<InstructionValue<'ctx>> =
        some.iter().copied().filter(|from| passes_halves(*from) || from.get_opcode() == Op::ZExt).collect();
    loop {
        let is_assumed = |user: InstructionValue<'ctx>| {
            let is = |user| matches!(user, Use::Instruction(user) if is_assumption(user));
            user.get_opcode() == Op::ICmp && llvm::uses(&user).into_iter().all(is)
        };
        let is_whole = |from: &InstructionValue<'ctx>| {
            llvm::uses(from).into_iter().any(|user| match user {
                Use::Instruction(user) => {
                    let is_cut = user.get_opcode() == Op::Trunc && bits(user).is_some_and(|bits| bits <= 32);
                    let passes = halved.contains(&user) && passes_halves(user);
                    !is_cut && !passes && !is_assumed(user)
                }
                Use::Global(_) => true,
            })
        };
        let whole: Vec<_> = halved.iter().copied().filter(is_whole).collect();
        if whole.is_empty() {
            return halved;
        }
        for from in whole {
            halved.remove(&from);
        }
    }
}

/// Whether an address is used only where its index is narrow; elsewhere it may be any.
fn is_narrow_in_use<'ctx>(user: InstructionValue<'ctx>, index: IntValue<'ctx>, ranges: &Cases<'_, 'ctx>) -> bool {
    let mut pending = vec![user];
    let mut looks = 0;
    while let Some(address) = pending.pop() {
        if address.get_opcode() != Op::GetElementPtr {
            return false;
        }
        for user in llvm::uses(&llvm::result(address)) {
            let Use::Instruction(user) = user else { return false };
            looks += 1;
            match (user.get_opcode(), user.get_parent()) {
                _ if looks > MOST_LOOKS => return false,
                (Op::GetElementPtr, _) => pending.push(user),
                (Op::Load | Op::Store, Some(block)) if ranges.in_block(index, block).is_narrow() => {}
                _ => return false,
            }
        }
    }
    true
}

/// Whether numbers compare as their lower halves do.
fn is_told_by_lower(comparison: InstructionValue<'_>, left: Interval, right: Interval) -> bool {
    use IntPredicate as P;
    left.is_narrow() && right.is_narrow()
        || match comparison.get_icmp_predicate() {
            Some(P::EQ | P::NE) => left.is_told_by_lower(right),
            Some(P::ULT | P::ULE | P::UGT | P::UGE) => left.is_unsigned() && right.is_unsigned(),
            _ => false,
        }
}

/// Whether an instruction makes a float of a number that 32 bits with a sign are, too.
fn is_converted(user: InstructionValue<'_>, range: Interval) -> bool {
    match user.get_opcode() {
        Op::SIToFP => range.is_narrow(),
        Op::UIToFP => range.is_small(),
        _ => false,
    }
}

/// Whether an instruction computes an address.
fn is_address(user: InstructionValue<'_>) -> bool {
    user.get_opcode() == Op::GetElementPtr
}

/// Whether an index grows by the same in every round of a loop, and so becomes a part of an address that does: of all indices
/// in an unrolled round, which are constants apart, one address is left, and of those down a column one instruction for each.
/// In 32 bits each would be computed and extended by itself.
fn is_walked<'ctx>(found: &Loop<'ctx>, index: IntValue<'ctx>) -> bool {
    !found.is_invariant(index.into()) && grows_alike(found, index, MOST_STEPS)
}

/// What indices are constants apart from in a loop of several blocks: rounds that stand one behind the other, each with a branch.
/// Of one that stands alone, nothing would be shared in 64 bits.
fn shared<'ctx>(found: &Loop<'ctx>) -> HashSet<IntValue<'ctx>> {
    let mut known: HashMap<IntValue<'ctx>, i64> = HashMap::new();
    let mut shared = HashSet::new();
    for address in found.blocks.iter().flat_map(|block| block.get_instructions()).filter(|from| is_address(*from)) {
        let Some((_, _, index)) = llvm::element_of(address) else { continue };
        let (from, step) = step_of(index);
        if *known.entry(from).or_insert(step) != step {
            shared.insert(from);
        }
    }
    shared
}

/// What a constant is added to, and which.
fn step_of(index: IntValue<'_>) -> (IntValue<'_>, i64) {
    let sum = || {
        let from =
            index.as_instruction_value().filter(|from| from.get_opcode() == Op::Add || llvm::is_disjoint(*from))?;
        Some((llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?.get_sign_extended_constant()?))
    };
    sum().unwrap_or((index, 0))
}

/// What a loop of one block counts by, and compares with where it ends: one instruction more in 64 bits, and none where it becomes
/// an address.
fn counting<'ctx>(found: &Loop<'ctx>) -> Vec<InstructionValue<'ctx>> {
    let is = |value: Option<IntValue<'ctx>>| value.is_some_and(|value| is_walked(found, value));
    let counts = |from: &InstructionValue<'ctx>| match from.get_opcode() {
        Op::ICmp => is(llvm::int_operand(*from, 0)) || is(llvm::int_operand(*from, 1)),
        _ => is_arithmetic(*from) && is(Some(llvm::result(*from).into_int_value())),
    };
    found.head.get_instructions().filter(counts).collect()
}

fn grows_alike<'ctx>(found: &Loop<'ctx>, value: IntValue<'ctx>, steps: u32) -> bool {
    if found.is_invariant(value.into()) {
        return true;
    }
    let Some(from) = value.as_instruction_value().filter(|_| steps > 0) else { return false };
    let is = |index| llvm::int_operand(from, index).is_some_and(|part| grows_alike(found, part, steps - 1));
    let is_same = |index| llvm::int_operand(from, index).is_some_and(|part| found.is_invariant(part.into()));
    match from.get_opcode() {
        Op::Phi => found.incoming(value).is_some_and(|(_, next)| is_grown(found, value, next, steps - 1)),
        Op::Add | Op::Sub => is(0) && is(1),
        Op::Or => llvm::is_disjoint(from) && is(0) && is(1),
        Op::Mul => is(0) && is_same(1) || is_same(0) && is(1),
        Op::Shl => is(0) && is_same(1),
        _ => false,
    }
}

/// Whether a value is a phi of the loop's head and what the loop does not change.
fn is_grown<'ctx>(found: &Loop<'ctx>, phi: IntValue<'ctx>, next: BasicValueEnum<'ctx>, steps: u32) -> bool {
    let BasicValueEnum::IntValue(next) = next else { return false };
    let Some(from) = next.as_instruction_value().filter(|from| from.get_opcode() == Op::Add && steps > 0) else {
        return false;
    };
    let (Some(left), Some(right)) = (llvm::int_operand(from, 0), llvm::int_operand(from, 1)) else { return false };
    let leads = |one: IntValue<'ctx>, other: IntValue<'ctx>| {
        found.is_invariant(other.into()) && (one == phi || is_grown(found, phi, one.into(), steps - 1))
    };
    leads(left, right) || leads(right, left)
}

/// How many bits the integer has that an instruction computes.
fn bits(instruction: InstructionValue<'_>) -> Option<u32> {
    match instruction.get_type() {
        AnyTypeEnum::IntType(ty) => Some(ty.get_bit_width()),
        _ => None,
    }
}

/// Whether an instruction joins conditions.
fn is_condition(instruction: InstructionValue<'_>) -> bool {
    matches!(instruction.get_opcode(), Op::And | Op::Or | Op::Xor | Op::Select) && bits(instruction) == Some(1)
}

/// Whether an instruction compares numbers of 64 bits.
fn is_wide_comparison(instruction: InstructionValue<'_>) -> bool {
    instruction.get_opcode() == Op::ICmp
        && llvm::int_operand(instruction, 0).is_some_and(|left| left.get_type().get_bit_width() == 64)
}

/// Whether an instruction tells LLVM what is known.
pub(super) fn is_assumption(instruction: InstructionValue<'_>) -> bool {
    instruction.get_opcode() == Op::Call
        && llvm::called_function(instruction).is_some_and(|callee| callee.get_name().to_bytes() == b"llvm.assume")
}

/// Whether a value of 64 bits is computed, not only extended.
fn is_computed(value: IntValue<'_>) -> bool {
    value.get_type().get_bit_width() == 64
        && value.as_instruction_value().is_some_and(|from| is_arithmetic(from) && !is_free(from))
}

/// What costs nothing in 64 bits either.
fn is_free(from: InstructionValue<'_>) -> bool {
    matches!(from.get_opcode(), Op::ZExt | Op::SExt)
}

/// Of the minimum, maximum or difference that an instruction calls, for which two numbers 32 bits compute its lower half.
fn small_call(from: InstructionValue<'_>) -> Option<fn([Interval; 2]) -> bool> {
    let callee = llvm::called_function(from).filter(|_| from.get_opcode() == Op::Call)?;
    Some(match &*callee.get_name().to_string_lossy() {
        // As in `x.min(width - 1)`, where the width is not seen to be above 0: all bits are the largest number in either width.
        "llvm.umin.i64" => |both| {
            let or_all_bits = Interval::new(-1, i128::from(u32::MAX));
            both.iter().all(|range| range.is_inside(or_all_bits)) || both.iter().all(|range| range.is_narrow())
        },
        "llvm.umax.i64" | "llvm.usub.sat.i64" => |both| both.iter().all(|range| range.is_unsigned()),
        "llvm.smin.i64" | "llvm.smax.i64" => |both| both.iter().all(|range| range.is_narrow()),
        _ => return None,
    })
}

/// Whether an instruction computes a number of 64 bits that 32 could compute.
fn is_arithmetic(from: InstructionValue<'_>) -> bool {
    let is_known = matches!(
        from.get_opcode(),
        Op::Add
            | Op::Sub
            | Op::Mul
            | Op::Shl
            | Op::LShr
            | Op::And
            | Op::Or
            | Op::Xor
            | Op::Select
            | Op::Phi
            | Op::UDiv
            | Op::URem
            | Op::ZExt
            | Op::SExt
    ) || small_call(from).is_some()
        || Cast::of(from).is_some()
        || Checked::of_number(from).is_some()
        || is_freeze(from);
    is_known && bits(from) == Some(64)
}

/// Whether an instruction freezes what another one computes; what kernels are given is frozen once, whole.
fn is_freeze(from: InstructionValue<'_>) -> bool {
    from.get_opcode() == Op::Freeze
        && llvm::int_operand(from, 0).is_some_and(|value| value.as_instruction_value().is_some())
}

/// Whether a sum or a product of 64 bits is seen not to overflow.
fn is_exact<'ctx>(checked: Checked<'ctx>, ranges: &Cases<'_, 'ctx>, facts: &CaseFacts<'ctx>) -> bool {
    let operand = |index| {
        let value = llvm::int_operand(checked.call, index).filter(|value| value.get_type().get_bit_width() == 64)?;
        Some(ranges.of(value, facts))
    };
    let exact = operand(0).zip(operand(1)).and_then(|both| checked.exact(both.into()));
    exact.is_some_and(|number| number.high <= i64::MAX.into())
}

/// The instruction whose operands a number is computed from.
pub(super) fn computing(from: InstructionValue<'_>) -> InstructionValue<'_> {
    Checked::of_number(from).map_or(from, |checked| checked.call)
}

/// What is done to them.
pub(super) fn operation(from: InstructionValue<'_>) -> Op {
    Checked::of_number(from).map_or(from.get_opcode(), |checked| checked.op)
}

fn form_of<'ctx>(
    from: InstructionValue<'ctx>,
    value: IntValue<'ctx>,
    block: BasicBlock<'ctx>,
    ranges: &Cases<'_, 'ctx>,
) -> Form {
    let operand = |index| llvm::int_operand(computing(from), index).map(|value| ranges.in_block(value, block));
    let all = |is: fn(Interval) -> bool| [operand(0), operand(1)].into_iter().all(|range| range.is_some_and(is));
    match operation(from) {
        _ if !is_arithmetic(from) => Form::Cut,
        op @ (Op::Add | Op::Sub | Op::Mul) => {
            let no_wrap = all(Interval::is_narrow) && ranges.in_block(value, block).is_narrow();
            let is_small = all(Interval::is_small) && ranges.in_block(value, block).is_small();
            Form::Lower { no_wrap, no_unsigned_wrap: is_small && op == Op::Mul }
        }
        Op::And | Op::Or | Op::Xor | Op::Select | Op::Phi | Op::ZExt | Op::SExt => Form::WRAPS,
        // If it is no number, then one that its lower half is, too: all users see that one.
        Op::Freeze if operand(0).is_some_and(Interval::is_small) => Form::WRAPS,
        // Shifts by more than the width mean nothing.
        Op::Shl if operand(1).is_some_and(|by| by.low >= 0 && by.high < 32) => Form::WRAPS,
        Op::LShr if operand(1).is_some_and(|by| by.low >= 0 && by.high < 32) && all(Interval::is_unsigned) => {
            Form::Small
        }
        Op::UDiv | Op::URem if all(Interval::is_unsigned) => Form::Small,
        Op::Call
            if small_call(from).is_some_and(|is| operand(0).zip(operand(1)).is_some_and(|both| is(both.into()))) =>
        {
            Form::Small
        }
        Op::Call => match Cast::of(from).map(|cast| (cast.signed, ranges.in_block(value, block))) {
            Some((true, range)) if range.is_narrow() => Form::Small,
            Some((false, range)) if range.is_unsigned() => Form::Small,
            _ => Form::Cut,
        },
        _ => Form::Cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{Context, parse_ir};

    /// The names of what is not looked at as a whole in a loop that counts, and ends in `end`.
    fn halved_in(end: &str) -> Vec<String> {
        let text = format!(
            "declare void @llvm.assume(i1)
            define void @f(i32 %n, i64 %len, ptr %to, i1 %is) {{
            entry: br label %loop
            loop: %k = phi i32 [ 0, %entry ], [ %next, %loop ]
              %count = phi i64 [ 0, %entry ], [ %more, %loop ]
              %one = zext i1 %is to i64
              %more = add i64 %count, %one
              %next = add i32 %k, 1
              %go = icmp ult i32 %next, %n
              br i1 %go, label %loop, label %end
            end: %few = icmp ult i64 %more, %len
              call void @llvm.assume(i1 %few)
              %number = trunc i64 %more to i32
              store i32 %number, ptr %to
              {end}
              ret void
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        let wide = llvm::instructions(function).filter(|from| bits(*from) == Some(64)).collect();
        let name = |from: InstructionValue<'_>| from.get_name().unwrap().to_string_lossy().into_owned();
        let mut names: Vec<_> = halved(&wide).into_iter().map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn what_becomes_a_number_of_32_bits_is_never_whole() {
        assert_eq!(halved_in(""), ["count", "more", "one"]);
        assert_eq!(halved_in("%less = add i64 %more, -1\n %low = trunc i64 %less to i32").len(), 4);
        for end in [
            "%p = getelementptr i8, ptr %to, i64 %more\n store i8 1, ptr %p",
            "%high = lshr i64 %more, 3\n %low = trunc i64 %high to i32",
            "store i64 %more, ptr %to",
            "%odd = trunc i64 %more to i40\n store i40 %odd, ptr %to",
        ] {
            assert_eq!(halved_in(end), [""; 0], "{end}");
        }
    }

    #[test]
    fn a_minimum_is_that_of_the_lower_halves_where_both_are_alike() {
        let text = "declare i64 @llvm.umin.i64(i64, i64)
            define i64 @f(i64 %a, i64 %b) {
            %r = call i64 @llvm.umin.i64(i64 %a, i64 %b)
            ret i64 %r
            }";
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let call = llvm::instructions(module.get_function("f").unwrap()).next().unwrap();
        let is_small = small_call(call).unwrap();
        let unsigned = Interval::new(0, (1 << 32) - 2);
        let [below, small] = [Interval::new(-9, 5), Interval::new(0, 9)];
        assert!(is_small([below, small]) && is_small([below, below]) && is_small([Interval::new(-1, 9), unsigned]));
        // Of -9 and 2^32 - 2 the latter is the minimum, of the lower halves the former.
        assert!(!is_small([below, unsigned]) && !is_small([unsigned, below]));
    }
}
