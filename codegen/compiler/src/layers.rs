//! Leaves out of a sum what it adds and takes away again: the rows of the layer before or behind an element's.
//!
//! ```text
//! before: %z = udiv i64 %row, %height
//!         %y = sub i64 %row, (mul i64 %z, %height)                     ; `row % height`, also as `urem`
//!         add i64 (mul i64 (add i64 %z, -1), %height), %y              ; `(z - 1) * height + y`
//! after:  sub i64 %row, %height
//! ```
//!
//! A volume whose layers lie below each other is indexed so, by coordinates that were taken apart with `/` and `%`. LLVM puts
//! `z * height + y` together again, but not where something is added to the quotient: that is a product of its own then, of
//! 64 bits, and no check is seen to be the one of a row nearby. Of its point's six neighbours in a volume two were such,
//! which took a third of the kernel's instructions.
//!
//! **Why it is right.** `(z + c) × n + (r - z × n)` is `r + c × n`, modulo 2^64 as well, whatever wraps around on the way; and
//! what is left of `r` when it is divided by `n` is `r - (r / n) × n`. The new arithmetic promises nothing of not wrapping around.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, Builder, BuilderError, Context, FunctionValue, InstructionOpcode as Op, InstructionValue, IntValue, Module,
};
use crate::loops::instruction;

/// Numbers of a sum that are looked at.
const MOST_TERMS: usize = 8;

/// Does so in every function.
pub fn fold<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 0) {
        fold_in(context, function).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot fold the layers of a function: {error}"))
        })?;
    }
    Ok(())
}

fn fold_in<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> std::result::Result<(), BuilderError> {
    let is_sum = |from: &InstructionValue<'ctx>| matches!(from.get_opcode(), Op::Add | Op::Sub);
    let sums: Vec<_> = llvm::instructions(function).filter(is_sum).collect();
    let builder = context.create_builder();
    for sum in sums {
        let Some(shorter) = Sum::of(sum).and_then(|terms| terms.shorter()) else { continue };
        builder.position_before(&sum);
        llvm::replace_uses(sum, shorter.write(&builder)?.into());
    }
    Ok(())
}

/// A number that is added, or taken away.
#[derive(Clone, Copy, PartialEq)]
struct Term<'ctx> {
    value: IntValue<'ctx>,
    is_added: bool,
}

/// What is added up.
struct Sum<'ctx>(Vec<Term<'ctx>>);

impl<'ctx> Sum<'ctx> {
    /// The numbers of a sum, and of the sums that are only parts of it.
    fn of(from: InstructionValue<'ctx>) -> Option<Self> {
        let mut terms = Vec::new();
        let mut pending = vec![(from, true)];
        while let Some((from, is_added)) = pending.pop() {
            let is_second_added = is_added == (from.get_opcode() == Op::Add);
            for (value, is_added) in
                [(llvm::int_operand(from, 0)?, is_added), (llvm::int_operand(from, 1)?, is_second_added)]
            {
                match part(value) {
                    Some(part) => pending.push((part, is_added)),
                    None => terms.push(Term { value, is_added }),
                }
            }
            if terms.len() + pending.len() > MOST_TERMS {
                return None;
            }
        }
        Some(Self(terms))
    }

    /// The same without a product that it adds and takes away.
    fn shorter(&self) -> Option<Shorter<'ctx>> {
        let terms = self.0.iter().enumerate();
        let products = terms.flat_map(|(at, term)| Product::of(*term).into_iter().map(move |product| (at, product)));
        products.into_iter().find_map(|(at, product)| {
            let mut others = self.0.iter().enumerate().filter(|(other, _)| *other != at);
            let (rest, whole) = others.find_map(|(other, term)| Some((other, product.left_by(*term)?)))?;
            let kept = self.0.iter().enumerate().filter(|(other, _)| *other != at && *other != rest);
            let terms = whole.into_iter().chain(kept.map(|(_, term)| *term)).collect();
            Some(Shorter { product, terms })
        })
    }
}

