//! Parts loops that take an element of each chunk of a slice and may end elsewhere, too.
//!
//! ```text
//! before: loop: %rest = phi i64 [ %len, %before ], [ %next, %again ]  ; `row.chunks(32).filter_map(|c| c.get(lane))`,
//!               %k = phi i64 [ %first, %before ], [ %on, %again ]      ; zipped with what goes on by a step of its own
//!               br i1 (icmp ult i64 %k, %n), label %more, label %end
//!         more: br i1 (icmp eq i64 %rest, 0), label %end, label %here
//!         here: %next = sub i64 %rest, umin(i64 %rest, i64 32)
//!               br i1 (icmp ugt i64 %rest, %lane), label %takes, label %again
//!         takes: … store …
//!               %more.k = add i64 %k, %step
//!         again: %on = phi i64 [ %k, %here ], [ %more.k, %takes ]
//! after:  before: %limit = umin(i64 %n, i64 (%first + %len / 32 × %step))
//!                 br i1 (%len / 32 != 0, %lane < 32, and %limit does not overflow), label %whole, label %loop
//!         whole:  br i1 (icmp ult i64 %k, %limit), label %takes.whole, label %over
//!         takes.whole: …  br label %whole
//!         over:   br i1 (icmp ult i64 %k, %n), label %loop, label %end
//! ```
//!
//! A search for the next chunk that has the element is a loop within the loop ([`super::super::whole`] makes one of the
//! two), of which LLVM counts neither, and each round waits for its load. In the loop over whole chunks nothing is
//! searched for, and one count ends it. Where nothing else ends the loop, it counts the chunks.
//!
//! A step that is the smaller one of a constant and another number is mostly that constant, as the number of threads in
//! a warp is: in the copy it is, so that the places of several rounds are a constant apart.
//!
//! **Why it is right.** With `q` for `%len / 32`, in each of the first `q` rounds a whole chunk is left, so that it is
//! not empty, has the element, and `%k` grows by `%step`. So `%k` is `%first + r × %step` in round `r`, which does not
//! overflow for up to `q` of them, and is below the limit exactly if it is below `%n` and `r` is below `q`, because the
//! step is not 0. Behind the last round, the copy asks what the loop would have asked. What a head does before it asks
//! only computes, and is computed once more by the loop as it was. What goes into the test is frozen, as in [`super`].

use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue,
    InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue, Intrinsic, Module, Unroll,
};

use super::super::branches::{conditions, is_quiet, panics};
use super::super::limits::{least, less};
use super::super::natural::{Graph, Loop};
use super::asked::Asked;
use super::sizes::{ask_for_whole, is_less, number};

/// Up to which number of rounds, and step, the numbers of the last round are known not to overflow.
const MOST_ROUNDS: u64 = 1 << 31;

/// Up to which number a loop begins with, the same.
const MOST_FIRST: u64 = 1 << 62;

pub struct Searched<'a, 'ctx> {
    found: &'a Loop<'ctx>,
    before: BasicBlock<'ctx>,
    latch: BasicBlock<'ctx>,
    /// What is left at first.
    len: IntValue<'ctx>,
    /// Of a whole chunk.
    size: IntValue<'ctx>,
    /// The smaller one of what is left and the size.
    here: InstructionValue<'ctx>,
    asked: Vec<Asked<'ctx>>,
    /// Jumps that ask only whether anything is left, and whether the loop goes on where their condition holds.
    empty: Vec<(InstructionValue<'ctx>, bool)>,
    /// What else ends it.
    end: Option<End<'ctx>>,
}

/// A number that goes on by a step and ends a loop where it is not below another one.
struct End<'ctx> {
    /// The head of the loop, or the block that jumps back.
    block: BasicBlock<'ctx>,
    compared: InstructionValue<'ctx>,
    first: IntValue<'ctx>,
    step: IntValue<'ctx>,
    /// What the step is at most, and mostly.
    most: Option<IntValue<'ctx>>,
    bound: IntValue<'ctx>,
    /// Whether the loop goes on where the comparison holds.
    goes_on: bool,
}

