//! What a kernel is given, and the test that chooses the copy: whether that is small.

use std::collections::HashMap;

use super::cases::Given;
use super::products;
use super::ranges::{self, Interval};
use crate::llvm::{
    self, AnyTypeEnum, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue, InstructionOpcode,
    InstructionValue, IntPredicate, IntValue, Use,
};

/// Of a slice's length, the bits that it may have; two of these have a sum of 31.
pub const BITS_OF_A_LENGTH: u32 = 30;

/// Of another number, which may be a factor; a product of two and a length have a sum of 31.
pub const BITS_OF_A_FACTOR: u32 = 15;

/// Of each of the three extents of a view.
pub const BITS_OF_A_THIRD: u32 = 21;

/// Of each of two extents, whatever it is.
const BITS_OF_A_HALF: u32 = 32;

/// How large an extent the test may ask for: nobody has a kernel for images that are smaller.
const MOST_LESS: u64 = 64;

/// A number that a kernel is given: a parameter, or a half of one that has two, as the width and height of a view.
#[derive(Clone, Copy)]
pub struct Number<'ctx> {
    pub param: IntValue<'ctx>,
    pub half: Option<Half>,
    /// Whether it stands behind a pointer, as the length of a slice does.
    behind_pointer: bool,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Half {
    Low,
    High,
    /// Some bits of the lower one.
    OfLow,
    /// One of three numbers of 21 bits, which begins at some bit.
    Third(u32),
}

impl<'ctx> Number<'ctx> {
    pub fn of(kernel: FunctionValue<'ctx>) -> Vec<Self> {
        let mut all = Vec::new();
        let mut last_is_pointer = false;
        for param in kernel.get_params() {
            let behind_pointer = std::mem::replace(&mut last_is_pointer, param.is_pointer_value());
            let BasicValueEnum::IntValue(param) = param else { continue };
            if param.get_type().get_bit_width() != 64 {
                continue;
            }
            let users: Vec<Option<Half>> = users(known(param)).into_iter().map(|(_, half)| half).collect();
            if users.is_empty() {
                continue;
            }
            let thirds = thirds(known(param)).filter(|_| behind_pointer).unwrap_or_default();
            if !thirds.is_empty() {
                let is_used = |at: &u32| thirds.iter().any(|(_, of)| of == at);
                let third = |at| Self { param, half: Some(Half::Third(at)), behind_pointer };
                all.extend([0, BITS_OF_A_THIRD, 2 * BITS_OF_A_THIRD].into_iter().filter(is_used).map(third));
                continue;
            }
            if users.contains(&Some(Half::High)) && users.iter().all(Option::is_some) {
                all.extend([Half::Low, Half::High].map(|half| Self { param, half: Some(half), behind_pointer }));
            } else {
                all.push(Self { param, half: None, behind_pointer });
            }
        }
        all
    }

