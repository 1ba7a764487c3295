//! Where a loop ends that compares addresses.
//!
//! ```text
//! loop:   %p = phi ptr [ %row, %before ], [ %next, %inside ]                 ; `for (k, a) in row.iter().enumerate()`
//!         br i1 (icmp ult i64 %k, %len), label %inside, label %panic                  ; `b[k]`
//! inside: %next = getelementptr inbounds nuw i8, ptr %p, i64 4
//!         br i1 (icmp eq ptr %next, %behind), label %end, label %loop                 ; %row and so many elements
//! ```
//!
//! An iterator of a slice keeps a pointer to its next element and one behind its last. Of a loop that ends by nothing else,
//! LLVM counts the rounds by itself; where an index is checked, [`super::checks`] and [`super::batches`] ask for it. Here the
//! loop ends in round `(%behind - %row - 4) / 4`.
//!
//! **Why it is right.** Where the step is a power of two, and where the loop begins and ends are whole steps behind one
//! address, the addresses are the same in that round, and in no round before, whatever wraps around; so they are if the steps
//! go down, as those of `rev()`, in round `(%row - %behind) / 4`. Where it is not, each
//! step says that nothing wraps around; were it otherwise, what the loop compares would mean nothing.

use crate::llvm::{
    self, BasicValue, BasicValueEnum, Builder, BuilderError, InstructionOpcode, InstructionValue, IntType, IntValue,
    PointerValue,
};

use super::addresses::Walk;
use super::natural::Loop;

/// How many steps there may be from one address to where a loop begins or ends.
const MOST_STEPS: usize = 4;

/// An address that grows in every round until it is another one.
pub struct Meeting<'ctx> {
    walk: Walk<'ctx>,
    behind: PointerValue<'ctx>,
    /// Bytes of a step.
    step: u64,
    /// Whether the steps go down.
    down: bool,
}

impl<'ctx> Meeting<'ctx> {
    /// Of a comparison of addresses, of which one goes up.
    pub fn of(found: &Loop<'ctx>, compared: InstructionValue<'ctx>) -> Option<Self> {
        Self::of_either(found, compared).filter(|meeting| !meeting.down)
    }

    /// The same, of one that goes up or down.
    pub fn of_either(found: &Loop<'ctx>, compared: InstructionValue<'ctx>) -> Option<Self> {
        let pointers = [pointer(compared, 0)?, pointer(compared, 1)?];
        let (at, behind) = match pointers.map(|pointer| found.is_invariant(pointer.into())) {
            [false, true] => (pointers[0], pointers[1]),
            [true, false] => (pointers[1], pointers[0]),
            _ => return None,
        };
        let walk = Walk::of(found, at)?;
        let (ahead, way) = walk.constants()?;
        let down = way.cast_signed() < 0;
        let step = if down { way.wrapping_neg() } else { way };
        let is_way = (1..=i64::MAX.cast_unsigned()).contains(&step) && ahead.is_multiple_of(step);
        let is_met = is_way && (step.is_power_of_two() || !down && walk.goes_up()) && {
            let (from, to) = (bases(walk.first(), step), bases(behind, step));
            from.iter().any(|base| to.contains(base))
        };
        is_met.then_some(Self { walk, behind, step, down })
    }

    /// In which round they meet, the first of which is 0.
    pub fn round(&self, builder: &Builder<'ctx>, word: IntType<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        let behind = builder.build_ptr_to_int(self.behind, word, "")?;
        let (at, _) = self.walk.affine(builder, word)?;
        let (low, high) = if self.down { (behind, at) } else { (at, behind) };
        let way = builder.build_int_sub(high, low, "")?;
        builder.build_int_unsigned_div(way, word.const_int(self.step, false), "")
    }
}

fn pointer(from: InstructionValue<'_>, index: u32) -> Option<PointerValue<'_>> {
    match from.get_operand(index)?.value()? {
        BasicValueEnum::PointerValue(pointer) => Some(pointer),
        _ => None,
    }
}

/// An address, and those that it is a whole number of steps behind. One of several addresses is behind what all of these are.
pub(super) fn bases<'ctx>(pointer: PointerValue<'ctx>, step: u64) -> Vec<PointerValue<'ctx>> {
    bases_within(pointer, step, MOST_STEPS)
}

fn bases_within<'ctx>(pointer: PointerValue<'ctx>, step: u64, steps: usize) -> Vec<PointerValue<'ctx>> {
    let mut all = vec![pointer];
    let below = |at: PointerValue<'ctx>| {
        let from = at.as_instruction_value()?;
        let (base, size, index) = llvm::element_of(from)?;
        let may_wrap = step.is_power_of_two();
        let is_whole = size.is_multiple_of(step) || is_multiple(index, step / gcd(size, step), may_wrap);
        let is_known = index.get_type().get_bit_width() == 64 && (may_wrap || llvm::is_in_bounds_above(from));
        (is_whole && is_known).then_some(base)
    };
    while let Some(base) = all.last().and_then(|at| below(*at)).filter(|_| all.len() <= steps) {
        all.push(base);
    }
    let phi = all.last().and_then(|last| last.as_instruction_value());
    let several = phi.filter(|phi| phi.get_opcode() == InstructionOpcode::Phi && all.len() < steps);
    let mut of_each = several.map(llvm::incoming).unwrap_or_default().into_iter().map(|(value, _)| match value {
        BasicValueEnum::PointerValue(value) => bases_within(value, step, steps - all.len()),
        _ => Vec::new(),
    });
    if let Some(first) = of_each.next() {
        let common =
            of_each.fold(first, |common, bases| common.into_iter().filter(|base| bases.contains(base)).collect());
        all.extend(common);
    }
    all
}

/// Whether a number is a multiple of another, or a choice of two that are: LLVM skips what is not there by `select`.
fn is_multiple(number: IntValue<'_>, of: u64, may_wrap: bool) -> bool {
    let chosen = number.as_instruction_value().filter(|from| from.get_opcode() == InstructionOpcode::Select);
    match chosen {
        Some(from) => [1, 2]
            .into_iter()
            .all(|at| llvm::int_operand(from, at).is_some_and(|part| is_one_multiple(part, of, may_wrap))),
        None => is_one_multiple(number, of, may_wrap),
    }
}

fn is_one_multiple(number: IntValue<'_>, of: u64, may_wrap: bool) -> bool {
    if let Some(number) = number.get_zero_extended_constant() {
        return number.is_multiple_of(of);
    }
    let is_known =
        |from: &InstructionValue<'_>| matches!(from.get_opcode(), InstructionOpcode::Shl | InstructionOpcode::Mul);
    let Some(from) = number.as_instruction_value().filter(is_known) else { return false };
    let Some(constant) = llvm::int_operand(from, 1).and_then(IntValue::get_zero_extended_constant) else {
        return false;
    };
    match from.get_opcode() {
        InstructionOpcode::Shl => of.is_power_of_two() && constant < 64 && (1_u64 << constant).is_multiple_of(of),
        InstructionOpcode::Mul => (may_wrap || llvm::has_no_unsigned_wrap(from)) && constant.is_multiple_of(of),
        _ => false,
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
