//! Has loops that divide floats run four rounds at a time where their rounds are counted as they begin.
//!
//! ```text
//! before: loop: %k = phi i64 [ %rank, %before ], [ (add i64 %k, 256), %loop ]
//!               store float (fdiv float (exp float (load float, ptr %at)), %sum), ptr %to
//!               br i1 (icmp ult i64 %next, %columns), label %loop, label %end
//! after:        br i1 …, label %loop, label %end, !llvm.loop !{…, !"llvm.loop.unroll.count", i32 4}
//! ```
//!
//! LLVM unrolls a loop as often as some 75 instructions have room, by its own count, where a division is a dear one: an
//! exponential that is divided is run once at a time. So in the last loop of a softmax each round waited for its element, and
//! then for the quotient. nvcc has four rounds; here, their loads are under way together as well (`float/early.rs`).
//!
//! Only where rounds are a constant apart. Where a block's size says how far, four addresses are computed in each of four
//! rounds, and a row of few columns is left to the loop over the rest: on an H200 a softmax took a tenth longer so.
//!
//! Without a division, ptxas runs several of LLVM's rounds at a time by itself, as long as LLVM was not told how many it is
//! to have. A division is a branch for it, which it does not multiply.
//!
//! Right before LLVM unrolls, because some loops are counted only then. What has a constant number of rounds is
//! `divided.rs`'s.
//!
//! **Why it is right.** Marks change how often a body stands in a loop, never what it does.

use crate::llvm::{
    self, BasicValue, BasicValueEnum, Context, InstructionOpcode as Op, InstructionValue, IntPredicate, Module, Unroll,
};
use crate::settled;

use super::divided;
use super::natural::{Graph, Loop};

/// Rounds at a time, as nvcc has.
const ROUNDS: u64 = 4;

/// How much is computed of a loop's counter until it is compared, and until the next round.
const MOST_STEPS: usize = 4;

/// Marks loops for unrolling.
pub fn run_together(context: &Context, module: &Module<'_>) {
    for function in settled::open_and_fast(module).filter(|function| function.count_basic_blocks() > 1) {
        for found in Graph::of(function).innermost() {
            let jumps = found.jumps_back();
            let is_fit = found.head.get_instructions().any(|from| from.get_opcode() == Op::FDiv)
                && divided::room(&found).is_some_and(|room| room >= ROUNDS)
                && is_counted(&found).unwrap_or(false);
            // A user's word counts, and so does what has been done already; what is left then is a loop over the rest.
            if is_fit && !llvm::has_loop_mark(context, &jumps) {
                llvm::set_unroll(context, &jumps, Unroll::By(ROUNDS as u32));
            }
        }
    }
}

/// Whether a loop of one block ends where a number or an address that grows by a constant in each round comes to another one.
fn is_counted(found: &Loop<'_>) -> Option<bool> {
    use IntPredicate::{EQ, NE, UGE, UGT, ULE, ULT};
    let condition = found.head.get_terminator()?.get_operand(0)?.value().and_then(llvm::instruction_of)?;
    condition.get_icmp_predicate().filter(|how| matches!(how, EQ | NE | ULT | ULE | UGT | UGE))?;
    let (end, counted): (Vec<_>, Vec<_>) =
        llvm::value_operands(condition).map(|(_, operand)| operand).partition(|part| found.is_invariant(*part));
    let ([_], [counted]) = (&end[..], &counted[..]) else { return None };
    let phi = root(found, *counted, |_| true)?;
    let (_, next) = found.incoming_of(phi)?;
    Some(root(found, next, llvm::is_constant)? == phi)
}

