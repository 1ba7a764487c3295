//! Knows of several indices which is never below the others.
//!
//! ```text
//! before: a:  br i1 (icmp ult i64 %i, %len), label %b, label %panic.a           ; `x[k * n + i]` for `k` in 0..32
//!         b:  br i1 (icmp ult i64 (add i64 %n, %i), %len), label %c, label %panic.b
//!         c:  br i1 (icmp ult i64 (add i64 (shl i64 %n, 1), %i), %len), …           ; and so on
//! after:  a:  br i1 (icmp ult i64 (add i64 (mul i64 %n, 31), %i), %len), label %b, label %slow
//!         b:  …                                                  ; and the others without a check: `%n` is below 2^56
//! ```
//!
//! A thread that goes down a column of a table reads so, or one that solves one of many systems. Each index has another base, and
//! would be compared by itself, with two instructions that wait for those before them.
//!
//! **Why it is right.** An index is seen as a sum of numbers, each so many times, and a constant that is not negative. The sum of
//! what these numbers are at most must be below 2^63. Then neither it nor a part of it wraps around, so that what instructions
//! promise of their sums and products is true, wherever they stand. An index that has every number at least as often, and a
//! constant that is not smaller, is then never below the other, and where it is inside the length, so is the other. What a number
//! is at most follows from how it is computed or from what is assumed at the function's start, and not from other checks, some of
//! which may fail.
//!
//! The largest index is compared where the first of its checks was made. A number that the first does not have may mean nothing
//! there, because a check between the two fails, and so would the comparison: it must be one that means something everywhere.

use super::assumed::assumed_most;
use crate::llvm::{self, BasicValue, FunctionValue, InstructionOpcode as Op, IntValue, Promises};
use crate::loops::instruction;

/// Instructions that are looked at for one index.
const MOST_STEPS: usize = 24;

/// How deep a number is looked into.
const MOST_DEPTH: usize = 8;

/// An index as a sum of numbers, each so many times, and a constant. It is below 2^63.
pub struct Rising<'ctx> {
    terms: Vec<(IntValue<'ctx>, u64)>,
    constant: u64,
}

impl<'ctx> Rising<'ctx> {
    /// What an index is, if it cannot wrap around: a base and an offset.
    pub fn of(base: Option<IntValue<'ctx>>, offset: i64) -> Option<Self> {
        let mut sum = Self { terms: Vec::new(), constant: u64::try_from(offset).ok()? };
        sum.add(base?, 1, &mut { MOST_STEPS })?;
        let mut most = sum.constant;
        for (number, times) in &sum.terms {
            most = most.checked_add(most_of(*number, MOST_DEPTH).checked_mul(*times)?)?;
        }
        i64::try_from(most).is_ok().then_some(sum)
    }

    /// Adds a value so many times.
    fn add(&mut self, value: IntValue<'ctx>, times: u64, steps: &mut usize) -> Option<()> {
        *steps = steps.checked_sub(1)?;
        if let Some(constant) = value.get_zero_extended_constant() {
            self.constant = self.constant.checked_add(constant.checked_mul(times)?)?;
            return Some(());
        }
        // A part that is taken no times could wrap around without a trace.
        if let Some((number, by)) = multiple(value).filter(|(_, by)| *by > 0) {
            return self.add(number, times.checked_mul(by)?, steps);
        }
        if let Some(sum) = instruction(value, Op::Add) {
            self.add(llvm::int_operand(sum, 0)?, times, steps)?;
            return self.add(llvm::int_operand(sum, 1)?, times, steps);
        }
        match self.terms.iter_mut().find(|(number, _)| *number == value) {
            Some((_, known)) => *known = known.checked_add(times)?,
            None => self.terms.push((value, times)),
        }
        Some(())
    }

    /// Whether it is never below another one.
    pub fn reaches(&self, other: &Self) -> bool {
        let has = |(number, times): &(IntValue<'ctx>, u64)| {
            self.terms.iter().any(|(known, most)| known == number && most >= times)
        };
        self.constant >= other.constant && other.terms.iter().all(has)
    }

