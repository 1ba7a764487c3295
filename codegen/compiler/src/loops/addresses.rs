//! By how much addresses grow in a round of a loop.

use crate::llvm::{self, BasicValue, BasicValueEnum, Builder, BuilderError, IntType, IntValue, PointerValue};

use super::natural::Loop;

/// How deep an address may be computed.
const MOST_STEPS: u32 = 8;

/// The first of the address spaces whose addresses are narrower.
const TENSORS: u32 = 6;

/// Elements of so many bytes that are added to an address.
pub type Way<'ctx> = Vec<(u64, IntValue<'ctx>)>;

/// The phi of the head from which a pointer is computed, and what is added to it: elements of so many bytes.
pub fn moves<'ctx>(found: &Loop<'ctx>, pointer: PointerValue<'ctx>) -> Option<(PointerValue<'ctx>, Way<'ctx>)> {
    let mut at = pointer;
    let mut moved = Vec::new();
    for _ in 0..MOST_STEPS {
        if found.incoming(at).is_some() {
            return Some((at, moved));
        }
        let (base, size, index) = llvm::element_of(at.as_instruction_value()?)?;
        if !found.is_invariant(index.into()) {
            return None;
        }
        moved.push((size, index));
        at = base;
    }
    None
}

/// An address that grows by the same number of bytes in every round.
pub struct Walk<'ctx> {
    /// Where the phi that it is computed from begins.
    first: PointerValue<'ctx>,
    /// What is added to the phi.
    ahead: Way<'ctx>,
    /// What is added in every round.
    round: Way<'ctx>,
    /// Whether all of that says that nothing wraps around.
    goes_up: bool,
}

impl<'ctx> Walk<'ctx> {
    pub fn of(found: &Loop<'ctx>, pointer: PointerValue<'ctx>) -> Option<Self> {
        // All addresses but those of tensors have 64 bits.
        if llvm::address_space(pointer) >= TENSORS {
            return None;
        }
        let (phi, ahead) = moves(found, pointer)?;
        let (BasicValueEnum::PointerValue(first), BasicValueEnum::PointerValue(next)) = found.incoming(phi)? else {
            return None;
        };
        let (from, round) = moves(found, next)?;
        let is_wide = |(_, index): &(u64, IntValue<'ctx>)| index.get_type().get_bit_width() == 64;
        let is_known = from == phi && ahead.iter().chain(&round).all(is_wide);
        let goes_up = is_known && [pointer, next].into_iter().all(|pointer| goes_up(phi, pointer));
        is_known.then_some(Self { first, ahead, round, goes_up })
    }

    /// The same, of an address that is looked at as a number.
    pub fn of_number(found: &Loop<'ctx>, number: IntValue<'ctx>) -> Option<Self> {
        Self::of(found, llvm::pointer_of_integer(number).filter(|_| number.get_type().get_bit_width() == 64)?)
    }

    /// By how many bytes it is ahead of the phi that it is computed from, and by how many it grows, if these are constants.
    pub fn constants(&self) -> Option<(u64, u64)> {
        let bytes = |(size, index): &(u64, IntValue<'ctx>)| {
            Some(size.wrapping_mul(index.get_sign_extended_constant()?.cast_unsigned()))
        };
        let sum = |way: &Way<'ctx>| way.iter().map(bytes).try_fold(0_u64, |all, bytes| Some(all.wrapping_add(bytes?)));
        Some((sum(&self.ahead)?, sum(&self.round)?))
    }

    /// Whether all steps say that nothing wraps around.
    pub fn goes_up(&self) -> bool {
        self.goes_up
    }

    /// Where the phi that it is computed from begins.
    pub fn first(&self) -> PointerValue<'ctx> {
        self.first
    }

    /// The address in the first round, and by how much it grows, both as numbers that may wrap around.
    pub fn affine(
        &self,
        builder: &Builder<'ctx>,
        word: IntType<'ctx>,
    ) -> Result<(IntValue<'ctx>, IntValue<'ctx>), BuilderError> {
        let first = builder.build_ptr_to_int(self.first, word, "")?;
        Ok((sum(builder, first, &self.ahead)?, sum(builder, word.const_zero(), &self.round)?))
    }
}

fn goes_up<'ctx>(phi: PointerValue<'ctx>, mut at: PointerValue<'ctx>) -> bool {
    while at != phi {
        let Some(from) = at.as_instruction_value().filter(|from| llvm::is_in_bounds_above(*from)) else { return false };
        let Some((base, ..)) = llvm::element_of(from) else { return false };
        at = base;
    }
    true
}

fn sum<'ctx>(builder: &Builder<'ctx>, first: IntValue<'ctx>, way: &Way<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
    way.iter().try_fold(first, |sum, (size, index)| {
        let bytes = builder.build_int_mul(*index, index.get_type().const_int(*size, false), "")?;
        builder.build_int_add(sum, bytes, "")
    })
}
