//! Values that are some number on every run, the same for all who look.
//!
//! LLVM computes early what it may not need, and promises of arithmetic that it does not overflow: where that is not so, the
//! result means nothing, and a branch that asks for it may go anywhere. Such a condition must not be asked before another one
//! says that it may be. A value is a number if it is made of numbers, by instructions whose promises are seen to be kept.

use std::collections::HashMap;

use crate::llvm::{
    self, AttributeLoc, BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode as Op, InstructionValue, IntValue,
};

use super::cases::Cases;
use super::ranges::{Facts, Interval, Ranges, are_possible};

/// How many values are looked at for all questions of one function.
const MOST_LOOKS: usize = 2000;

/// What is known of a function's values.
pub struct Numbers<'a, 'b, 'ctx> {
    function: FunctionValue<'ctx>,
    cases: &'a Cases<'b, 'ctx>,
    /// Of a phi that is being looked at it is taken for granted: what means nothing begins somewhere.
    seen: HashMap<InstructionValue<'ctx>, bool>,
    /// What has been seen for the question that is being asked.
    new: Vec<InstructionValue<'ctx>>,
    /// A condition that holds where the value is looked at.
    guard: Option<IntValue<'ctx>>,
    /// Parameters that will be frozen.
    frozen: &'a [IntValue<'ctx>],
}

impl<'a, 'b, 'ctx> Numbers<'a, 'b, 'ctx> {
    pub fn new(function: FunctionValue<'ctx>, cases: &'a Cases<'b, 'ctx>) -> Self {
        Self { function, cases, seen: HashMap::new(), new: Vec::new(), guard: None, frozen: &[] }
    }

    /// The same where these parameters will be frozen.
    fn with_frozen(function: FunctionValue<'ctx>, cases: &'a Cases<'b, 'ctx>, frozen: &'a [IntValue<'ctx>]) -> Self {
        Self { frozen, ..Self::new(function, cases) }
    }

    /// Whether a value is one.
    pub fn contain(&mut self, value: IntValue<'ctx>) -> bool {
        self.new.clear();
        let is_number = self.look(value.into());
        // What was taken for granted on the way to something else is not known.
        if !is_number {
            self.new.iter().for_each(|from| _ = self.seen.remove(from));
        }
        is_number
    }

    /// Whether a value is one wherever a condition holds.
    pub fn contain_if(&mut self, guard: IntValue<'ctx>, value: IntValue<'ctx>) -> bool {
        // What is known elsewhere is not known by this, and the other way around.
        let seen = std::mem::take(&mut self.seen);
        self.guard = Some(guard);
        let is_number = self.contain(value);
        (self.seen, self.guard) = (seen, None);
        is_number
    }

    fn look(&mut self, value: BasicValueEnum<'ctx>) -> bool {
        let BasicValueEnum::IntValue(number) = value else { return false };
        let Some(from) = number.as_instruction_value() else {
            return number.is_constant_int() || self.frozen.contains(&number) || self.is_sound_parameter(number);
        };
        if let Some(known) = self.seen.get(&from) {
            return *known;
        }
        if self.seen.len() >= MOST_LOOKS {
            return false;
        }
        self.seen.insert(from, true);
        self.new.push(from);
        let is_number = match from.get_opcode() {
            Op::Freeze => true,
            Op::Load => llvm::is_load_of_number(from),
            Op::Call if llvm::is_position(from) => true,
            Op::Call => is_minimum(from) && self.are_operands(from),
            Op::Phi => llvm::incoming(from).into_iter().all(|(value, _)| self.look(value)),
            Op::Add | Op::Sub | Op::Mul | Op::Shl | Op::Trunc | Op::ZExt | Op::ICmp => {
                self.are_operands(from) && self.keeps_promises(from)
            }
            // A divisor that is 0 or means nothing has ended the program.
            Op::LShr | Op::And | Op::Or | Op::Xor | Op::SExt | Op::Select | Op::UDiv | Op::URem => {
                self.are_operands(from) && self.keeps_promises(from)
            }
            _ => false,
        };
        self.seen.insert(from, is_number);
        is_number
    }

    fn are_operands(&mut self, from: InstructionValue<'ctx>) -> bool {
        llvm::value_operands(from).filter(|(_, value)| !value.is_pointer_value()).all(|(_, value)| self.look(value))
    }

    fn is_sound_parameter(&self, value: IntValue<'ctx>) -> bool {
        let noundef = llvm::Attribute::get_named_enum_kind_id("noundef");
        let at = self.function.get_param_iter().position(|param| param == BasicValueEnum::from(value));
        let place = at.and_then(|at| u32::try_from(at).ok()).map(AttributeLoc::Param);
        place.is_some_and(|place| self.function.get_enum_attribute(place, noundef).is_some())
    }

    fn keeps_promises(&self, from: InstructionValue<'ctx>) -> bool {
        let is_shift = matches!(from.get_opcode(), Op::Shl | Op::LShr);
        let promises_none = llvm::promises(from) == llvm::Promises::default();
        promises_none && !is_shift || self.cases.all(|ranges| self.keeps_promises_in(from, ranges))
    }

    fn keeps_promises_in(&self, from: InstructionValue<'ctx>, ranges: &Ranges<'b, 'ctx>) -> bool {
        let promises = llvm::promises(from);
        let is_shift = matches!(from.get_opcode(), Op::Shl | Op::LShr);
        let mut facts = from.get_parent().map(|block| ranges.facts(block)).unwrap_or_default();
        if let Some(guard) = self.guard {
            ranges.learn(guard, true, &mut facts);
        }
        // It is not computed then.
        if !are_possible(&facts) {
            return true;
        }
        let Some(first) = llvm::int_operand(from, 0) else { return false };
        let other = llvm::int_operand(from, 1).map(|second| signed(second, ranges, &facts));
        let bits = i128::from(first.get_type().get_bit_width());
        // By as many bits as there are, or more, nothing is shifted that means anything.
        let is_shifted = other.flatten().is_some_and(|by| by.low >= 0 && by.high < bits);
        if is_shift && (!is_shifted || promises == llvm::Promises::default()) {
            return is_shifted;
        }
        if promises.unsigned && !promises.signed && !promises.other && from.get_opcode() == Op::Add {
            return sum_fits_unsigned(from, ranges, &facts);
        }
        let Some(one) = signed(first, ranges, &facts) else { return false };
        let (low, high) = match (from.get_opcode(), other) {
            (Op::Add, Some(Some(other))) => (one.low + other.low, one.high + other.high),
            (Op::Sub, Some(Some(other))) => (one.low - other.high, one.high - other.low),
            (Op::Mul, Some(Some(other))) if one.low >= 0 && other.low >= 0 => {
                let high = one.high.saturating_mul(other.high);
                // A quotient times its divisor.
                let whole = ranges.most_divided(from, &facts);
                (one.low * other.low, whole.map_or(high, |whole| whole.min(high)))
            }
            (Op::Shl, Some(Some(by))) if one.low >= 0 => (one.low, one.high.saturating_mul(1 << by.high)),
            // Into fewer bits.
            (Op::Trunc, _) if one.low >= 0 => (one.low, one.high),
            // No sign.
            (Op::ZExt, _) => return one.low >= 0,
            (Op::ICmp, Some(Some(other))) => return one.low >= 0 && other.low >= 0,
            _ => return false,
        };
        let BasicValueEnum::IntValue(result) = llvm::result(from) else { return false };
        let end = 1_i128 << (result.get_type().get_bit_width().min(64) - 1);
        let is_unsigned = one.low >= 0 && other.flatten().is_none_or(|other| other.low >= 0) && low >= 0;
        let fits_signed = !promises.signed || -end <= low && high < end;
        let fits_unsigned = !promises.unsigned || is_unsigned && high < 2 * end;
        !promises.other && fits_signed && fits_unsigned
    }
}

