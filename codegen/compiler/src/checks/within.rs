//! Which coordinates an index has in a plane or a volume, by what branches have shown.
//!
//! ```text
//! br i1 (icmp sge i32 %dx, 0 and icmp slt i32 %dx, %width), …       ; %dx is in 0..%width
//! br i1 (icmp ne i32 %y, 0 and icmp sle i32 %y, %height), …         ; %y - 1 is in 0..%height
//! %index = add i32 (mul i32 (add i32 %y, -1), %width), %dx          ; has these two coordinates
//! ```
//!
//! LLVM writes `y - 1 < height` as `y <= height`, and `x + 1 < width` may stand there for a column of which only `x` is looked at.
//! So a number that is known to be within an extent is one by itself, less what a branch leaves open, or less a constant: a
//! neighbour nearer to 0 is there if the number is at least that constant.
//!
//! A number may also be within an extent by how it is computed: `(x - 2).clamp(0, width - 1)` is below the width, if that is not 0,
//! and `y.saturating_sub(1)` is where `y` is. LLVM writes the first as a minimum without a sign behind a choice of 0. What a division
//! by an extent leaves is below it, as `i % width` is.
//!
//! The last coordinate may be a constant: `2 * width + x` is in the third of the rows that lie one behind the other.
//!
//! **Why it is right.** What is compared, is compared modulo 2^32 (`sums.rs`). A number with a sign is in `0..extent` if it is
//! below the extent and not negative. A number without one less a constant is below the extent if it is not less than the
//! constant, so that the difference does not wrap around. `x < extent - 2` is `x + 2 < extent` where the extent is not less than 2,
//! which [`Known::least_extent`] has whoever relies on it ask. What has been divided by is not 0, since a division by 0 has no
//! meaning, and the check comes behind the division on every way. It does not matter whether the index is computed of what that
//! has left: `(i / width) * width + i % width` is `i`, as LLVM knows, too.

use std::collections::HashSet;

use super::bounds::{denied, parts, shown};
use super::sums::{Factors, Sum};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode as Op, InstructionValue,
    IntPredicate, IntValue,
};
use crate::loops::{Graph, instruction};
use crate::remainders;

/// Instructions that are looked at for one number.
const MOST_STEPS: usize = 24;

/// What divisions leave that is looked at.
const MOST_REMAINDERS: usize = 16;

/// Neighbours of an element are nearer than this.
pub const MOST_APART: u32 = 1 << 16;

/// A number that is within an extent: a value and a constant.
pub struct Coordinate<'ctx> {
    pub value: IntValue<'ctx>,
    pub offset: u32,
    pub extent: IntValue<'ctx>,
}

/// Where an element is.
pub struct Place<'ctx> {
    /// From within.
    pub coordinates: Vec<Coordinate<'ctx>>,
    /// In which of several areas that lie one behind the other.
    pub area: u32,
    /// Whether branches have shown some of it.
    pub is_shown: bool,
}

/// What is in `0..` of something.
struct Range<'ctx> {
    value: IntValue<'ctx>,
    /// What is added to the value.
    more: u32,
    /// The sum of both.
    at: Sum,
    extent: IntValue<'ctx>,
    /// The extent as a factor.
    factor: Sum,
    /// Whether it may yet be negative, and then be anything below.
    may_be_negative: bool,
    /// Whether it is known by a comparison of numbers with signs.
    is_signed: bool,
    /// Whether a branch has shown it.
    is_shown: bool,
}

impl<'ctx> Range<'ctx> {
    /// Of a number that is within an extent by how it is computed.
    fn computed(value: IntValue<'ctx>, extent: IntValue<'ctx>, factors: &mut Factors<'ctx>) -> Option<Self> {
        let (at, factor) = (factors.sum(value)?, factors.sum(extent)?);
        Some(Self { value, more: 0, at, extent, factor, may_be_negative: false, is_signed: false, is_shown: false })
    }

