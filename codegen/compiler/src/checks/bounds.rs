//! Finds what one test shows for several checks of a stretch, in place of each by itself.
//!
//! ```text
//! before: %one = select i1 (%x < %width and %y < %height), i1 (%y * %width + %x < %len), i1 true
//!         %two = select i1 (%x < %width and %y + 8 < %height), i1 ((%y + 8) * %width + %x < %len), i1 true
//! after:  %both = icmp ult i64 (zext %height * zext %width - 1), %len
//! ```
//!
//! A thread that moves several elements of a plane asks of each whether it is inside, and then checks its index. With
//! `x < width` and `y < height`, both of 32 bits, `y * width + x` is at most `(height - 1) * width + width - 1`, which is
//! below `height * width`. If the slice has that many elements, no such index is outside of it; and the product is the same
//! for all threads, so that the GPU computes it once for a warp. It is written as a comparison that LLVM does not turn around:
//! what runs where it holds then stands right before what comes behind, where ptxas gives all of it predicates.
//!
//! An index that follows from the thread's place in its block alone, as that of an element of a tile in shared memory, is
//! compared for the largest of several, and whether or not the thread has that element: blocks inside of the plane have all
//! of them, so that the comparison fails in no program that works. It is not done where a condition follows from the place
//! alone, as `if t < 8`, because that one is false for threads of every block.
//!
//! **Why it is right.** What is tested shows all the checks, and where it fails, the stretch runs as it was. The sum for the
//! largest index cannot wrap around: a block has at most 1,024 threads in each direction, and the sum is below 2^31 for all
//! of them; so the others, which differ by a constant, are below it.

use super::chain::compared;
use crate::llvm::{self, BasicBlock, BasicValue, BasicValueEnum, InstructionOpcode as Op, IntPredicate, IntValue};
use crate::loops::{Graph, instruction};

/// Instructions that are looked at for one condition.
const MOST_STEPS: usize = 24;

/// Branches above a check that are looked at, the nearest ones.
const MOST_BRANCHES: usize = 32;

/// A thread's number in its block is below this.
const MOST_THREADS: u64 = 1024;

/// What several checks may have in common.
#[derive(Clone, PartialEq, Eq)]
pub enum Bound<'ctx> {
    /// The slice must have an element for each of a plane.
    Plane { width: IntValue<'ctx>, height: IntValue<'ctx>, len: IntValue<'ctx> },
    /// A sum of the thread's numbers in its block, each times a factor, and a constant of the check's own must be below a limit.
    Place { factors: [u64; 3], limit: u64 },
}

impl<'ctx> Bound<'ctx> {
    /// What shows that a condition is what it must be behind these guards; of several with the same, the one with the largest
    /// number.
    pub fn of(condition: IntValue<'ctx>, is: bool, guards: &[(IntValue<'ctx>, bool)]) -> Option<(Self, u64)> {
        let (index, limit) = compared(condition, is, IntPredicate::ULT)?;
        if let Some(limit) = limit.get_zero_extended_constant() {
            let mut place = Place::default();
            place.add(index, 1, &mut { MOST_STEPS })?;
            let all = guards.iter().all(|(guard, is)| is_of_more_than_the_place(*guard, *is, &mut { MOST_STEPS }));
            return (all && place.most()? < 1 << 31)
                .then_some((Self::Place { factors: place.factors, limit }, place.constant));
        }
        let mut facts = Vec::new();
        guards.iter().for_each(|(guard, is)| below(*guard, *is, &mut facts));
        let sum = instruction(index, Op::Add)?;
        let (one, other) = (llvm::int_operand(sum, 0)?, llvm::int_operand(sum, 1)?);
        let (width, height) =
            [(one, other), (other, one)].into_iter().find_map(|(row, column)| plane(row, column, &facts))?;
        (limit.get_type().get_bit_width() == 64).then_some((Self::Plane { width, height, len: limit }, 0))
    }
}

/// The width and the height of a plane in which this is where a row begins, and this is a column.
fn plane<'ctx>(
    row: IntValue<'ctx>,
    column: IntValue<'ctx>,
    facts: &[(IntValue<'ctx>, IntValue<'ctx>)],
) -> Option<(IntValue<'ctx>, IntValue<'ctx>)> {
    let product = instruction(row, Op::Mul)?;
    let (one, other) = (narrow(llvm::int_operand(product, 0)?)?, narrow(llvm::int_operand(product, 1)?)?);
    let x = narrow(column)?;
    [(one, other), (other, one)].into_iter().find_map(|(y, width)| {
        let height = facts.iter().find(|(small, _)| *small == y)?.1;
        facts.contains(&(x, width)).then_some((width, height))
    })
}

