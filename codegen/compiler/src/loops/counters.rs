//! Has loops count their rounds in 32 bits where there are never more, and lets those be unrolled that do a little more than
//! LLVM unrolls.
//!
//! ```text
//! before: br i1 (icmp eq i64 %n, 0), label %end, label %before        ; %n = lshr i64 (zext i32 %width), 8
//!         loop: %more = phi i64 [ %n, %before ], [ %less, %loop ]     ; which nothing else uses
//!               br i1 (icmp eq i64 (add i64 %more, -1), 0), label %end, label %loop
//! after:  loop: %more = phi i32 [ (trunc i64 %n), %before ], [ %less, %loop ]
//! ```
//!
//! A counter of 64 bits takes four instructions a round where one of 32 takes two, and as many again in each of the tests that
//! LLVM and ptxas write around a loop that they unroll.
//!
//! So it is where a round may also end the loop for another reason, as each of `(0..n).take_while(…)` does: then for a constant
//! number of rounds, too, because LLVM does not count them.
//!
//! LLVM unrolls what is longer by two, or not at all, and nvcc by four: so with random numbers, where a round is thirty
//! instructions of arithmetic and its counter two.
//!
//! A loop that goes on by a constant step, `while i < width { sum += row[i]; i += 256 }`, LLVM counts, but takes that for too dear
//! where it would unroll it, and ptxas by itself unrolls it by four. nvcc's LLVM unrolls it by four, and ptxas that by four: eight
//! loads at once of a row of 2,048, where a block waited twice for four. A loop that LLVM was told to unroll, ptxas is told not to;
//! here it may. A layer norm took .84 of nvcc's speed before, and .89 with it. Only where a round has one load: with two, as of a
//! dot product, there are enough of them, and the rounds that are left over cost more than is gained.
//!
//! Sound: where the loop is reached, the number of its rounds is not 0 and has 32 bits. It counts down to 0, or up
//! from 0, as before, and nobody else looks at what it counts. There it ends, if it has not ended before. Where it
//! compares the number of this round, counted up from 0, the end may be 0: it is met before the counter passes the
//! largest number.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntPredicate, IntValue, Module, Unroll, Use,
};
use crate::settled;

use super::branches::{Branch, is_convergent};
use super::natural::{Graph, Loop, SimpleForm};

/// How deep the number of rounds may be computed.
const MOST_STEPS: u32 = 8;

/// Instructions of a round that LLVM would unroll by two, for CPUs' sake.
const MOST_INSTRUCTIONS: usize = 30;

/// The same of a round that only computes: random numbers, a hash.
const MOST_OF_ARITHMETIC: usize = 40;

/// Rounds at a time, as LLVM unrolls short loops.
pub(super) const ROUNDS: u32 = 4;

/// Shortens the counters of every function's loops.
pub fn shorten<'ctx>(context: &'ctx Context, module: &Module<'ctx>, form: &SimpleForm<'_>) -> Result<()> {
    form.give(module)?;
    for function in settled::open_and_fast(module) {
        for found in Graph::of(function).innermost() {
            let counter = Counter::of(function, &found);
            if let Some(counter) = &counter {
                form.lose();
                counter.shorten(context).map_err(|error| {
                    Diagnostic::error(Code::LlvmFailed, format!("cannot shorten the counter of a loop: {error}"))
                })?;
            }
            let is_shortened = counter.is_some_and(|counter| !counter.is_of_several);
            let unroll = unrolled(context, &found, is_shortened);
            if let Some(unroll) = unroll {
                llvm::set_unroll(context, &found.jumps_back(), unroll);
            }
        }
    }
    Ok(())
}