/// A sum that nobody else asks for. Where a rest is computed, that is one itself.
fn part(value: IntValue<'_>) -> Option<InstructionValue<'_>> {
    let from = instruction(value, Op::Add).or_else(|| instruction(value, Op::Sub))?;
    (llvm::uses(&value).len() == 1).then_some(from)
}

/// A product of a quotient that something has been added to.
#[derive(Clone, Copy)]
struct Product<'ctx> {
    quotient: IntValue<'ctx>,
    more: Term<'ctx>,
    by: IntValue<'ctx>,
    is_added: bool,
}

impl<'ctx> Product<'ctx> {
    /// As which products a number may be seen.
    fn of(Term { value, is_added }: Term<'ctx>) -> Vec<Self> {
        let product = || {
            let product = instruction(value, Op::Mul)?;
            Some((llvm::int_operand(product, 0)?, llvm::int_operand(product, 1)?))
        };
        let Some((one, other)) = product() else { return Vec::new() };
        let of = |sum, by| {
            let parts = move |from: InstructionValue<'ctx>| {
                let (left, right) = (llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?);
                let is_sum = from.get_opcode() == Op::Add;
                let ways =
                    [(left, Term { value: right, is_added: is_sum }), (right, Term { value: left, is_added: true })];
                Some(ways.into_iter().take(if is_sum { 2 } else { 1 }))
            };
            let from = instruction(sum, Op::Add).or_else(|| instruction(sum, Op::Sub));
            let ways = from.and_then(parts).into_iter().flatten();
            ways.map(move |(quotient, more)| Self { quotient, more, by, is_added })
        };
        of(one, other).chain(of(other, one)).collect()
    }

    /// What is left of another number where it takes the quotient's product away: all of that, or something else.
    fn left_by(&self, other: Term<'ctx>) -> Option<Option<Term<'ctx>>> {
        if other.is_added != self.is_added {
            return self.is_of_quotient(other.value).then_some(None);
        }
        let whole = |value| Some(Some(Term { value, is_added: self.is_added }));
        if let Some(rest) = instruction(other.value, Op::Sub) {
            return if self.is_of_quotient(llvm::int_operand(rest, 1)?) {
                whole(llvm::int_operand(rest, 0)?)
            } else {
                None
            };
        }
        let rest = instruction(other.value, Op::URem)?;
        let division = instruction(self.quotient, Op::UDiv)?;
        let is_same = |at| llvm::int_operand(rest, at) == llvm::int_operand(division, at);
        let is_rest = is_same(0) && is_same(1) && llvm::int_operand(division, 1) == Some(self.by);
        if is_rest { whole(llvm::int_operand(rest, 0)?) } else { None }
    }

    /// Whether a number is the quotient's product without what has been added.
    fn is_of_quotient(&self, value: IntValue<'ctx>) -> bool {
        let sides = instruction(value, Op::Mul)
            .and_then(|from| Some((llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?)));
        sides.is_some_and(|sides| sides == (self.quotient, self.by) || sides == (self.by, self.quotient))
    }
}

/// A sum that has lost a product with a quotient, but for what was added to that.
struct Shorter<'ctx> {
    product: Product<'ctx>,
    terms: Vec<Term<'ctx>>,
}

