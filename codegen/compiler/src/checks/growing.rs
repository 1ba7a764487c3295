//! Compares the largest of several numbers of 64 bits with their limit, where each grows with one of 32 bits.
//!
//! ```text
//! before: %a = zext i32 %row.a × zext i32 %width + zext i32 %x, and %b, %c alike
//!         %both = select i1 (icmp ult i64 %a, %len), i1 (icmp ult i64 %b, %len), i1 false
//!         select i1 %both, i1 (icmp ult i64 %c, %len), i1 false
//! after:  %row = umax (umax %row.a, %row.b), %row.c                     ; each of the three frozen
//!         icmp ult i64 (zext i32 %row × zext i32 %width + zext i32 %x), %len
//! ```
//!
//! `table[row * width + x]`, and `x[column]`, of rows and columns that are loaded: a comparison of 64 bits takes two
//! instructions, and each waits for the one before it. A maximum of 32 bits takes one, from sm_90 on half of one.
//!
//! **Why it is right.** (2^32 - 1)² + 2^32 - 1 is below 2^64, so nothing overflows, and the largest row has the largest number.
//! It is below the limit if all are. As in `separate.rs`, what means nothing does no harm once it is frozen.

use crate::llvm::{
    self, BasicValue, Builder, BuilderError, Context, InstructionOpcode as Op, IntPredicate, IntValue, Low,
};

/// Numbers from which on their maximum is compared.
const FEWEST: usize = 3;

/// So many times a number, and more.
#[derive(Clone, Copy, PartialEq)]
struct Growth<'ctx> {
    times: Option<Low<'ctx>>,
    more: Option<Low<'ctx>>,
}

/// Numbers that grow alike.
pub struct Growing<'ctx> {
    growth: Growth<'ctx>,
    /// By number and what it grows with.
    pub numbers: Vec<(IntValue<'ctx>, Low<'ctx>)>,
}

impl<'ctx> Growing<'ctx> {
    /// Those among some numbers that grow alike, if they are worth it.
    pub fn of(numbers: &[IntValue<'ctx>]) -> Option<Self> {
        let growths = ways(*numbers.first()?);
        let alike = growths.into_iter().map(|(_, growth)| {
            let with = |number: &IntValue<'ctx>| {
                let (low, _) = ways(*number).into_iter().find(|(_, other)| *other == growth)?;
                Some((*number, low))
            };
            Self { growth, numbers: numbers.iter().filter_map(with).collect() }
        });
        alike.max_by_key(|found| found.numbers.len()).filter(|found| found.numbers.len() >= FEWEST)
    }

    /// The largest of them.
    pub fn largest(&self, context: &'ctx Context, builder: &Builder<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        let wide = context.i64_type();
        let frozen = |low: Low<'ctx>| -> Result<IntValue<'ctx>, BuilderError> {
            Ok(llvm::build_freeze(builder, low.write(context, builder)?))
        };
        let mut largest: Option<IntValue<'ctx>> = None;
        for (_, low) in &self.numbers {
            let number = frozen(*low)?;
            largest = Some(match largest {
                Some(most) => {
                    let is_larger = builder.build_int_compare(IntPredicate::UGT, most, number, "")?;
                    builder.build_select(is_larger, most, number, "")?.into_int_value()
                }
                None => number,
            });
        }
        let largest = largest.unwrap_or_else(|| context.i32_type().const_zero());
        let mut result = builder.build_int_z_extend(largest, wide, "")?;
        if let Some(times) = self.growth.times {
            let times = builder.build_int_z_extend(frozen(times)?, wide, "")?;
            result = builder.build_int_nuw_mul(result, times, "")?;
        }
        if let Some(more) = self.growth.more {
            let more = builder.build_int_z_extend(frozen(more)?, wide, "")?;
            result = builder.build_int_nuw_add(result, more, "")?;
        }
        Ok(result)
    }
}

/// The ways in which a number grows with another.
fn ways(number: IntValue<'_>) -> Vec<(Low<'_>, Growth<'_>)> {
    let mut ways: Vec<_> =
        products(number).into_iter().map(|(low, times)| (low, Growth { times, more: None })).collect();
    for (one, other) in sides(number, Op::Add) {
        if let Some(more) = Low::of(other) {
            let with = |(low, times)| (low, Growth { times, more: Some(more) });
            ways.extend(products(one).into_iter().map(with));
        }
    }
    ways
}

/// What a number is so many times, in each way.
fn products(number: IntValue<'_>) -> Vec<(Low<'_>, Option<Low<'_>>)> {
    let whole = Low::of(number).map(|low| (low, None));
    let factors = sides(number, Op::Mul).into_iter();
    whole.into_iter().chain(factors.filter_map(|(one, other)| Some((Low::of(one)?, Some(Low::of(other)?))))).collect()
}

/// The operands of an instruction of a kind, either first.
fn sides(number: IntValue<'_>, wanted: Op) -> Vec<(IntValue<'_>, IntValue<'_>)> {
    let from = number.as_instruction_value().filter(|from| from.get_opcode() == wanted);
    let both = from.and_then(|from| llvm::int_operand(from, 0).zip(llvm::int_operand(from, 1)));
    both.into_iter().flat_map(|(one, other)| [(one, other), (other, one)]).collect()
}
