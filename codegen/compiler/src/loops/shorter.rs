//! Drops the check of a counter whose loop ends at the check's limit, or before.
//!
//! ```text
//! before: before: %len = select i1 %inside, i64 %width, i64 0               ; a row, or nothing past the last one
//!                 br i1 (icmp ult i64 %first, %len), label %loop, label %end
//!         loop:   %i = phi i64 [ %first, %before ], [ %next, %again ]
//!                 br i1 (icmp ult i64 %i, %width), label %again, label %panic
//!         again:  %next = add nuw i64 %i, %stride
//!                 br i1 (icmp ult i64 %next, %len), label %loop, label %end
//! after:  loop:   …
//!                 br i1 true, label %again, label %panic
//! ```
//!
//! So is each row of a view that has one for each block, beside a slice of as many elements: `for (i, y) in row.iter_mut() { … x[i] … }`.
//! LLVM knows of a counter only what it begins with and grows by, if that is a constant; here it is the block's size. `split` would
//! have divided for the number of rounds, to ask what the last index is.
//!
//! **Why it is right.** The phi is one of the values that come to it, and on each way that one comes by, a branch has found it
//! below `%len`, which is no more than `%width` if it is that or 0, the smaller of it and another, or what is left of it. A
//! branch goes by nothing that is undefined; nor is the limit undefined where `%len` is computed of it, as far as `%len` is that
//! limit: where it is another number, it is below that one. The limit is the one that the branch saw: what all these branches
//! follow from is computed before the phi, and not again before the next value comes to that.

use crate::llvm::{
    self, BasicValue, BasicValueEnum, Context, InstructionOpcode as Op, InstructionValue, IntValue, Module,
};

use super::below::{is_below_on_way, is_below_some, is_same};
use super::limits::{least, less};

/// Drops such checks.
pub fn trust_ends<'ctx>(context: &'ctx Context, module: &Module<'ctx>) {
    let holds = context.bool_type().const_all_ones();
    for function in llvm::functions(module) {
        for check in llvm::instructions(function).filter(|from| is_implied(*from)).collect::<Vec<_>>() {
            llvm::replace_uses(check, holds.into());
        }
    }
}

/// Whether a comparison is one of a phi, with a limit that all that comes to the phi is below.
fn is_implied(check: InstructionValue<'_>) -> bool {
    let Some((counter, limit, _)) = less(check, true) else { return false };
    let Some(phi) = counter.as_instruction_value().filter(|from| from.get_opcode() == Op::Phi) else { return false };
    let Some(block) = phi.get_parent() else { return false };
    let is_limit = |high| is_at_most(high, limit);
    llvm::incoming(phi).into_iter().all(|(value, from)| match value {
        BasicValueEnum::IntValue(value) => {
            is_below_on_way((from, block), value, is_limit) || is_below_some(from, value, is_limit)
        }
        _ => false,
    })
}

/// Whether a number is seen to be no more than another one.
fn is_at_most<'ctx>(number: IntValue<'ctx>, most: IntValue<'ctx>) -> bool {
    if is_same(number, most) {
        return true;
    }
    let Some(from) = number.as_instruction_value() else { return false };
    let operand = |index| llvm::int_operand(from, index);
    let is_zero = |value: IntValue<'_>| value.get_zero_extended_constant() == Some(0);
    match from.get_opcode() {
        Op::Select => [1, 2].into_iter().filter_map(operand).all(|one| is_zero(one) || is_same(one, most)),
        Op::Call if is_rest(from) => operand(0).is_some_and(|whole| is_same(whole, most)),
        Op::Call => least(number).is_some_and(|both| both.into_iter().any(|one| is_same(one, most))),
        _ => false,
    }
}

/// What is left of the first of two numbers, or 0.
fn is_rest(call: InstructionValue<'_>) -> bool {
    llvm::called_function(call).is_some_and(|callee| callee.get_name().to_bytes().starts_with(b"llvm.usub.sat.i"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// Whether a loop's check goes; `len` is what the loop ends at, `start` what is asked before it.
    fn is_dropped(len: &str, start: &str, check: &str, end: &str) -> bool {
        let text = format!(
            "declare i64 @llvm.umin.i64(i64, i64)
            declare i64 @llvm.usub.sat.i64(i64, i64)
            define i64 @f(i64 %first, i64 %stride, i64 %width, i64 %b, i1 %inside) {{
            before: %len = {len}
              %starts = icmp ult i64 %first, {start}
              br i1 %starts, label %into, label %end
            into: br label %loop
            loop: %i = phi i64 [ %first, %into ], [ %next, %again ]
              %checked = {check}
              br i1 %checked, label %again, label %panic
            again: %next = add nuw i64 %i, %stride
              %more = {end}
              br i1 %more, label %loop, label %end
            end: ret i64 0
            panic: ret i64 1
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "m").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        trust_ends(&context, &module);
        module.verify().unwrap();
        let after = module.get_function("f").unwrap().print_to_string().to_string();
        assert_eq!(after.contains("br i1 %checked"), !after.contains("br i1 true"), "{after}");
        after.contains("br i1 true")
    }

    const ROW: &str = "select i1 %inside, i64 %width, i64 0";
    const CHECK: &str = "icmp ult i64 %i, %width";
    const MORE: &str = "icmp ult i64 %next, %len";

    #[test]
    fn a_loop_ends_at_the_limit_or_before() {
        for len in [
            ROW,
            "select i1 %inside, i64 0, i64 %width",
            "call i64 @llvm.umin.i64(i64 %b, i64 %width)",
            "call i64 @llvm.usub.sat.i64(i64 %width, i64 %b)",
            "select i1 %inside, i64 %width, i64 %width",
        ] {
            assert!(is_dropped(len, "%len", CHECK, MORE), "{len}");
        }
        assert!(is_dropped(ROW, "%width", CHECK, MORE), "the first one may be compared with the limit itself");
        assert!(is_dropped(ROW, "%len", "icmp ugt i64 %width, %i", "icmp ugt i64 %len, %next"));
        assert!(is_dropped(ROW, "%len", "icmp ule i64 %i, %width", MORE));
    }

    #[test]
    fn the_check_stays_where_it_may_fail() {
        for (len, start, check, end) in [
            // It may end behind the limit, begin there, or go on to it; what is checked may be more than the limit.
            ("select i1 %inside, i64 %width, i64 1", "%len", CHECK, MORE),
            ("select i1 %inside, i64 %width, i64 %b", "%len", CHECK, MORE),
            ("call i64 @llvm.usub.sat.i64(i64 %b, i64 %width)", "%len", CHECK, MORE),
            (ROW, "%b", CHECK, MORE),
            (ROW, "%len", CHECK, "icmp ule i64 %next, %len"),
            (ROW, "%len", CHECK, "icmp slt i64 %next, %len"),
            (ROW, "%len", CHECK, "icmp ult i64 %i, %len"),
            (ROW, "%len", CHECK, "icmp ult i64 %next, %b"),
            (ROW, "%len", "icmp ult i64 %i, %b", MORE),
            (ROW, "%len", "icmp slt i64 %i, %width", MORE),
        ] {
            assert!(!is_dropped(len, start, check, end), "{len}, {start}, {check}, {end}");
        }
    }
}
