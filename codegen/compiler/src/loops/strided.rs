//! Knows the checks of loops by a constant step that end where the checked slice does: none of them fails.
//!
//! ```text
//! before: %left = call i64 @llvm.usub.sat.i64(i64 %len, i64 %first)
//!         %rounds = lshr i64 (add i64 %left, 255), 8
//!         br i1 (icmp eq i64 %rounds, 0), label %end, label %before
//!         loop: %index = phi i64 [ %first, %before ], [ (add i64 %index, 256), %inside ]
//!               %more = phi i64 [ %rounds, %before ], [ (add i64 %more, -1), %inside ]
//!               br i1 (icmp ult i64 %index, %len), label %inside, label %panic
//! after:        br label %inside
//! ```
//!
//! `(t..row.len()).step_by(256)` is how the threads of a block share a row. The standard library counts the rounds before the
//! loop, and LLVM does not see that the last index is below the length that they were counted from.
//!
//! Sound: with `s` for the step, and since there is a round, `%left + s - 1` is at least `s`. So that sum did not wrap, and
//! `%left` is not 0, but `%len - %first`. The last index is `%first + (%rounds - 1) s`, which is at most
//! `%first + (%left + s - 1) - s`, that is `%len - 1`.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{self, BasicValue, BasicValueEnum, Context, InstructionOpcode, IntValue, Module};
use crate::settled;

use super::checks::{Check, Number, Shape};
use super::counters::is_not_0;
use super::limits::Limit;
use super::natural::{Graph, SimpleForm};

/// What makes one block of those that a check was between, so that a short loop is seen to be one.
const CLEAN: &str = "function(simplifycfg)";

/// Has the branches of such checks always go the same way.
pub fn pass<'ctx>(context: &'ctx Context, module: &Module<'ctx>, form: &SimpleForm<'_>) -> Result<()> {
    form.give(module)?;
    let mut any = false;
    for function in settled::open_and_fast(module) {
        for found in Graph::of(function).innermost() {
            let Some(shape) = Shape::of(function, &found) else { continue };
            let checks = found.blocks.iter().filter_map(|block| shape.check(*block));
            let known = checks.filter(|check| matches!(check.limit, Limit::Below) && proof(&shape, check).is_some());
            for check in known.collect::<Vec<_>>() {
                let end = check.block.get_terminator().into_iter();
                end.for_each(|end| llvm::always_branch(context, end, check.inside_first));
                any = true;
            }
        }
    }
    if any {
        form.lose();
        llvm::run_passes(module, form.machine, CLEAN)
            .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("LLVM's passes `{CLEAN}` failed: {error}")))?;
    }
    Ok(())
}

/// That a check holds in every round.
fn proof<'ctx>(shape: &Shape<'_, 'ctx>, check: &Check<'ctx>) -> Option<()> {
    let (first, step) = shape.counted(check.index)?;
    let step = step.get_zero_extended_constant().filter(|step| step.is_power_of_two())?;
    let rounds = rounds(shape)?;
    // Rounds are what is left, divided and rounded up.
    let quotient = rounds.as_instruction_value().filter(|from| from.get_opcode() == InstructionOpcode::LShr)?;
    let by = llvm::int_operand(quotient, 1)?.get_zero_extended_constant()?;
    let sum = llvm::int_operand(quotient, 0)?.as_instruction_value()?;
    let left = llvm::int_operand(sum, 0)?.as_instruction_value()?;
    let rounds_up = sum.get_opcode() == InstructionOpcode::Add
        && llvm::int_operand(sum, 1)?.get_zero_extended_constant() == Some(step - 1)
        && by == u64::from(step.trailing_zeros());
    let is_left = left.get_opcode() == InstructionOpcode::Call
        && llvm::called_function(left)?.get_name().to_bytes() == b"llvm.usub.sat.i64"
        && llvm::int_operand(left, 0) == Some(check.len)
        && llvm::int_operand(left, 1) == Some(first);
    (rounds_up && is_left && is_not_0(shape.before, rounds)).then_some(())
}

/// How often a loop runs that counts down to 0.
fn rounds<'ctx>(shape: &Shape<'_, 'ctx>) -> Option<IntValue<'ctx>> {
    let Number { counter, bound, until_equal } = shape.number()?;
    if !until_equal || bound.get_zero_extended_constant() != Some(0) {
        return None;
    }
    let less = counter.as_instruction_value().filter(|less| less.get_opcode() == InstructionOpcode::Add)?;
    let more = llvm::int_operand(less, 0)
        .filter(|_| llvm::int_operand(less, 1).and_then(|one| one.get_sign_extended_constant()) == Some(-1))?;
    let (first, step) = shape.counted(more)?;
    let (_, next) = shape.found.incoming(more)?;
    (step.get_sign_extended_constant() == Some(-1) && next == BasicValueEnum::from(counter)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::{SimpleForm, pass};
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::{AnyValue, Context, parse_ir};
    use crate::request::OptLevel;

    /// A loop by 256 from `first` whose rounds are counted from `left`, after [`pass`].
    fn known(left: &str, up: &str, by: &str, guard: &str, len: &str) -> bool {
        let text = format!(
            "declare i64 @llvm.usub.sat.i64(i64, i64)
            declare void @panic(i64) noreturn
            define void @f(ptr %from, ptr %to, i64 %len, i64 %other, i64 %first) {{
            entry: %left = {left}
              %up = add i64 %left, {up}
              %rounds = lshr i64 %up, {by}
              %none = {guard}
              br i1 %none, label %out, label %before
            before: br label %loop
            loop: %index = phi i64 [ %first, %before ], [ %index.next, %inside ]
              %more = phi i64 [ %rounds, %before ], [ %less, %inside ]
              %ok = icmp ult i64 %index, {len}
              br i1 %ok, label %inside, label %panic
            inside: %at = getelementptr float, ptr %from, i64 %index
              %x = load float, ptr %at
              store volatile float %x, ptr %to
              %index.next = add i64 %index, 256
              %less = add i64 %more, -1
              %ends = icmp eq i64 %less, 0
              br i1 %ends, label %out, label %loop
            panic: call void @panic(i64 %index)
              unreachable
            out: ret void
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        pass(&context, &module, &SimpleForm::of(&machine)).unwrap();
        module.verify().unwrap();
        let ir = module.get_function("f").unwrap().print_to_string().to_string();
        !ir.contains("call void @panic")
    }

    const LEFT: &str = "call i64 @llvm.usub.sat.i64(i64 %len, i64 %first)";
    const GUARD: &str = "icmp eq i64 %rounds, 0";

    #[test]
    fn rounds_that_are_counted_from_the_length_stay_below_it() {
        assert!(known(LEFT, "255", "8", GUARD, "%len"));
    }

    #[test]
    fn others_are_checked() {
        let other = "call i64 @llvm.usub.sat.i64(i64 %other, i64 %first)";
        let behind = "call i64 @llvm.usub.sat.i64(i64 %len, i64 %other)";
        for (left, up, by, guard, len) in [
            (other, "255", "8", GUARD, "%len"),
            (behind, "255", "8", GUARD, "%len"),
            ("sub i64 %len, %first", "255", "8", GUARD, "%len"),
            (LEFT, "256", "8", GUARD, "%len"),
            (LEFT, "255", "7", GUARD, "%len"),
            (LEFT, "255", "8", "icmp eq i64 %left, 1", "%len"),
            (LEFT, "255", "8", GUARD, "%other"),
        ] {
            assert!(!known(left, up, by, guard, len), "{left}, {up}, {by}, {guard}, {len}");
        }
    }
}
