//! The halves of a constant `f64` are constants.
//!
//! ```text
//! before: %high = call i32 @llvm.nvvm.d2i.hi(double 1.0)
//!         %is_small = icmp slt i32 %high, 1048576
//!         br i1 %is_small, label %scale, label %rest
//! after:  br label %rest
//! ```
//!
//! The same for `llvm.nvvm.d2i.lo` and `llvm.nvvm.lohi.i2d`, by which libdevice looks at exponents. LLVM folds other
//! intrinsics that libdevice uses, but not these, so `atanh` of a constant kept all its branches. ptxas folds them, so late
//! that it crashes over a function that is called by pointer and has no call left.
//!
//! Only constants: LLVM's own operations in place of all these intrinsics would fold, too, but LLVM then looks at exponents
//! by 64 bits, and `fmod` and `remquo` take a tenth more machine code.

use std::collections::HashSet;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicValueEnum, BuilderError, Context, FloatValue, FunctionValue, InstructionValue, IntValue, Module,
    TargetMachine, Use,
};

/// The intrinsics, and what each gives.
const INTRINSICS: [(&str, Half); 3] =
    [("llvm.nvvm.d2i.hi", Half::High), ("llvm.nvvm.d2i.lo", Half::Low), ("llvm.nvvm.lohi.i2d", Half::Both)];

/// What LLVM makes of new constants, up to the next halves of a number.
const FOLDING: &str = "function(sccp,instcombine<no-verify-fixpoint>,simplifycfg)";

/// A number has halves, and a polynomial of it again: `atanh` of 0 takes a few rounds. What is left is right, only slower.
const MOST_ROUNDS: usize = 16;

#[derive(Clone, Copy)]
enum Half {
    High,
    Low,
    Both,
}

/// Folds them in every function, and what follows from that.
pub fn fold<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine) -> Result<()> {
    let mut found = HashSet::new();
    for _ in 0..MOST_ROUNDS {
        if !fold_once(context, module, &mut found)? {
            break;
        }
        llvm::doing(Code::LlvmFailed, "cannot fold the maths library's constants");
        llvm::run_passes(module, machine, FOLDING).map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// Whether there was anything to fold. A number is put together only in a function in which one was taken apart, now or
/// before: libdevice writes 2^52 + 2^31 so, and subtracts it, as nvcc does, where LLVM would add what is below 0.
fn fold_once<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    found: &mut HashSet<FunctionValue<'ctx>>,
) -> Result<bool> {
    let mut folded = false;
    for (name, half) in INTRINSICS {
        let Some(intrinsic) = module.get_function(name) else { continue };
        for user in llvm::uses(&intrinsic) {
            let Use::Instruction(call) = user else { continue };
            if llvm::called_function(call) != Some(intrinsic) {
                continue;
            }
            let Some(function) = call.get_parent().and_then(|block| block.get_parent()) else { continue };
            if matches!(half, Half::Both) && !found.contains(&function) {
                continue;
            }
            let Some(result) = constant(context, call, half).map_err(|error| failed(&error))? else { continue };
            llvm::replace_uses(call, result);
            call.erase_from_basic_block();
            found.insert(function);
            folded = true;
        }
    }
    Ok(folded)
}

fn failed(error: &impl std::fmt::Display) -> Diagnostic {
    Diagnostic::error(Code::LlvmFailed, format!("cannot fold the maths library's constants: {error}"))
}

/// What the call gives, if its operands are constants. LLVM's builder folds as it builds.
fn constant<'ctx>(
    context: &'ctx Context,
    call: InstructionValue<'ctx>,
    half: Half,
) -> Result<Option<BasicValueEnum<'ctx>>, BuilderError> {
    let builder = context.create_builder();
    builder.position_before(&call);
    let (word, long) = (context.i32_type(), context.i64_type());
    let width = long.const_int(32, false);
    if let Half::Both = half {
        let (Some(low), Some(high)) = (word_operand(call, 0), word_operand(call, 1)) else { return Ok(None) };
        let high = builder.build_left_shift(builder.build_int_z_extend(high, long, "")?, width, "")?;
        let bits = builder.build_or(high, builder.build_int_z_extend(low, long, "")?, "")?;
        return builder.build_bit_cast(bits, context.f64_type(), "").map(Some);
    }
    let Some(number) = llvm::float_operand(call, 0).filter(|number| is_number(*number)) else { return Ok(None) };
    let bits = builder.build_bit_cast(number, long, "")?.into_int_value();
    let bits = if let Half::High = half { builder.build_right_shift(bits, width, false, "")? } else { bits };
    Ok(Some(builder.build_int_truncate(bits, word, "")?.into()))
}