/// How a loop is to be unrolled, if it is worth it.
fn unrolled(context: &Context, found: &Loop<'_>, is_shortened: bool) -> Option<Unroll> {
    let loads_are_worth = || is_worth_unrolling(context, found, MOST_INSTRUCTIONS, llvm::is_plain_load);
    if is_shortened {
        return loads_are_worth().then_some(Unroll::By(ROUNDS));
    }
    if is_stepped(found) && loads(found) == 1 {
        return loads_are_worth().then_some(Unroll::AtLeast(ROUNDS));
    }
    let is_arithmetic = is_counted(found)
        && found.head.get_instructions().all(computes)
        && is_worth_unrolling(context, found, MOST_OF_ARITHMETIC, computes);
    is_arithmetic.then_some(Unroll::By(ROUNDS))
}

/// Lets ptxas unroll the loops further that were to be unrolled so often at least, when LLVM has done so. Not what LLVM has left
/// of them for the last rounds.
pub fn unroll_on<'ctx>(context: &'ctx Context, module: &Module<'ctx>) {
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 1) {
        for found in Graph::of(function).innermost() {
            let jumps = found.jumps_back();
            if llvm::unroll_may_go_on(context, &jumps) && loads(&found) >= ROUNDS as usize {
                llvm::forget_loop(context, &jumps);
            }
        }
    }
}

/// How often the first block of a loop loads.
pub(super) fn loads(found: &Loop<'_>) -> usize {
    found.head.get_instructions().filter(|from| llvm::is_plain_load(*from)).count()
}

/// Whether an instruction does nothing but compute.
fn computes(instruction: InstructionValue<'_>) -> bool {
    matches!(instruction.get_opcode(), Op::Phi | Op::Br) || llvm::is_pure(instruction)
}

/// Whether a loop has one block with something that makes it worth it, and is not too long.
fn is_worth_unrolling<'ctx>(
    context: &Context,
    found: &Loop<'ctx>,
    most: usize,
    makes_worth: impl Fn(InstructionValue<'ctx>) -> bool,
) -> bool {
    let [block] = found.blocks[..] else { return false };
    let instructions = || block.get_instructions();
    let jumps = found.jumps_back();
    instructions().count() <= most
        && instructions().any(makes_worth)
        && !instructions().any(|instruction| instruction.get_opcode() == Op::FDiv || is_convergent(instruction))
        && !llvm::unroll_is_disabled(context, &jumps)
        && !llvm::unroll_was_asked(context, &jumps)
}

/// Whether a loop of one block counts its rounds by ones, up or down, to a number that it does not change and that is not
/// known.
fn is_counted(found: &Loop<'_>) -> bool {
    let Some(branch) = Branch::of(found.head) else { return false };
    let by_one = || {
        let sum = branch.left.as_instruction_value().filter(|sum| sum.get_opcode() == Op::Add)?;
        let step = llvm::int_operand(sum, 1)?.get_sign_extended_constant()?;
        let (first, next) = found.incoming(llvm::int_operand(sum, 0)?)?;
        let is_known = branch.right.is_const() && first.into_int_value().is_const();
        Some(matches!(step, 1 | -1) && next == BasicValueEnum::from(branch.left) && !is_known)
    };
    let is_end = matches!(branch.predicate, IntPredicate::EQ | IntPredicate::NE);
    is_end && found.is_invariant(branch.right.into()) && by_one() == Some(true)
}

/// Whether a loop of one block goes on by a constant step, while it is below a number that it does not change.
fn is_stepped(found: &Loop<'_>) -> bool {
    let Some(branch) = Branch::of(found.head) else { return false };
    let by_step = || {
        let sum = branch.left.as_instruction_value().filter(|sum| sum.get_opcode() == Op::Add)?;
        let step = llvm::int_operand(sum, 1)?.get_zero_extended_constant()?;
        let (_, next) = found.incoming(llvm::int_operand(sum, 0)?)?;
        let is_next = next == BasicValueEnum::from(branch.left) && llvm::has_no_unsigned_wrap(sum);
        Some(is_next && step > 1 && step.is_power_of_two())
    };
    let goes_on = branch.predicate == IntPredicate::ULT && branch.then == found.head;
    goes_on && found.is_invariant(branch.right.into()) && by_step() == Some(true)
}

