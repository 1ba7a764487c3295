//! Counts the ones of one number where it is asked whether several numbers have an odd number of them together.
//!
//! ```text
//! before: %a = call i64 @llvm.ctpop.i64(i64 %x)
//!         %b = call i64 @llvm.ctpop.i64(i64 %y)
//!         and i64 (add i64 %a, %b), 1
//! after:  %both = xor i64 %x, %y
//!         %halves = xor i32 (trunc i64 %both to i32), (trunc i64 (lshr i64 %both, 32) to i32)
//!         zext i32 (and i32 (call i32 @llvm.ctpop.i32(i32 %halves)), 1) to i64
//! ```
//!
//! So products over GF(2), check bits of codes and Walsh's functions are computed. LLVM sees that only the lowest bit of each
//! count is wanted, and as it takes PTX to have no count of 64 bits, shifts and combines six times in place of it: 20
//! instructions for each number.
//!
//! **Why it is right.** The lowest bit of a sum or a difference is the `xor` of the lowest bits, and so is that of the number of
//! ones of `x ^ y`: where both have a one, the count of both is two more, and that of the `xor` is none.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntValue, Intrinsic, Module,
};

/// Values that are combined.
const MOST_PARTS: usize = 64;

/// Does so in every function.
pub fn fold<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 0) {
        fold_in(context, module, function).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot fold the parities of a function: {error}"))
        })?;
    }
    Ok(())
}

fn fold_in<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    function: FunctionValue<'ctx>,
) -> std::result::Result<(), BuilderError> {
    let builder = context.create_builder();
    let asked: Vec<_> = llvm::instructions(function).filter(|from| asks_for_lowest(*from)).collect();
    for from in asked {
        let Some(parts) = llvm::int_operand(from, 0).and_then(Parts::of) else { continue };
        builder.position_before(&from);
        if let Some(bit) = parts.bit(context, module, &builder)? {
            let BasicValueEnum::IntValue(result) = llvm::result(from) else { continue };
            let bit = builder.build_int_cast_sign_flag(bit, result.get_type(), false, "")?;
            llvm::replace_uses(from, bit.into());
        }
    }
    Ok(())
}

/// Whether an instruction takes the lowest bit of a number.
fn asks_for_lowest(from: InstructionValue<'_>) -> bool {
    match from.get_opcode() {
        Op::And => llvm::int_operand(from, 1).and_then(|mask| mask.get_zero_extended_constant()) == Some(1),
        Op::Trunc => matches!(llvm::result(from), BasicValueEnum::IntValue(bit) if bit.get_type().get_bit_width() == 1),
        _ => false,
    }
}

/// Numbers the lowest bits of which make up that of another.
struct Parts<'ctx> {
    /// Those of which the ones are counted.
    counted: Vec<IntValue<'ctx>>,
    others: Vec<IntValue<'ctx>>,
}

impl<'ctx> Parts<'ctx> {
    /// The parts of a number, if they are worth it.
    fn of(number: IntValue<'ctx>) -> Option<Self> {
        let mut parts = Self { counted: Vec::new(), others: Vec::new() };
        let mut pending = vec![number];
        while let Some(number) = pending.pop() {
            if parts.counted.len() + parts.others.len() + pending.len() > MOST_PARTS {
                return None;
            }
            // What others ask for is computed in any case.
            let from = number.as_instruction_value().filter(|from| llvm::uses(&llvm::result(*from)).len() == 1);
            let Some(from) = from else {
                parts.others.push(number);
                continue;
            };
            match (from.get_opcode(), llvm::int_operand(from, 0), llvm::int_operand(from, 1)) {
                (Op::Add | Op::Sub | Op::Xor, Some(left), Some(right)) => pending.extend([left, right]),
                (Op::Trunc | Op::ZExt | Op::SExt, Some(of), _) => pending.push(of),
                (Op::Call, Some(of), _) if is_count(from) => parts.counted.push(of),
                _ => parts.others.push(number),
            }
        }
        let is_wide = |counted: &IntValue<'ctx>| counted.get_type().get_bit_width() == 64;
        (parts.counted.iter().any(is_wide) || parts.counted.len() > 1).then_some(parts)
    }