    /// The values that are this number.
    pub fn same(&self) -> Vec<IntValue<'ctx>> {
        match self.half {
            Some(Half::Third(at)) => {
                let thirds = thirds(known(self.param)).unwrap_or_default();
                thirds.into_iter().filter(|(_, of)| *of == at).map(|(value, _)| value).collect()
            }
            Some(half) => {
                users(known(self.param)).into_iter().filter(|(_, of)| *of == Some(half)).map(|(v, _)| v).collect()
            }
            None => {
                let frozen = users(self.param).into_iter().filter(|(value, _)| is_freeze(*value)).map(|(v, _)| v);
                std::iter::once(self.param).chain(frozen).collect()
            }
        }
    }

    /// What tells of this number what it tells of itself, with the value that stands for all of these: `x < width` compares the
    /// half that is cut off, and `y * width` multiplies by that which is masked.
    pub fn told_by(&self) -> Vec<(IntValue<'ctx>, IntValue<'ctx>)> {
        let all = if self.half.is_some() { self.same() } else { Vec::new() };
        let cut = |value: &IntValue<'ctx>| {
            let is_cut = |user: &InstructionValue<'ctx>| user.get_opcode() == InstructionOpcode::Trunc;
            let users = llvm::uses(value).into_iter().filter_map(|user| match user {
                Use::Instruction(user) => Some(user),
                Use::Global(_) => None,
            });
            users.filter(is_cut).map(|cut| llvm::result(cut).into_int_value()).filter(has_32_bits).collect::<Vec<_>>()
        };
        let all: Vec<_> = all.iter().flat_map(cut).chain(all.iter().copied()).collect();
        all.iter().map(|value| (*value, all[0])).collect()
    }

    /// What the test allows it, if it allows a factor so many bits: of three, a product has a sum of 30.
    pub fn limit(&self, bits_of_a_factor: u32, least: u64) -> Limit<'ctx> {
        let bits = match self.half {
            Some(Half::Third(_)) if bits_of_a_factor < BITS_OF_A_LENGTH => BITS_OF_A_LENGTH / 3,
            _ if self.is_length() => BITS_OF_A_LENGTH,
            _ => bits_of_a_factor,
        };
        Limit { number: *self, bits, least }
    }

    /// The most by which less than it is looked at: 1 for the last row of an image, 4 for the rows that have four more behind them.
    pub fn most_less(&self) -> u64 {
        let users = |value: IntValue<'ctx>| {
            llvm::uses(&value).into_iter().filter_map(|user| match user {
                Use::Instruction(user) => Some(user),
                Use::Global(_) => None,
            })
        };
        let is_widened = |user: &InstructionValue<'ctx>| user.get_opcode() == InstructionOpcode::ZExt;
        let widened = |value| users(value).filter(is_widened).map(|wide| llvm::result(wide).into_int_value());
        let same = self.same();
        let all = same.iter().flat_map(|value| widened(*value)).chain(same.iter().copied()).collect::<Vec<_>>();
        let less = all.into_iter().flat_map(users).filter(|user| user.get_opcode() == InstructionOpcode::Add);
        let less = less.filter_map(|user| llvm::int_operand(user, 1)?.get_sign_extended_constant()?.checked_neg());
        less.filter_map(|less| u64::try_from(less).ok()).filter(|less| *less <= MOST_LESS).max().unwrap_or(0)
    }

    /// Whether it is the length of a slice. Any other number may be a factor, or above one.
    pub fn is_length(&self) -> bool {
        self.behind_pointer && self.half.is_none()
    }
}

fn is_freeze(value: IntValue<'_>) -> bool {
    value.as_instruction_value().is_some_and(|from| from.get_opcode() == InstructionOpcode::Freeze)
}

fn has_32_bits(value: &IntValue<'_>) -> bool {
    value.get_type().get_bit_width() == 32
}

/// A parameter, or the value that it is frozen to for all who look.
pub fn known(param: IntValue<'_>) -> IntValue<'_> {
    match users(param)[..] {
        [(value, None)] if is_freeze(value) => value,
        _ => param,
    }
}

/// What uses a parameter, and of which half of it that is the value.
fn users<'ctx>(param: IntValue<'ctx>) -> Vec<(IntValue<'ctx>, Option<Half>)> {
    use InstructionOpcode as Op;
    let mut found = Vec::new();
    for user in llvm::uses(&param) {
        let Use::Instruction(user) = user else { continue };
        let constant = llvm::int_operand(user, 1).and_then(ranges::constant);
        // Of what computes no integer only that it is there matters.
        let AnyTypeEnum::IntType(ty) = user.get_type() else {
            found.push((param, None));
            continue;
        };
        let half = match (user.get_opcode(), constant) {
            (Op::LShr, Some(32)) => Some(Half::High),
            (Op::And, Some(0xffff_ffff)) => Some(Half::Low),
            (Op::And, Some(mask)) if (0..1 << 32).contains(&mask) => Some(Half::OfLow),
            (Op::Trunc, None) if ty.get_bit_width() == 32 => Some(Half::Low),
            _ => None,
        };
        let value = llvm::result(user).into_int_value();
        found.push((value, half));
    }
    found
}