/// Whether a sum has no more bits than its parts, without a sign.
fn sum_fits_unsigned<'ctx>(sum: InstructionValue<'ctx>, ranges: &Ranges<'_, 'ctx>, facts: &Facts<'ctx>) -> bool {
    let part =
        |index| llvm::int_operand(sum, index).map(|part| (ranges.of(part, facts), part.get_type().get_bit_width()));
    let (Some((one, bits)), Some((other, _))) = (part(0), part(1)) else { return false };
    one.low >= 0 && other.low >= 0 && one.high + other.high < 1 << bits.min(64)
}

/// Between which numbers a value lies as one with a sign; none where that is not known.
fn signed<'ctx>(value: IntValue<'ctx>, ranges: &Ranges<'_, 'ctx>, facts: &Facts<'ctx>) -> Option<Interval> {
    let bits = value.get_type().get_bit_width();
    if bits > 64 {
        return None;
    }
    if let Some(number) = value.get_sign_extended_constant() {
        return Some(Interval::new(number.into(), number.into()));
    }
    let range = ranges.of(value, facts);
    (bits == 64 || range.high < 1 << (bits - 1)).then_some(range)
}

/// What computed numbers of 64 bits a function freezes.
pub fn frozen(function: FunctionValue<'_>) -> Vec<InstructionValue<'_>> {
    let is_one = |from: &InstructionValue<'_>| {
        from.get_opcode() == Op::Freeze
            && llvm::int_operand(*from, 0)
                .is_some_and(|of| of.as_instruction_value().is_some() && of.get_type().get_bit_width() == 64)
    };
    llvm::instructions(function).filter(is_one).collect()
}

/// Between which numbers those of these lie that are frozen for nothing, because they are numbers anyway.
pub fn narrow_frozen<'ctx>(
    function: FunctionValue<'ctx>,
    frozen: &[InstructionValue<'ctx>],
    cases: &Cases<'_, 'ctx>,
    params: &[IntValue<'ctx>],
) -> Vec<(IntValue<'ctx>, Interval)> {
    let mut numbers = Numbers::with_frozen(function, cases, params);
    let known = frozen.iter().filter_map(|freeze| {
        let (value, block) = (llvm::int_operand(*freeze, 0)?, freeze.get_parent()?);
        let is_number = numbers.contain(value);
        is_number.then(|| (llvm::result(*freeze).into_int_value(), cases.in_block(value, block)))
    });
    known.collect()
}

fn is_minimum(call: InstructionValue<'_>) -> bool {
    const KNOWN: [&str; 5] = ["llvm.umin.", "llvm.umax.", "llvm.smin.", "llvm.smax.", "llvm.usub.sat."];
    llvm::called_function(call).is_some_and(|callee| {
        let name = callee.get_name().to_string_lossy();
        KNOWN.iter().any(|known| name.starts_with(known))
    })
}
