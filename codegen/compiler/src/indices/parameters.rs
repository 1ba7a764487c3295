//! Freezes what a kernel is given once, where stages have frozen it at several places.
//!
//! ```text
//! before: %a = freeze i64 %extents
//!         %width = and i64 %a, 4294967295
//!         %b = freeze i64 %extents
//! after:  %known = freeze i64 %extents
//!         %width = and i64 %known, 4294967295
//! ```
//!
//! Of a parameter that two values are made of nothing is known as a whole, so that its halves must be seen. Sound: a value that
//! is frozen once is one of those that it was where it was frozen each time, or not at all.

use crate::llvm::{self, BasicValueEnum, Context, FunctionValue, InstructionOpcode, InstructionValue, Use};

/// Does so with all parameters of 64 bits.
pub fn freeze_once<'ctx>(context: &'ctx Context, kernel: FunctionValue<'ctx>) {
    for param in kernel.get_params() {
        let BasicValueEnum::IntValue(param) = param else { continue };
        let freezes: Vec<InstructionValue<'ctx>> = llvm::uses(&param).into_iter().filter_map(freeze).collect();
        let entry = kernel.get_first_basic_block();
        let Some(first) = entry.and_then(|entry| entry.get_first_instruction()).filter(|_| !freezes.is_empty()) else {
            continue;
        };
        if param.get_type().get_bit_width() != 64 {
            continue;
        }
        let builder = context.create_builder();
        builder.position_before(&first);
        let known = llvm::freeze_parameter(&builder, kernel, param);
        for freeze in freezes {
            llvm::replace_uses(freeze, known.into());
            freeze.erase_from_basic_block();
        }
    }
}

fn freeze(user: Use<'_>) -> Option<InstructionValue<'_>> {
    match user {
        Use::Instruction(user) if user.get_opcode() == InstructionOpcode::Freeze => Some(user),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    #[test]
    fn a_parameter_is_frozen_once() {
        let text = "define void @f(i64 %n, i64 noundef %m, ptr %to) {
            %first = freeze i64 %n
            %more = freeze i64 %m
            store volatile i64 %first, ptr %to
            store volatile i64 %more, ptr %to
            %second = freeze i64 %n
            store volatile i64 %second, ptr %to
            store volatile i64 %n, ptr %to
            ret void
        }";
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        freeze_once(&context, function);
        module.verify().unwrap();
        let ir = function.print_to_string().to_string();
        let (frozen, _) = ir.split_once(" = freeze i64 %n").expect("it is frozen");
        let frozen = frozen.rsplit(' ').next().unwrap();
        assert_eq!(ir.matches("freeze").count(), 1, "{ir}");
        assert_eq!(ir.matches(&format!("i64 {frozen}, ptr")).count(), 3, "{ir}");
        assert_eq!(ir.matches("i64 %m, ptr").count(), 1, "{ir}");
    }
}
