//! Has indices of 32 bits grow in 64 bits, in a loop's twin for where they do not wrap around.
//!
//! ```text
//! before: loop: %k = phi i32 [ 0, %before ], [ %next, %loop ]
//!               %i = add i32 %k, %row                                   ; `(row * n + k) as usize`
//!               load float, ptr (getelementptr float, ptr %a, i64 (zext i32 %i to i64))
//!               br i1 (icmp eq i32 %next, %n), label %end, label %loop
//! after:  before:  br i1 (%row + (%n - 1) < 2³², in 64 bits), label %twin, label %loop
//!         twin:    %round = phi i64 [ 0, %before ], [ (add i64 %round, 1), %twin ]
//!                  %i = add i64 (zext i32 %row to i64), %round
//!                  load float, ptr (getelementptr float, ptr %a, i64 %i)
//!                  br i1 (icmp eq i64 %round, (zext i32 (%n - 1) to i64)), label %end, label %twin
//!         loop:    …                                                    ; as it was
//! ```
//!
//! In Rust a number of 32 bits wraps around, so that the element behind `a[i]` need not be `a[i + 1]`: each address was
//! computed from its own index, with two instructions and two registers more, where nvcc, to which the overflow of an `int` is
//! undefined, has one pointer for all. A product of matrices needed 40 registers in place of 32 and took 13 % longer. Indices of 64
//! bits also are what the other stages look for, [`super::checks`] above all.
//!
//! A loop that checks an index of which only is known what it is at most, as one that is clamped into a slice, gets no twin, but
//! counts its rounds in 64 bits.
//!
//! **Why it is right.** An index that begins at `i` and grows by `s` modulo 2³² is `i + k × s` in round `k`, if that is less than 2³²
//! for the last round, in 64 bits; `k × s` does not overflow there. With a sign, all of them lie between the first and the
//! last. What goes into the test is frozen; where it meant nothing, neither did the index. Where one of the indices wraps around, the loop
//! runs as it was.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op, InstructionValue,
    IntPredicate, IntValue, Module, Unroll, Use,
};
use crate::settled;

use super::branches::{has_checks, is_convergent};
use super::checks::{Emit, Shape};
use super::natural::{Graph, Loop, SimpleForm};

/// Instructions of a loop that is copied.
const MOST_INSTRUCTIONS: usize = 100;

/// Indices that are looked at in one loop.
const MOST_INDICES: usize = 6;

/// Widens the indices of every loop where that helps.
pub fn widen<'ctx>(context: &'ctx Context, module: &Module<'ctx>, form: &SimpleForm<'_>) -> Result<()> {
    widen_some(context, module, form, |_| true)
}

/// The same for loops that check an index, once those by any step are counted. LLVM unrolls the others as they are.
pub fn widen_checked<'ctx>(context: &'ctx Context, module: &Module<'ctx>, form: &SimpleForm<'_>) -> Result<()> {
    widen_some(context, module, form, has_checks)
}

fn widen_some<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    form: &SimpleForm<'_>,
    is_wanted: impl Fn(&Loop<'ctx>) -> bool,
) -> Result<()> {
    form.give(module)?;
    for function in settled::open_and_fast(module) {
        for found in Graph::of(function).innermost().into_iter().filter(&is_wanted) {
            widen_one(context, module, form, function, &found).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot widen the indices of a loop: {error}"))
            })?;
        }
    }
    Ok(())
}

/// An extension of an index to 64 bits.
#[derive(Clone, Copy)]
struct Index<'ctx> {
    extension: InstructionValue<'ctx>,
    narrow: IntValue<'ctx>,
    is_signed: bool,
}

/// What an index is at first, and by what it grows, in 64 bits.
struct Growth<'ctx> {
    first: IntValue<'ctx>,
    step: IntValue<'ctx>,
}