/// The values of 21 bits that a parameter is taken apart into, with the bit at which each begins; none, if it is used as
/// something else.
fn thirds<'ctx>(param: IntValue<'ctx>) -> Option<Vec<(IntValue<'ctx>, u32)>> {
    use InstructionOpcode as Op;
    let mut found: Vec<(IntValue<'ctx>, u32)> = Vec::new();
    let mut pending = vec![(param, 0, 64_u32)];
    while let Some((value, at, bits)) = pending.pop() {
        for user in llvm::uses(&value) {
            let Use::Instruction(user) = user else { return None };
            let constant = llvm::int_operand(user, 1).and_then(ranges::constant).and_then(|of| u32::try_from(of).ok());
            let result = |user| llvm::result(user).into_int_value();
            match (user.get_opcode(), constant) {
                (Op::LShr, Some(by)) if by < bits => pending.push((result(user), at + by, bits - by)),
                (Op::And, Some(mask)) if mask.trailing_ones() + mask.leading_zeros() == 32 => {
                    pending.push((result(user), at, bits.min(mask.trailing_ones())));
                }
                (Op::Trunc, _) => {
                    let value = result(user);
                    pending.push((value, at, bits.min(value.get_type().get_bit_width())));
                }
                _ if bits == BITS_OF_A_THIRD && at % BITS_OF_A_THIRD == 0 => {
                    if !found.contains(&(value, at)) {
                        found.push((value, at));
                    }
                }
                _ => return None,
            }
        }
    }
    Some(found)
}

/// What a kernel is given, and what the test allows that.
#[derive(Clone)]
pub struct Limits<'ctx> {
    /// Each number by itself.
    pub each: Vec<Limit<'ctx>>,
    /// Numbers whose products must be small; the first is the same in all.
    pub products: Vec<[Number<'ctx>; 2]>,
}

impl<'ctx> Limits<'ctx> {
    /// What the test allows these numbers, if it allows a factor so many bits; the least is asked for as well, or not.
    pub fn of(numbers: &[Number<'ctx>], bits_of_a_factor: u32, some: bool) -> Self {
        let limit = |number: &Number<'ctx>| number.limit(bits_of_a_factor, if some { number.most_less() } else { 0 });
        Self { each: numbers.iter().map(limit).collect(), products: Vec::new() }
    }

    /// The same with these products in place of their factors, of which one may be a whole parameter.
    pub fn with_products(&self, products: Vec<[Number<'ctx>; 2]>) -> Self {
        let mut each = self.each.clone();
        for limit in each.iter_mut().filter(|limit| products.iter().flatten().any(|factor| limit.is_of(*factor))) {
            limit.bits = if limit.number.half.is_some() { BITS_OF_A_HALF } else { BITS_OF_A_LENGTH };
        }
        Self { each, products }
    }

    /// Between which numbers lies what the kernel is given, in any case and, where there are products, in each one.
    pub fn given(&self) -> Vec<Given<'ctx>> {
        let case = |factors: Option<(Interval, Interval)>| {
            let mut given = Given::default();
            for limit in &self.each {
                let own = Interval::new(i128::from(limit.least), (1 << limit.bits) - 1);
                let range = match factors.filter(|_| self.has_factor(limit)) {
                    Some((common, _)) if limit.is_of(self.products[0][0]) => own.meet(common),
                    Some((_, others)) => own.meet(others),
                    None => own,
                };
                given.extend(limit.number.same().into_iter().map(|value| (value, range)));
            }
            given
        };
        if self.products.is_empty() {
            return vec![case(None)];
        }
        let any = (products::FACTOR, products::FACTOR);
        std::iter::once(any).chain(products::cases()).map(|factors| case(Some(factors))).collect()
    }

    fn has_factor(&self, limit: &Limit<'ctx>) -> bool {
        self.products.iter().flatten().any(|factor| limit.is_of(*factor))
    }

    /// How large a number must be at least, as far as its products do not say so.
    fn least(&self, limit: &Limit<'ctx>) -> u64 {
        if self.has_factor(limit) && limit.least <= 1 { 0 } else { limit.least }
    }
}

/// What the test allows a number.
#[derive(Clone, Copy)]
pub struct Limit<'ctx> {
    pub number: Number<'ctx>,
    pub bits: u32,
    /// What it must be at least.
    pub least: u64,
}

impl<'ctx> Limit<'ctx> {
    fn is_of(&self, number: Number<'ctx>) -> bool {
        self.number.param == number.param && self.number.half == number.half
    }
}

/// Of parameters that are taken apart into three, the bits of which none may be set.
fn too_high<'ctx>(limits: &[Limit<'ctx>]) -> Vec<(IntValue<'ctx>, u64)> {
    let mut all: Vec<(IntValue<'ctx>, u64)> = Vec::new();
    for Limit { number, bits, .. } in limits {
        let Some(Half::Third(at)) = number.half else { continue };
        let bits = ((1_u64 << BITS_OF_A_THIRD) - (1_u64 << (*bits).min(BITS_OF_A_THIRD))) << at;
        match all.iter_mut().find(|(param, _)| *param == number.param) {
            Some((_, known)) => *known |= bits,
            None => all.push((number.param, bits)),
        }
    }
    all.retain(|(_, bits)| *bits != 0);
    all
}

/// A number, of the parameter that it is a part of.
fn part<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    param: IntValue<'ctx>,
    half: Option<Half>,
) -> Result<IntValue<'ctx>, BuilderError> {
    let word = context.i64_type();
    let low = |value| builder.build_int_truncate(value, context.i32_type(), "");
    Ok(match half {
        None => param,
        Some(Half::Low | Half::OfLow) => low(param)?,
        Some(Half::High) => low(builder.build_right_shift(param, word.const_int(32, false), false, "")?)?,
        Some(Half::Third(at)) => {
            let value = low(builder.build_right_shift(param, word.const_int(at.into(), false), false, "")?)?;
            builder.build_and(value, context.i32_type().const_int((1 << BITS_OF_A_THIRD) - 1, false), "")?
        }
    })
}