/// What a number of 64 bits is an extension of, if that has 32.
fn narrow(value: IntValue<'_>) -> Option<IntValue<'_>> {
    let number = llvm::int_operand(instruction(value, Op::ZExt)?, 0)?;
    (number.get_type().get_bit_width() == 32 && value.get_type().get_bit_width() == 64).then_some(number)
}

/// What branches on every way to a block have asked, the nearest ones, and what the answers were.
pub(crate) fn shown<'ctx>(graph: &Graph<'ctx>, block: BasicBlock<'ctx>) -> Vec<(IntValue<'ctx>, bool)> {
    let mut answers = Vec::new();
    let above = std::iter::successors(graph.dominator(block), |at| graph.dominator(*at));
    for from in above.take(MOST_BRANCHES) {
        let Some(end) = from.get_terminator().filter(|end| end.get_opcode() == Op::Br) else { continue };
        let (Some((then, other)), Some(condition)) = (llvm::branch_targets(end), llvm::int_operand(end, 0)) else {
            continue;
        };
        for (to, is) in [(then, true), (other, false)] {
            if llvm::predecessors(to) == [from] && graph.is_reached_by_way_of(block, to) {
                answers.push((condition, is));
            }
        }
    }
    answers
}

/// Which numbers a condition shows to be below which.
pub(super) fn below<'ctx>(condition: IntValue<'ctx>, is: bool, found: &mut Vec<(IntValue<'ctx>, IntValue<'ctx>)>) {
    if let Some(parts) = parts(condition, is) {
        parts.into_iter().for_each(|part| below(part, is, found));
    } else if let Some(denied) = denied(condition) {
        below(denied, !is, found);
    } else {
        found.extend(compared(condition, is, IntPredicate::ULT));
    }
}

/// What a condition is the opposite of.
pub(super) fn denied(condition: IntValue<'_>) -> Option<IntValue<'_>> {
    let from = instruction(condition, Op::Xor)?;
    let is_true = llvm::int_operand(from, 1)?.get_zero_extended_constant() == Some(1);
    llvm::int_operand(from, 0).filter(|_| is_true && condition.get_type().get_bit_width() == 1)
}

/// The two conditions that must both be so.
pub(super) fn parts(condition: IntValue<'_>, is: bool) -> Option<[IntValue<'_>; 2]> {
    let from = condition.as_instruction_value()?;
    let constant = |index| llvm::int_operand(from, index).and_then(|value| value.get_zero_extended_constant());
    match (from.get_opcode(), is) {
        (Op::And, true) | (Op::Or, false) => Some([llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?]),
        (Op::Select, true) if constant(2) == Some(0) => {
            Some([llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?])
        }
        (Op::Select, false) if constant(1) == Some(1) => {
            Some([llvm::int_operand(from, 0)?, llvm::int_operand(from, 2)?])
        }
        _ => None,
    }
}

/// Whether each part of a condition follows from more than the thread's place in its block.
fn is_of_more_than_the_place(condition: IntValue<'_>, is: bool, steps: &mut usize) -> bool {
    match parts(condition, is) {
        Some(parts) => parts.into_iter().all(|part| is_of_more_than_the_place(part, is, steps)),
        None => is_of_the_grid(condition.into(), steps),
    }
}

/// Whether a value depends on a parameter of the kernel or on which block it is.
fn is_of_the_grid(value: BasicValueEnum<'_>, steps: &mut usize) -> bool {
    let Some(from) = llvm::instruction_of(value) else { return !llvm::is_constant(&value) };
    if *steps == 0 {
        return false;
    }
    *steps -= 1;
    if llvm::is_position(from) {
        return llvm::special_register(from).is_some_and(|register| register.starts_with("ctaid."));
    }
    llvm::is_pure(from) && llvm::value_operands(from).any(|(_, operand)| is_of_the_grid(operand, steps))
}

/// A sum of the thread's numbers in its block.
#[derive(Default)]
struct Place {
    factors: [u64; 3],
    constant: u64,
}

impl Place {
    /// Adds a value times a factor, if it is such a sum.
    fn add(&mut self, value: IntValue<'_>, factor: u64, steps: &mut usize) -> Option<()> {
        if let Some(constant) = value.get_zero_extended_constant() {
            self.constant = self.constant.checked_add(constant.checked_mul(factor)?)?;
            return Some(());
        }
        *steps = steps.checked_sub(1)?;
        let from = value.as_instruction_value()?;
        let constant = || llvm::int_operand(from, 1)?.get_zero_extended_constant();
        match from.get_opcode() {
            Op::Add => {
                self.add(llvm::int_operand(from, 0)?, factor, steps)?;
                self.add(llvm::int_operand(from, 1)?, factor, steps)
            }
            Op::Mul => self.add(llvm::int_operand(from, 0)?, factor.checked_mul(constant()?)?, steps),
            Op::Shl => {
                let by = 1_u64.checked_shl(u32::try_from(constant()?).ok()?)?;
                self.add(llvm::int_operand(from, 0)?, factor.checked_mul(by)?, steps)
            }
            Op::ZExt => self.add(llvm::int_operand(from, 0)?, factor, steps),
            _ => {
                let register = llvm::is_position(from).then(|| llvm::special_register(from))??;
                let axis = ["tid.x", "tid.y", "tid.z"].iter().position(|known| *known == register)?;
                self.factors[axis] = self.factors[axis].checked_add(factor)?;
                Some(())
            }
        }
    }

    /// What it is at most.
    fn most(&self) -> Option<u64> {
        self.factors
            .iter()
            .try_fold(self.constant, |sum, factor| sum.checked_add(factor.checked_mul(MOST_THREADS - 1)?))
    }
}
