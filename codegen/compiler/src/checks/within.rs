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
//! **Why it is right.** What is compared, is compared modulo 2^32 (`sums.rs`). A number with a sign is in `0..extent` if it is
//! below the extent and not negative. A number without one less a constant is below the extent if it is not less than the
//! constant, so that the difference does not wrap around. `x < extent - 2` is `x + 2 < extent` where the extent is not less than 2,
//! which [`Known::least_extent`] has whoever relies on it ask.

use std::collections::HashSet;

use super::bounds::{instruction, parts, shown};
use super::sums::{Factors, Sum};
use crate::llvm::{self, BasicBlock, BasicValue, BasicValueEnum, InstructionOpcode as Op, IntPredicate, IntValue};
use crate::loops::{Graph, integer};

/// Instructions that are looked at for one number.
const MOST_STEPS: usize = 24;

/// Neighbours of an element are nearer than this.
pub const MOST_APART: u32 = 1 << 16;

/// A number that is within an extent: a value and a constant.
pub struct Coordinate<'ctx> {
    pub value: IntValue<'ctx>,
    pub offset: u32,
    pub extent: IntValue<'ctx>,
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
}

impl<'ctx> Range<'ctx> {
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
            known.ranges.push(Range { value: *small, more, at, extent, factor, may_be_negative });
        }
        let smalls = facts.below.iter().map(|below| (below.small, 0)).filter(|(small, _)| is_positive(*small));
        for (value, least) in facts.least.iter().copied().chain(smalls) {
            let at = factors.sum(value);
            known.least.extend(at.map(|at| Least { at, least, is_positive: is_positive(value) }));
        }
        known
    }

    /// The coordinates, from within, of an index in an area.
    pub fn coordinates(&self, index: &Sum, dimensions: usize) -> Option<Vec<Coordinate<'ctx>>> {
        let single = self.ranges.iter().find_map(|range| {
            let less = range.at.less(index)?.as_number().filter(|less| *less < MOST_APART)?;
            self.holds(range, less).then(|| range.coordinate(less))
        });
        if let Some(single) = single {
            return Some(vec![single]);
        }
        if dimensions == 1 {
            return None;
        }
        self.ranges.iter().find_map(|range| {
            // What the column is less than the one that is known to be in the row.
            let rest = index.less(&range.at)?;
            let less = rest.added().wrapping_neg();
            if less >= MOST_APART || !self.holds(range, less) {
                return None;
            }
            let rows = rest.and(less)?.divided_by(&range.factor)?;
            let mut all = vec![range.coordinate(less)];
            all.extend(self.coordinates(&rows, dimensions - 1)?);
            Some(all)
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
            match (above, below) {
                (Some(above), _) if above < MOST_APART => known.least + above >= less && is_positive(),
                (_, Some(below)) if below < MOST_APART => {
                    known.least >= below + less && (!range.may_be_negative || is_positive())
                }
                _ => false,
            }
        })
    }
}

/// What a number is less than another by a small constant, and that.
fn less_of(value: IntValue<'_>) -> Option<(IntValue<'_>, u32)> {
    let sum = instruction(value, Op::Add)?;
    let less = integer(sum, 1)?.get_sign_extended_constant()?.checked_neg()?;
    Some((integer(sum, 0)?, u32::try_from(less).ok().filter(|less| *less < MOST_APART)?))
}

/// Whether a number follows from a function's arguments alone.
pub fn is_uniform(value: IntValue<'_>) -> bool {
    follows(value, &mut { MOST_STEPS })
}

fn follows(value: IntValue<'_>, steps: &mut usize) -> bool {
    let Some(from) = value.as_instruction_value() else { return true };
    if *steps == 0 || !llvm::is_pure(from) || from.get_opcode() == Op::Phi {
        return false;
    }
    *steps -= 1;
    let mut operands = llvm::value_operands(from);
    operands.all(|(_, operand)| matches!(operand, BasicValueEnum::IntValue(value) if follows(value, steps)))
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
        let Some(compare) = condition.as_instruction_value() else { return };
        let Some(predicate) = compare.get_icmp_predicate() else { return };
        let (Some(left), Some(right)) = (integer(compare, 0), integer(compare, 1)) else { return };
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
    match from.get_opcode() {
        Op::ZExt => true,
        Op::Call => llvm::is_position(from),
        Op::Add | Op::Mul if llvm::promises(from).signed => {
            llvm::value_operands(from).all(|(_, operand)| is_not_negative(operand.into_int_value(), steps))
        }
        _ => false,
    }
}