    /// Whether it means something where another one is compared, before its own check.
    pub fn is_known_with(&self, other: &Self, function: FunctionValue<'ctx>) -> bool {
        let is_of_other = |number| other.terms.iter().any(|(known, _)| *known == number);
        self.terms.iter().all(|(number, _)| is_of_other(*number) || means_something(*number, function, MOST_DEPTH))
    }
}

/// What is taken so many times by a constant.
fn multiple(value: IntValue<'_>) -> Option<(IntValue<'_>, u64)> {
    let constant = |from| llvm::int_operand(from, 1)?.get_zero_extended_constant();
    if let Some(product) = instruction(value, Op::Mul) {
        return Some((llvm::int_operand(product, 0)?, constant(product)?));
    }
    let shift = instruction(value, Op::Shl)?;
    Some((llvm::int_operand(shift, 0)?, 1_u64.checked_shl(u32::try_from(constant(shift)?).ok()?)?))
}

/// What a number is at most, without a sign.
fn most_of(value: IntValue<'_>, depth: usize) -> u64 {
    let bits = value.get_type().get_bit_width();
    if let Some(constant) = value.get_zero_extended_constant() {
        return constant;
    }
    let all = u64::MAX >> 64_u32.saturating_sub(bits);
    all.min(assumed_most(value).unwrap_or(all)).min(most_computed(value, depth).unwrap_or(all))
}

fn most_computed(value: IntValue<'_>, depth: usize) -> Option<u64> {
    let from = value.as_instruction_value().filter(|_| depth > 0)?;
    let most = |index| llvm::int_operand(from, index).map(|value| most_of(value, depth - 1));
    let constant = || llvm::int_operand(from, 1)?.get_zero_extended_constant();
    match from.get_opcode() {
        Op::ZExt => most(0),
        Op::LShr => most(0)?.checked_shr(u32::try_from(constant()?).ok()?),
        Op::UDiv => most(0)?.checked_div(constant()?),
        Op::And => Some(most(0)?.min(most(1)?)),
        _ => None,
    }
}

