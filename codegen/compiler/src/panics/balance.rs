//! Keeps ptxas from taking a kernel's loops for what its panics are.
//!
//! A GPU adds and copies integers in two places, beside the comparisons and beside the multiplications, and ptxas divides
//! these instructions between both: `IADD3` and `MOV` in one, `IMAD` with a factor of 1 in the other. It counts what else is
//! to be done there in the whole function, and a loop counts no more than what is never run. Panics compare, jump and move
//! addresses. So in a kernel with panics ptxas has all loops add beside the multiplications, which is right for most, as
//! they compare and shift; but a division by a variable is multiplications. On an H200 with ptxas 13.0 a greatest common
//! divisor of `u32` took 11 % longer so, and a search for prime numbers 5 %.
//!
//! ```text
//! before: WAIT: nanosleep.u32 1000;
//!               bra WAIT;
//! after:  WAIT: nanosleep.u32 %v;
//!               mad.lo.u32 %v, %v, %v, 7;
//!               …
//!               and.b32 %v, %v, 1023;
//!               bra WAIT;
//! ```
//!
//! They stand where a thread waits for the end of the launch, because another one reports its panic, so nobody waits for
//! them. ptxas does not see what `nanosleep` may do without. With `after-panic = "exit"`, where such a thread counts itself and
//! leaves, they make the 1 that it adds.

use ptx_abi::panic::{Record, SYMBOL};

use crate::llvm::{self, BasicValueEnum, FunctionValue, InstructionValue};
use crate::loops::Graph;

/// Multiplications that outweigh a function's panics. With 14 to 18, ptxas 13.0 divides the loops of both programs above as in
/// the fastest code that was measured of them.
const OF_PANICS: usize = 16;

/// How many multiplications outweigh a function's panics; 0 where its loops do not divide.
pub fn multiplications(function: FunctionValue<'_>) -> usize {
    let divides = Graph::of(function)
        .innermost()
        .iter()
        .any(|found| found.blocks.iter().any(|block| block.get_instructions().any(is_long)));
    if divides { OF_PANICS } else { 0 }
}

/// Whether an instruction divides by what is known only when it runs. One of 64 bits is a call.
fn is_long(division: InstructionValue<'_>) -> bool {
    llvm::is_division(division)
        && match division.get_operand(1).and_then(|divisor| divisor.value()) {
            Some(BasicValueEnum::IntValue(divisor)) => !divisor.is_const() && divisor.get_type().get_bit_width() <= 32,
            _ => false,
        }
}

/// The end of a report, where threads wait that have nothing to report.
pub fn wait(multiplications: usize) -> String {
    if multiplications == 0 {
        return "WAIT:\nnanosleep.u32 1000;\nbra WAIT;\n".into();
    }
    let multiply = "mad.lo.u32 %v, %v, %v, 7;\n".repeat(multiplications);
    format!("WAIT:\nnanosleep.u32 %v;\n{multiply}and.b32 %v, %v, 1023;\nbra WAIT;\n")
}

/// Makes `%v` 1, with so many multiplications of what ptxas does not know: the lowest bits of the record's address are 0.
pub fn one(multiplications: usize) -> String {
    if multiplications == 0 {
        return "mov.u32 %v, 1;\n".into();
    }
    let multiply = "mad.lo.u32 %v, %v, %v, %v;\n".repeat(multiplications);
    let lowest = align_of::<Record>() - 1;
    format!("ld.const.u32 %v, [{SYMBOL}];\nand.b32 %v, %v, {lowest};\n{multiply}add.u32 %v, %v, 1;\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{Context, parse_ir};

    /// Multiplications for the panics of a function that loops, with this in a round.
    fn of_a_loop_with(round: &str) -> usize {
        let text = format!(
            "define i32 @f(i32 %a, i32 %b, i64 %c) {{
            entry: %before = urem i32 %a, %b
              br label %loop
            loop: %x = phi i32 [ %before, %entry ], [ %y, %loop ]
              {round}
              %ends = icmp eq i32 %y, 0
              br i1 %ends, label %end, label %loop
            end: ret i32 %x
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        multiplications(module.get_function("f").unwrap())
    }

    #[test]
    fn loops_that_divide_are_weighed() {
        assert_eq!(of_a_loop_with("%y = urem i32 %b, %x"), OF_PANICS);
        assert_eq!(of_a_loop_with("%y = sdiv i32 %b, %x"), OF_PANICS);
        assert_eq!(of_a_loop_with("%y = udiv i32 %x, 10"), 0);
        assert_eq!(of_a_loop_with("%y = sub i32 %x, 10"), 0);
        assert_eq!(of_a_loop_with("%z = udiv i64 %c, %c\n %y = trunc i64 %z to i32"), 0);
        assert_eq!(wait(5).matches("mad.lo.u32 ").count(), 5);
        assert!(!wait(0).contains("mad") && !one(0).contains("mad"));
        assert_eq!(one(5).matches("mad.lo.u32 ").count(), 5);
    }
}