impl<'a, 'ctx> Searched<'a, 'ctx> {
    pub fn of(function: FunctionValue<'ctx>, found: &'a Loop<'ctx>) -> Option<Self> {
        let [latch] = found.latches[..] else { return None };
        let before = Graph::of(function).block_before(found)?;
        found.blocks.iter().flat_map(|block| block.get_instructions()).find_map(|here| {
            let [one, other] = least(number(here)?)?;
            [(one, other), (other, one)].into_iter().find_map(|(rest, size)| {
                let (BasicValueEnum::IntValue(len), BasicValueEnum::IntValue(next)) = found.incoming(rest)? else {
                    return None;
                };
                let asked = Asked::all(found, here, (rest, size));
                let is_one = found.is_invariant(size.into()) && is_less(next, rest, here, size) && !asked.is_empty();
                let (empty, end) = ends(found, (latch, rest), &asked).filter(|_| is_one)?;
                Some(Self { found, before, latch, len, size, here, asked, empty, end })
            })
        })
    }

    /// Has a copy of the loop run over the whole chunks.
    pub fn part(
        &self,
        context: &'ctx Context,
        module: &Module<'ctx>,
        function: FunctionValue<'ctx>,
    ) -> Result<(), BuilderError> {
        let Self { found, before, latch, len, size, .. } = *self;
        let copies = llvm::copy_blocks(context, function, &found.blocks);
        let copy_of = |from: InstructionValue<'ctx>| found.copy_of(&copies, from);
        let block_of = |block| found.blocks.iter().position(|known| *known == block).map(|at| copies[at]);
        let (Some(enters), Some(jump), Some(smaller)) =
            (before.get_terminator(), block_of(latch).and_then(|whole| whole.get_terminator()), copy_of(self.here))
        else {
            return Ok(());
        };
        // Copies are found by their place, before anything is changed.
        let answered: Vec<_> = self.asked.iter().filter_map(|asked| Some((asked, copy_of(asked.compared)?))).collect();
        let emptied: Vec<_> =
            self.empty.iter().filter_map(|(jump, goes_on)| Some((copy_of(*jump)?, *goes_on))).collect();
        let copied = |value: BasicValueEnum<'ctx>| match llvm::instruction_of(value) {
            Some(from) if from == self.here => size.into(),
            from => from.and_then(copy_of).map_or(value, llvm::result),
        };
        let is_at_head = self.end.as_ref().is_some_and(|end| end.block == found.head);
        let told = |phi: InstructionValue<'ctx>| {
            let now = llvm::result(phi);
            Some((phi, copied(if is_at_head { now } else { found.incoming(now)?.1 })))
        };
        let behind: Vec<_> = llvm::phis(found.head).filter_map(told).collect();
        let end = self.end.as_ref().and_then(|end| Some((end, block_of(end.block)?, copy_of(end.compared)?)));
        let builder = context.create_builder();
        builder.position_before(&enters);
        let (rounds, mut fits) = ask_for_whole(&builder, module, (len, size), &self.asked)?;
        let over = context.append_basic_block(function, "");
        if let Some((end, block, compared)) = end {
            let (limit, is_small) = end.limit(&builder, module, rounds)?;
            fits = builder.build_and(fits, is_small, "")?;
            end.ask(&builder, (block, compared), limit, (found.head, copies[0]), over)?;
            end.go_on_by_most(&copies);
        } else {
            count(&builder, rounds, (before, jump), (found.head, copies[0]), over)?;
        }
        builder.position_before(&enters);
        builder.build_conditional_branch(fits, copies[0], found.head)?;
        enters.erase_from_basic_block();
        for (phi, value) in behind {
            llvm::add_incoming(phi, value, over);
        }
        answered.into_iter().for_each(|(asked, copy)| asked.answer(copy));
        emptied.into_iter().for_each(|(jump, to_first)| llvm::always_branch(context, jump, to_first));
        llvm::replace_uses(smaller, size.into());
        smaller.erase_from_basic_block();
        let jumps: Vec<_> = block_of(latch).and_then(|whole| whole.get_terminator()).into_iter().collect();
        llvm::forget_loop(context, &jumps);
        // What is left is less than a chunk, or it is a loop that never ends.
        llvm::set_unroll(context, &found.jumps_back(), Unroll::None);
        Ok(())
    }
}

