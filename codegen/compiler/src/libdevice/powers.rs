//! Squares and cubes that are written as powers are products, which may be fused with a sum like any other.
//!
//! Before: `%s = call float @__ptx_math_powif(float %x, i32 2)`. After: `%s = fmul float %x, %x`. libdevice's function has the
//! same bits, but multiplies them by 1 as well, and with a rounding of its own.

use ptx_abi::MATH_PREFIX;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{self, BasicValueEnum, BuilderError, Context, FloatValue, InstructionValue, Module};

/// Rewrites them in every function.
pub fn multiply<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in llvm::functions(module) {
        for instruction in llvm::instructions(function).collect::<Vec<_>>() {
            rewrite(context, instruction).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot write a power as a product: {error}"))
            })?;
        }
    }
    Ok(())
}

fn rewrite<'ctx>(context: &'ctx Context, call: InstructionValue<'ctx>) -> Result<(), BuilderError> {
    let Some((base, is_cube)) = power(call) else { return Ok(()) };
    let builder = context.create_builder();
    builder.position_before(&call);
    let mut product = builder.build_float_mul(base, base, "")?;
    if is_cube {
        product = builder.build_float_mul(product, base, "")?;
    }
    llvm::replace_uses(call, product.into());
    call.erase_from_basic_block();
    Ok(())
}

/// The base of a square or a cube, and which of the two it is.
fn power(call: InstructionValue<'_>) -> Option<(FloatValue<'_>, bool)> {
    let callee = llvm::called_function(call)?;
    let name = callee.get_name().to_str().ok()?;
    let is_power = match name.strip_prefix(MATH_PREFIX) {
        Some(rest) => ["powi", "powif"].contains(&rest),
        None => ["llvm.powi.f32.i32", "llvm.powi.f64.i32"].contains(&name),
    };
    if !is_power {
        return None;
    }
    let BasicValueEnum::IntValue(exponent) = call.get_operand(1)?.value()? else { return None };
    let exponent = exponent.get_sign_extended_constant()?;
    let base = llvm::float_operand(call, 0)?;
    // Whoever declares it with another type hears of that later.
    llvm::float_result(call).filter(|result| result.get_type() == base.get_type())?;
    (exponent == 2 || exponent == 3).then_some((base, exponent == 3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::parse_ir;

    #[test]
    fn squares_and_cubes_are_products() {
        let context = Context::create();
        let text = "
            declare float @llvm.powi.f32.i32(float, i32)
            declare double @__ptx_math_powi(double, i32)
            define double @f(float %x, double %y, i32 %n) {
              %square = call float @llvm.powi.f32.i32(float %x, i32 2)
              %other = call float @llvm.powi.f32.i32(float %square, i32 %n)
              %inverse = call float @llvm.powi.f32.i32(float %other, i32 -2)
              %cube = call double @__ptx_math_powi(double %y, i32 3)
              %wide = fpext float %inverse to double
              %sum = fadd double %wide, %cube
              ret double %sum
            }
        ";
        let module = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
        multiply(&context, &module).expect("they are rewritten");
        module.verify().expect("the module is sound");
        let text = module.print_to_string().to_string();
        assert!(text.contains("fmul float %x, %x") && text.contains("fmul double %y, %y"), "{text}");
        assert_eq!(text.matches("fmul").count(), 3, "{text}");
        assert_eq!(text.matches("call float @llvm.powi").count(), 2, "{text}");
    }
}
