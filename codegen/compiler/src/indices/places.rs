//! What comparisons say of values of 32 bits, as sums of products.
//!
//! A value is its sum but for a multiple of 2^32, whatever overflows on the way: addition, subtraction and multiplication do not
//! care. If the sum is shown to lie between 0 and a length, which is below 2^32, it is the value. What a comparison tells of
//! values is taken for their sums only where these can be no other multiple. The same holds of a minimum, a maximum, a rest and
//! a difference that ends at 0, each of which is compared with what it is made of: `x.min(width - 1)` is below the width.

use std::cell::OnceCell;

use crate::llvm::{
    self, BasicValue, BasicValueEnum, InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue,
};
use crate::loops::opposite;

use super::cases::{CaseFacts, Cases};
use super::ranges::{constant, is_bool};
use super::sums::{Known, Sum};

/// How deep conditions and values are looked into.
pub const MOST_STEPS: u32 = 40;

/// Choices that an index may depend on; each is looked at both ways.
const MOST_CHOICES: usize = 4;

/// How deep values are looked into that may be the same, computed twice.
const STEPS_OF_ALIKE: u32 = 6;

/// The width of the indices, and how many numbers that has.
pub const BITS: u32 = 32;
const END: i128 = 1 << BITS;

/// What is compared, and how.
pub type Comparison<'ctx> = (IntPredicate, IntValue<'ctx>, IntValue<'ctx>);

/// Numbers of which one is not above the other, and how much it is below that at least.
#[derive(Clone, Copy)]
pub struct Order<'ctx> {
    pub small: IntValue<'ctx>,
    pub large: IntValue<'ctx>,
    pub by: i128,
}

/// A length, and the two numbers whose product it is not below, or the three.
#[derive(Clone, Copy)]
pub struct Area<'ctx> {
    pub len: IntValue<'ctx>,
    pub extents: [IntValue<'ctx>; 2],
    pub depth: Option<IntValue<'ctx>>,
}

/// What is known in one place.
#[derive(Clone)]
pub struct Place<'a, 'b, 'ctx> {
    pub ranges: &'a Cases<'b, 'ctx>,
    pub facts: CaseFacts<'ctx>,
    /// Comparisons that hold.
    pub told: Vec<Comparison<'ctx>>,
    pub areas: &'a [Area<'ctx>],
}

impl<'ctx> Place<'_, '_, 'ctx> {
    /// Whether one number is below another, whatever is chosen on the way to them.
    pub fn implies(&self, order: Order<'ctx>, chosen: &mut Vec<(InstructionValue<'ctx>, bool)>) -> bool {
        let mut sums = Sums { place: self, chosen, atoms: Vec::new(), open: None };
        let Some((wanted, least)) = sums.ordered(order) else { return false };
        let may_choose = sums.chosen.len() < MOST_CHOICES;
        if let Some(choice) = sums.open.filter(|_| may_choose) {
            let Some(condition) = llvm::int_operand(choice, 0) else { return false };
            return [true, false].into_iter().all(|holds| {
                let mut place = self.clone();
                place.ranges.learn(condition, holds, &mut place.facts);
                follow(condition, holds, &mut place.told, MOST_STEPS);
                place.implies_if(choice, holds, order, chosen)
            });
        }
        let known = sums.known();
        if known.clone().imply(wanted.clone()) || sums.bounded(known).is_some_and(|known| known.lead_to(&wanted)) {
            return true;
        }
        let Some((choice, first, second)) = least.filter(|_| may_choose) else { return false };
        [true, false].into_iter().all(|is_first| {
            let mut place = self.clone();
            let (less, more) = if is_first { (first, second) } else { (second, first) };
            place.told.insert(0, (IntPredicate::ULE, less, more));
            place.implies_if(choice, is_first, order, chosen)
        })
    }

    /// The same where something has been chosen.
    fn implies_if(
        &self,
        choice: InstructionValue<'ctx>,
        first: bool,
        order: Order<'ctx>,
        chosen: &mut Vec<(InstructionValue<'ctx>, bool)>,
    ) -> bool {
        chosen.push((choice, first));
        let is_implied = self.implies(order, chosen);
        chosen.pop();
        is_implied
    }
}