fn is_number(value: FloatValue<'_>) -> bool {
    value.get_constant().is_some()
}

fn word_operand(call: InstructionValue<'_>, index: u32) -> Option<IntValue<'_>> {
    match call.get_operand(index)?.value()? {
        BasicValueEnum::IntValue(value) if value.is_constant_int() => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit;
    use crate::llvm::parse_ir;
    use crate::request::OptLevel;

    fn folded(text: &str) -> String {
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
        let arch: crate::arch::Arch = "sm_90".parse().expect("an arch");
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).expect("LLVM knows it");
        fold(&context, &module, &machine).expect("it folds");
        module.verify().expect("the module is sound");
        module.print_to_string().to_string()
    }

    const DECLARED: &str = "
        declare i32 @llvm.nvvm.d2i.hi(double)
        declare i32 @llvm.nvvm.d2i.lo(double)
        declare double @llvm.nvvm.lohi.i2d(i32, i32)
    ";

    #[test]
    fn halves_of_constants_are_constants_as_often_as_it_takes() {
        // -1.5 is 0xbff8_0000_0000_0000; the second number is 0x3ff8_0000_0000_0007.
        let text = folded(&format!(
            "{DECLARED}
            declare void @called()
            define i32 @f() {{
              %high = call i32 @llvm.nvvm.d2i.hi(double -1.5)
              %low = call i32 @llvm.nvvm.d2i.lo(double -1.5)
              %positive = and i32 %high, 2147483647
              %seven = or i32 %low, 7
              %number = call double @llvm.nvvm.lohi.i2d(i32 %seven, i32 %positive)
              %again = call i32 @llvm.nvvm.d2i.lo(double %number)
              %is_other = icmp ne i32 %again, 7
              br i1 %is_other, label %call, label %end
            call:
              call void @called()
              br label %end
            end:
              %exponent = call i32 @llvm.nvvm.d2i.hi(double %number)
              ret i32 %exponent
            }}"
        ));
        assert!(text.contains("ret i32 1073217536"), "{text}");
        assert!(!text.contains("br ") && !text.contains("= call"), "{text}");
    }

    #[test]
    fn a_nan_keeps_its_bits() {
        let text = folded(&format!(
            "{DECLARED}
            define i32 @f() {{
              %low = call i32 @llvm.nvvm.d2i.lo(double 0x7FF4000000000123)
              ret i32 %low
            }}"
        ));
        assert!(text.contains("ret i32 291"), "{text}");
    }

    #[test]
    fn what_is_not_known_stays() {
        let text = folded(&format!(
            "{DECLARED}
            define double @f(double %x, i32 %high) {{
              %low = call i32 @llvm.nvvm.d2i.lo(double %x)
              %a = call double @llvm.nvvm.lohi.i2d(i32 %low, i32 7)
              %b = call double @llvm.nvvm.lohi.i2d(i32 7, i32 %high)
              %sum = fadd double %a, %b
              %magic = call double @llvm.nvvm.lohi.i2d(i32 -2147483648, i32 1127219200)
              %rest = fsub double %sum, %magic
              ret double %rest
            }}"
        ));
        assert_eq!(text.matches("= call").count(), 4, "{text}");
    }
}
