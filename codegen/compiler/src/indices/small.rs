//! The test that chooses the copy: whether what a kernel is given is small.

use std::collections::HashMap;

use super::{BITS_OF_A_FACTOR, BITS_OF_A_LENGTH, BITS_OF_A_THIRD, Half, Number};
use crate::llvm::{self, Builder, BuilderError, Context, FunctionValue, IntPredicate, IntValue};

/// What a kernel is given, and what the test allows each.
pub type Limits<'ctx> = Vec<Limit<'ctx>>;

/// What the test allows a number.
pub struct Limit<'ctx> {
    pub number: Number<'ctx>,
    pub bits: u32,
    /// Whether it must not be 0.
    pub some: bool,
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

/// Writes whether all numbers are below their limits; from then on, parameters are some number for all who look.
pub fn are_small<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    kernel: FunctionValue<'ctx>,
    limits: &[Limit<'ctx>],
) -> Result<IntValue<'ctx>, BuilderError> {
    let word = context.i64_type();
    let mut frozen: HashMap<IntValue<'ctx>, IntValue<'ctx>> = HashMap::new();
    for Limit { number, .. } in limits {
        frozen.entry(number.param).or_insert_with(|| llvm::freeze_parameter(builder, kernel, number.param));
    }
    let mut all: Option<IntValue<'ctx>> = None;
    for (param, bits) in too_high(limits) {
        let high = builder.build_and(frozen[&param], word.const_int(bits, false), "")?;
        let none = builder.build_int_compare(IntPredicate::EQ, high, word.const_zero(), "")?;
        all = Some(match all {
            Some(known) => builder.build_and(known, none, "")?,
            None => none,
        });
    }
    let limits: Vec<_> = limits.iter().filter(|limit| !matches!(limit.number.half, Some(Half::Third(_)))).collect();
    for (bits, halves) in
        [(BITS_OF_A_LENGTH, false), (BITS_OF_A_FACTOR, false), (BITS_OF_A_LENGTH, true), (BITS_OF_A_FACTOR, true)]
    {
        let mut together: Option<IntValue<'ctx>> = None;
        let is_like = |limit: &&&Limit<'ctx>| (limit.bits, limit.number.half.is_some()) == (bits, halves);
        for Limit { number, .. } in limits.iter().filter(is_like) {
            let param = frozen[&number.param];
            let value = match number.half {
                Some(Half::Low | Half::OfLow | Half::Third(_)) => {
                    builder.build_int_truncate(param, context.i32_type(), "")?
                }
                Some(Half::High) => {
                    let high = builder.build_right_shift(param, word.const_int(32, false), false, "")?;
                    builder.build_int_truncate(high, context.i32_type(), "")?
                }
                None => param,
            };
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
    for Limit { number, .. } in limits.iter().filter(|limit| limit.some) {
        let some = builder.build_int_compare(IntPredicate::NE, frozen[&number.param], word.const_zero(), "")?;
        all = Some(match all {
            Some(known) => builder.build_and(known, some, "")?,
            None => some,
        });
    }
    Ok(all.unwrap_or_else(|| context.bool_type().const_int(1, false)))
}