    /// Their lowest bit.
    fn bit(
        &self,
        context: &'ctx Context,
        module: &Module<'ctx>,
        builder: &Builder<'ctx>,
    ) -> std::result::Result<Option<IntValue<'ctx>>, BuilderError> {
        let word = context.i32_type();
        let count = Intrinsic::find("llvm.ctpop").and_then(|count| count.get_declaration(module, &[word.into()]));
        let Some(count) = count else { return Ok(None) };
        let xor = |all: Option<IntValue<'ctx>>, one: IntValue<'ctx>| match all {
            Some(all) => builder.build_xor(all, one, ""),
            None => Ok(one),
        };
        let (mut wide, mut all) = (None, None);
        for counted in &self.counted {
            match counted.get_type().get_bit_width() {
                64 => wide = Some(xor(wide, *counted)?),
                _ => all = Some(xor(all, builder.build_int_z_extend(*counted, word, "")?)?),
            }
        }
        if let Some(wide) = wide {
            let upper = builder.build_right_shift(wide, wide.get_type().const_int(32, false), false, "")?;
            for half in [wide, upper] {
                all = Some(xor(all, builder.build_int_truncate(half, word, "")?)?);
            }
        }
        let Some(all) = all else { return Ok(None) };
        let call = builder.build_call(count, &[all.into()], "")?;
        let Some(BasicValueEnum::IntValue(mut bit)) = call.try_as_basic_value().basic() else { return Ok(None) };
        for other in &self.others {
            bit = builder.build_xor(bit, builder.build_int_cast_sign_flag(*other, word, false, "")?, "")?;
        }
        Ok(Some(builder.build_and(bit, word.const_int(1, false), "")?))
    }
}

/// Whether a call counts the ones of a number of at most 64 bits.
fn is_count(call: InstructionValue<'_>) -> bool {
    let is_narrow =
        llvm::int_operand(call, 0).is_some_and(|of| matches!(of.get_type().get_bit_width(), 8 | 16 | 32 | 64));
    is_narrow
        && llvm::called_function(call).is_some_and(|callee| callee.get_name().to_bytes().starts_with(b"llvm.ctpop."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::parse_ir;

    /// A function after [`fold`] and what LLVM removes.
    fn folded(body: &str) -> String {
        let text = format!(
            "declare i64 @llvm.ctpop.i64(i64)
            declare i32 @llvm.ctpop.i32(i32)
            define i64 @f(i64 %x, i64 %y, i32 %z, ptr %p) {{ {body} }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        fold(&context, &module).unwrap();
        module.verify().unwrap();
        llvm::run_passes_for_any(&module, "function(adce)").unwrap();
        module.get_function("f").unwrap().to_string()
    }

    const SUM: &str = "%a = call i64 @llvm.ctpop.i64(i64 %x)
        %b = call i64 @llvm.ctpop.i64(i64 %y)
        %c = call i32 @llvm.ctpop.i32(i32 %z)
        %d = zext i32 %c to i64
        %e = sub i64 %a, %b
        %sum = add i64 %e, %d
        %both = xor i64 %sum, %x
        %bit = and i64 %both, 1
        ret i64 %bit";

    #[test]
    fn the_ones_of_several_numbers_are_counted_once() {
        let ir = folded(SUM);
        assert_eq!((ir.matches("call i32").count(), ir.matches("call i64").count()), (1, 0), "{ir}");
        assert!(
            ir.contains("xor i64") && ir.contains("lshr i64") && !ir.contains("add") && !ir.contains("sub"),
            "{ir}"
        );
        let ir = folded(
            "%a = call i64 @llvm.ctpop.i64(i64 %x)\n %t = trunc i64 %a to i1\n %r = zext i1 %t to i64\n ret i64 %r",
        );
        assert_eq!((ir.matches("call i32").count(), ir.matches("call i64").count()), (1, 0), "{ir}");
    }

    #[test]
    fn others_stay() {
        for body in [
            // Another bit, a count that is wanted, too, and one that is an instruction already.
            SUM.replace(", 1\n", ", 3\n"),
            SUM.replace("%bit = and", "store i64 %both, ptr %p\n %bit = and"),
            "%a = call i32 @llvm.ctpop.i32(i32 %z)\n %b = and i32 %a, 1\n %r = zext i32 %b to i64\n ret i64 %r".into(),
        ] {
            let ir = folded(&body);
            assert!(!ir.contains("xor i32") && !ir.contains("lshr"), "{ir}");
        }
        // A count that is stored is a number like others; the rest is counted.
        let ir = folded(&SUM.replace("%e = sub", "store i64 %a, ptr %p\n %e = sub"));
        assert_eq!((ir.matches("call i32").count(), ir.matches("call i64").count()), (1, 1), "{ir}");
    }
}
