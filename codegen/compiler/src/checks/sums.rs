//! Numbers as sums of products, so that what is computed in different ways can be seen to be the same.
//!
//! ```text
//! %row = mul i32 %y, %width
//! %left = sub i32 %x, %radius
//! %i = add i32 (add i32 %row, %left), %dx      ; %y * %width + %x - %radius + %dx
//! %column = add i32 (sub i32 %dx, %radius), %x ; %x - %radius + %dx
//! ```
//!
//! All is modulo 2^32, as the arithmetic is, so that it does not matter what wraps around. The lower half of a number of 64 bits is
//! one factor, however often it is taken.

use std::collections::BTreeMap;

use crate::llvm::{self, BasicValue, InstructionOpcode as Op, IntValue};

/// Instructions that are looked at for one number.
const MOST_STEPS: usize = 48;

/// Products of a sum.
const MOST_TERMS: usize = 32;

/// Factors of a product.
const MOST_FACTORS: usize = 4;

/// What sums are made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Factor<'ctx> {
    Value(IntValue<'ctx>),
    /// The lower half of a number of 64 bits.
    Low(IntValue<'ctx>),
}

/// The factors that sums of one function are made of, by number.
#[derive(Default)]
pub struct Factors<'ctx> {
    known: Vec<Factor<'ctx>>,
}

/// A sum of products, each with how often it is added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    terms: BTreeMap<Vec<usize>, u32>,
}

impl<'ctx> Factors<'ctx> {
    /// What a number of 32 bits is.
    pub fn sum(&mut self, value: IntValue<'ctx>) -> Option<Sum> {
        if value.get_type().get_bit_width() == 32 { self.of(value, &mut { MOST_STEPS }) } else { None }
    }

    fn of(&mut self, value: IntValue<'ctx>, steps: &mut usize) -> Option<Sum> {
        if let Some(constant) = value.get_zero_extended_constant() {
            return Some(Sum::number(constant as u32));
        }
        *steps = steps.checked_sub(1)?;
        let Some(from) = value.as_instruction_value() else { return Some(self.factor(Factor::Value(value))) };
        let operand = |index| llvm::int_operand(from, index);
        let shift = || operand(1)?.get_zero_extended_constant().filter(|by| *by < 32);
        match from.get_opcode() {
            Op::Add => self.of(operand(0)?, steps)?.plus(&self.of(operand(1)?, steps)?, 1),
            Op::Or if llvm::is_disjoint(from) => self.of(operand(0)?, steps)?.plus(&self.of(operand(1)?, steps)?, 1),
            Op::Sub => self.of(operand(0)?, steps)?.plus(&self.of(operand(1)?, steps)?, u32::MAX),
            Op::Mul => self.of(operand(0)?, steps)?.times(&self.of(operand(1)?, steps)?),
            Op::Shl if shift().is_some() => self.of(operand(0)?, steps)?.times(&Sum::number(1 << shift()?)),
            Op::Trunc => Some(self.factor(Factor::Low(operand(0)?))),
            _ => Some(self.factor(Factor::Value(value))),
        }
    }

    /// The numbers that a sum is made of.
    pub fn values(&self, sum: &Sum) -> Vec<IntValue<'ctx>> {
        let mut numbers: Vec<usize> = sum.terms.keys().flatten().copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        let value = |number: usize| match self.known[number] {
            Factor::Value(value) => Some(value),
            Factor::Low(_) => None,
        };
        numbers.into_iter().filter_map(value).collect()
    }

    fn factor(&mut self, factor: Factor<'ctx>) -> Sum {
        let number = self.known.iter().position(|known| *known == factor).unwrap_or_else(|| {
            self.known.push(factor);
            self.known.len() - 1
        });
        Sum { terms: BTreeMap::from([(vec![number], 1)]) }
    }
}