fn widen_one<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    form: &SimpleForm<'_>,
    function: FunctionValue<'ctx>,
    found: &Loop<'ctx>,
) -> std::result::Result<(), BuilderError> {
    let instructions = || found.blocks.iter().flat_map(|block| block.get_instructions());
    let is_long = instructions().take(MOST_INSTRUCTIONS + 1).count() > MOST_INSTRUCTIONS;
    if is_long || llvm::unroll_is_disabled(context, &found.jumps_back()) || instructions().any(is_convergent) {
        return Ok(());
    }
    // Of straight code a twin would be as long again, and what is in a loop around it could not be straight, too.
    let Some(shape) = Shape::of_narrow(function, found).filter(|shape| !shape.becomes_straight()) else {
        return Ok(());
    };
    let indices: Vec<Index<'ctx>> = instructions().filter_map(|from| index(from, found, &shape)).collect();
    let Some(end) = shape.before.get_terminator() else { return Ok(()) };
    // LLVM sees that what the loop counts by does not wrap around; but not which checks of it hold.
    let is_counted = |index: &Index<'ctx>| shape.constant_step(index.narrow, 1).is_some();
    if indices.is_empty() && found.blocks.iter().any(|block| shape.check(*block).is_some()) {
        form.lose();
        return count_wide(context, module, found, &shape);
    }
    let is_known = indices.is_empty() || indices.iter().all(is_counted) && !has_checks(found);
    if is_known || indices.len() > MOST_INDICES {
        return Ok(());
    }
    form.lose();
    let builder = context.create_builder();
    builder.position_before(&end);
    let emit = Emit { context, module, builder, shape: &shape };
    let word = context.i64_type();
    let rounds = llvm::build_freeze(&emit.builder, emit.jumps_back()?);
    let rounds = emit.builder.build_int_z_extend(rounds, word, "")?;
    let mut all = context.bool_type().const_int(1, false);
    let mut growths = Vec::new();
    for index in &indices {
        let (growth, stays) = growth(&emit, *index, rounds)?;
        all = emit.builder.build_and(all, stays, "")?;
        growths.push(growth);
    }
    let copies = llvm::copy_blocks(context, function, &found.blocks);
    end.erase_from_basic_block();
    emit.builder.position_at_end(shape.before);
    emit.builder.build_conditional_branch(all, copies[0], found.head)?;
    let of_copy = |block: BasicBlock<'ctx>| found.blocks.iter().position(|known| *known == block).map(|at| copies[at]);
    let twin_of = |from: InstructionValue<'ctx>| {
        let block = from.get_parent()?;
        let at = block.get_instructions().position(|other| other == from)?;
        of_copy(block)?.get_instructions().nth(at)
    };
    let twins: Vec<_> = indices.iter().map(|index| twin_of(index.extension)).collect();
    let [latch] = found.latches[..] else { return Ok(()) };
    let Some(twin_latch) = of_copy(latch) else { return Ok(()) };
    let twin = Twin { emit: &emit, head: copies[0], latch: twin_latch };
    llvm::forget_loop(context, &twin_latch.get_terminator().into_iter().collect::<Vec<_>>());
    let round = twin.until(rounds, shape.goes_on())?;
    for (extension, growth) in twins.into_iter().zip(&growths) {
        if let Some(extension) = extension {
            emit.builder.position_before(&extension);
            let way = emit.builder.build_int_mul(round, growth.step, "")?;
            let there = emit.builder.build_int_add(growth.first, way, "")?;
            llvm::replace_uses(extension, there.into());
        }
    }
    llvm::set_unroll(context, &found.jumps_back(), Unroll::None);
    Ok(())
}

/// Has a loop count its rounds in 64 bits that checks indices of another kind, as of an element that is clamped into a slice:
/// what is split for its checks counts so.
fn count_wide<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    found: &Loop<'ctx>,
    shape: &Shape<'_, 'ctx>,
) -> std::result::Result<(), BuilderError> {
    let ([latch], Some(end)) = (&found.latches[..], shape.before.get_terminator()) else { return Ok(()) };
    let builder = context.create_builder();
    builder.position_before(&end);
    let emit = Emit { context, module, builder, shape };
    let rounds = llvm::build_freeze(&emit.builder, emit.jumps_back()?);
    let rounds = emit.builder.build_int_z_extend(rounds, context.i64_type(), "")?;
    Twin { emit: &emit, head: found.head, latch: *latch }.until(rounds, shape.goes_on())?;
    Ok(())
}