    /// What is so much less.
    fn coordinate(&self, less: u32) -> Coordinate<'ctx> {
        Coordinate { value: self.value, offset: self.more.wrapping_sub(less), extent: self.extent }
    }
}

/// What is at least a constant.
struct Least {
    at: Sum,
    least: u32,
    /// Whether it is below 2^31, so that no small number more wraps around.
    is_positive: bool,
}

/// What a division by an extent leaves, and where.
pub struct Remainder<'ctx> {
    value: IntValue<'ctx>,
    extent: IntValue<'ctx>,
    block: BasicBlock<'ctx>,
}

impl<'ctx> Remainder<'ctx> {
    /// Those of a function.
    pub fn all(function: FunctionValue<'ctx>) -> Vec<Self> {
        let divides = |from: &InstructionValue<'ctx>| matches!(from.get_opcode(), Op::URem | Op::Sub);
        let of = |from: InstructionValue<'ctx>| {
            let BasicValueEnum::IntValue(value) = llvm::result(from) else { return None };
            let extent = remainders::divisor(value).filter(|extent| is_uniform(*extent))?;
            Some(Self { value, extent, block: from.get_parent()? })
        };
        llvm::instructions(function).filter(divides).filter_map(of).take(MOST_REMAINDERS).collect()
    }
}

/// What is known at a check.
pub struct Known<'ctx> {
    ranges: Vec<Range<'ctx>>,
    least: Vec<Least>,
    /// What no extent may be less than for this to be so.
    pub least_extent: u32,
}

impl<'ctx> Known<'ctx> {
    /// By branches on every way to a block.
    pub fn at(block: BasicBlock<'ctx>, graph: &Graph<'ctx>, factors: &mut Factors<'ctx>) -> Self {
        let facts = Facts::of(graph, block);
        let is_positive = |value| facts.not_negative.contains(&value) || is_not_negative(value, &mut { MOST_STEPS });
        let mut known = Self { ranges: Vec::new(), least: Vec::new(), least_extent: 0 };
        for Below { small, large, by, is_signed } in &facts.below {
            if !is_uniform(*large) {
                continue;
            }
            // What is below an extent less a number is that number below the extent, if it is not less.
            let (extent, less) = less_of(*large).unwrap_or((*large, 0));
            let (Some(at), Some(factor)) = (factors.sum(*small), factors.sum(extent)) else { continue };
            let may_be_negative = *by > 0 || *is_signed && !is_positive(*small);
            let more = less.wrapping_sub(*by);
            let Some(at) = at.and(more) else { continue };
            known.least_extent = known.least_extent.max(less);
            let is_signed = *is_signed;
            let (value, is_shown) = (*small, true);
            known.ranges.push(Range { value, more, at, extent, factor, may_be_negative, is_signed, is_shown });
        }
        let smalls = facts.below.iter().map(|below| (below.small, 0)).filter(|(small, _)| is_positive(*small));
        for (value, least) in facts.least.iter().copied().chain(smalls) {
            let at = factors.sum(value);
            known.least.extend(at.map(|at| Least { at, least, is_positive: is_positive(value) }));
        }
        known
    }

    /// Adds what the numbers that an index is made of are by how they are computed.
    pub fn add_clamped(&mut self, index: &Sum, factors: &mut Factors<'ctx>) {
        for value in factors.values(index) {
            let is_known =
                self.ranges.iter().any(|range| range.value == value && range.more == 0 && !range.may_be_negative);
            if is_known {
                continue;
            }
            let extent = if let Some((extent, 1)) = clamped(value, &mut { MOST_STEPS }).and_then(less_of) {
                self.least_extent = self.least_extent.max(1);
                Some(extent)
            } else {
                self.of_saturated(value, factors)
            };
            self.ranges.extend(extent.and_then(|extent| Range::computed(value, extent, factors)));
        }
    }

