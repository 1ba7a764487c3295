//! Has a loop that goes on below a number of 32 bits count in 32 bits what is left.
//!
//! ```text
//! before: loop: %i = phi i64 [ %first, %before ], [ %next, %loop ]        ; an index into slices, and nothing else
//!               %next = add nuw i64 %i, %step                             ; %step and %width are below 2^32
//!               br i1 (icmp ult i64 %next, %width), label %loop, label %end
//! after:        %all = call i64 @llvm.usub.sat.i64(i64 %width, i64 %first)
//!         loop: %left = phi i32 [ (trunc i64 %all), %before ], [ %less, %loop ]
//!               %less = sub i32 %left, (trunc i64 %step)
//!               br i1 (icmp ugt i32 %left, (trunc i64 %step)), label %loop, label %end
//! ```
//!
//! So the threads of a block share a row, whose width has 32 bits as the number of threads has. LLVM's code generator makes
//! an address of the index, so that it would only be counted to be compared: two additions and two comparisons of 32 bits a
//! round, instead of one of each.
//!
//! **Why it is right.** Where `%i` is below `%width`, what is left is their difference, and `%next`, a sum that does not
//! wrap, is below `%width` exactly if the step is below that; then less is left by the step, which is more than nothing.
//! Where the first `%i` is not below `%width`, nothing is left, which is not more than any step, and `%next` is not
//! below `%width`.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    IntPredicate, IntValue, Intrinsic, Module,
};

use super::branches::Branch;
use super::counters::{most, users};
use super::natural::{Graph, Loop};

/// How deep numbers may be computed.
const MOST_STEPS: u32 = 8;

/// Has every such loop count what is left; loops have a block before them.
pub fn count_down<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    let functions: Vec<_> = llvm::functions(module).filter(|function| function.count_basic_blocks() > 1).collect();
    for function in functions {
        for found in Graph::of(function).innermost() {
            let Some(index) = Index::of(function, &found) else { continue };
            index.count_down(context, module).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot count what is left of a loop: {error}"))
            })?;
        }
    }
    Ok(())
}

/// What goes up to the width.
struct Index<'ctx> {
    before: BasicBlock<'ctx>,
    head: BasicBlock<'ctx>,
    latch: BasicBlock<'ctx>,
    first: IntValue<'ctx>,
    step: IntValue<'ctx>,
    width: IntValue<'ctx>,
    /// The loop goes on if the branch's condition holds.
    goes_on: bool,
}