/// A minimum, and the numbers of which it is one.
type Least<'ctx> = (InstructionValue<'ctx>, IntValue<'ctx>, IntValue<'ctx>);

/// A value that is no sum.
struct Atom<'ctx> {
    value: IntValue<'ctx>,
    /// The least and the most that it may be in any case.
    any: (i128, i128),
    /// In each case, once that is asked for.
    each: OnceCell<Vec<(i128, i128)>>,
}

/// Values as sums of others, the atoms, which are as large as they are without a sign.
struct Sums<'s, 'a, 'b, 'ctx> {
    place: &'s Place<'a, 'b, 'ctx>,
    /// What a `select` or a minimum has chosen, the first of its values or the second.
    chosen: &'s [(InstructionValue<'ctx>, bool)],
    atoms: Vec<Atom<'ctx>>,
    /// A choice on which a sum depends, and which has not been made.
    open: Option<InstructionValue<'ctx>>,
}

impl<'ctx> Sums<'_, '_, '_, 'ctx> {
    /// What must not be negative for numbers to be in this order, and a minimum that the larger one depends on: it is known to
    /// be below both of its numbers, but which one it is must be looked at both ways.
    fn ordered(&mut self, Order { small, large, by }: Order<'ctx>) -> Option<(Vec<Sum>, Option<Least<'ctx>>)> {
        let large = self.of(large, MOST_STEPS)?;
        let least = self.atoms.iter().find_map(|atom| {
            let from = atom.value.as_instruction_value().filter(|from| choice_of(*from) == Some("umin"))?;
            Some((from, llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?))
        });
        let small = self.of(small, MOST_STEPS)?;
        let rest = large.clone().plus(&small, -1)?.plus(&Sum::number(by), -1)?;
        // If neither is negative, the larger number is not either.
        self.range(&large).is_some_and(|(_, high)| high < END).then(|| (vec![small, rest], least))
    }

    /// A sum that a value is, but for a multiple of 2^32.
    fn of(&mut self, value: IntValue<'ctx>, steps: u32) -> Option<Sum> {
        if let Some(number) = value.get_sign_extended_constant() {
            return Some(Sum::number(number.into()));
        }
        let from = value.as_instruction_value().filter(|_| steps > 0);
        if let Some(phi) = from.filter(|from| from.get_opcode() == Op::Phi) {
            return Some(self.of_alike(phi, steps).unwrap_or_else(|| self.atom(value)));
        }
        let of_two = from.and_then(|from| Some((from, llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?)));
        let Some((from, first, second)) = of_two.filter(|(from, ..)| !is_position(*from)) else {
            return Some(self.atom(value));
        };
        match from.get_opcode() {
            Op::Add => self.of(first, steps - 1)?.plus(&self.of(second, steps - 1)?, 1),
            Op::Sub => self.of(first, steps - 1)?.plus(&self.of(second, steps - 1)?, -1),
            Op::Mul => self.of(first, steps - 1)?.times(&self.of(second, steps - 1)?),
            Op::Shl => match constant(second) {
                Some(by @ 0..=31) => self.of(first, steps - 1)?.times(&Sum::number(1 << by)),
                _ => Some(self.atom(value)),
            },
            Op::Select => match self.chosen.iter().find(|(choice, _)| *choice == from) {
                Some((_, holds)) => self.of(llvm::int_operand(from, if *holds { 1 } else { 2 })?, steps - 1),
                None => {
                    self.open.get_or_insert(from);
                    Some(self.atom(value))
                }
            },
            Op::Call => match self.chosen.iter().find(|(choice, _)| *choice == from) {
                Some((_, is_first)) => self.of(if *is_first { first } else { second }, steps - 1),
                None => Some(self.atom(value)),
            },
            _ => Some(self.atom(value)),
        }
    }

    /// The sum that a value is on all ways to a phi, if each way has computed the same.
    fn of_alike(&mut self, phi: InstructionValue<'ctx>, steps: u32) -> Option<Sum> {
        let ways = llvm::incoming(phi);
        let is_sum = |from: InstructionValue<'ctx>| from.get_opcode() == Op::Add;
        let mut sums = ways.into_iter().map(|(value, _)| match value {
            BasicValueEnum::IntValue(value) if value.as_instruction_value().is_some_and(is_sum) => {
                self.of(value, steps.min(STEPS_OF_ALIKE))
            }
            _ => None,
        });
        let first = sums.next()??;
        sums.all(|sum| sum.as_ref() == Some(&first)).then_some(first)
    }

    fn atom(&mut self, value: IntValue<'ctx>) -> Sum {
        let known = self.atoms.iter().position(|known| known.value == value);
        Sum::atom(known.unwrap_or_else(|| {
            let range = self.place.ranges.any_of(value, &self.place.facts);
            self.atoms.push(Atom { value, any: (range.low, range.high), each: OnceCell::new() });
            self.atoms.len() - 1
        }))
    }

    fn range(&self, sum: &Sum) -> Option<(i128, i128)> {
        let any = sum.range(|atom| self.atoms[atom].any);
        // Of less nothing more is asked.
        if any.is_some_and(|(low, high)| low >= 0 && high < END / 2) {
            return any;
        }
        let cases = self.cases();
        let in_case = |case: usize| sum.range(|atom| self.each(atom)[case]);
        let each = (0..cases).map(in_case).reduce(|known, more| {
            let ((low, high), (lower, higher)) = known.zip(more)?;
            Some((low.min(lower), high.max(higher)))
        });
        each.unwrap_or(any)
    }

    /// Between which numbers an atom lies in each case.
    fn each(&self, atom: usize) -> &[(i128, i128)] {
        let Atom { value, any, each } = &self.atoms[atom];
        each.get_or_init(|| {
            let each = self.place.ranges.each_of(*value, &self.place.facts);
            each.into_iter().map(|range| (range.low.max(any.0), range.high)).collect()
        })
    }

    /// In how many cases that is.
    fn cases(&self) -> usize {
        if self.atoms.is_empty() { 0 } else { self.each(0).len() }
    }

    /// Whether a sum is between 0 and 2^32 - 1, and so the value that it is of.
    fn is_exact(&self, sum: &Sum) -> bool {
        self.range(sum).is_some_and(|(low, high)| low >= 0 && high < END)
    }

    /// What the comparisons say of the sums.
    fn known(&mut self) -> Known {
        let known = self.told();
        // Once a quotient is seen not to be 0, comparisons with one less say more.
        if self.divide(&known) { self.told() } else { known }
    }

    /// Finds the quotients that are 1 at least, since the dividend is not below the divisor; whether there are any.
    fn divide(&mut self, known: &Known) -> bool {
        let mut found = false;
        for at in 0..self.atoms.len() {
            let low = self.atoms[at].any.0;
            let quotient = division(self.atoms[at].value).filter(|_| low == 0);
            let Some((dividend, divisor)) = quotient else { continue };
            let [dividend, divisor] = [dividend, divisor].map(|part| self.exact(part));
            let rest = dividend.zip(divisor).and_then(|(dividend, divisor)| dividend.plus(&divisor, -1));
            let mut known = known.clone();
            self.at_least(&mut known);
            if rest.is_some_and(|rest| known.imply(vec![rest])) {
                self.atoms[at].any.0 = 1;
                self.atoms[at].each.take();
                found = true;
            }
        }
        found
    }

    fn told(&mut self) -> Known {
        let mut known = Known::default();
        for (predicate, left, right) in &self.place.told {
            if left.get_type().get_bit_width() == BITS {
                // Choices on which only these depend are not made: nothing is known of them.
                self.open = None;
                self.tell(*predicate, *left, *right, &mut known);
            }
        }
        for area in self.place.areas {
            self.cover(area, &mut known);
        }
        self.multiply(&mut known);
        self.at_least(&mut known);
        known
    }

    /// Adds how far dividends are apart, by what is known of their quotients. `a / n + k <= b / n` says that `a + (k - 1) * n`
    /// is below `b`, because `a` is below `(a / n + 1) * n`, and `b / n * n` is not above `b`.
    fn multiply(&mut self, known: &mut Known) {
        let quotients = known.positive.iter().filter_map(|sum| {
            let (above, below, number) = sum.apart().filter(|(.., number)| *number > 0)?;
            let ((large, by), (small, other)) =
                (division(self.atoms[above].value)?, division(self.atoms[below].value)?);
            (by == other).then_some((large, small, by, number))
        });
        for (large, small, by, number) in quotients.collect::<Vec<_>>() {
            let [large, small, by] = [large, small, by].map(|part| self.exact(part));
            let apart = || large?.plus(&small?, -1)?.plus(&by?, 1 - number)?.plus(&Sum::number(1), -1);
            known.positive.extend(apart());
        }
    }

    /// The least that atoms may be which are new.
    fn at_least(&self, known: &mut Known) {
        for (at, atom) in self.atoms.iter().enumerate().skip(known.atoms) {
            let low = atom.any.0;
            known.positive.extend(Sum::atom(at).plus(&Sum::number(low), -1).filter(|_| low > 0));
        }
        known.atoms = self.atoms.len();
    }

    /// With what is known of atoms because of how they are computed; none, where that is nothing.
    fn bounded(mut self, mut known: Known) -> Option<Known> {
        let count = known.positive.len();
        // What these are computed from has atoms, too.
        let mut next = 0;
        while let Some(value) = self.atoms.get(next).map(|atom| atom.value) {
            self.open = None;
            self.bound(&Sum::atom(next), value, &mut known);
            next += 1;
        }
        let is_more = known.positive.len() > count;
        self.at_least(&mut known);
        is_more.then_some(known)
    }

    /// Adds how an atom compares with what it is chosen or left from: a minimum is above neither number.
    fn bound(&mut self, atom: &Sum, value: IntValue<'ctx>, known: &mut Known) -> Option<()> {
        let from = value.as_instruction_value().filter(|_| value.get_type().get_bit_width() == BITS)?;
        let (first, second) = (llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?);
        let mut exact = || [first, second].map(|part| self.exact(part));
        let (below, above) = match choice_of(from) {
            _ if from.get_opcode() == Op::URem => {
                let [a, b] = exact();
                ([a, b.and_then(|b| b.plus(&Sum::number(1), -1))], [None, None])
            }
            Some("umin") => (exact(), [None, None]),
            Some("umax") => ([None, None], exact()),
            Some("usub") => {
                let [a, b] = exact();
                let difference = a.clone().zip(b).and_then(|(a, b)| a.plus(&b, -1));
                ([a, None], [difference, None])
            }
            // Where the atom has no sign.
            Some("smin") if self.is_signed(atom) => (self.signed([first, second], -END / 2), [None, None]),
            Some("smax") if self.is_signed(atom) => {
                (self.clamped(first, second), self.signed([first, second], -END / 2))
            }
            _ => return None,
        };
        known.positive.extend(below.into_iter().flatten().filter_map(|sum| sum.plus(atom, -1)));
        known.positive.extend(above.into_iter().flatten().filter_map(|sum| atom.clone().plus(&sum, -1)));
        Some(())
    }

    /// The sum that a value is, where that depends on no choice.
    fn part(&mut self, value: IntValue<'ctx>) -> Option<Sum> {
        let sum = self.of(value, MOST_STEPS)?;
        self.open.take().is_none().then_some(sum)
    }

    /// The same, if that is the value itself.
    fn exact(&mut self, value: IntValue<'ctx>) -> Option<Sum> {
        self.part(value).filter(|sum| self.is_exact(sum))
    }

    /// Sums that are the values as numbers with a sign, and not less than some number.
    fn signed(&mut self, parts: [IntValue<'ctx>; 2], least: i128) -> [Option<Sum>; 2] {
        let is_at_least = |sum: &Sum, of: &Self| of.range(sum).is_some_and(|(low, _)| low >= least);
        parts.map(|part| self.part(part).filter(|sum| self.is_signed(sum) && is_at_least(sum, self)))
    }

    /// What the larger of a number and a constant is not above, where that is not below the constant: the number itself, or
    /// what it is a minimum of.
    fn clamped(&mut self, number: IntValue<'ctx>, least: IntValue<'ctx>) -> [Option<Sum>; 2] {
        let from = number.as_instruction_value().filter(|from| choice_of(*from) == Some("smin"));
        let (a, b) = from
            .and_then(|from| llvm::int_operand(from, 0).zip(llvm::int_operand(from, 1)))
            .unwrap_or((number, number));
        match constant(least) {
            Some(least) if least < END / 2 => self.signed([a, b], least),
            _ => [None, None],
        }
    }

    /// Whether a sum is a value of 32 bits with a sign.
    fn is_signed(&self, sum: &Sum) -> bool {
        self.range(sum).is_some_and(|(low, high)| low >= -END / 2 && high < END / 2)
    }

    fn cover(&mut self, area: &Area<'ctx>, known: &mut Known) -> Option<()> {
        let [width, height] = area.extents.map(|extent| self.of(extent, MOST_STEPS));
        let (len, mut all) = (self.of(area.len, MOST_STEPS)?, width?.times(&height?)?);
        if let Some(depth) = area.depth {
            all = all.times(&self.of(depth, MOST_STEPS)?)?;
        }
        let area = all;
        if self.is_exact(&len) && self.is_exact(&area) {
            known.positive.extend(len.plus(&area, -1));
        }
        Some(())
    }

    fn tell(
        &mut self,
        predicate: IntPredicate,
        left: IntValue<'ctx>,
        right: IntValue<'ctx>,
        known: &mut Known,
    ) -> Option<()> {
        use IntPredicate as P;
        let (a, b) = (self.of(left, MOST_STEPS)?, self.of(right, MOST_STEPS)?);
        if self.open.is_some() {
            return None;
        }
        match predicate {
            P::ULT => self.less(false, a, b, 1, known),
            P::ULE => self.less(false, a, b, 0, known),
            P::UGT => self.less(false, b, a, 1, known),
            P::UGE => self.less(false, b, a, 0, known),
            P::SLT => self.less(true, a, b, 1, known),
            P::SLE => self.less(true, a, b, 0, known),
            P::SGT => self.less(true, b, a, 1, known),
            P::SGE => self.less(true, b, a, 0, known),
            P::EQ => {
                // No two other numbers that are equal but for a multiple of 2^32 are so near.
                let apart = a.clone().plus(&b, -1)?;
                let is_near = self.range(&apart).is_some_and(|(low, high)| -END < low && high < END);
                if is_near {
                    known.positive.extend(b.plus(&a, -1));
                    known.positive.push(apart);
                }
                Some(())
            }
            P::NE => {
                known.nonzero.extend(a.plus(&b, -1));
                Some(())
            }
        }
    }

    /// Adds what follows from one value being below another by `strict` at least.
    fn less(&self, signed: bool, small: Sum, large: Sum, strict: i128, known: &mut Known) -> Option<()> {
        let (low, high) = self.range(&large)?;
        let is_small = |high: i128| high < END / 2;
        if low < 0
            || high >= END
            || signed && !(is_small(high) && self.range(&small).is_some_and(|of| of.0 >= 0 && is_small(of.1)))
        {
            return None;
        }
        if !self.is_exact(&small) {
            // Negative numbers are above all that the other one may be.
            let may_be_negative = self.range(&small).is_some_and(|(low, high)| low >= -END / 2 && high < END);
            if !may_be_negative || !is_small(high) {
                return None;
            }
            known.positive.push(small.clone());
        }
        known.positive.extend(large.plus(&small, -1)?.plus(&Sum::number(strict), -1));
        Some(())
    }
}