    /// Adds what divisions by extents have left on every way to a block.
    pub fn add_remainders(
        &mut self,
        all: &[Remainder<'ctx>],
        block: BasicBlock<'ctx>,
        graph: &Graph<'ctx>,
        factors: &mut Factors<'ctx>,
    ) {
        for Remainder { value, extent, block: computed } in all {
            if *computed == block || graph.is_reached_by_way_of(block, *computed) {
                self.ranges.extend(Range::computed(*value, *extent, factors));
            }
        }
    }

    /// The extent that a number is within of which this is a smaller one.
    fn of_saturated(&self, value: IntValue<'ctx>, factors: &mut Factors<'ctx>) -> Option<IntValue<'ctx>> {
        let from = value.as_instruction_value().filter(|from| llvm::calls(*from, &["llvm.usub.sat."]))?;
        let more = factors.sum(llvm::int_operand(from, 0)?)?;
        let range = self.ranges.iter().find(|range| range.at == more && !range.may_be_negative)?;
        Some(range.extent)
    }

    /// Where an index is in areas of so many dimensions at most.
    pub fn place(&self, index: &Sum, dimensions: usize) -> Option<Place<'ctx>> {
        if dimensions == 0 {
            return None;
        }
        let single = self.ranges.iter().find_map(|range| {
            let less = range.at.less(index)?.as_number().filter(|less| *less < MOST_APART)?;
            let coordinates = || vec![range.coordinate(less)];
            self.holds(range, less).then(|| Place { coordinates: coordinates(), area: 0, is_shown: range.is_shown })
        });
        if single.is_some() {
            return single;
        }
        self.ranges.iter().find_map(|range| {
            // What the column is less than the one that is known to be in the row.
            let rest = index.less(&range.at)?;
            let less = rest.added().wrapping_neg();
            if less >= MOST_APART || !self.holds(range, less) {
                return None;
            }
            let rows = rest.and(less)?.divided_by(&range.factor)?;
            let area = rows.as_number().filter(|area| *area < MOST_APART);
            let around = match area {
                Some(area) => Place { coordinates: Vec::new(), area, is_shown: false },
                None => self.place(&rows, dimensions - 1)?,
            };
            let coordinates = [range.coordinate(less)].into_iter().chain(around.coordinates).collect();
            Some(Place { coordinates, area: around.area, is_shown: around.is_shown || range.is_shown })
        })
    }

    /// Whether what is so much less than a number in a range is in it too.
    fn holds(&self, range: &Range<'ctx>, less: u32) -> bool {
        if less == 0 && !range.may_be_negative {
            return true;
        }
        let is_in_row = |at: &Sum| {
            self.ranges.iter().any(|other| !other.may_be_negative && other.extent == range.extent && other.at == *at)
        };
        self.least.iter().any(|known| {
            // By how much the number in the range is above what is known to be so much, or below.
            let above = range.at.less(&known.at).and_then(|above| above.as_number());
            let below = known.at.less(&range.at).and_then(|below| below.as_number());
            let is_positive = || known.is_positive || is_in_row(&known.at);
            // A number with a sign may have come to the least one, which is below any extent, too.
            let may_come_round = |above| above > 0 && range.may_be_negative && range.is_signed;
            match (above, below) {
                (Some(above), _) if above < MOST_APART => {
                    known.least + above >= less && (is_in_row(&known.at) || known.is_positive && !may_come_round(above))
                }
                (_, Some(below)) if below < MOST_APART => {
                    known.least >= below + less && (!range.may_be_negative || is_positive())
                }
                _ => false,
            }
        })
    }
}

/// What a number is less than another by a small constant, and that.
pub fn less_of(value: IntValue<'_>) -> Option<(IntValue<'_>, u32)> {
    let sum = instruction(value, Op::Add)?;
    let less = llvm::int_operand(sum, 1)?.get_sign_extended_constant()?.checked_neg()?;
    Some((llvm::int_operand(sum, 0)?, u32::try_from(less).ok().filter(|less| *less < MOST_APART)?))
}