impl<'ctx> Shorter<'ctx> {
    /// Writes it, beginning with the number that was divided.
    fn write(&self, builder: &Builder<'ctx>) -> std::result::Result<IntValue<'ctx>, BuilderError> {
        let Product { more, by, is_added, .. } = self.product;
        let more = match more.value.get_sign_extended_constant() {
            Some(1) => Term { value: by, is_added: more.is_added == is_added },
            Some(-1) => Term { value: by, is_added: more.is_added != is_added },
            _ => Term { value: builder.build_int_mul(more.value, by, "")?, is_added: more.is_added == is_added },
        };
        let mut terms = self.terms.clone();
        terms.insert(terms.len().min(1), more);
        let mut sum = None;
        for Term { value, is_added } in terms {
            sum = Some(match (sum, is_added) {
                (None, true) => value,
                (None, false) => builder.build_int_neg(value, "")?,
                (Some(sum), true) => builder.build_int_add(sum, value, "")?,
                (Some(sum), false) => builder.build_int_sub(sum, value, "")?,
            });
        }
        Ok(sum.unwrap_or_else(|| by.get_type().const_zero()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::llvm::{AnyValue, parse_ir};
    use crate::loops::interpreter::{Event, Function, Value};

    /// A function that stores `%j`, before and after.
    fn folded(body: &str) -> [String; 2] {
        let text = format!(
            "define void @f(ptr %to, i64 %i, i64 %n, i64 %k) {{
              %q = udiv i64 %i, %n
              %p = mul i64 %q, %n
              %rest = sub i64 %i, %p
              {body}
              %low = trunc i64 %j to i32
              store volatile i32 %low, ptr %to
              %shifted = lshr i64 %j, 32
              %high = trunc i64 %shifted to i32
              store volatile i32 %high, ptr %to
              ret void
            }}"
        );
        let context = Context::create();
        let module =
            parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        let printed = || module.get_function("f").unwrap().print_to_string().to_string();
        let before = printed();
        fold(&context, &module).unwrap();
        module.verify().unwrap();
        [before, printed()]
    }

    fn run(text: &str, i: u64, n: u64, k: u64) -> Vec<Event> {
        let number = |value| Value::Number(value, 64);
        let given = [("%to", Value::Address(4096)), ("%i", number(i)), ("%n", number(n)), ("%k", number(k))];
        Function::parse(text).run(&HashMap::from(given))
    }

    /// Whether what is stored is computed without the quotient, and is the same.
    fn is_shorter(body: &str) -> bool {
        let [before, after] = folded(body);
        let numbers = [0, 1, 2, 3, 7, 100, 1 << 32, (1 << 63) - 1, u64::MAX];
        for (i, n) in numbers.into_iter().flat_map(|i| numbers[1..].iter().map(move |n| (i, *n))) {
            for k in numbers {
                assert_eq!(run(&before, i, n, k), run(&after, i, n, k), "{i}, {n}, {k}: {after}");
            }
        }
        let stored = after.lines().find(|line| line.contains("%low = trunc")).unwrap();
        !stored.contains("%j ")
    }

    #[test]
    fn layers_before_and_behind_are_as_many_rows_away() {
        for body in [
            "%a = add i64 %q, -1\n %b = mul i64 %a, %n\n %j = add i64 %b, %rest",
            "%a = add i64 %q, 1\n %b = mul i64 %n, %a\n %j = add i64 %rest, %b",
            "%a = add i64 %q, 2\n %b = mul i64 %a, %n\n %j = add i64 %b, %rest",
            "%a = sub i64 %q, %k\n %b = mul i64 %a, %n\n %j = add i64 %b, %rest",
            "%a = add i64 %k, %q\n %b = mul i64 %a, %n\n %j = add i64 %b, %rest",
            "%a = add i64 %q, -1\n %b = mul i64 %a, %n\n %y = urem i64 %i, %n\n %j = add i64 %b, %y",
            // Among others, and taken away.
            "%a = add i64 %q, -1\n %b = mul i64 %a, %n\n %c = add i64 %b, %k\n %j = add i64 %c, %rest",
            "%a = add i64 %q, -1\n %b = mul i64 %a, %n\n %c = sub i64 %k, %b\n %j = sub i64 %c, %rest",
            "%a = add i64 %q, 1\n %b = mul i64 %a, %n\n %c = sub i64 %i, %p\n %j = add i64 %b, %c",
            "%a = add i64 %q, 1\n %b = mul i64 %a, %n\n %j = sub i64 %b, %p",
        ] {
            assert!(is_shorter(body), "{body}");
        }
    }

    #[test]
    fn others_stay_as_they_are() {
        for body in [
            // Nothing goes: another quotient, another divisor, another sign.
            "%a = add i64 %k, -1\n %b = mul i64 %a, %n\n %j = add i64 %b, %rest",
            "%a = add i64 %q, -1\n %b = mul i64 %a, %k\n %j = add i64 %b, %rest",
            "%a = add i64 %q, -1\n %b = mul i64 %a, %n\n %j = sub i64 %b, %rest",
            "%a = add i64 %q, -1\n %b = mul i64 %a, %n\n %y = urem i64 %k, %n\n %j = add i64 %b, %y",
            "%a = sub i64 1, %q\n %b = mul i64 %a, %n\n %j = add i64 %b, %rest",
            "%a = add i64 %q, -1\n %b = mul i64 %a, %n\n %j = add i64 %b, %k",
        ] {
            assert!(!is_shorter(body), "{body}");
        }
    }
}