/// What a quotient without a sign is of: the dividend and the divisor.
fn division(value: IntValue<'_>) -> Option<(IntValue<'_>, IntValue<'_>)> {
    let from = value.as_instruction_value().filter(|from| from.get_opcode() == Op::UDiv)?;
    Some((llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?))
}

/// Whether a condition compares a sum or a product that is not a thread's position.
pub fn is_of_sum(condition: IntValue<'_>) -> bool {
    let compared = condition.as_instruction_value().and_then(comparison);
    let from = compared.and_then(|(_, left, _)| left.as_instruction_value());
    from.is_some_and(|from| matches!(from.get_opcode(), Op::Add | Op::Sub | Op::Mul) && !is_position(from))
}

/// Whether an instruction computes a thread's position in the grid. What is known is known of that.
fn is_position(sum: InstructionValue<'_>) -> bool {
    let read = |index| llvm::int_operand(sum, index).and_then(|value| value.as_instruction_value());
    let is_read = |from: InstructionValue<'_>| llvm::is_position(from);
    sum.get_opcode() == Op::Add && [read(0), read(1)].into_iter().flatten().any(is_read)
}

/// Whether an instruction calls for one of two numbers of 32 bits, or what is left of one.
pub fn is_choice(call: InstructionValue<'_>) -> bool {
    choice_of(call).is_some()
}