impl Sum {
    fn number(number: u32) -> Self {
        Self { terms: if number == 0 { BTreeMap::new() } else { BTreeMap::from([(Vec::new(), number)]) } }
    }

    /// This and another sum so many times.
    fn plus(mut self, other: &Self, times: u32) -> Option<Self> {
        for (factors, number) in &other.terms {
            let sum = self.terms.entry(factors.clone()).or_default();
            *sum = sum.wrapping_add(number.wrapping_mul(times));
        }
        self.terms.retain(|_, number| *number != 0);
        (self.terms.len() <= MOST_TERMS).then_some(self)
    }

    fn times(&self, other: &Self) -> Option<Self> {
        let mut all = Self::number(0);
        for (left, by) in &self.terms {
            for (right, number) in &other.terms {
                let mut factors: Vec<usize> = left.iter().chain(right).copied().collect();
                factors.sort_unstable();
                if factors.len() > MOST_FACTORS {
                    return None;
                }
                all = all.plus(&Self { terms: BTreeMap::from([(factors, by.wrapping_mul(*number))]) }, 1)?;
            }
        }
        Some(all)
    }

    /// What is left of it without another one.
    pub fn less(&self, other: &Self) -> Option<Self> {
        self.clone().plus(other, u32::MAX)
    }

    /// The same and a number.
    pub fn and(&self, number: u32) -> Option<Self> {
        self.clone().plus(&Self::number(number), 1)
    }

    /// What is added to its products.
    pub fn added(&self) -> u32 {
        self.terms.get(&Vec::new()).copied().unwrap_or(0)
    }

    /// The number that it is, if it has no products.
    pub fn as_number(&self) -> Option<u32> {
        self.terms.keys().all(Vec::is_empty).then(|| self.added())
    }

    /// What times a single factor it is, if that is not nothing.
    pub fn divided_by(&self, factor: &Self) -> Option<Self> {
        let mut only = factor.terms.iter();
        let (Some((single, 1)), None) = (only.next(), only.next()) else { return None };
        let [single] = single[..] else { return None };
        let mut terms = BTreeMap::new();
        for (factors, number) in &self.terms {
            let at = factors.iter().position(|factor| *factor == single)?;
            let mut factors = factors.clone();
            factors.remove(at);
            terms.insert(factors, *number);
        }
        (!terms.is_empty()).then_some(Self { terms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{Context, parse_ir};

    /// Whether two values of a function are the same sum.
    fn are_equal(one: &str, other: &str) -> bool {
        let context = Context::create();
        let text = format!(
            "define void @f(i32 %x, i32 %y, i32 %w, i64 %n) {{
              {one}
              {other}
              ret void
            }}"
        );
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        let named = |name: &str| {
            let is_named = |from: &llvm::InstructionValue<'_>| {
                from.get_name().is_some_and(|known| known.to_bytes() == name.as_bytes())
            };
            llvm::result(llvm::instructions(function).find(is_named).unwrap()).into_int_value()
        };
        let mut factors = Factors::default();
        factors.sum(named("one")).unwrap() == factors.sum(named("other")).unwrap()
    }

    #[test]
    fn what_is_computed_otherwise_is_the_same() {
        let one = "%a = add i32 %y, 1
            %b = mul i32 %a, %w
            %c = sub i32 %b, %x
            %one = shl i32 %c, 1";
        let other = |last: &str| {
            format!(
                "%d = mul i32 %w, %y
                %e = add i32 %d, %w
                %g = add i32 %e, %e
                %h = mul i32 %x, {last}
                %other = add i32 %g, %h"
            )
        };
        assert!(are_equal(one, &other("-2")));
        assert!(!are_equal(one, &other("2")));
    }

    #[test]
    fn the_lower_half_of_a_number_is_one_factor() {
        let low = |name: &str| format!("%{name}.low = trunc i64 %n to i32\n %{name} = mul i32 %{name}.low, %x");
        assert!(are_equal(&low("one"), &low("other")));
    }
}