/// The extension of an index that grows by the same number in each round, if something is loaded or stored there.
fn index<'ctx>(from: InstructionValue<'ctx>, found: &Loop<'ctx>, shape: &Shape<'_, 'ctx>) -> Option<Index<'ctx>> {
    let is_signed = match from.get_opcode() {
        Op::ZExt => false,
        Op::SExt => true,
        _ => return None,
    };
    let BasicValueEnum::IntValue(wide) = llvm::result(from) else { return None };
    let narrow = llvm::int_operand(from, 0)?;
    let is_index = |user: Use<'ctx>| match user {
        Use::Instruction(user) => matches!(user.get_opcode(), Op::GetElementPtr | Op::ICmp | Op::Add),
        Use::Global(_) => false,
    };
    let widths = (narrow.get_type().get_bit_width(), wide.get_type().get_bit_width());
    let changes = !found.is_invariant(narrow.into()) && shape.grows(narrow);
    (widths == (32, 64) && changes && llvm::uses(&from).into_iter().any(is_index)).then_some(Index {
        extension: from,
        narrow,
        is_signed,
    })
}

/// Writes how an index grows in 64 bits, and whether it is what the index of 32 bits is until the last round.
fn growth<'ctx>(
    emit: &Emit<'_, 'ctx>,
    index: Index<'ctx>,
    rounds: IntValue<'ctx>,
) -> std::result::Result<(Growth<'ctx>, IntValue<'ctx>), BuilderError> {
    let (builder, word) = (&emit.builder, rounds.get_type());
    let (first, step) = emit.affine(index.narrow)?;
    let extend = |value: IntValue<'ctx>| {
        let value = llvm::build_freeze(builder, value);
        if index.is_signed {
            builder.build_int_s_extend(value, word, "")
        } else {
            builder.build_int_z_extend(value, word, "")
        }
    };
    let growth = Growth { first: extend(first)?, step: extend(step)? };
    let way = builder.build_int_mul(rounds, growth.step, "")?;
    let last = builder.build_int_add(growth.first, way, "")?;
    // With a sign, numbers from -2³¹ on are those below 2³² once 2³¹ is added.
    let shifted = if index.is_signed { builder.build_int_add(last, word.const_int(1 << 31, false), "")? } else { last };
    let stays = builder.build_int_compare(IntPredicate::ULT, shifted, word.const_int(1 << 32, false), "")?;
    Ok((growth, stays))
}

/// The loop's copy.
struct Twin<'a, 'ctx> {
    emit: &'a Emit<'a, 'ctx>,
    head: BasicBlock<'ctx>,
    latch: BasicBlock<'ctx>,
}

