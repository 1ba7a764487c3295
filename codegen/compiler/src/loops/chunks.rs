//! Parts loops over the chunks of a slice into one over the whole chunks and the loop as it was, for what is left.
//!
//! ```text
//! before: loop: %rest = phi i64 [ %len, %before ], [ %next, %loop ]
//!               %here = umin(i64 %n, i64 %rest)                           ; `for row in m.chunks(n)`
//!               …
//!               %next = sub i64 %rest, %here
//!               br i1 (icmp eq i64 %next, 0), label %end, label %loop
//! after:  before:  br i1 (%n != 0 and %len / %n != 0), label %whole, label %loop
//!         whole:   …                                                      ; with `%n` for `%here`
//!                  br i1 (%len / %n rounds are over), label %over, label %whole
//!         over:    br i1 (icmp eq i64 %next, 0), label %end, label %loop
//!         loop:    …                                                      ; as it was
//! ```
//!
//! LLVM does not see how often such a loop goes on, nor that an index into a chunk is checked against the same number in all
//! rounds but the last. So `m.chunks(cols).map(|row| row[column]).sum()` waited for each load, while that with `chunks_exact`
//! asks for many. nvcc's users write the loop over whole rows.
//!
//! Chunks of a constant size are parted where a round asks whether its chunk has an element (`chunks/asked.rs`): each thread of a
//! warp takes its own one so, and in the loop over whole chunks all of them have one. Loops that end elsewhere, too, are
//! `chunks/searched.rs`'s.
//!
//! **Why it is right.** With `q` for `%len / %n`, in each of the first `q` rounds at least `%n` is left, so that is the smaller
//! one. Before the last of these more than nothing is left, so the loop would have gone on; after it the loop's own condition
//! is asked. What goes into the test is frozen, as in [`super::checks`].
//!
//! Not with anything convergent in the loop: threads of a warp may have slices of other lengths, and would meet elsewhere.

mod asked;
mod searched;
mod sizes;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntPredicate, IntValue, Intrinsic, Module, Unroll,
};
use crate::settled;

use super::branches::{Branch, is_convergent};
use super::limits::least;
use super::natural::{Graph, Loop, SimpleForm};

use self::asked::Asked;
use self::searched::Searched;
use self::sizes::{ask_for_whole, is_less, number};

/// Instructions of a loop that is copied.
const MOST_INSTRUCTIONS: usize = 100;

/// Parts every such loop.
pub fn chunk<'ctx>(context: &'ctx Context, module: &Module<'ctx>, form: &SimpleForm<'_>) -> Result<()> {
    form.give(module)?;
    for function in settled::open_and_fast(module) {
        for found in Graph::of(function).innermost() {
            let instructions = || found.blocks.iter().flat_map(|block| block.get_instructions());
            let is_short = instructions().take(MOST_INSTRUCTIONS + 1).count() <= MOST_INSTRUCTIONS;
            if !is_short || instructions().any(is_convergent) || llvm::unroll_is_disabled(context, &found.jumps_back())
            {
                continue;
            }
            let failed =
                |error| Diagnostic::error(Code::LlvmFailed, format!("cannot part a loop over chunks: {error}"));
            if let Some(ahead) = Ahead::of(&found) {
                form.lose();
                ahead.begin_with_own(context, module, &found).map_err(failed)?;
            }
            if let Some(chunks) = Chunks::of(function, &found) {
                form.lose();
                chunks.part(context, module, function).map_err(failed)?;
            } else if let Some(searched) = Searched::of(function, &found) {
                form.lose();
                searched.part(context, module, function).map_err(failed)?;
            }
        }
    }
    Ok(())
}

/// A loop whose rounds have their chunk from the round before, which also looked for the next one.
///
/// ```text
/// before: loop: %here = phi i64 [ umin(i64 %n, i64 %len), %before ], [ umin(i64 %n, i64 %rest), %loop ]
///               %rest = phi i64 [ (sub i64 %len, …), %before ], [ (sub i64 %rest, …), %loop ]
/// after:  loop: %left = phi i64 [ %len, %before ], [ %rest, %loop ]
///               %here = umin(i64 %n, i64 %left)
///               %rest = sub i64 %left, %here
/// ```
///
/// LLVM leaves it so if `next` was inlined once before the loop and once at its end. Both sides compute the same of the same.
struct Ahead<'ctx> {
    here: InstructionValue<'ctx>,
    rest: InstructionValue<'ctx>,
    /// What is left at first.
    len: IntValue<'ctx>,
    size: IntValue<'ctx>,
    /// Where the next chunk begins, how it is computed, and where this one does.
    addresses: Vec<(InstructionValue<'ctx>, InstructionValue<'ctx>, InstructionValue<'ctx>)>,
}

