//! The parts of a block's condition that must all hold for a kernel to go on, or of which none may.
//!
//! ```text
//! br i1 (%x < %width and %i < %len), label %inside, label %panic         ; two that must hold
//! br i1 (%start > %end or %end > %len), label %panic, label %inside      ; two that must not
//! ```

use crate::hash::QuickSet;
use crate::llvm::{
    self, BasicBlock, BasicValue, Context, InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue,
};
use crate::loops::opposite;

use super::places::{BITS, Comparison, MOST_STEPS, Order, comparison};
use super::ranges::is_bool;

/// Conditions that are joined in one branch.
pub const MOST_PARTS: usize = 40;

/// A part of a joined condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'ctx> {
    /// What joins it, or the branch.
    pub user: InstructionValue<'ctx>,
    /// The number of the operand.
    pub at: u32,
    /// Whether it must hold, or must not.
    pub holds: bool,
}

impl<'ctx> Part<'ctx> {
    /// What it asks.
    pub fn condition(&self) -> Option<IntValue<'ctx>> {
        llvm::int_operand(self.user, self.at)
    }

    /// What joins it with others, if it is asked as a whole.
    fn inner(&self) -> Option<InstructionValue<'ctx>> {
        let from = self.condition().and_then(|value| value.as_instruction_value())?;
        is_join(from, self.holds).then_some(from)
    }

    fn of(self, join: InstructionValue<'ctx>, at: u32) -> Self {
        Self { user: join, at, ..self }
    }

    /// What it compares: all that it asks, or what it asks under a guard, `!guard || index < len`, each of both frozen or not.
    pub fn guarded(&self) -> Option<Guarded<'ctx>> {
        let from = self.condition()?.as_instruction_value()?;
        let (one, other) = match from.get_opcode() {
            Op::ICmp => return Some(Guarded { compared: from, guard: None }),
            Op::Or if self.holds => (llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?),
            _ => return None,
        };
        let thawed = |value: IntValue<'ctx>| {
            let frozen = value.as_instruction_value().filter(|from| from.get_opcode() == Op::Freeze);
            frozen.and_then(|frozen| llvm::int_operand(frozen, 0)).unwrap_or(value)
        };
        [(one, other), (other, one)].into_iter().find_map(|(check, denied)| {
            let denied = thawed(denied).as_instruction_value().filter(|from| from.get_opcode() == Op::Xor)?;
            let guard = llvm::int_operand(denied, 0)
                .filter(|_| llvm::int_operand(denied, 1).is_some_and(|by| is_bool(by, true)))?;
            let compared = thawed(check).as_instruction_value().filter(|from| from.get_opcode() == Op::ICmp)?;
            Some(Guarded { compared, guard: Some(thawed(guard)) })
        })
    }

    /// What a part that is a check compares: an index with a length, or the ends of a slice's part.
    pub fn check(&self) -> Option<Order<'ctx>> {
        let (predicate, left, right): Comparison<'ctx> = comparison(self.guarded()?.compared)?;
        let (small, large, by) = match if self.holds { predicate } else { opposite(predicate) } {
            IntPredicate::ULT => (left, right, 1),
            IntPredicate::UGT => (right, left, 1),
            IntPredicate::ULE => (left, right, 0),
            IntPredicate::UGE => (right, left, 0),
            _ => return None,
        };
        (small.get_type().get_bit_width() == BITS).then_some(Order { small, large, by })
    }
}

/// A comparison, and the guard under which alone it is asked.
pub struct Guarded<'ctx> {
    pub compared: InstructionValue<'ctx>,
    pub guard: Option<IntValue<'ctx>>,
}

/// The parts of a block's condition, of which none may hold if only so the function goes on to its return.
pub fn parts<'ctx>(block: BasicBlock<'ctx>, returning: &QuickSet<BasicBlock<'ctx>>) -> Vec<Part<'ctx>> {
    let mut parts = Vec::new();
    if let Some(end) = block.get_terminator()
        && let Some((then, other)) = llvm::branch_targets(end)
    {
        let holds = returning.contains(&then) || !returning.contains(&other);
        collect(Part { user: end, at: 0, holds }, &mut parts, MOST_STEPS);
    }
    parts
}

/// Finds the parts of a condition, in the order in which they are asked.
fn collect<'ctx>(part: Part<'ctx>, parts: &mut Vec<Part<'ctx>>, steps: u32) {
    match part.inner().filter(|_| steps > 0 && parts.len() <= MOST_PARTS) {
        Some(join) => [0, 1, 2].into_iter().filter(|at| is_joined(join, *at)).for_each(|at| {
            collect(part.of(join, at), parts, steps - 1);
        }),
        None => parts.push(part),
    }
}

/// Whether an instruction joins two conditions that must both hold, or of which none may.
fn is_join(join: InstructionValue<'_>, hold: bool) -> bool {
    let is_condition = || llvm::int_operand(join, 0).is_some_and(|part| part.get_type().get_bit_width() == 1);
    match join.get_opcode() {
        Op::And => hold && is_condition(),
        Op::Or => !hold && is_condition(),
        Op::Select => llvm::int_operand(join, if hold { 2 } else { 1 }).is_some_and(|other| is_bool(other, !hold)),
        _ => false,
    }
}

/// Whether an operand of a join is one of the two conditions.
fn is_joined(join: InstructionValue<'_>, at: u32) -> bool {
    at < join.get_num_operands()
        && (join.get_opcode() != Op::Select || !llvm::int_operand(join, at).is_some_and(IntValue::is_const))
}

/// Has a block's condition ask nothing of these parts. What joins them for others, too, as for the panic that says which of them
/// does not hold, stays as it is.
pub fn leave_out<'ctx>(context: &'ctx Context, block: BasicBlock<'ctx>, gone: &[Part<'ctx>]) {
    let Some(end) = block.get_terminator() else { return };
    let Some(holds) = gone.first().map(|part| part.holds) else { return };
    let mut next = vec![(end, end)];
    while let Some((user, own)) = next.pop() {
        for at in 0..user.get_num_operands() {
            let part = Part { user, at, holds };
            if gone.contains(&part) {
                let always = context.bool_type().const_int(holds.into(), false);
                assert!(own.set_operand(at, always), "the user has that operand");
                continue;
            }
            let Some(join) = part.inner().filter(|join| leads_to(*join, gone, MOST_STEPS)) else { continue };
            let mine = if is_for_one(join) {
                join
            } else {
                let copy = join.explicit_clone();
                let builder = context.create_builder();
                builder.position_before(&join);
                builder.insert_instruction(&copy, None);
                assert!(own.set_operand(at, llvm::result(copy)), "the user has that operand");
                copy
            };
            next.push((join, mine));
        }
    }
}

/// Whether one of these parts is joined by a condition.
fn leads_to<'ctx>(join: InstructionValue<'ctx>, parts: &[Part<'ctx>], steps: u32) -> bool {
    parts.iter().any(|part| part.user == join)
        || steps > 0
            && parts.first().is_some_and(|part| {
                let inner = |at| part.of(join, at).inner();
                [0, 1, 2]
                    .into_iter()
                    .filter(|at| is_joined(join, *at))
                    .any(|at| inner(at).is_some_and(|inner| leads_to(inner, parts, steps - 1)))
            })
}

fn is_for_one(join: InstructionValue<'_>) -> bool {
    llvm::uses(&llvm::result(join)).len() == 1
}