impl<'ctx> Twin<'_, 'ctx> {
    /// Has the loop jump back so often, and returns the number of the round.
    fn until(&self, rounds: IntValue<'ctx>, goes_on: bool) -> std::result::Result<IntValue<'ctx>, BuilderError> {
        let (builder, word) = (&self.emit.builder, rounds.get_type());
        let (Some(first), Some(end)) = (self.head.get_first_instruction(), self.latch.get_terminator()) else {
            return Ok(rounds);
        };
        builder.position_before(&first);
        let phi = builder.build_phi(word, "")?;
        builder.position_before(&end);
        let round = phi.as_basic_value().into_int_value();
        let next = builder.build_int_nuw_add(round, word.const_int(1, false), "")?;
        phi.add_incoming(&[(&word.const_zero(), self.emit.shape.before), (&next, self.latch)]);
        let relation = if goes_on { IntPredicate::NE } else { IntPredicate::EQ };
        let condition = builder.build_int_compare(relation, round, rounds, "")?;
        llvm::set_condition(end, condition);
        Ok(round)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::AnyValue;
    use crate::request::OptLevel;

    /// A loop over `%k` of 32 bits that stores at `%wide`, after [`widen`].
    fn widened(index: &str, more: &str) -> String {
        widened_text(&text(index, more))
    }

    fn text(index: &str, more: &str) -> String {
        format!(
            "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
            target triple = \"nvptx64-nvidia-cuda\"
            declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
            define void @f(ptr %to, i32 %row, i32 %n) {{
            entry: br label %loop
            loop: %k = phi i32 [ 0, %entry ], [ %next, %loop ]
              {index}
              %at = getelementptr i32, ptr %to, i64 %wide
              store i32 1, ptr %at
              {more}
              %next = add i32 %k, 1
              %done = icmp eq i32 %next, %n
              br i1 %done, label %end, label %loop
            end: ret void
            }}"
        )
    }

    fn widened_text(text: &str) -> String {
        let context = Context::create();
        let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        widen(&context, &module, &SimpleForm::of(&machine)).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    const SUM: &str = "%i = add i32 %k, %row
        %wide = zext i32 %i to i64";

    #[test]
    fn indices_that_may_wrap_around_have_a_twin() {
        for index in [SUM, "%p = mul i32 %k, %n\n %i = add i32 %p, %row\n %wide = zext i32 %i to i64"] {
            let ir = widened(index, "");
            assert_eq!(ir.matches("store i32 1").count(), 2, "{ir}");
            assert!(ir.contains("icmp ult i64") && ir.contains(", 4294967296\n"), "{ir}");
            assert!(ir.contains("phi i64 [ 0, ") && ir.contains("freeze i32"), "{ir}");
        }
        let ir = widened(&SUM.replace("zext", "sext"), "");
        assert!(ir.contains(", 2147483648\n") && ir.contains("sext i32"), "{ir}");
    }

    #[test]
    fn what_the_loop_counts_by_has_a_twin_where_it_is_checked() {
        let check = "%wide = zext i32 %k to i64
              %below = icmp ult i64 %wide, 1000
              br i1 %below, label %inside, label %panic
            inside:";
        let more = "%next = add nuw i32 %k, 1
              %done = icmp eq i32 %next, %n
              br i1 %done, label %end, label %loop
            panic: unreachable
            others:";
        // What stands behind `more` in the text is never reached, and counts for nothing.
        let text = text(check, more).replace("[ %next, %loop ]", "[ %next, %inside ]");
        let (first, last) = text.split_once("others:").unwrap();
        let end = last.split_once("end: ret void").unwrap().1;
        let ir = widened_text(&format!("{first} end: ret void {end}"));
        assert_eq!(ir.matches("store i32 1").count(), 2, "{ir}");
        assert!(ir.contains("phi i64 [ 0, "), "{ir}");
    }

    #[test]
    fn a_loop_that_checks_another_index_counts_in_64_bits() {
        // `x[(i + d).clamp(0, n - 1)]`
        let clamped = |len: &str| {
            format!(
                "%i = add i32 %k, %row
                %j = call i32 @llvm.umin.i32(i32 %i, i32 %row)
                %wide = zext i32 %j to i64
                %below = icmp ult i64 %wide, {len}
                br i1 %below, label %inside, label %panic
            inside:"
            )
        };
        let of = |len: &str| {
            let text = text(&clamped(len), "").replace("[ %next, %loop ]", "[ %next, %inside ]");
            widened_text(&text.replace("end: ret void", "end: ret void\n panic: unreachable"))
        };
        let ir = of("1000");
        assert!(ir.matches("store i32 1").count() == 1 && ir.contains("phi i64 [ 0, "), "{ir}");
        // Of a limit that changes in the loop nothing is known before.
        assert!(!of("%wide").contains("phi i64"));
    }

    #[test]
    fn what_becomes_straight_code_has_none() {
        // `for d in -1i32..=1` counts what it has had.
        let of = |bound: &str| {
            let text = text(SUM, "").replace("[ 0, %entry ]", "[ -1, %entry ]").replace("i32 %next, %n", bound);
            widened_text(&text).matches("store i32 1").count()
        };
        assert_eq!([of("i32 %next, 2"), of("i32 %k, 1"), of("i32 %k, 200")], [1, 1, 2]);
    }

    #[test]
    fn others_stay_as_they_are() {
        for (index, more) in [
            // What the loop counts by; no sum; a square; threads that meet.
            ("%wide = zext i32 %k to i64", ""),
            ("%i = xor i32 %k, %row\n %wide = zext i32 %i to i64", ""),
            ("%i = mul i32 %k, %k\n %wide = zext i32 %i to i64", ""),
            (SUM, "call void @llvm.nvvm.barrier.cta.sync.all(i32 0)"),
        ] {
            let ir = widened(index, more);
            assert_eq!(ir.matches("store i32 1").count(), 1, "{index}, {more}: {ir}");
        }
    }
}