/// A counter that only decides when a loop ends.
struct Counter<'ctx> {
    phi: InstructionValue<'ctx>,
    before: BasicBlock<'ctx>,
    latch: BasicBlock<'ctx>,
    rounds: IntValue<'ctx>,
    /// It counts down to 0; else, up from 0.
    down: bool,
    /// Whether it is at its end.
    compared: InstructionValue<'ctx>,
    predicate: IntPredicate,
    /// The loop goes on where something else holds, too.
    is_of_several: bool,
    /// What is compared is the number of this round, not of the next one: there is one round more than is counted.
    is_last: bool,
}

impl<'ctx> Counter<'ctx> {
    fn of(function: FunctionValue<'ctx>, found: &Loop<'ctx>) -> Option<Self> {
        let [latch] = found.latches[..] else { return None };
        let before = Graph::of(function).block_before(found)?;
        Branch::parts(latch, found.head).into_iter().flatten().find_map(|part| Self::by(found, latch, before, &part))
    }

    fn by(
        found: &Loop<'ctx>,
        latch: BasicBlock<'ctx>,
        before: BasicBlock<'ctx>,
        branch: &Branch<'ctx>,
    ) -> Option<Self> {
        let is_wide = branch.left.get_type().get_bit_width() == 64;
        if !is_wide || !matches!(branch.predicate, IntPredicate::EQ | IntPredicate::NE) {
            return None;
        }
        let (number, end) = if found.is_invariant(branch.left.into()) {
            (branch.right, branch.left)
        } else {
            (branch.left, branch.right)
        };
        let counted = Counted::of(found, number)?;
        let is_0 = |value: IntValue<'ctx>| value.get_zero_extended_constant() == Some(0);
        let (rounds, down) = match counted.step {
            -1 if is_0(end) && !counted.is_last => (counted.first, true),
            1 if is_0(counted.first) && found.is_invariant(end.into()) => (end, false),
            _ => return None,
        };
        let compared = branch.condition;
        let is_of_several = llvm::int_operand(latch.get_terminator()?, 0)?.as_instruction_value()? != compared;
        let ends = (branch.predicate == IntPredicate::NE) == (branch.then == found.head);
        let counts = counted.is_seen_by(compared) && (ends || !is_of_several);
        let few = most(rounds, MOST_STEPS).is_some_and(|most| most <= u64::from(u32::MAX));
        let some = match rounds.get_zero_extended_constant() {
            // The first number is compared, too.
            _ if counted.is_last => ends && !is_of_several,
            Some(constant) => is_of_several && constant != 0,
            None => is_not_0(before, rounds),
        };
        let (predicate, Counted { phi, is_last, .. }) = (branch.predicate, counted);
        let counter = Self { phi, before, latch, rounds, down, compared, predicate, is_of_several, is_last };
        (counts && few && some).then_some(counter)
    }

    fn shorten(&self, context: &'ctx Context) -> std::result::Result<(), BuilderError> {
        let Some(begins) = self.before.get_terminator() else { return Ok(()) };
        let builder = context.create_builder();
        let narrow = context.i32_type();
        builder.position_before(&begins);
        let rounds = builder.build_int_truncate(self.rounds, narrow, "")?;
        let zero = narrow.const_zero();
        let (first, end, step) = if self.down {
            (rounds, zero, narrow.const_all_ones())
        } else {
            (zero, rounds, narrow.const_int(1, false))
        };
        builder.position_before(&self.phi);
        let phi = builder.build_phi(narrow, "")?;
        builder.position_before(&self.compared);
        let next = builder.build_int_add(phi.as_basic_value().into_int_value(), step, "")?;
        phi.add_incoming(&[(&first, self.before), (&next, self.latch)]);
        let number = if self.is_last { phi.as_basic_value().into_int_value() } else { next };
        let compared = builder.build_int_compare(self.predicate, number, end, "")?;
        llvm::replace_uses(self.compared, compared.into());
        Ok(())
    }
}