/// Writes whether all numbers are below their limits; from then on, parameters are some number for all who look.
pub fn are_small<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    kernel: FunctionValue<'ctx>,
    limits: &Limits<'ctx>,
) -> Result<IntValue<'ctx>, BuilderError> {
    let Limits { each, products } = limits;
    let word = context.i64_type();
    let mut frozen: HashMap<IntValue<'ctx>, IntValue<'ctx>> = HashMap::new();
    for Limit { number, .. } in each {
        frozen.entry(number.param).or_insert_with(|| llvm::freeze_parameter(builder, kernel, number.param));
    }
    let mut all: Option<IntValue<'ctx>> = None;
    for (param, bits) in too_high(each) {
        let high = builder.build_and(frozen[&param], word.const_int(bits, false), "")?;
        let none = builder.build_int_compare(IntPredicate::EQ, high, word.const_zero(), "")?;
        all = Some(match all {
            Some(known) => builder.build_and(known, none, "")?,
            None => none,
        });
    }
    let alone: Vec<_> = each.iter().filter(|limit| !matches!(limit.number.half, Some(Half::Third(_)))).collect();
    for (bits, halves) in
        [(BITS_OF_A_LENGTH, false), (BITS_OF_A_FACTOR, false), (BITS_OF_A_LENGTH, true), (BITS_OF_A_FACTOR, true)]
    {
        let mut together: Option<IntValue<'ctx>> = None;
        let is_like = |limit: &&&Limit<'ctx>| (limit.bits, limit.number.half.is_some()) == (bits, halves);
        for Limit { number, .. } in alone.iter().filter(is_like) {
            let value = part(context, builder, frozen[&number.param], number.half)?;
            together = Some(match together {
                Some(known) => builder.build_or(known, value, "")?,
                None => value,
            });
        }
        let Some(together) = together else { continue };
        let limit = together.get_type().const_int(1 << bits, false);
        let below = builder.build_int_compare(IntPredicate::ULT, together, limit, "")?;
        all = Some(match all {
            Some(known) => builder.build_and(known, below, "")?,
            None => below,
        });
    }
    // Behind the others, without which this says nothing of a number.
    for factors in products {
        let mut low = [None; 2];
        for (number, low) in factors.iter().zip(&mut low) {
            // Of a whole parameter the test has asked whether it has no more bits.
            let half = number.half.or(Some(Half::Low));
            *low = Some(part(context, builder, frozen[&number.param], half)?);
        }
        let [Some(one), Some(other)] = low else { continue };
        let is_small = products::is_small(context, builder, [one, other])?;
        all = Some(match all {
            Some(known) => builder.build_and(known, is_small, "")?,
            None => is_small,
        });
    }
    for limit in each.iter().filter(|limit| limits.least(limit) > 0) {
        // Of a whole parameter, too, the lower half is enough: the others have asked for the upper one.
        let half = limit.number.half.or(Some(Half::Low));
        let value = part(context, builder, frozen[&limit.number.param], half)?;
        let least = value.get_type().const_int(limit.least, false);
        let is_enough = builder.build_int_compare(IntPredicate::UGE, value, least, "")?;
        all = Some(match all {
            Some(known) => builder.build_and(known, is_enough, "")?,
            None => is_enough,
        });
    }
    Ok(all.unwrap_or_else(|| context.bool_type().const_int(1, false)))
}
