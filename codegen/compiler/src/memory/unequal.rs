//! Compares numbers that lie at any address byte by byte, as far as they are equal.
//!
//! ```text
//! before: %word = load i64, ptr addrspace(1) %at, align 1                   ; window == b"pattern!"
//!         %same = icmp eq i64 %word, %pattern
//! after:  %byte = load i8, ptr addrspace(1) %at
//!         br i1 (icmp eq i8 %byte, (trunc i64 %pattern to i8)), label %more, label %rest
//!         more: the same of byte 1 to 7, until one differs
//!         rest: %same = phi i1 [ false, %before ], [ whether the last is equal, %more ]
//! ```
//!
//! Rust compares small arrays as one number. A GPU loads no number from an address that is not a multiple of its size (PTX
//! ISA, "Addresses as Operands"): LLVM's code generator loads eight bytes and puts them together by seven more instructions,
//! where a loop in CUDA C++ looks at one byte and goes on. Counting the places of eight bytes in a text ran at .80 of nvcc's
//! speed. Bytes that are compared with others mostly differ, as those of a text that is searched. It is a loop, because ptxas makes
//! straight code of anything else, which each thread goes through with its instructions turned off.
//!
//! **Why it is right.** The loads are plain, and nothing writes between the place of the first byte's and those of the others, so
//! that all are of the same number. A number lies in memory with its lowest byte first, and differs from another wherever one of
//! its bytes does.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue,
    InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue, Module, PointerValue, Use,
};

/// Bits of a byte.
const BYTE: u32 = 8;

/// Bits of the smallest number that is worth a branch.
const LEAST_BITS: u32 = 64;

/// Compares so in every function.
pub fn compare_first<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in llvm::functions(module) {
        compare_in(context, function).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot compare numbers by their bytes: {error}"))
        })?;
    }
    Ok(())
}

fn compare_in<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> std::result::Result<(), BuilderError> {
    for block in function.get_basic_blocks() {
        // From the last on, for what moves behind a branch takes no loads with it that others are waiting for.
        while let Some(comparison) = block.get_instructions().filter_map(Comparison::of).last() {
            comparison.branch(context, block)?;
        }
    }
    Ok(())
}