/// Jumps that end a loop where nothing is left, and what else ends it but for panics, if that is known to count.
type Ends<'ctx> = (Vec<(InstructionValue<'ctx>, bool)>, Option<End<'ctx>>);

fn ends<'ctx>(
    found: &Loop<'ctx>,
    (latch, rest): (BasicBlock<'ctx>, IntValue<'ctx>),
    asked: &[Asked<'ctx>],
) -> Option<Ends<'ctx>> {
    let (mut empty, mut end) = (Vec::new(), None);
    for block in &found.blocks {
        let jump = block.get_terminator()?;
        let targets = llvm::block_operands(jump);
        let mut outside = targets.iter().filter(|to| !found.contains(**to));
        let Some(out) = outside.next() else { continue };
        let (then, _) = llvm::branch_targets(jump)?;
        if outside.next().is_some() {
            return None;
        }
        if panics(*out) {
            continue;
        }
        // All parts of `a && b` hold where it goes on, or none of those of `a || b` does.
        let goes_on = then != *out;
        let inside = targets.iter().find(|to| *to != out)?;
        let (nothing, others): (Vec<_>, Vec<_>) = conditions(*block, *inside)
            .into_iter()
            .partition(|part| part.and_then(|part| is_empty(part, rest)) == Some(!goes_on));
        match others[..] {
            [] => empty.extend((!nothing.is_empty()).then_some((jump, goes_on))),
            [Some(compared)] if end.is_none() => {
                end = Some(End::of(found, (*block, latch), (compared, goes_on), asked)?);
            }
            _ => return None,
        }
    }
    // A loop that nothing else ends is counted where it jumps back.
    let is_plain = latch.get_terminator().is_some_and(|jump| llvm::block_operands(jump).len() == 1);
    let is_last = end.as_ref().is_some_and(|end| end.block == latch);
    (is_plain || is_last).then_some((empty, end))
}

/// Whether a comparison says that nothing is left where it holds, or where it does not.
fn is_empty<'ctx>(compared: InstructionValue<'ctx>, rest: IntValue<'ctx>) -> Option<bool> {
    let is_0 = llvm::int_operand(compared, 1).and_then(IntValue::get_zero_extended_constant) == Some(0);
    let predicate = compared.get_icmp_predicate().filter(|_| is_0 && llvm::int_operand(compared, 0) == Some(rest))?;
    match predicate {
        IntPredicate::EQ => Some(true),
        IntPredicate::NE => Some(false),
        _ => None,
    }
}