/// The last element of a row, which a number is at most, and not negative, if that is not negative.
pub fn clamped<'ctx>(value: IntValue<'ctx>, steps: &mut usize) -> Option<IntValue<'ctx>> {
    let from = value.as_instruction_value()?;
    *steps = steps.checked_sub(1)?;
    let operand = |index| llvm::int_operand(from, index);
    let is_zero = |value: Option<IntValue<'ctx>>| value.and_then(|v| v.get_zero_extended_constant()) == Some(0);
    let is_last = |last: &IntValue<'ctx>| is_uniform(*last) && matches!(less_of(*last), Some((_, 1)));
    let last_of = |index| operand(index).filter(is_last);
    let mut is_at_least_0 = |index| {
        let is_max = |from| llvm::calls(from, &["llvm.smax."]) && is_zero(llvm::int_operand(from, 1));
        operand(index)
            .is_some_and(|value| value.as_instruction_value().is_some_and(is_max) || is_not_negative(value, steps))
    };
    if from.get_opcode() == Op::Select {
        return match (is_zero(operand(1)), is_zero(operand(2))) {
            (true, false) => clamped(operand(2)?, steps),
            (false, true) => clamped(operand(1)?, steps),
            _ => None,
        };
    }
    if llvm::calls(from, &["llvm.umin."]) {
        return last_of(0).or_else(|| last_of(1));
    }
    if llvm::calls(from, &["llvm.smin."]) {
        return if is_at_least_0(0) {
            last_of(1)
        } else if is_at_least_0(1) {
            last_of(0)
        } else {
            None
        };
    }
    if llvm::calls(from, &["llvm.smax."]) && is_zero(operand(1)) {
        let min = operand(0)?.as_instruction_value().filter(|min| llvm::calls(*min, &["llvm.smin."]))?;
        let last_of = |index| llvm::int_operand(min, index).filter(is_last);
        return last_of(0).or_else(|| last_of(1));
    }
    None
}

/// Whether a number follows from a function's arguments alone.
pub fn is_uniform(value: IntValue<'_>) -> bool {
    follows(value, &mut { MOST_STEPS })
}

fn follows(value: IntValue<'_>, steps: &mut usize) -> bool {
    let Some(from) = value.as_instruction_value() else { return true };
    let is_frozen = || from.get_opcode() == Op::Freeze && is_at_start(from);
    if *steps == 0 || !(llvm::is_pure(from) || is_frozen()) || from.get_opcode() == Op::Phi {
        return false;
    }
    *steps -= 1;
    let mut operands = llvm::value_operands(from);
    operands.all(|(_, operand)| matches!(operand, BasicValueEnum::IntValue(value) if follows(value, steps)))
}

/// Whether a function begins with the block of an instruction. There it comes before all else and is not computed again, so that a
/// number that is frozen is the same wherever it is used.
fn is_at_start(from: InstructionValue<'_>) -> bool {
    from.get_parent().is_some_and(|block| block.get_parent().and_then(|of| of.get_first_basic_block()) == Some(block))
}

/// That a number less `by` is below another.
struct Below<'ctx> {
    small: IntValue<'ctx>,
    large: IntValue<'ctx>,
    by: u32,
    is_signed: bool,
}

/// What conditions show.
#[derive(Default)]
struct Facts<'ctx> {
    below: Vec<Below<'ctx>>,
    /// What is at least a constant, as a number without sign or one that is not negative.
    least: Vec<(IntValue<'ctx>, u32)>,
    not_negative: HashSet<IntValue<'ctx>>,
}

impl<'ctx> Facts<'ctx> {
    /// Of branches on every way to a block.
    fn of(graph: &Graph<'ctx>, block: BasicBlock<'ctx>) -> Self {
        let mut facts = Self::default();
        shown(graph, block).into_iter().for_each(|(condition, is)| facts.add(condition, is));
        facts
    }

