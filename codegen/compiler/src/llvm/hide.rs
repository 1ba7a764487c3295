//! Numbers of which LLVM does not know that they are others.
//!
//! ```text
//! call i32 asm "mov.b32 $0, $1;", "=r,r"(i32 %number)
//! ```
//!
//! Its code generator would undo what pays only for ptxas. ptxas sees a copy, and makes nothing of it.

use super::{BasicMetadataValueEnum, Builder, BuilderError, Context, IntValue};

/// A copy of a number of 32 or 64 bits.
pub fn build_hidden<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    number: IntValue<'ctx>,
) -> Result<IntValue<'ctx>, BuilderError> {
    let bits = number.get_type().get_bit_width();
    let register = if bits == 64 { "l" } else { "r" };
    let ty = number.get_type().fn_type(&[number.get_type().into()], false);
    let (text, constraints) = (format!("mov.b{bits} $0, $1;"), format!("={register},{register}"));
    let copy = context.create_inline_asm(ty, text, constraints, false, false, None, false);
    let call = builder.build_indirect_call(ty, copy, &[BasicMetadataValueEnum::from(number)], "")?;
    super::promise_pure(context, call);
    Ok(call.try_as_basic_value().unwrap_basic().into_int_value())
}