/// A number of which a loop computes the next one from the last.
struct Counted<'ctx> {
    phi: InstructionValue<'ctx>,
    next: InstructionValue<'ctx>,
    first: IntValue<'ctx>,
    step: i64,
    /// It is asked for the number of this round, not of the next one.
    is_last: bool,
}

impl<'ctx> Counted<'ctx> {
    fn of(found: &Loop<'ctx>, number: IntValue<'ctx>) -> Option<Self> {
        let again = found.incoming(number).map(|(_, again)| again);
        let next = if let Some(BasicValueEnum::IntValue(next)) = again { next } else { number };
        let sum = next.as_instruction_value().filter(|sum| sum.get_opcode() == Op::Add)?;
        let (phi, step) = (llvm::int_operand(sum, 0)?, llvm::int_operand(sum, 1)?.get_sign_extended_constant()?);
        let (BasicValueEnum::IntValue(first), again) = found.incoming(phi)? else { return None };
        let is_one = again == BasicValueEnum::from(next) && (number == next || number == phi);
        let counted = Self { phi: phi.as_instruction_value()?, next: sum, first, step, is_last: number == phi };
        is_one.then_some(counted)
    }

    /// Whether only a comparison looks at it, which only one branch looks at.
    fn is_seen_by(&self, compared: InstructionValue<'ctx>) -> bool {
        users(self.phi).iter().all(|user| *user == self.next || self.is_last && *user == compared)
            && users(self.next).iter().all(|user| *user == self.phi || !self.is_last && *user == compared)
            && users(compared).len() == 1
    }
}

pub(super) fn users(value: InstructionValue<'_>) -> Vec<InstructionValue<'_>> {
    let of = |user| match user {
        Use::Instruction(user) => Some(user),
        Use::Global(_) => None,
    };
    llvm::uses(&value).into_iter().filter_map(of).collect()
}

/// Whether a block is reached only where a number is not 0.
pub(super) fn is_not_0<'ctx>(block: BasicBlock<'ctx>, number: IntValue<'ctx>) -> bool {
    let [asks] = llvm::predecessors(block)[..] else { return false };
    Branch::of(asks).is_some_and(|branch| {
        let not_0 = match branch.predicate {
            IntPredicate::EQ => branch.other,
            IntPredicate::NE => branch.then,
            _ => return false,
        };
        branch.left == number && branch.right.get_zero_extended_constant() == Some(0) && not_0 == block
    })
}