impl<'ctx> Ahead<'ctx> {
    fn of(found: &Loop<'ctx>) -> Option<Self> {
        let phis: Vec<_> = llvm::phis(found.head).collect();
        phis.iter().find_map(|here| {
            let (first, next) = found.incoming(llvm::result(*here))?;
            let (first, next) = (llvm::instruction_of(first)?, llvm::instruction_of(next)?);
            let (of_first, of_next) = (least(number(first)?)?, least(number(next)?)?);
            let size =
                of_first.into_iter().find(|value| of_next.contains(value) && found.is_invariant((*value).into()))?;
            let other = |both: [IntValue<'ctx>; 2]| both.into_iter().find(|value| *value != size);
            let (len, rest) = (other(of_first)?, other(of_next)?.as_instruction_value()?);
            let (rest_first, rest_next) = found.incoming(llvm::result(rest))?;
            let is_rest = |value: BasicValueEnum<'ctx>, of: IntValue<'ctx>, without| {
                llvm::instruction_of(value).is_some_and(|from| {
                    from.get_opcode() == Op::Sub
                        && llvm::int_operand(from, 0) == Some(of)
                        && llvm::int_operand(from, 1).and_then(|less| less.as_instruction_value()) == Some(without)
                })
            };
            let BasicValueEnum::IntValue(rest_value) = llvm::result(rest) else { return None };
            if !is_rest(rest_first, len, first) || !is_rest(rest_next, rest_value, next) {
                return None;
            }
            let addresses = phis.iter().filter_map(|behind| address(found, &phis, *behind, (first, next))).collect();
            Some(Self { here: *here, rest, len, size, addresses })
        })
    }

    /// Has each round compute its own chunk.
    fn begin_with_own(
        &self,
        context: &'ctx Context,
        module: &Module<'ctx>,
        found: &Loop<'ctx>,
    ) -> std::result::Result<(), BuilderError> {
        let word = self.size.get_type();
        let smaller = Intrinsic::find("llvm.umin").and_then(|found| found.get_declaration(module, &[word.into()]));
        let smaller = smaller.expect("LLVM has the smaller of two for every integer");
        let builder = context.create_builder();
        builder.position_before(&self.here);
        let left = builder.build_phi(word, "")?;
        let Some(body) = found.head.get_instructions().find(|from| from.get_opcode() != Op::Phi) else { return Ok(()) };
        builder.position_before(&body);
        let left_now = left.as_basic_value().into_int_value();
        let here = builder.build_call(smaller, &[self.size.into(), left_now.into()], "")?.try_as_basic_value();
        let here = here.unwrap_basic().into_int_value();
        let rest = builder.build_int_nuw_sub(left_now, here, "")?;
        for (_, from) in llvm::incoming(self.here) {
            let value = if found.contains(from) { rest } else { self.len };
            left.add_incoming(&[(&value, from)]);
        }
        for (behind, next, own) in &self.addresses {
            let operands = [(0, llvm::result(*own)), (1, here.into())];
            let computed = llvm::build_copy(&builder, *next, &operands);
            llvm::replace_uses(*behind, llvm::result(computed));
            behind.erase_from_basic_block();
        }
        for (old, new) in [(self.here, here), (self.rest, rest)] {
            llvm::replace_uses(old, new.into());
            old.erase_from_basic_block();
        }
        Ok(())
    }
}

/// The phi of where the next chunk begins, how it is computed from where this one does, and the phi of that.
fn address<'ctx>(
    found: &Loop<'ctx>,
    phis: &[InstructionValue<'ctx>],
    behind: InstructionValue<'ctx>,
    (first_size, next_size): (InstructionValue<'ctx>, InstructionValue<'ctx>),
) -> Option<(InstructionValue<'ctx>, InstructionValue<'ctx>, InstructionValue<'ctx>)> {
    let (first, next) = found.incoming(llvm::result(behind))?;
    let (first, next) = (llvm::instruction_of(first)?, llvm::instruction_of(next)?);
    let ((base, bytes, by), (next_base, next_bytes, next_by)) = (llvm::element_of(first)?, llvm::element_of(next)?);
    // The copy of the one stands for the other in the first round.
    let promises = |gep| (llvm::is_in_bounds(gep), llvm::is_in_bounds_above(gep));
    let is_alike = bytes == next_bytes
        && promises(first) == promises(next)
        && next.get_num_operands() == 2
        && by.as_instruction_value() == Some(first_size)
        && next_by.as_instruction_value() == Some(next_size)
        && BasicValueEnum::from(next_base) == llvm::result(behind);
    let own = phis
        .iter()
        .copied()
        .find(|own| found.incoming(llvm::result(*own)) == Some((base.into(), llvm::result(behind))));
    own.filter(|_| is_alike).map(|own| (behind, next, own))
}

struct Chunks<'a, 'ctx> {
    found: &'a Loop<'ctx>,
    before: BasicBlock<'ctx>,
    latch: BasicBlock<'ctx>,
    /// What is left at first.
    len: IntValue<'ctx>,
    /// Of a whole chunk.
    size: IntValue<'ctx>,
    /// The smaller one of the two.
    here: InstructionValue<'ctx>,
    /// Of a chunk of a constant size.
    asked: Vec<Asked<'ctx>>,
}

impl<'a, 'ctx> Chunks<'a, 'ctx> {
    fn of(function: FunctionValue<'ctx>, found: &'a Loop<'ctx>) -> Option<Self> {
        let [latch] = found.latches[..] else { return None };
        let before = Graph::of(function).block_before(found)?;
        let branch = Branch::of(latch)?;
        let goes_on = branch.then == found.head;
        if goes_on == (branch.other == found.head) {
            return None;
        }
        for here in found.blocks.iter().flat_map(|block| block.get_instructions()) {
            let Some([one, other]) = number(here).and_then(least) else { continue };
            for (rest, size) in [(one, other), (other, one)] {
                let is_same = found.is_invariant(size.into());
                let Some((first, next)) = found.incoming(rest).filter(|_| is_same) else { continue };
                let (BasicValueEnum::IntValue(len), BasicValueEnum::IntValue(next)) = (first, next) else { continue };
                if is_less(next, rest, here, size) && ends_at_0(&branch, goes_on, (next, rest, size)) {
                    let asked = if size.is_const() { Asked::all(found, here, (rest, size)) } else { Vec::new() };
                    let is_fit = !size.is_const() || !asked.is_empty();
                    return is_fit.then_some(Self { found, before, latch, len, size, here, asked });
                }
            }
        }
        None
    }