/// Whether a number is one wherever it is computed, and never what LLVM calls poison.
fn means_something<'ctx>(value: IntValue<'ctx>, function: FunctionValue<'ctx>, depth: usize) -> bool {
    if value.is_constant_int() || assumed_most(value).is_some() {
        return true;
    }
    let Some(from) = value.as_instruction_value().filter(|_| depth > 0) else {
        return llvm::param_index(value).is_some() && llvm::is_defined(function, value.into());
    };
    let operand =
        |index| llvm::int_operand(from, index).is_some_and(|value| means_something(value, function, depth - 1));
    let constant = || llvm::int_operand(from, 1).and_then(|value| value.get_zero_extended_constant());
    if llvm::promises(from) != Promises::default() {
        return false;
    }
    match from.get_opcode() {
        Op::ZExt => operand(0),
        Op::Shl | Op::LShr => {
            operand(0) && constant().is_some_and(|by| by < u64::from(value.get_type().get_bit_width()))
        }
        Op::UDiv => operand(0) && constant().is_some_and(|by| by > 0),
        Op::Add | Op::Mul | Op::And => operand(0) && operand(1),
        Op::Call => llvm::is_position(from),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::checks::tests::{SMALL, loads_at_once, merged};

    /// Column `%j` of some rows, which begin `%n` apart: none, one, two and three of these.
    const COLUMN: [&str; 4] = ["add i64 %j, 0", "add i64 %n, %j", "add nuw i64 %n2, %j", "add nuw nsw i64 %n3, %j"];

    const J: &str = "%j = and i64 %i, 4294967295";
    const N: &str = "%n = lshr i64 %w, 5";
    const W_IS_SMALL: &str = "%small.w = icmp ult i64 %w, 2305843009213693952
        call void @llvm.assume(i1 %small.w)";

    /// How many indices are compared before the first is read. Where the first is not the largest, each may still panic.
    fn compares(indices: &[&str], entry: &[&str]) -> usize {
        let numbers = "%n2 = shl nuw i64 %n, 1\n %n3 = mul nuw nsw i64 %n, 3\n %n0 = mul i64 %w, 0";
        let ir = merged(indices, "", &format!("{SMALL}\n{}\n{numbers}", entry.join("\n")));
        assert!(loads_at_once(&ir, indices.len()), "{ir}");
        let may_panic = |at: usize| ir.contains(&format!(", i32 {at})"));
        assert!(indices[0].contains("%n3") || (0..indices.len()).all(may_panic), "{ir}");
        let first = ir.split("br i1").next().unwrap_or_default();
        let is_of_index =
            |line: &&str| line.contains("icmp") && line.contains("%len") && !line.contains("sgt i64 %len");
        first.lines().filter(is_of_index).count()
    }

    #[test]
    fn of_a_column_the_last_is_compared() {
        assert_eq!(compares(&COLUMN, &[W_IS_SMALL, J, N]), 1);
        let reversed: Vec<&str> = COLUMN.into_iter().rev().collect();
        assert_eq!(compares(&reversed, &[W_IS_SMALL, J, N]), 1);
        // As the index of the one above is the start of the next.
        let sums = ["add i64 %j, 0", "add i64 %i0, %n", "add i64 %i1, %n", "add i64 %i2, %n"];
        assert_eq!(compares(&sums, &[W_IS_SMALL, J, N]), 1);
        // The larger part of either kind.
        let mixed = ["add i64 %n2, %j", "add i64 %j, 7", "add i64 %n3, %j", "add i64 %n, %j"];
        assert_eq!(compares(&mixed, &[W_IS_SMALL, J, N]), 2);
        let of_rows = ["add i64 %n, %j", "add i64 %i0, 1", "add i64 %n3, %j", "add i64 %i2, 1"];
        assert_eq!(compares(&of_rows, &[W_IS_SMALL, J, N]), 1);
    }

    #[test]
    fn a_long_column_is_checked_at_once() {
        let begins: String = (0..100).map(|row| format!("%r{row} = mul i64 %n, {row}\n")).collect();
        let column: Vec<String> = (1..100).map(|row| format!("add i64 %r{row}, %j")).collect();
        let column: Vec<&str> = column.iter().map(String::as_str).collect();
        assert_eq!(compares(&column, &[W_IS_SMALL, J, N, &begins]), 1);
    }

    #[test]
    fn what_may_mean_nothing_is_not_compared_before_its_check() {
        // Nothing is said of `%w`, and the first index does not have it: without it, two are as good.
        assert_eq!(compares(&COLUMN, &[J, N]), 2);
        assert_eq!(compares(&COLUMN[1..], &[J, N]), 1);
        // Where `%w` is not a multiple of 32, this is none.
        assert_eq!(compares(&COLUMN, &[W_IS_SMALL, J, "%n = lshr exact i64 %w, 5"]), 2);
    }

    #[test]
    fn what_may_wrap_around_is_compared() {
        let none = |column: &str, number: &str| {
            // `%j` and `%j + 0 * %w` are the same.
            let compared = compares(&COLUMN, &[W_IS_SMALL, column, number]);
            assert_eq!(compared, 4, "{column}, {number}");
        };
        none("%j = add i64 %i, 0", N);
        none(J, "%n = add i64 %i, %w");
        // Three of 2^62 - 1 are above 2^63, though promises are made of them.
        assert!(compares(&COLUMN, &[J, "%n = lshr i64 %w, 2"]) > 2);
        assert_eq!(compares(&COLUMN[1..], &[J, "%n = lshr i64 %w, 3"]), 1);
        // One less than 0 is the largest of all.
        assert_eq!(compares(&["add i64 %j, -1", "add i64 %n, %j"], &[W_IS_SMALL, J, N]), 2);
        // What is taken no times at all is not looked into.
        assert_eq!(compares(&["add i64 %n0, %j", "add i64 %n, %j"], &[W_IS_SMALL, J, N]), 2);
    }
}