/// Which of two numbers of 32 bits an instruction calls for, or what is left of one.
fn choice_of(call: InstructionValue<'_>) -> Option<&'static str> {
    let name = llvm::called_function(call)?.get_name().to_string_lossy().into_owned();
    let name = name.strip_prefix("llvm.")?.strip_suffix(".i32")?;
    [("umin", "umin"), ("umax", "umax"), ("smin", "smin"), ("smax", "smax"), ("usub.sat", "usub")]
        .into_iter()
        .find_map(|(known, short)| (known == name).then_some(short))
}

/// What an instruction compares.
pub fn comparison<'ctx>(from: InstructionValue<'ctx>) -> Option<Comparison<'ctx>> {
    Some((from.get_icmp_predicate()?, llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?))
}

/// Adds the comparisons that follow from a condition that holds, or does not.
pub fn follow<'ctx>(condition: IntValue<'ctx>, holds: bool, told: &mut Vec<Comparison<'ctx>>, steps: u32) {
    let Some(from) = condition.as_instruction_value().filter(|_| steps > 0) else { return };
    let mut parts = |first, second, holds| {
        for part in [llvm::int_operand(from, first), llvm::int_operand(from, second)].into_iter().flatten() {
            follow(part, holds, told, steps - 1);
        }
    };
    match from.get_opcode() {
        Op::And if holds => parts(0, 1, true),
        Op::Or if !holds => parts(0, 1, false),
        Op::Select if holds && llvm::int_operand(from, 2).is_some_and(|other| is_bool(other, false)) => {
            parts(0, 1, true)
        }
        Op::Select if !holds && llvm::int_operand(from, 1).is_some_and(|then| is_bool(then, true)) => {
            parts(0, 2, false)
        }
        Op::Xor if llvm::int_operand(from, 1).is_some_and(|other| is_bool(other, true)) => {
            parts(0, 0, !holds);
        }
        Op::ICmp => {
            let compared = comparison(from);
            told.extend(compared.map(|(is, left, right)| (if holds { is } else { opposite(is) }, left, right)));
        }
        _ => {}
    }
}
