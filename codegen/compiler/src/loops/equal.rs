//! Has what leaves a loop where two numbers are equal be the one that leaves it elsewhere.
//!
//! ```text
//! before: loop:  br i1 (icmp eq i32 %k, %limit), label %out, label %round
//!         round: br i1 %escapes, label %out, label %loop
//!         out:   %count = phi i32 [ %limit, %loop ], [ %k, %round ]
//! after:  out:   … %k
//! ```
//!
//! LLVM takes a parameter for simpler than a counter. But then `%count` has a register of its own, into which each round writes
//! the limit before it asks: one of twelve instructions of a Mandelbrot set's loop.
//!
//! **Why it is right.** The edge is gone only where both are the same number.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionValue, IntPredicate,
    IntValue, Module,
};

use super::branches::integer;

/// Does so for every phi that has one of two equal numbers from one block, and the other from another.
pub fn agree<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 1) {
        agree_in(context, function)
            .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("cannot write another phi: {error}")))?;
    }
    Ok(())
}

fn agree_in<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> std::result::Result<(), BuilderError> {
    for block in function.get_basic_blocks() {
        for phi in llvm::phis(block).collect::<Vec<_>>() {
            let Some(values) = equal(block, phi) else { continue };
            let new = match &values[..] {
                [(one, _), others @ ..] if others.iter().all(|(other, _)| other == one) => *one,
                _ => {
                    let builder = context.create_builder();
                    builder.position_before(&phi);
                    let new = builder.build_phi(llvm::result(phi).get_type(), "")?;
                    for (value, from) in &values {
                        new.add_incoming(&[(value, *from)]);
                    }
                    new.as_basic_value()
                }
            };
            llvm::replace_uses(phi, new);
            phi.erase_from_basic_block();
        }
    }
    Ok(())
}

/// What a phi may have from each block in place of what it has, if that is less.
fn equal<'ctx>(
    block: BasicBlock<'ctx>,
    phi: InstructionValue<'ctx>,
) -> Option<Vec<(BasicValueEnum<'ctx>, BasicBlock<'ctx>)>> {
    let known = llvm::incoming(phi);
    let mut changed = false;
    let other = |value: BasicValueEnum<'ctx>, from: BasicBlock<'ctx>| {
        let branch = from.get_terminator()?;
        let (then, other) = llvm::branch_targets(branch)?;
        let compared = integer(branch, 0)?.as_instruction_value()?;
        let is_equal = match compared.get_icmp_predicate()? {
            IntPredicate::EQ => then == block,
            IntPredicate::NE => other == block,
            _ => false,
        };
        let (left, right) = (integer(compared, 0)?, integer(compared, 1)?);
        let is = |side: IntValue<'ctx>| value == BasicValueEnum::from(side);
        let same = if is(left) { right } else { left };
        let is_one = is_equal && (is(left) || is(right));
        let is_elsewhere = known.iter().any(|(elsewhere, _)| *elsewhere == BasicValueEnum::from(same));
        (is_one && is_elsewhere).then_some(BasicValueEnum::from(same))
    };
    let values = known.iter().map(|(value, from)| match other(*value, *from).filter(|other| other != value) {
        Some(other) if !changed => {
            changed = true;
            (other, *from)
        }
        _ => (*value, *from),
    });
    let values: Vec<_> = values.collect();
    (changed && values.iter().all(|(value, _)| *value != llvm::result(phi))).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    #[test]
    fn a_limit_that_is_met_is_the_counter() {
        let after = |asked: &str, found: &str| {
            let text = format!(
                "define i32 @f(i32 %limit, ptr %p) {{
                entry: br label %loop
                loop: %k = phi i32 [ 1, %entry ], [ %next, %round ]
                  {asked}
                round: %next = add i32 %k, 1
                  %x = load volatile i32, ptr %p
                  %is = icmp eq i32 %x, 7
                  br i1 %is, label %out, label %loop
                out: %count = phi i32 [ %limit, %loop ], [ {found}, %round ]
                  ret i32 %count
                }}"
            );
            let context = Context::create();
            let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
            agree(&context, &module).unwrap();
            module.verify().unwrap();
            module.get_function("f").unwrap().print_to_string().to_string()
        };
        assert!(
            after("%over = icmp eq i32 %k, %limit\n br i1 %over, label %out, label %round", "%k")
                .contains("ret i32 %k")
        );
        assert!(
            after("%on = icmp ne i32 %limit, %k\n br i1 %on, label %round, label %out", "%k").contains("ret i32 %k")
        );
        // Another number, and where they differ.
        for (asked, found) in [
            ("%over = icmp eq i32 %k, %limit\n br i1 %over, label %out, label %round", "%next"),
            ("%on = icmp eq i32 %limit, %k\n br i1 %on, label %round, label %out", "%k"),
            ("%over = icmp uge i32 %k, %limit\n br i1 %over, label %out, label %round", "%k"),
        ] {
            assert!(after(asked, found).contains("phi i32 [ %limit, %loop ]"), "{asked}");
        }
    }
}
