//! Whether a function is still what it was: a number that almost surely changes with its instructions.

use std::hash::Hasher;

use inkwell::context::AsContextRef;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::{
    LLVMCountIncoming, LLVMGetFCmpPredicate, LLVMGetICmpPredicate, LLVMGetIncomingBlock, LLVMGetInstructionOpcode,
    LLVMGetMDKindIDInContext, LLVMGetMetadata, LLVMGetNumOperands, LLVMGetOperand, LLVMTypeOf,
};

use super::{AsValueRef, Context, FunctionValue, instructions};
use crate::hash::{Quick, QuickMap};

/// A hash of the instructions, each with its type, its operands, where it goes, and what is asked for the loop that it closes.
///
/// What the function consists of counts by its place there, not by where LLVM keeps it, so that a function that has been
/// written anew is what it was. All else, as types, constants and statics, counts by where it is kept, so the number says
/// nothing in another process.
pub fn shape(context: &Context, function: FunctionValue<'_>) -> u64 {
    let mut places = QuickMap::<usize, usize>::default();
    let parameters = function.get_param_iter().map(|parameter| parameter.as_value_ref().addr());
    let blocks = function.get_basic_block_iter().map(|block| block.as_mut_ptr().addr());
    let computed = instructions(function).map(|instruction| instruction.as_value_ref().addr());
    for value in parameters.chain(blocks).chain(computed) {
        let place = places.len();
        places.insert(value, place);
    }
    let place = |address: usize| places.get(&address).copied().unwrap_or(address);
    let of_loops = "llvm.loop";
    let mut hasher = Quick::default();
    for instruction in instructions(function) {
        let value = instruction.as_value_ref();
        hasher.write_usize(instruction.get_parent().map_or(0, |block| place(block.as_mut_ptr().addr())));
        // SAFETY: the instruction is live; of operands and incoming blocks LLVM is asked for those that it has, and for a
        // predicate where the opcode has one. The kind's name is of the length given.
        unsafe {
            let opcode = LLVMGetInstructionOpcode(value);
            hasher.write_u32(opcode as u32);
            hasher.write_usize(LLVMTypeOf(value).addr());
            for index in 0..LLVMGetNumOperands(value).cast_unsigned() {
                hasher.write_usize(place(LLVMGetOperand(value, index).addr()));
            }
            match opcode {
                LLVMOpcode::LLVMPHI => (0..LLVMCountIncoming(value))
                    .for_each(|index| hasher.write_usize(place(LLVMGetIncomingBlock(value, index).addr()))),
                LLVMOpcode::LLVMICmp => hasher.write_u32(LLVMGetICmpPredicate(value) as u32),
                LLVMOpcode::LLVMFCmp => hasher.write_u32(LLVMGetFCmpPredicate(value) as u32),
                LLVMOpcode::LLVMBr => {
                    let length = of_loops.len() as u32;
                    let kind = LLVMGetMDKindIDInContext(context.as_ctx_ref(), of_loops.as_ptr().cast(), length);
                    hasher.write_usize(LLVMGetMetadata(value, kind).addr());
                }
                _ => {}
            }
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::super::{forget_loop, parse_ir};
    use super::*;

    const TEXT: &str = "define i32 @f(i32 %x, i32 %y) {
        entry: br label %loop
        loop:
          %n = phi i32 [ %x, %entry ], [ %next, %loop ]
          %next = add i32 %n, 1
          %more = icmp ult i32 %next, %y
          br i1 %more, label %loop, label %end, !llvm.loop !0
        end: ret i32 %next
        }
        !0 = distinct !{!0, !1}
        !1 = !{!\"llvm.loop.unroll.disable\"}";

    /// The shapes of both functions, in one context.
    fn both(texts: [&str; 2]) -> [u64; 2] {
        let context = Context::create();
        let modules = texts.map(|text| parse_ir(&context, text.as_bytes(), "module").expect("the text is LLVM IR"));
        modules.each_ref().map(|module| shape(&context, module.get_function("f").expect("it is there")))
    }

    #[test]
    fn an_equal_function_has_the_same_shape_and_any_other_has_another() {
        let text = TEXT.replace(", !llvm.loop !0", "");
        let [a, b] = both([&text, &text]);
        assert_eq!(a, b);
        for (from, to) in [
            ("add i32 %n, 1", "add i32 %n, 2"),
            ("add i32 %n, 1", "sub i32 %n, 1"),
            ("add i32 %n, 1", "add i32 %x, 1"),
            ("icmp ult", "icmp ule"),
            ("[ %x, %entry ]", "[ %y, %entry ]"),
            ("label %loop, label %end", "label %end, label %loop"),
            ("ret i32 %next", "ret i32 %n"),
            ("entry: br", "entry: %unused = add i32 %x, 1 br"),
        ] {
            let [a, b] = both([&text, &text.replace(from, to)]);
            assert_ne!(a, b, "{to}");
        }
    }

    #[test]
    fn what_is_asked_for_a_loop_is_a_part_of_the_shape() {
        let context = Context::create();
        let module = parse_ir(&context, TEXT.as_bytes(), "module").expect("the text is LLVM IR");
        let function = module.get_function("f").expect("it is there");
        let before = shape(&context, function);
        let jumps: Vec<_> = instructions(function).filter(|i| i.get_num_operands() == 3).collect();
        forget_loop(&context, &jumps);
        assert_ne!(before, shape(&context, function));
    }
}