/// What a number without sign is at most, as far as it is seen.
pub fn most(value: IntValue<'_>, steps: u32) -> Option<u64> {
    if let Some(constant) = value.get_zero_extended_constant() {
        return Some(constant);
    }
    let from = value.as_instruction_value().filter(|_| steps > 0)?;
    let of = |index| most(llvm::int_operand(from, index)?, steps - 1);
    match from.get_opcode() {
        Op::ZExt => {
            let bits = llvm::int_operand(from, 0)?.get_type().get_bit_width();
            of(0).or((bits < 64).then(|| (1 << bits) - 1))
        }
        Op::And => of(0).into_iter().chain(of(1)).min(),
        Op::LShr => {
            let by = u32::try_from(llvm::int_operand(from, 1)?.get_zero_extended_constant()?).ok()?;
            let all = u64::MAX >> (64 - value.get_type().get_bit_width().min(64));
            of(0).unwrap_or(all).checked_shr(by)
        }
        Op::UDiv => of(0),
        Op::Add => of(0)?.checked_add(of(1)?),
        Op::Mul => of(0)?.checked_mul(of(1)?),
        Op::Select => Some(of(1)?.max(of(2)?)),
        Op::Call => {
            let name = llvm::called_function(from)?.get_name().to_string_lossy().into_owned();
            match name.strip_suffix(".i64")? {
                "llvm.usub.sat" => of(0),
                "llvm.umin" => of(0).into_iter().chain(of(1)).min(),
                "llvm.umax" => Some(of(0)?.max(of(1)?)),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::parse_ir;
    use crate::request::OptLevel;

    fn shorten<'ctx>(context: &'ctx Context, module: &Module<'ctx>) {
        let arch: Arch = "sm_90".parse().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        super::shorten(context, module, &SimpleForm::of(&machine)).unwrap();
    }

    fn after_shorten(text: &str) -> String {
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        shorten(&context, &module);
        module.verify().unwrap();
        module.print_to_string().to_string()
    }

    /// A loop of `rounds` rounds that counts as `step` and `ends` say, after [`shorten`].
    fn shortened(rounds: &str, guard: &str, first: &str, step: &str, ends: &str, more: &str) -> String {
        let text = format!(
            "declare i64 @llvm.usub.sat.i64(i64, i64)
            define void @f(ptr %from, ptr %to, i32 %width, i64 %wide, i64 %t) {{
            entry: %w = zext i32 %width to i64
              %left = call i64 @llvm.usub.sat.i64(i64 %w, i64 %t)
              %up = add nuw i64 %left, 255
              %n = {rounds}
              %none = {guard}
              br i1 %none, label %out, label %before
            before: br label %loop
            loop: %k = phi i64 [ {first}, %before ], [ %next, %loop ]
              %at = phi ptr [ %from, %before ], [ %behind, %loop ]
              %x = load float, ptr %at
              {more}
              store volatile float %x, ptr %to
              %behind = getelementptr i8, ptr %at, i64 1024
              %next = add i64 %k, {step}
              %ends = icmp eq i64 %next, {ends}
              br i1 %ends, label %out, label %loop
            out: ret void
            }}"
        );
        after_shorten(&text)
    }

    const ROUNDS_OF_WIDTH: &str = "lshr i64 %up, 8";
    const GUARD: &str = "icmp eq i64 %n, 0";

    #[test]
    fn a_counter_of_few_rounds_has_32_bits() {
        let ir = shortened(ROUNDS_OF_WIDTH, GUARD, "%n", "-1", "0", "");
        assert!(ir.contains("trunc i64 %n to i32") && ir.contains("phi i32") && ir.contains("icmp eq i32"), "{ir}");
        assert!(ir.contains("!\"llvm.loop.unroll.count\", i32 4"), "{ir}");
        let ir = shortened("and i64 %wide, 4294967295", GUARD, "0", "1", "%n", "");
        assert!(ir.contains("phi i32 [ 0, %before ]") && ir.contains("add i32 %"), "{ir}");
    }

    #[test]
    fn the_number_of_this_round_may_be_compared() {
        let text = |rounds: &str, compared: &str, targets: &str| {
            after_shorten(&format!(
                "define void @f(ptr %from, ptr %to, i32 %width, i64 %wide) {{
                entry: %end = {rounds}
                  br label %loop
                loop: %k = phi i64 [ 0, %entry ], [ %next, %loop ]
                  %at = getelementptr i8, ptr %from, i32 %width
                  %x = load float, ptr %at
                  store volatile float %x, ptr %to
                  %next = add i64 %k, 1
                  %ends = icmp eq i64 {compared}, %end
                  br i1 %ends, label {targets}
                out: ret void
                }}"
            ))
        };
        let (end, targets) = ("zext i32 %width to i64", "%out, label %loop");
        let ir = text(end, "%k", targets);
        assert!(ir.contains("phi i32 [ 0, %entry ]") && ir.contains("icmp eq i32"), "{ir}");
        // It may be more, it is one round less and may be none, or it ends where it should go on.
        for (rounds, compared, targets) in
            [("add i64 %wide, 0", "%k", targets), (end, "%next", targets), (end, "%k", "%loop, label %out")]
        {
            assert!(!text(rounds, compared, targets).contains("phi i32"), "{rounds} {compared} {targets}");
        }
    }

    #[test]
    fn loops_that_divide_or_are_long_are_not_unrolled() {
        let long: String = (0..30).map(|at| format!("%a{at} = fadd float %x, {at}.0\n")).collect();
        for more in ["%q = fdiv float %x, 3.0", &long] {
            let ir = shortened(ROUNDS_OF_WIDTH, GUARD, "%n", "-1", "0", more);
            assert!(ir.contains("phi i32") && !ir.contains("unroll"), "{ir}");
        }
    }

    /// A loop by a step, after [`shorten`].
    fn stepped(step: &str, predicate: &str, more: &str) -> String {
        let text = format!(
            "define float @f(ptr %row, ptr %x, i64 %first, i64 %n) {{
            entry: br label %loop
            loop: %i = phi i64 [ %first, %entry ], [ %next, %loop ]
              %sum = phi float [ 0.0, %entry ], [ %added, %loop ]
              %at = getelementptr float, ptr %row, i64 %i
              %a = load float, ptr %at
              {more}
              %added = fadd float %sum, %a
              %next = {step}
              %goes = icmp {predicate} i64 %next, %n
              br i1 %goes, label %loop, label %out
            out: ret float %added
            }}"
        );
        after_shorten(&text)
    }

    const MAY_GO_ON: &str = "!\"rust-ptx.unroll.more\"";

    #[test]
    fn a_loop_by_a_constant_step_is_unrolled_at_least_by_four() {
        let ir = stepped("add nuw i64 %i, 256", "ult", "");
        assert!(ir.contains("!\"llvm.loop.unroll.count\", i32 4") && ir.contains(MAY_GO_ON), "{ir}");
        for (step, predicate, more) in [
            // LLVM counts each round, would have to divide, does not see that it ends, or has enough loads.
            ("add nuw i64 %i, 1", "ult", ""),
            ("add nuw i64 %i, 96", "ult", ""),
            ("add i64 %i, 256", "ult", ""),
            ("add nuw i64 %i, 256", "ne", ""),
            ("add nuw i64 %i, 256", "ult", "%b = load float, ptr %x"),
        ] {
            let ir = stepped(step, predicate, more);
            assert!(!ir.contains("unroll.count"), "{ir}");
        }
    }

    #[test]
    fn ptxas_may_unroll_on_what_was_unrolled() {
        let unrolled = |loads: usize, marks: &str| {
            let loads: String = (0..loads).map(|at| format!("%x{at} = load float, ptr %row\n")).collect();
            let text = format!(
                "define void @f(ptr %row, i1 %c) {{
                entry: br label %loop
                loop: {loads}
                  br i1 %c, label %loop, label %out, !llvm.loop !0
                out: ret void
                }}
                !0 = distinct !{{!0, !1{marks}}}
                !1 = !{{!\"llvm.loop.unroll.disable\"}}
                !2 = !{{!\"rust-ptx.unroll.more\"}}"
            );
            let context = Context::create();
            let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
            unroll_on(&context, &module);
            module.verify().unwrap();
            let function = module.get_function("f").unwrap();
            !llvm::AnyValue::print_to_string(&function).to_string().contains("!llvm.loop")
        };
        assert!(unrolled(4, ", !2"));
        // The rounds that are left over; and what a user has asked for.
        assert!(!unrolled(1, ", !2") && !unrolled(4, ""));
    }

    /// Whether a loop of so many products that counts to `end` is to be unrolled.
    fn unrolls_arithmetic(products: usize, end: &str, more: &str) -> bool {
        let product = |at: usize| format!("%p{at} = mul i32 %x, {at}\n %s{at} = xor i32 %p{at}, %x\n");
        let text = format!(
            "define i32 @f(i32 %seed, i32 %n, ptr %to) {{
            entry: br label %loop
            loop: %k = phi i32 [ 0, %entry ], [ %next, %loop ]
              %x = phi i32 [ %seed, %entry ], [ %s1, %loop ]
              {}
              {more}
              %next = add i32 %k, 1
              %ends = icmp eq i32 %next, {end}
              br i1 %ends, label %out, label %loop
            out: ret i32 %s1
            }}",
            (1..=products).map(product).collect::<String>()
        );
        after_shorten(&text).contains("!\"llvm.loop.unroll.count\", i32 4")
    }

    #[test]
    fn counted_arithmetic_is_unrolled_by_four() {
        assert!(unrolls_arithmetic(16, "%n", ""));
        // A constant number of rounds is LLVM's, too long, ended by what it computes, or seen by others.
        assert!(!unrolls_arithmetic(16, "64", ""));
        assert!(!unrolls_arithmetic(20, "%n", ""));
        assert!(!unrolls_arithmetic(16, "%s1", ""));
        assert!(!unrolls_arithmetic(16, "%n", "store volatile i32 %x, ptr %to"));
    }

    /// A loop of at most 256 rounds that goes on as `condition` says, after [`shorten`].
    fn shortened_of_several(condition: &str, targets: &str) -> String {
        let text = format!(
            "define void @f(ptr %to) {{
            entry: br label %loop
            loop: %k = phi i64 [ 256, %entry ], [ %next, %loop ]
              %x = load volatile float, ptr %to
              %small = fcmp ole float %x, 4.0
              %next = add i64 %k, -1
              %more = icmp ne i64 %next, 0
              %goes = {condition}
              br i1 %goes, label {targets}
            out: ret void
            }}"
        );
        after_shorten(&text)
    }

    #[test]
    fn a_loop_may_end_for_another_reason_too() {
        for condition in ["and i1 %more, %small", "select i1 %small, i1 %more, i1 false"] {
            let ir = shortened_of_several(condition, "%loop, label %out");
            assert!(ir.contains("phi i32 [ 256, %entry ]") && ir.contains("icmp ne i32"), "{ir}");
            assert!(!ir.contains("unroll"), "{ir}");
        }
        for (condition, targets) in [
            // It may go on where the counter is at its end.
            ("or i1 %more, %small", "%loop, label %out"),
            ("and i1 %more, %small", "%out, label %loop"),
            // It goes on only there.
            ("or i1 %more, %small", "%out, label %loop"),
        ] {
            let ir = shortened_of_several(condition, targets);
            assert!(!ir.contains("phi i32"), "{ir}");
        }
    }

    #[test]
    fn others_keep_64_bits() {
        for (rounds, guard, first, step, ends, more) in [
            // As many rounds as there may be, or one more than 32 bits have.
            ("lshr i64 %wide, 8", GUARD, "%n", "-1", "0", ""),
            ("add nuw i64 %w, 1", GUARD, "%n", "-1", "0", ""),
            // There may be none, which would be 2^64.
            (ROUNDS_OF_WIDTH, "icmp eq i64 %left, 7", "%n", "-1", "0", ""),
            (ROUNDS_OF_WIDTH, "icmp ne i64 %n, 0", "%n", "-1", "0", ""),
            // Another step, another end, another user.
            (ROUNDS_OF_WIDTH, GUARD, "%n", "-2", "0", ""),
            (ROUNDS_OF_WIDTH, GUARD, "%n", "-1", "1", ""),
            (ROUNDS_OF_WIDTH, GUARD, "1", "1", "%n", ""),
            (ROUNDS_OF_WIDTH, GUARD, "%n", "-1", "0", "store volatile i64 %k, ptr %to"),
        ] {
            let ir = shortened(rounds, guard, first, step, ends, more);
            assert!(!ir.contains("phi i32"), "{ir}");
        }
    }
}