    fn part(
        &self,
        context: &'ctx Context,
        module: &Module<'ctx>,
        function: FunctionValue<'ctx>,
    ) -> std::result::Result<(), BuilderError> {
        let Self { found, before, latch, len, size, here, ref asked } = *self;
        let copies = llvm::copy_blocks(context, function, &found.blocks);
        let at = |block: BasicBlock<'ctx>| found.blocks.iter().position(|known| *known == block);
        let copy_of = |from: InstructionValue<'ctx>| found.copy_of(&copies, from);
        let (Some(end), Some(whole), Some(smaller)) = (before.get_terminator(), at(latch), copy_of(here)) else {
            return Ok(());
        };
        let (Some(old), whole) = (latch.get_terminator(), copies[whole]) else { return Ok(()) };
        let (Some(jump), Some((then, other)), Some(head)) =
            (whole.get_terminator(), llvm::branch_targets(old), copies[0].get_first_instruction())
        else {
            return Ok(());
        };
        let Some(is_over) = llvm::int_operand(jump, 0) else { return Ok(()) };
        // Copies are found by their place, before anything is changed.
        let after = |phi: InstructionValue<'ctx>| {
            let (_, next) = found.incoming(llvm::result(phi))?;
            let copied = match llvm::instruction_of(next) {
                Some(from) if from == here => Some(size.into()),
                from => from.and_then(copy_of).map(llvm::result),
            };
            Some((phi, copied.unwrap_or(next)))
        };
        let after: Vec<_> = llvm::phis(found.head).filter_map(after).collect();
        let answered: Vec<_> = asked.iter().filter_map(|asked| Some((asked, copy_of(asked.compared)?))).collect();
        let builder = context.create_builder();
        builder.position_before(&end);
        let (rounds, fits) = ask_for_whole(&builder, module, (len, size), asked)?;
        builder.build_conditional_branch(fits, copies[0], found.head)?;
        end.erase_from_basic_block();
        // The copy counts them.
        let word = size.get_type();
        let (zero, one) = (word.const_zero(), word.const_int(1, false));
        answered.into_iter().for_each(|(asked, copy)| asked.answer(copy));
        llvm::replace_uses(smaller, size.into());
        smaller.erase_from_basic_block();
        builder.position_before(&copies[0].get_first_instruction().unwrap_or(head));
        let round = builder.build_phi(word, "")?;
        let over = context.append_basic_block(function, "");
        builder.position_before(&jump);
        let next = builder.build_int_nuw_add(round.as_basic_value().into_int_value(), one, "")?;
        round.add_incoming(&[(&zero, before), (&next, whole)]);
        let is_last = builder.build_int_compare(IntPredicate::EQ, next, rounds, "")?;
        let outside = if then == found.head { other } else { then };
        builder.build_conditional_branch(is_last, over, copies[0])?;
        jump.erase_from_basic_block();
        // Then the loop's own condition is asked.
        builder.position_at_end(over);
        builder.build_conditional_branch(is_over, then, other)?;
        llvm::replace_predecessor(outside, whole, over, |value| value);
        for (phi, next) in after {
            llvm::add_incoming(phi, next, over);
        }
        llvm::forget_loop(context, &whole.get_terminator().into_iter().collect::<Vec<_>>());
        // What is left is less than a chunk, or it is a loop that never ends.
        llvm::set_unroll(context, &found.jumps_back(), Unroll::None);
        Ok(())
    }
}

