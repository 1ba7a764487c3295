//! The test that a product is small, of which each factor may be large: of a plane's extents, or of its width and
//! another number.
//!
//! ```text
//! %product = mul i64 (zext i32 %width), (zext i32 %height)
//! (trunc %product) - 1 < 2^28 and %product < 2^32              ; without a sign: neither is 0
//! ```
//!
//! **Why it is right.** Both factors have 32 bits, so that the product is exact. Where it is not 0, neither factor is,
//! and none is above the limit. If one is 2^k at least, the other one is at most what the limit is by that. So
//! [`cases`] are all there are.

use crate::hash::{QuickMap, QuickSet};
use crate::llvm::{
    self, BasicBlock, BasicValue, Builder, BuilderError, Context, InstructionOpcode as Op, InstructionValue,
    IntPredicate, IntValue,
};

use super::cases::Given;
use super::parts::parts;
use super::places::{Comparison, comparison};
use super::ranges::{Interval, constant};

/// The limit of a product has so many zeros.
const BITS_OF_A_PRODUCT: u32 = 28;

const LIMIT: u64 = 1 << BITS_OF_A_PRODUCT;

/// By how many bits the cases are apart: with fewer, each value would be looked at in more cases, and with more, less
/// would be known in each.
const STEP: u32 = 2;

/// Between which numbers each factor lies in any case.
pub const FACTOR: Interval = Interval::new(1, 1 << BITS_OF_A_PRODUCT);

/// Between which numbers a factor lies that is in several products, and those that it is multiplied by.
pub fn cases() -> impl Iterator<Item = (Interval, Interval)> {
    (0..=BITS_OF_A_PRODUCT).step_by(STEP as usize).map(|bits| {
        let common = Interval::new(1 << bits, (1 << (bits + STEP)) - 1).meet(FACTOR);
        (common, Interval::new(1, 1 << (BITS_OF_A_PRODUCT - bits)))
    })
}

/// Writes whether the product of two numbers of 32 bits is small.
pub fn is_small<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    factors: [IntValue<'ctx>; 2],
) -> Result<IntValue<'ctx>, BuilderError> {
    let (word, half) = (context.i64_type(), context.i32_type());
    let [one, other] = factors;
    let (one, other) = (builder.build_int_z_extend(one, word, "")?, builder.build_int_z_extend(other, word, "")?);
    let product = builder.build_int_mul(one, other, "")?;
    let low = builder.build_int_truncate(product, half, "")?;
    let less = builder.build_int_add(low, half.const_all_ones(), "")?;
    let is_small = builder.build_int_compare(IntPredicate::ULT, less, half.const_int(LIMIT, false), "")?;
    let high = builder.build_right_shift(product, word.const_int(32, false), false, "")?;
    let high = builder.build_int_truncate(high, half, "")?;
    let is_short = builder.build_int_compare(IntPredicate::EQ, high, half.const_zero(), "")?;
    builder.build_and(is_small, is_short, "")
}

/// A product that a block has seen to be small.
#[derive(Clone, Copy)]
struct Small<'ctx> {
    factors: [IntValue<'ctx>; 2],
    /// With 64 bits.
    product: InstructionValue<'ctx>,
    /// The lower half of that.
    low: IntValue<'ctx>,
}

impl<'ctx> Small<'ctx> {
    /// Of which a comparison asks what [`is_small`] asks of the lower half.
    fn of(compared: Comparison<'ctx>) -> Option<Self> {
        let (IntPredicate::ULT, less, limit) = compared else { return None };
        let sum = computed(less, Op::Add).filter(|_| limit.get_zero_extended_constant() == Some(LIMIT))?;
        let by = llvm::int_operand(sum, 1)?.get_sign_extended_constant();
        let low = llvm::int_operand(sum, 0).filter(|_| by == Some(-1))?;
        let product = computed(llvm::int_operand(computed(low, Op::Trunc)?, 0)?, Op::Mul)?;
        let factor = |at| {
            let wide = computed(llvm::int_operand(product, at)?, Op::ZExt)?;
            llvm::int_operand(wide, 0).filter(has_32_bits)
        };
        has_32_bits(&low).then_some(Self { factors: [factor(0)?, factor(1)?], product, low })
    }

    /// Whether a comparison asks that the upper half is 0.
    fn is_short(&self, (predicate, high, zero): Comparison<'ctx>) -> bool {
        let of = || {
            let shifted = computed(llvm::int_operand(computed(high, Op::Trunc)?, 0)?, Op::LShr)?;
            llvm::int_operand(shifted, 0).filter(|_| llvm::int_operand(shifted, 1).and_then(constant) == Some(32))
        };
        predicate == IntPredicate::EQ
            && has_32_bits(&high)
            && constant(zero) == Some(0)
            && of().is_some_and(|of| of.as_instruction_value() == Some(self.product))
    }
}

fn computed(value: IntValue<'_>, op: Op) -> Option<InstructionValue<'_>> {
    value.as_instruction_value().filter(|from| from.get_opcode() == op)
}

fn has_32_bits(value: &IntValue<'_>) -> bool {
    value.get_type().get_bit_width() == 32
}

/// The products that a block asks for before the first of its ways.
fn small(block: BasicBlock<'_>) -> Vec<Small<'_>> {
    let asked = parts(block, &QuickSet::default()).into_iter().filter(|part| part.holds);
    let asked: Vec<_> = asked.filter_map(|part| comparison(part.condition()?.as_instruction_value()?)).collect();
    let small = asked.iter().filter_map(|compared| Small::of(*compared));
    small.filter(|small| asked.iter().any(|compared| small.is_short(*compared))).collect()
}

/// What is known of the factors behind the first of a block's ways, in any case and in each one; nothing, where it asks
/// for no product.
pub fn given(block: BasicBlock<'_>) -> Vec<Given<'_>> {
    let small = small(block);
    let Some(first) = small.first() else { return vec![QuickMap::default()] };
    let is_common = |factor: &IntValue<'_>| small.iter().all(|one| one.factors.contains(factor));
    let Some(common) = first.factors.into_iter().find(is_common) else { return vec![QuickMap::default()] };
    let case = |(of_common, of_others)| {
        let factors = small.iter().flat_map(|one| one.factors);
        factors.map(|factor| (factor, if factor == common { of_common } else { of_others })).collect()
    };
    std::iter::once((FACTOR, FACTOR)).chain(cases()).map(case).collect()
}

/// The product of two factors, in 32 bits, if a block has computed it to ask whether it is small.
pub fn known<'ctx>(block: BasicBlock<'ctx>, [one, other]: [IntValue<'ctx>; 2]) -> Option<IntValue<'ctx>> {
    let is_theirs = |small: &Small<'ctx>| [[one, other], [other, one]].contains(&small.factors);
    small(block).into_iter().find(is_theirs).map(|small| small.low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_case_for_all_factors_of_a_small_product() {
        let contains = |range: Interval, number: i128| range.low <= number && number <= range.high;
        let near = |number: i128| (number - 2).max(1)..=number + 2;
        for common in (0..=BITS_OF_A_PRODUCT).flat_map(|bits| near(1 << bits)).filter(|one| *one <= LIMIT.into()) {
            let most = i128::from(LIMIT) / common;
            let is_in = |other: i128| cases().any(|(one, others)| contains(one, common) && contains(others, other));
            assert!([1, (most + 1) / 2, most].into_iter().all(is_in), "{common}");
            assert!(!is_in(4 * most + 4), "{common}");
        }
        // A product with something small has 31 bits in all of them.
        assert!(cases().all(|(common, others)| common.corners(others, |a, b| a * b).high < 1 << 30));
    }
}