impl<'ctx> Index<'ctx> {
    fn of(function: FunctionValue<'ctx>, found: &Loop<'ctx>) -> Option<Self> {
        let [latch] = found.latches[..] else { return None };
        let before = Graph::of(function).block_before(found)?;
        let branch = Branch::of(latch)?;
        let (next, width, goes_on) = match branch.predicate {
            IntPredicate::ULT => (branch.left, branch.right, true),
            IntPredicate::UGE => (branch.left, branch.right, false),
            IntPredicate::UGT => (branch.right, branch.left, true),
            IntPredicate::ULE => (branch.right, branch.left, false),
            _ => return None,
        };
        let stays = if goes_on { branch.then } else { branch.other };
        let sum = next.as_instruction_value().filter(|sum| sum.get_opcode() == Op::Add)?;
        let (phi, step) = (llvm::int_operand(sum, 0)?, llvm::int_operand(sum, 1)?);
        let (first, last) = found.incoming(phi)?;
        let BasicValueEnum::IntValue(first) = first else { return None };
        let condition = llvm::int_operand(latch.get_terminator()?, 0)?.as_instruction_value()?;
        let phi = phi.as_instruction_value()?;
        let is_index = users(phi).iter().all(|user| *user == sum || llvm::element_of(*user).is_some())
            && users(sum).iter().all(|user| *user == phi || *user == condition)
            && users(condition).len() == 1;
        let is_small = |value: IntValue<'ctx>| {
            found.is_invariant(value.into()) && most(value, MOST_STEPS).is_some_and(|most| most <= u64::from(u32::MAX))
        };
        let is_wide = next.get_type().get_bit_width() == 64;
        let counts = stays == found.head && last == BasicValueEnum::from(next) && llvm::has_no_unsigned_wrap(sum);
        (is_wide && counts && is_index && is_small(step) && is_small(width)).then_some(Self {
            before,
            head: found.head,
            latch,
            first,
            step,
            width,
            goes_on,
        })
    }

    fn count_down(&self, context: &'ctx Context, module: &Module<'ctx>) -> std::result::Result<(), BuilderError> {
        let (Some(begins), Some(top), Some(ends)) =
            (self.before.get_terminator(), self.head.get_first_instruction(), self.latch.get_terminator())
        else {
            return Ok(());
        };
        let builder = context.create_builder();
        let (word, wide) = (context.i32_type(), context.i64_type());
        builder.position_before(&begins);
        let rest = Intrinsic::find("llvm.usub.sat").and_then(|found| found.get_declaration(module, &[wide.into()]));
        let rest = rest.expect("LLVM has its intrinsics");
        let all = builder.build_call(rest, &[self.width.into(), self.first.into()], "")?;
        let all = builder.build_int_truncate(all.try_as_basic_value().unwrap_basic().into_int_value(), word, "")?;
        let step = builder.build_int_truncate(self.step, word, "")?;
        builder.position_before(&top);
        let left = builder.build_phi(word, "")?;
        builder.position_before(&ends);
        let number = left.as_basic_value().into_int_value();
        let less = builder.build_int_sub(number, step, "")?;
        left.add_incoming(&[(&all, self.before), (&less, self.latch)]);
        let predicate = if self.goes_on { IntPredicate::UGT } else { IntPredicate::ULE };
        let condition = builder.build_int_compare(predicate, number, step, "")?;
        llvm::set_condition(ends, condition);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A loop of an index, after [`count_down`].
    fn counted(width: &str, step: &str, sum: &str, goes: &str, more: &str) -> String {
        let text = format!(
            "define void @f(ptr %to, i64 %extents, i32 %threads, i64 %wide, i64 %first) {{
            entry: %width = {width}
              %step = {step}
              br label %loop
            loop: %i = phi i64 [ %first, %entry ], [ %next, %loop ]
              %p = getelementptr float, ptr %to, i64 %i
              store volatile float 1.0, ptr %p
              {more}
              %next = {sum}
              {goes}
            out: ret void
            }}"
        );
        let context = Context::create();
        let module =
            parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        count_down(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    const WIDTH: &str = "and i64 %extents, 4294967295";
    const STEP: &str = "zext i32 %threads to i64";
    const SUM: &str = "add nuw i64 %i, %step";
    const GOES: &str = "%go = icmp ult i64 %next, %width\n br i1 %go, label %loop, label %out";

    #[test]
    fn what_is_left_has_32_bits() {
        for (width, goes, comparison) in [
            (WIDTH, GOES, "icmp ugt i32 %"),
            (
                "lshr i64 %extents, 32",
                "%go = icmp ugt i64 %width, %next\n br i1 %go, label %loop, label %out",
                "icmp ugt",
            ),
            (WIDTH, "%end = icmp uge i64 %next, %width\n br i1 %end, label %out, label %loop", "icmp ule i32 %"),
        ] {
            let ir = counted(width, STEP, SUM, goes, "");
            assert!(ir.contains("@llvm.usub.sat.i64(i64 %width, i64 %first)"), "{ir}");
            assert!(ir.contains("phi i32 [ %") && ir.contains("sub i32 %") && ir.contains(comparison), "{ir}");
        }
    }

    #[test]
    fn others_compare_the_index() {
        for (width, step, sum, goes, more) in [
            // It may be 2^32 or more, or wrap around.
            ("add i64 %extents, 0", STEP, SUM, GOES, ""),
            (WIDTH, "add i64 %wide, 0", SUM, GOES, ""),
            (WIDTH, STEP, "add i64 %i, %step", GOES, ""),
            // The index is counted anyway.
            (WIDTH, STEP, SUM, GOES, "store volatile i64 %i, ptr %to"),
            (WIDTH, STEP, SUM, "%go = icmp ne i64 %next, %width\n br i1 %go, label %loop, label %out", ""),
            // It ends where it should go on.
            (WIDTH, STEP, SUM, "%go = icmp ult i64 %next, %width\n br i1 %go, label %out, label %loop", ""),
        ] {
            let ir = counted(width, step, sum, goes, more);
            assert!(!ir.contains("phi i32"), "{ir}");
        }
    }
}