impl<'ctx> End<'ctx> {
    fn of(
        found: &Loop<'ctx>,
        (block, latch): (BasicBlock<'ctx>, BasicBlock<'ctx>),
        (compared, goes_on): (InstructionValue<'ctx>, bool),
        asked: &[Asked<'ctx>],
    ) -> Option<Self> {
        let (counter, bound, is_strict) = less(compared, goes_on)?;
        // The head is run once more by the loop as it was.
        let is_at_head = block == found.head && block.get_instructions().all(is_quiet);
        if !is_strict || !found.is_invariant(bound.into()) || !(is_at_head || block == latch) {
            return None;
        }
        let phi = if is_at_head { counter } else { sum_of_phi(found, counter)? };
        let (BasicValueEnum::IntValue(first), BasicValueEnum::IntValue(next)) = found.incoming(phi)? else {
            return None;
        };
        let next = where_taken(next, latch, asked)?;
        let sum = next.as_instruction_value().filter(|sum| sum.get_opcode() == Op::Add)?;
        let parts = [llvm::int_operand(sum, 0)?, llvm::int_operand(sum, 1)?];
        let by = parts[1 - parts.iter().position(|part| *part == phi)?];
        let step = chosen(by, compared, goes_on);
        let is_one = (is_at_head || counter == next) && found.is_invariant(step.into());
        let is_word = counter.get_type().get_bit_width() == 64;
        let most = at_most(step);
        (is_one && is_word).then_some(Self { block, compared, first, step, most, bound, goes_on })
    }

    /// Has the copy go on by what the step is at most, which it is there.
    fn go_on_by_most(&self, copies: &[BasicBlock<'ctx>]) {
        let Some(most) = self.most else { return };
        let computed = copies.iter().flat_map(|copy| copy.get_instructions()).filter(|from| llvm::is_pure(*from));
        for from in computed {
            let of_step = llvm::value_operands(from).filter(|(_, operand)| *operand == BasicValueEnum::from(self.step));
            let indices: Vec<_> = of_step.map(|(index, _)| index).collect();
            assert!(indices.into_iter().all(|index| from.set_operand(index, most)), "it has these operands");
        }
    }

    /// What the number is below in the rounds of whole chunks, and whether it is known not to overflow up to there.
    fn limit(
        &self,
        builder: &Builder<'ctx>,
        module: &Module<'ctx>,
        rounds: IntValue<'ctx>,
    ) -> Result<(IntValue<'ctx>, IntValue<'ctx>), BuilderError> {
        let word = rounds.get_type();
        let [first, own, bound] = [self.first, self.step, self.bound].map(|value| llvm::build_freeze(builder, value));
        let step = self.most.unwrap_or(own);
        let product = builder.build_int_mul(rounds, step, "")?;
        let last = builder.build_int_add(first, product, "")?;
        let smaller = Intrinsic::find("llvm.umin").and_then(|found| found.get_declaration(module, &[word.into()]));
        let smaller = smaller.expect("LLVM has the smaller of two for every integer");
        let limit = builder.build_call(smaller, &[bound.into(), last.into()], "")?.try_as_basic_value();
        let is_below =
            |number, most| builder.build_int_compare(IntPredicate::ULT, number, word.const_int(most, false), "");
        let mut is_small = builder.build_and(is_below(first, MOST_FIRST)?, is_below(rounds, MOST_ROUNDS)?, "")?;
        let is_step = if let Some(most) = self.most {
            builder.build_int_compare(IntPredicate::EQ, own, most, "")?
        } else {
            // Not 0, either.
            let less = builder.build_int_sub(step, word.const_int(1, false), "")?;
            is_below(less, MOST_ROUNDS)?
        };
        is_small = builder.build_and(is_small, is_step, "")?;
        Ok((limit.unwrap_basic().into_int_value(), is_small))
    }

    /// Has the copy end at the limit, and ask behind it what it asked there.
    fn ask(
        &self,
        builder: &Builder<'ctx>,
        (block, compared): (BasicBlock<'ctx>, InstructionValue<'ctx>),
        limit: IntValue<'ctx>,
        (head, whole): (BasicBlock<'ctx>, BasicBlock<'ctx>),
        over: BasicBlock<'ctx>,
    ) -> Result<(), BuilderError> {
        let Some(jump) = block.get_terminator() else { return Ok(()) };
        let Some(asked) = llvm::int_operand(jump, 0) else { return Ok(()) };
        let Some((then, other)) = llvm::branch_targets(jump) else { return Ok(()) };
        let (inside, outside) = if self.goes_on { (then, other) } else { (other, then) };
        let Some((counter, _, _)) = less(compared, self.goes_on) else { return Ok(()) };
        builder.position_before(&jump);
        let goes_on = builder.build_int_compare(IntPredicate::ULT, counter, limit, "")?;
        builder.build_conditional_branch(goes_on, inside, over)?;
        jump.erase_from_basic_block();
        builder.position_at_end(over);
        let (then, other) = if self.goes_on { (head, outside) } else { (outside, head) };
        builder.build_conditional_branch(asked, then, other)?;
        debug_assert!(inside == whole || block == whole, "it is asked at one end of a round");
        llvm::replace_predecessor(outside, block, over, |value| value);
        Ok(())
    }
}

/// The constant that a step is the smaller one of, and of another number.
fn at_most(step: IntValue<'_>) -> Option<IntValue<'_>> {
    let extended = step.as_instruction_value().filter(|from| from.get_opcode() == Op::ZExt);
    let number = extended.map_or(Some(step), |from| llvm::int_operand(from, 0))?;
    let most = least(number)?.into_iter().find_map(IntValue::get_zero_extended_constant)?;
    Some(step.get_type().const_int(most, false))
}

/// The phi of the head that a number is one step more than.
fn sum_of_phi<'ctx>(found: &Loop<'ctx>, next: IntValue<'ctx>) -> Option<IntValue<'ctx>> {
    let sum = next.as_instruction_value().filter(|sum| sum.get_opcode() == Op::Add)?;
    [llvm::int_operand(sum, 0)?, llvm::int_operand(sum, 1)?].into_iter().find(|part| found.incoming(*part).is_some())
}

/// What a value is where a chunk has the elements asked for: the phi of the block that jumps back does not take what
/// comes from where it has not.
fn where_taken<'ctx>(value: IntValue<'ctx>, latch: BasicBlock<'ctx>, asked: &[Asked<'ctx>]) -> Option<IntValue<'ctx>> {
    let Some(phi) = value.as_instruction_value().filter(|from| from.get_opcode() == Op::Phi) else {
        return Some(value);
    };
    if phi.get_parent() != Some(latch) {
        return None;
    }
    let mut taken =
        llvm::incoming(phi).into_iter().filter(|(_, from)| !asked.iter().any(|asked| asked.misses(*from, latch)));
    match (taken.next()?.0, taken.next()) {
        (BasicValueEnum::IntValue(only), None) => Some(only),
        _ => None,
    }
}

/// What is chosen where the loop goes on.
fn chosen<'ctx>(value: IntValue<'ctx>, compared: InstructionValue<'ctx>, goes_on: bool) -> IntValue<'ctx> {
    let select = value.as_instruction_value().filter(|from| from.get_opcode() == Op::Select);
    let of_both = select
        .filter(|select| llvm::int_operand(*select, 0).and_then(|by| by.as_instruction_value()) == Some(compared));
    of_both.and_then(|select| llvm::int_operand(select, if goes_on { 1 } else { 2 })).unwrap_or(value)
}

/// Has the copy count its rounds where it jumps back.
fn count<'ctx>(
    builder: &Builder<'ctx>,
    rounds: IntValue<'ctx>,
    (before, jump): (BasicBlock<'ctx>, InstructionValue<'ctx>),
    (head, whole): (BasicBlock<'ctx>, BasicBlock<'ctx>),
    over: BasicBlock<'ctx>,
) -> Result<(), BuilderError> {
    let (Some(latch), Some(first)) = (jump.get_parent(), whole.get_first_instruction()) else { return Ok(()) };
    let word = rounds.get_type();
    builder.position_before(&first);
    let round = builder.build_phi(word, "")?;
    builder.position_before(&jump);
    let next = builder.build_int_nuw_add(round.as_basic_value().into_int_value(), word.const_int(1, false), "")?;
    round.add_incoming(&[(&word.const_zero(), before), (&next, latch)]);
    let is_last = builder.build_int_compare(IntPredicate::EQ, next, rounds, "")?;
    builder.build_conditional_branch(is_last, over, whole)?;
    jump.erase_from_basic_block();
    builder.position_at_end(over);
    builder.build_unconditional_branch(head)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::{AnyValue, Context, parse_ir};
    use crate::loops::{SimpleForm, chunk};
    use crate::request::OptLevel;

    /// A loop that takes an element of each chunk, whose head asks something, after the stage.
    fn parted(head: &str, looks: &str, by: &str, again: &str) -> String {
        let text = format!(
            "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
            target triple = \"nvptx64-nvidia-cuda\"
            declare i64 @llvm.umin.i64(i64, i64)
            declare i64 @llvm.umax.i64(i64, i64)
            declare i32 @llvm.umin.i32(i32, i32)
            define void @f(ptr %to, i64 %len, i64 %lane, i64 %first, i64 %n, i64 %step, i32 %threads) {{
            entry: %of.warp = call i32 @llvm.umin.i32(i32 %threads, i32 32)
              %by.warp = zext i32 %of.warp to i64
              br label %loop
            loop: %rest = phi i64 [ %len, %entry ], [ %next, %again ]
              %k = phi i64 [ %first, %entry ], [ %on, %again ]
              {head}
            more: %none = icmp eq i64 %rest, 0
              br i1 %none, label %end, label %looks
            looks: %here = call i64 @llvm.umin.i64(i64 %rest, i64 32)
              %next = sub nuw i64 %rest, %here
              {looks}
              br i1 %has, label %takes, label %again
            takes: %p = getelementptr i64, ptr %to, i64 %k
              store i64 %rest, ptr %p
              %k.more = add i64 %k, {by}
              br label %again
            again: %on = phi i64 [ %k, %looks ], [ %k.more, %takes ]
              {again}
            end: ret void
            }}"
        );
        let context = Context::create();
        let module =
            parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        chunk(&context, &module, &SimpleForm::of(&machine)).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    const ASKS: &str = "%go = icmp ult i64 %k, %n\n br i1 %go, label %more, label %end";
    const HAS: &str = "%has = icmp ugt i64 %rest, %lane";
    const PLAIN: &str = "br label %loop";

    /// How many loops take elements, and how many ask whether there is one.
    fn shape(ir: &str) -> (usize, usize) {
        let count = |text: &str| ir.matches(text).count();
        (count("store i64"), count("icmp ugt i64 %rest, %lane"))
    }

    #[test]
    fn whole_chunks_have_a_loop_that_searches_for_nothing() {
        let ir = parted(ASKS, HAS, "%step", PLAIN);
        assert_eq!(shape(&ir), (2, 1), "{ir}");
        // It is left where the limit is, and then the loop's own question is asked.
        assert!(ir.contains("mul i64") && ir.matches(", %n\n").count() == 2, "{ir}");
        // What nothing else ends counts its chunks.
        let ir = parted("br label %more", HAS, "%step", PLAIN);
        assert_eq!((shape(&ir), ir.contains("mul i64")), ((2, 1), false), "{ir}");
    }

    #[test]
    fn a_step_that_is_at_most_a_constant_is_that_in_the_copy() {
        let ir = parted(ASKS, HAS, "%by.warp", PLAIN);
        assert_eq!((shape(&ir).0, ir.matches(", 32\n").count() >= 3), (2, true), "{ir}");
        assert_eq!(ir.matches("add i64 %k, %by.warp").count(), 1, "{ir}");
    }

    #[test]
    fn others_stay_as_they_are() {
        for (head, looks, by, again) in [
            // The step or the bound changes, or it ends by something else.
            (ASKS, HAS, "%rest", PLAIN),
            ("%go = icmp ult i64 %k, %rest\n br i1 %go, label %more, label %end", HAS, "%step", PLAIN),
            ("%go = icmp ne i64 %k, %n\n br i1 %go, label %more, label %end", HAS, "%step", PLAIN),
            ("%go = icmp ule i64 %k, %n\n br i1 %go, label %more, label %end", HAS, "%step", PLAIN),
            // The head is seen to be run.
            (
                "store i64 %k, ptr %to\n %go = icmp ult i64 %k, %n\n br i1 %go, label %more, label %end",
                HAS,
                "%step",
                PLAIN,
            ),
            // Nothing is asked of the length, or it ends by two numbers.
            (ASKS, "%has = icmp ugt i64 %k, %lane", "%step", PLAIN),
            (ASKS, HAS, "%step", "%over = icmp eq i64 %on, %lane\n br i1 %over, label %end, label %loop"),
        ] {
            let ir = parted(head, looks, by, again);
            assert_eq!(ir.matches("store i64 %rest").count(), 1, "{head} {looks} {by} {again}: {ir}");
        }
    }
}