    fn add(&mut self, condition: IntValue<'ctx>, is: bool) {
        if let Some(parts) = parts(condition, is) {
            parts.into_iter().for_each(|part| self.add(part, is));
            return;
        }
        if let Some(denied) = denied(condition) {
            self.add(denied, !is);
            return;
        }
        let Some(compare) = condition.as_instruction_value() else { return };
        let Some(predicate) = compare.get_icmp_predicate() else { return };
        let (Some(left), Some(right)) = (llvm::int_operand(compare, 0), llvm::int_operand(compare, 1)) else { return };
        use IntPredicate::{EQ, NE, SGE, SGT, SLE, SLT, UGE, UGT, ULE, ULT};
        // The smaller and the larger one, whether they may be equal, and whether they have signs.
        let (small, large, may_equal, is_signed) = match (predicate, is) {
            (ULT, true) | (UGE, false) => (left, right, false, false),
            (UGT, true) | (ULE, false) => (right, left, false, false),
            (ULE, true) | (UGT, false) => (left, right, true, false),
            (UGE, true) | (ULT, false) => (right, left, true, false),
            (SLT, true) | (SGE, false) => (left, right, false, true),
            (SGT, true) | (SLE, false) => (right, left, false, true),
            (SLE, true) | (SGT, false) => (left, right, true, true),
            (SGE, true) | (SLT, false) => (right, left, true, true),
            (NE, true) | (EQ, false) => {
                if right.get_zero_extended_constant() == Some(0) {
                    self.least.push((left, 1));
                }
                return;
            }
            _ => return,
        };
        if let Some(constant) = small.get_sign_extended_constant() {
            let least = constant + i64::from(!may_equal);
            if let Ok(least) = u32::try_from(least) {
                self.least.push((large, least));
                if is_signed {
                    self.not_negative.insert(large);
                }
            }
        }
        self.below.push(Below { small, large, by: u32::from(may_equal), is_signed });
    }
}

/// Whether it is `max(x, 1) - 1` of an `x` that cannot be negative.
fn is_saturated(sum: InstructionValue<'_>) -> bool {
    let less = llvm::int_operand(sum, 1).and_then(|less| less.get_sign_extended_constant()?.checked_neg());
    let max = llvm::int_operand(sum, 0).and_then(|max| max.as_instruction_value());
    let Some((less, max)) = less.zip(max).filter(|(_, max)| llvm::calls(*max, &["llvm.umax."])) else { return false };
    let least = llvm::int_operand(max, 1).and_then(|least| least.get_sign_extended_constant());
    let is_positive = |value| is_not_negative(value, &mut { MOST_STEPS });
    least.is_some_and(|least| least >= less && less >= 0) && llvm::int_operand(max, 0).is_some_and(is_positive)
}

/// Whether a number cannot be negative, by how it is computed.
fn is_not_negative(value: IntValue<'_>, steps: &mut usize) -> bool {
    if let Some(constant) = value.get_sign_extended_constant() {
        return constant >= 0;
    }
    let Some(from) = value.as_instruction_value() else { return false };
    if *steps == 0 {
        return false;
    }
    *steps -= 1;
    let mut is_positive = |index| llvm::int_operand(from, index).is_some_and(|operand| is_not_negative(operand, steps));
    let is_call = |name| llvm::calls(from, &[name]);
    match from.get_opcode() {
        Op::ZExt => true,
        Op::Call if is_call("llvm.usub.sat.") => is_positive(0),
        Op::Call if is_call("llvm.smax.") || is_call("llvm.umin.") => is_positive(0) || is_positive(1),
        Op::Call if is_call("llvm.umax.") || is_call("llvm.smin.") => is_positive(0) && is_positive(1),
        Op::Call => llvm::is_position(from),
        Op::Add if is_saturated(from) => true,
        Op::Add | Op::Mul if llvm::promises(from).signed => is_positive(0) && is_positive(1),
        _ => false,
    }
}