/// The number or the address at a round's start that this one differs from by such steps, which are the same in all rounds.
fn root<'ctx>(
    found: &Loop<'ctx>,
    value: BasicValueEnum<'ctx>,
    is_step: impl Fn(&BasicValueEnum<'ctx>) -> bool,
) -> Option<BasicValueEnum<'ctx>> {
    let mut at = value;
    for _ in 0..=MOST_STEPS {
        let from = at.as_instruction_value()?;
        match from.get_opcode() {
            Op::Phi => return Some(at),
            Op::Add | Op::Sub | Op::GetElementPtr | Op::PtrToInt => at = changing(found, from, &is_step)?,
            _ => return None,
        }
    }
    None
}

/// The only operand that may be another one in each round, if the others are such steps.
fn changing<'ctx>(
    found: &Loop<'ctx>,
    from: InstructionValue<'ctx>,
    is_step: impl Fn(&BasicValueEnum<'ctx>) -> bool,
) -> Option<BasicValueEnum<'ctx>> {
    let operands = llvm::value_operands(from).map(|(_, operand)| operand);
    let (steps, changing): (Vec<_>, Vec<_>) = operands.partition(|part| found.is_invariant(*part));
    let [changing] = changing[..] else { return None };
    steps.iter().all(is_step).then_some(changing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Arch;
    use crate::llvm::{AnyValue, parse_ir};
    use crate::optimize;
    use crate::request::OptLevel;

    /// How many quotients a loop has over a row, and behind it, when LLVM has unrolled it.
    fn quotients(quotient: &str, step: &str, ends: &str, mark: &str) -> usize {
        let text = format!(
            "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
            target triple = \"nvptx64-nvidia-cuda\"
            declare float @llvm.nvvm.ex2.approx.ftz.f32(float)
            define void @f(ptr noalias readonly %row, ptr noalias %to, i64 %rank, i64 %columns, float %by) {{
            entry: br label %loop
            loop: %k = phi i64 [ %rank, %entry ], [ %next, %loop ]
              %at = getelementptr float, ptr %row, i64 %k
              %x = load float, ptr %at
              %less = fsub float %x, %by
              %scaled = fmul float %less, 3.0
              %power = call float @llvm.nvvm.ex2.approx.ftz.f32(float %scaled)
              %bits = bitcast float %scaled to i32
              %high = shl i32 %bits, 23
              %factor = bitcast i32 %high to float
              %product = fmul float %power, %factor
              %q = {quotient}
              %out = getelementptr float, ptr %to, i64 %k
              store float %q, ptr %out
              %next = add nuw nsw i64 %k, {step}
              %goes = {ends}
              br i1 %goes, label %loop, label %end {mark}
            end: ret void
            }}
            !0 = distinct !{{!0, !1}}
            !1 = !{{!\"llvm.loop.unroll.disable\"}}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = crate::emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        run_together(&context, &module);
        optimize::unroll_again(&module, &machine, OptLevel::O3, arch).unwrap();
        module.verify().unwrap();
        let ir = module.get_function("f").unwrap().print_to_string().to_string();
        ir.matches("store float").count()
    }

    const DIVIDED: &str = "fdiv float %product, %by";
    const BELOW: &str = "icmp ult i64 %next, %columns";

    #[test]
    fn a_loop_that_divides_has_four_rounds_and_one_more() {
        assert_eq!(quotients(DIVIDED, "256", BELOW, ""), 5);
        assert_eq!(quotients(DIVIDED, "1", "icmp ne i64 %next, %columns", ""), 5);
    }

    #[test]
    fn others_are_left_to_llvm() {
        // No division; a round that ends by what it loads; what somebody has said something of.
        assert!(quotients("fmul float %product, %by", "256", BELOW, "") < 5);
        assert_eq!(quotients(DIVIDED, "256", "fcmp olt float %x, %by", ""), 1);
        assert_eq!(quotients(DIVIDED, "256", "icmp ult i64 %k, %next", ""), 1);
        assert_eq!(quotients(DIVIDED, "%rank", BELOW, ""), 1);
        assert_eq!(quotients(DIVIDED, "256", BELOW, ", !llvm.loop !0"), 1);
    }
}