/// Of a number that is loaded for it alone.
struct Comparison<'ctx> {
    icmp: InstructionValue<'ctx>,
    sides: [IntValue<'ctx>; 2],
    /// The loads of the sides that are.
    loads: [Option<InstructionValue<'ctx>>; 2],
    is_equality: bool,
}

impl<'ctx> Comparison<'ctx> {
    fn of(icmp: InstructionValue<'ctx>) -> Option<Self> {
        let is_equality = match icmp.get_icmp_predicate()? {
            IntPredicate::EQ => true,
            IntPredicate::NE => false,
            _ => return None,
        };
        let sides = [llvm::int_operand(icmp, 0)?, llvm::int_operand(icmp, 1)?];
        let bits = sides[0].get_type().get_bit_width();
        if bits < LEAST_BITS || bits % BYTE != 0 {
            return None;
        }
        let loads = sides.map(|side| side.as_instruction_value().filter(|load| is_for(*load, icmp)));
        loads.iter().any(Option::is_some).then_some(Self { icmp, sides, loads, is_equality })
    }

    /// Writes the branch and the loop behind it.
    fn branch(&self, context: &'ctx Context, block: BasicBlock<'ctx>) -> std::result::Result<(), BuilderError> {
        let builder = context.create_builder();
        let firsts = self.first_bytes(context, &builder)?;
        let more = context.insert_basic_block_after(block, "");
        let rest = context.insert_basic_block_after(more, "");
        let behind: Vec<_> = block.get_instructions().skip_while(|from| *from != self.icmp).collect();
        for to in block.get_terminator().map(llvm::block_operands).unwrap_or_default() {
            llvm::replace_predecessor(to, block, rest, |value| value);
        }
        llvm::move_to_end(context, &behind, rest);
        builder.position_at_end(block);
        let is_equal = builder.build_int_compare(IntPredicate::EQ, firsts[0], firsts[1], "")?;
        builder.build_conditional_branch(llvm::build_freeze(&builder, is_equal), more, rest)?;
        builder.position_at_end(more);
        let is_equal = self.compare_others(context, &builder, [block, more, rest])?;

        builder.position_before(&self.icmp);
        let phi = builder.build_phi(context.bool_type(), "")?;
        let differs = context.bool_type().const_zero();
        phi.add_incoming(&[(&differs, block), (&is_equal, more)]);
        let same = phi.as_basic_value().into_int_value();
        let result = if self.is_equality { same } else { builder.build_not(same, "")? };
        llvm::replace_uses(self.icmp, result.into());
        self.icmp.erase_from_basic_block();
        self.loads.into_iter().flatten().for_each(|load| load.erase_from_basic_block());
        Ok(())
    }

    /// The lowest byte of either side, in the place of what it was part of.
    fn first_bytes(
        &self,
        context: &'ctx Context,
        builder: &Builder<'ctx>,
    ) -> std::result::Result<[IntValue<'ctx>; 2], BuilderError> {
        let byte = context.i8_type();
        let mut firsts = self.sides;
        for (first, load) in firsts.iter_mut().zip(self.loads) {
            *first = match load.zip(address(load)) {
                Some((load, address)) => {
                    builder.position_before(&load);
                    builder.build_load(byte, address, "")?.into_int_value()
                }
                None => {
                    builder.position_before(&self.icmp);
                    builder.build_int_truncate(*first, byte, "")?
                }
            };
        }
        Ok(firsts)
    }

    /// Goes through the other bytes by a loop of one block, which comes from one and goes on to another; whether the last two
    /// that it looked at are equal.
    fn compare_others(
        &self,
        context: &'ctx Context,
        builder: &Builder<'ctx>,
        [before, block, rest]: [BasicBlock<'ctx>; 3],
    ) -> std::result::Result<IntValue<'ctx>, BuilderError> {
        let (byte, count) = (context.i8_type(), context.i64_type());
        let at = builder.build_phi(count, "")?;
        let index = at.as_basic_value().into_int_value();
        // Not those that were found: where the block was a loop, it has new phis since.
        let mut bytes = [0, 1].map(|side| llvm::int_operand(self.icmp, side).expect("a comparison has two operands"));
        let bits = bytes[0].get_type();
        for (side, load) in bytes.iter_mut().zip(self.loads) {
            *side = match address(load) {
                Some(address) => {
                    let place = llvm::build_byte_offset(context, builder, address, index)?;
                    builder.build_load(byte, place, "")?.into_int_value()
                }
                None => {
                    let by = builder.build_int_mul(index, count.const_int(u64::from(BYTE), false), "")?;
                    let by = builder.build_int_z_extend_or_bit_cast(by, bits, "")?;
                    let above = builder.build_right_shift(*side, by, false, "")?;
                    builder.build_int_truncate(above, byte, "")?
                }
            };
        }
        let is_equal = builder.build_int_compare(IntPredicate::EQ, bytes[0], bytes[1], "")?;
        let is_equal = llvm::build_freeze(builder, is_equal);
        let next = builder.build_int_nuw_add(index, count.const_int(1, false), "")?;
        let all = count.const_int(u64::from(bits.get_bit_width() / BYTE), false);
        let is_left = builder.build_int_compare(IntPredicate::ULT, next, all, "")?;
        let goes_on = builder.build_and(is_equal, is_left, "")?;
        let latch = builder.build_conditional_branch(goes_on, block, rest)?;
        at.add_incoming(&[(&count.const_int(1, false), before), (&next, block)]);
        llvm::set_unroll(context, &[latch], llvm::Unroll::None);
        Ok(is_equal)
    }
}

/// Where a load looks.
fn address(load: Option<InstructionValue<'_>>) -> Option<PointerValue<'_>> {
    match llvm::operand(load?, 0)? {
        BasicValueEnum::PointerValue(address) => Some(address),
        _ => None,
    }
}

/// Whether a load of bytes at any address is used by a comparison alone, in its block, and nothing writes between them.
fn is_for<'ctx>(load: InstructionValue<'ctx>, icmp: InstructionValue<'ctx>) -> bool {
    if !llvm::is_plain_load(load) || load.get_alignment() != Ok(1) || load.get_parent() != icmp.get_parent() {
        return false;
    }
    let is_used_by_it = |user: &Use<'ctx>| matches!(user, Use::Instruction(user) if *user == icmp);
    let between = std::iter::successors(load.get_next_instruction(), |at| at.get_next_instruction());
    llvm::uses(&load).iter().all(is_used_by_it) && between.take_while(|at| *at != icmp).all(leaves_memory_alone)
}

fn leaves_memory_alone(instruction: InstructionValue<'_>) -> bool {
    llvm::is_pure(instruction)
        || llvm::is_plain_load(instruction)
        || matches!(instruction.get_opcode(), Op::Phi | Op::Select | Op::GetElementPtr | Op::Freeze)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A loop after [`compare_first`] that counts by `%same`.
    fn compared(body: &str) -> String {
        let text = format!(
            "define i64 @f(ptr addrspace(1) %at, ptr addrspace(1) %other, i64 %pattern) {{
            entry: br label %loop
            loop: %sum = phi i64 [ 0, %entry ], [ %next, %loop ]
              {body}
              %one = zext i1 %same to i64
              %next = add i64 %sum, %one
              %again = icmp ult i64 %next, 9
              br i1 %again, label %loop, label %end
            end: ret i64 %next
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "m").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        compare_first(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    const WORD: &str = "%word = load i64, ptr addrspace(1) %at, align 1";
    const SAME: &str = "%same = icmp eq i64 %word, %pattern";

    #[test]
    fn the_first_byte_is_looked_at_first() {
        let ir = compared(&format!("{WORD}\n{SAME}"));
        let (before, behind) = ir.split_once("br i1").expect("there is a branch");
        assert!(
            before.contains("load i8, ptr addrspace(1) %at") && before.contains("trunc i64 %pattern to i8"),
            "{ir}"
        );
        assert!(behind.contains("load i8") && behind.contains("lshr i64 %pattern") && behind.contains(", 8"), "{ir}");
        assert!(!ir.contains("load i64") && behind.contains("phi i1 [ false,"), "{ir}");
        let ir = compared(&format!("{WORD}\n%same = icmp ne i64 %pattern, %word"));
        assert!(ir.contains("phi i1 [ false,") && ir.contains("xor i1"), "{ir}");
        // Both sides are loaded for it.
        let both = "%with = load i64, ptr addrspace(1) %other, align 1\n %same = icmp eq i64 %word, %with";
        let ir = compared(&format!("{WORD}\n{both}"));
        assert_eq!(ir.matches("load i8").count(), 4, "{ir}");
        assert!(!ir.contains("trunc") && !ir.contains("load i64"), "{ir}");
    }

    #[test]
    fn two_in_a_row_become_two_branches() {
        let second = "%word2 = load i64, ptr addrspace(1) %other, align 1\n %same2 = icmp eq i64 %word2, %pattern";
        let ir =
            compared(&format!("{WORD}\n{second}\n%same1 = icmp eq i64 %word, %pattern\n%same = and i1 %same1, %same2"));
        assert_eq!(ir.matches("phi i1").count(), 2, "{ir}");
        assert!(!ir.contains("load i64"), "{ir}");
        let (before, _) = ir.split_once("br i1").expect("there is a branch");
        assert_eq!(before.matches("load i8").count(), 2, "both first bytes are on their way before a branch: {ir}");
    }

    #[test]
    fn the_address_may_be_the_number_of_a_round() {
        let walk = "%place = phi ptr addrspace(1) [ %at, %entry ], [ %behind, %loop ]
              %wanted = phi i64 [ %pattern, %entry ], [ %word, %loop ]
              %behind = getelementptr i8, ptr addrspace(1) %place, i64 1
              %word = add i64 %wanted, 1
              %there = load i64, ptr addrspace(1) %place, align 1
              %same = icmp eq i64 %there, %wanted";
        let ir = compared(walk);
        assert_eq!(ir.matches("load i8").count(), 2, "{ir}");
        assert!(ir.contains("lshr i64") && !ir.contains("load i64"), "{ir}");
    }

    #[test]
    fn others_are_compared_as_they_are() {
        let store = "store i8 1, ptr addrspace(1) %other";
        for body in [
            // One load is as good, or what lies there may be another number by then.
            format!("%word = load i64, ptr addrspace(1) %at, align 8\n{SAME}"),
            format!("%word = load volatile i64, ptr addrspace(1) %at, align 1\n{SAME}"),
            format!("{WORD}\n{store}\n{SAME}"),
            "%half = load i32, ptr addrspace(1) %at, align 1\n%same = icmp eq i32 %half, 7".to_string(),
            // The number itself is wanted.
            format!("{WORD}\n{SAME}\nstore i64 %word, ptr addrspace(1) %other"),
            format!("{WORD}\n%same = icmp ult i64 %word, %pattern"),
        ] {
            let ir = compared(&body);
            assert!(!ir.contains("load i8") && !ir.contains("phi i1"), "{ir}");
        }
    }
}