/// Whether a loop goes on while something is left behind a chunk.
fn ends_at_0<'ctx>(
    branch: &Branch<'ctx>,
    goes_on: bool,
    (next, rest, size): (IntValue<'ctx>, IntValue<'ctx>, IntValue<'ctx>),
) -> bool {
    use IntPredicate as P;
    let is_0 = |value: IntValue<'ctx>| value.get_zero_extended_constant() == Some(0);
    match (branch.predicate, goes_on) {
        (P::EQ, false) | (P::NE, true) => branch.left == next && is_0(branch.right),
        (P::ULE, false) | (P::UGT, true) => (branch.left, branch.right) == (rest, size),
        (P::UGE, false) | (P::ULT, true) => (branch.left, branch.right) == (size, rest),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::AnyValue;
    use crate::request::OptLevel;

    /// The function `f` of a module, after the stage.
    fn staged(text: &str) -> String {
        let context = Context::create();
        let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        chunk(&context, &module, &SimpleForm::of(&machine)).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    /// A loop over chunks of which each tells its length and gives one element, after the stage.
    fn parted(here: &str, next: &str, over: &str) -> String {
        let text = format!(
            "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
            target triple = \"nvptx64-nvidia-cuda\"
            declare i64 @llvm.umin.i64(i64, i64)
            declare i64 @llvm.umax.i64(i64, i64)
            declare i64 @llvm.usub.sat.i64(i64, i64)
            declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
            define i64 @f(ptr %data, i64 %len, i64 %n) {{
            entry: br label %loop
            loop: %rest = phi i64 [ %len, %entry ], [ %next, %loop ]
              %p = phi ptr [ %data, %entry ], [ %behind, %loop ]
              %sum = phi i64 [ 0, %entry ], [ %more, %loop ]
              {here}
              %x = load i64, ptr %p
              %both = xor i64 %x, %here
              %more = add i64 %sum, %both
              %behind = getelementptr i64, ptr %p, i64 %here
              {next}
              %over = icmp {over}
              br i1 %over, label %end, label %loop
            end: ret i64 %more
            }}"
        );
        staged(&text)
    }

    #[test]
    fn a_round_that_looks_for_the_next_chunk_looks_for_its_own() {
        let parted = |rest_first: &str, rest_next: &str| {
            let text = format!(
                "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
                target triple = \"nvptx64-nvidia-cuda\"
                declare i64 @llvm.umin.i64(i64, i64)
                define i64 @f(ptr %data, i64 %len, i64 %n, i64 %other) {{
                entry: %first = call i64 @llvm.umin.i64(i64 %n, i64 %len)
                  %second = getelementptr i64, ptr %data, i64 %first
                  %left = sub i64 {rest_first}, %first
                  br label %loop
                loop: %next = phi ptr [ %second, %entry ], [ %third, %loop ]
                  %rest = phi i64 [ %left, %entry ], [ %less, %loop ]
                  %here = phi i64 [ %first, %entry ], [ %then, %loop ]
                  %p = phi ptr [ %data, %entry ], [ %next, %loop ]
                  %sum = phi i64 [ 0, %entry ], [ %more, %loop ]
                  %x = load i64, ptr %p
                  %both = xor i64 %x, %here
                  %more = add i64 %sum, %both
                  %over = icmp eq i64 %rest, 0
                  %then = call i64 @llvm.umin.i64(i64 %n, i64 %rest)
                  %less = sub i64 {rest_next}, %then
                  %third = getelementptr i64, ptr %next, i64 %then
                  br i1 %over, label %end, label %loop
                end: ret i64 %more
                }}"
            );
            staged(&text)
        };
        let ir = parted("%len", "%rest");
        assert_eq!((ir.matches("load i64").count(), ir.matches("udiv i64").count()), (2, 1), "{ir}");
        assert!(!ir.contains("phi ptr [ %second"), "{ir}");
        for (first, next) in [("%other", "%rest"), ("%len", "%other")] {
            assert_eq!(parted(first, next).matches("load i64").count(), 1, "{first}, {next}");
        }
    }

    const HERE: &str = "%here = call i64 @llvm.umin.i64(i64 %n, i64 %rest)";
    const NEXT: &str = "%next = sub i64 %rest, %here";

    #[test]
    fn whole_chunks_have_a_loop_of_their_own() {
        for (next, over) in [
            (NEXT, "eq i64 %next, 0"),
            ("%next = call i64 @llvm.usub.sat.i64(i64 %rest, i64 %n)", "eq i64 %next, 0"),
            ("%next = call i64 @llvm.usub.sat.i64(i64 %rest, i64 %n)", "ule i64 %rest, %n"),
        ] {
            let ir = parted(HERE, next, over);
            assert_eq!((ir.matches("load i64").count(), ir.matches("llvm.umin").count()), (2, 1), "{ir}");
            assert_eq!((ir.matches("udiv i64").count(), ir.matches("icmp ne i64").count()), (1, 2), "{ir}");
            assert!(ir.matches(", %n\n").count() + ir.matches("i64 %n)").count() >= 3, "{ir}");
            // The loop as it was goes on from where the other ended.
            let [before, whole, over] = ["%entry ]", "%next", "phi i64"].map(|text| ir.matches(text).count());
            assert!(before > 0 && whole > 0 && over >= 6, "{ir}");
        }
    }

    #[test]
    fn chunks_of_a_constant_size_are_parted_where_an_element_is_asked_for() {
        const NONE: &str = "%next = call i64 @llvm.usub.sat.i64(i64 %rest, i64 32)";
        let here = |asked: &str| format!("%here = call i64 @llvm.umin.i64(i64 %rest, i64 32)\n%asked = icmp {asked}");
        for asked in ["ugt i64 %rest, %n", "ult i64 %n, %here", "ule i64 %rest, %n", "ugt i64 %here, 31"] {
            let ir = parted(&here(asked), NONE, "eq i64 %next, 0");
            assert_eq!((ir.matches("load i64").count(), ir.matches("%asked").count()), (2, 1), "{asked}: {ir}");
        }
        // Nothing of the length is asked, or of none that a whole chunk answers, or what changes.
        for asked in
            ["ugt i64 %sum, %n", "ugt i64 %rest, 32", "ule i64 %here, 32", "uge i64 %here, %n", "ugt i64 %here, %sum"]
        {
            let ir = parted(&here(asked), NONE, "eq i64 %next, 0");
            assert_eq!(ir.matches("load i64").count(), 1, "{asked}: {ir}");
        }
    }

    #[test]
    fn others_stay_as_they_are() {
        for (here, next, over) in [
            // It ends elsewhere, the size changes or is a constant, or threads meet.
            (HERE, NEXT, "ult i64 %next, 3"),
            (HERE, "%next = sub i64 %rest, %n", "eq i64 %next, 0"),
            ("%here = call i64 @llvm.umax.i64(i64 %n, i64 %rest)", NEXT, "eq i64 %next, 0"),
            ("%here = call i64 @llvm.umin.i64(i64 %sum, i64 %rest)", NEXT, "eq i64 %next, 0"),
            (
                "%here = call i64 @llvm.umin.i64(i64 %n, i64 %rest)\n call void @llvm.nvvm.barrier.cta.sync.all(i32 0)",
                NEXT,
                "eq i64 %next, 0",
            ),
        ] {
            assert!(!parted(here, next, over).contains("udiv"), "{here}, {next}, {over}");
        }
    }
}
