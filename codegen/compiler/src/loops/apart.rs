//! Takes rounds into a loop that are written out before it.
//!
//! ```text
//! before: first: %x = load float, ptr %p                              ; `x.iter().skip(t).step_by(n).sum()`
//!                %s = fadd float %x, 0.0
//!                %p.next = getelementptr i8, ptr %p, i64 1028
//!                br i1 (icmp ult i64 (%end - %p.next), 1024), label %out, label %loop
//!         loop:  %q = phi ptr [ %p.next, %first ], [ %q.next, %loop ]
//!                %sum = phi float [ %s, %first ], [ %more, %loop ]
//!                %y = load float, ptr (getelementptr i8, ptr %q, i64 -4)
//!                %more = fadd float %sum, %y
//!                %q.next = getelementptr i8, ptr %q, i64 1024
//!                br i1 (icmp ult i64 (%end - %q.next), 1024), label %out, label %loop
//! after:  first: br label %loop
//!         loop:  %r = phi ptr [ %p, %first ], [ %r.next, %loop ]
//!                %sum = phi float [ 0.0, %first ], [ %more, %loop ]
//!                %y = load float, ptr %r
//!                …
//! ```
//!
//! The standard library gives away the first element of such an iterator, or the first two, by code of their own. Where a block
//! goes through a row of a thousand elements, each thread has four: two of them came one after the other, and then a loop of
//! two, which was not worth unrolling. As a loop of four they are loaded at once.
//!
//! **Why it is right.** The block computes what a round of the loop would, if its phis began with other values; these are found
//! by comparing both, from what they compute to what they compute it of. So the loop may begin a round earlier: it goes on, or
//! ends, as the block does, with the same values. Nothing is stored, and what is loaded was. A promise of an instruction in the
//! loop (`inbounds`, `nuw`) must be one of the block's, too, or goes.
//!
//! Where both compare what is left of a slice with a number of bytes, these numbers may differ, as 1021 and 1024 do, if what
//! is left is seen to be a multiple of an element's size.

use std::collections::HashMap;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue,
    InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue, Module,
};
use crate::settled;

use super::branches::is_quiet;
use super::limits::opposite;
use super::natural::{Graph, Loop, SimpleForm};
use super::{best, meetings};

/// Instructions of a round.
const MOST_INSTRUCTIONS: usize = 60;

/// Rounds that are written out, at most.
const MOST_ROUNDS: usize = 3;

/// How deep values are looked into.
const MOST_STEPS: u32 = 24;

/// Blocks that only lead on, between the round and the loop.
const MOST_BLOCKS: usize = 4;

/// What removes what is no longer asked or loaded.
const CLEAN: &str = "instcombine<no-verify-fixpoint>,simplifycfg,adce";

/// Does so in every function.
pub fn take_in<'ctx>(context: &'ctx Context, module: &Module<'ctx>, form: &SimpleForm<'_>) -> Result<()> {
    form.give(module)?;
    for function in settled::open_and_fast(module) {
        let mut any = false;
        for _ in 0..MOST_ROUNDS {
            let failed = |error| Diagnostic::error(Code::LlvmFailed, format!("cannot begin a loop earlier: {error}"));
            if !rewrite(context, function).map_err(failed)? {
                break;
            }
            any = true;
        }
        if any {
            form.lose();
            llvm::run_passes_on_function(function, form.machine, CLEAN).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("LLVM's passes `{CLEAN}` failed: {error}"))
            })?;
        }
    }
    form.give(module)
}

fn rewrite<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> std::result::Result<bool, BuilderError> {
    let graph = Graph::of(function);
    let mut any = false;
    for found in graph.innermost() {
        if let Some(round) = Round::of(&graph, &found) {
            round.take(context)?;
            any = true;
        }
    }
    Ok(any)
}

/// A value, and what is added to it: bytes to an address, or a number to a number.
type Sum<'ctx> = (BasicValueEnum<'ctx>, i64);

/// A round before a loop, as compared with the loop's.
#[derive(Clone)]
struct Round<'a, 'ctx> {
    found: &'a Loop<'ctx>,
    /// What jumps to the loop.
    before: BasicBlock<'ctx>,
    /// Where the round is, and its branch.
    block: BasicBlock<'ctx>,
    branch: InstructionValue<'ctx>,
    /// Whether the branch goes on to the loop where its condition holds.
    goes_on: bool,
    /// What the loop's phis would begin with.
    first: HashMap<InstructionValue<'ctx>, Sum<'ctx>>,
    /// Of what the loop computes, what the block computes.
    same: HashMap<InstructionValue<'ctx>, BasicValueEnum<'ctx>>,
    /// Sums of the loop whose promises are none of the block's.
    weaker: Vec<InstructionValue<'ctx>>,
}

impl<'a, 'ctx> Round<'a, 'ctx> {
    fn of(graph: &Graph<'ctx>, found: &'a Loop<'ctx>) -> Option<Self> {
        let ([head], [latch]) = (&found.blocks[..], &found.latches[..]) else { return None };
        let end = latch.get_terminator().filter(|_| head == latch)?;
        let (then, other) = llvm::branch_targets(end)?;
        let stays = then == *head;
        let outside = if stays { other } else { then };
        if stays == (other == *head) || head.get_instructions().count() > MOST_INSTRUCTIONS || !only_reads(*head) {
            return None;
        }
        let before = graph.block_before(found)?;
        let (block, branch, goes_on, elsewhere) = question(before)?;
        let (first, same, weaker) = (HashMap::new(), HashMap::new(), Vec::new());
        let mut round = Self { found, before, block, branch, goes_on, first, same, weaker };
        round.compare(end, stays, outside, elsewhere).then_some(round)
    }

    /// Whether the block computes what a round would.
    fn compare(
        &mut self,
        end: InstructionValue<'ctx>,
        stays: bool,
        outside: BasicBlock<'ctx>,
        elsewhere: BasicBlock<'ctx>,
    ) -> bool {
        let (head, block) = (self.found.head, self.block);
        let (Some(ours), Some(theirs)) = (llvm::int_operand(end, 0), llvm::int_operand(self.branch, 0)) else {
            return false;
        };
        let from = self.before;
        let begins =
            |phi: InstructionValue<'ctx>| Some((llvm::incoming_from(phi, head)?, llvm::incoming_from(phi, from)?));
        let Some(next) = llvm::phis(head).map(begins).collect::<Option<Vec<_>>>() else { return false };
        let leaves = |phi: InstructionValue<'ctx>| {
            let theirs = llvm::incoming_from(phi, block)?;
            let ours = if outside == elsewhere {
                llvm::incoming_from(phi, head)?
            } else {
                let passed = llvm::incoming_from(phi, outside)?;
                let kept = llvm::instruction_of(passed).filter(|kept| kept.get_parent() == Some(outside));
                kept.map_or(Some(passed), |kept| llvm::incoming_from(kept, head))?
            };
            Some((ours, theirs))
        };
        let leads_on = outside == elsewhere
            || outside.get_terminator().is_some_and(|end| llvm::block_operands(end)[..] == [elsewhere])
                && outside.get_instructions().all(|from| from.get_opcode() == Op::Phi || from.is_terminator());
        let Some(left) = llvm::phis(elsewhere).map(leaves).collect::<Option<Vec<_>>>() else { return false };
        leads_on
            && next.into_iter().chain(left).all(|(ours, theirs)| self.are_same(ours, theirs, MOST_STEPS))
            && self.ask_the_same((ours, stays), (theirs, self.goes_on))
            && head.get_instructions().all(|from| !llvm::is_plain_load(from) || self.same.contains_key(&from))
    }

    /// Whether the loop goes on, in what would be its first round, exactly where the block goes on to it.
    fn ask_the_same(&mut self, ours: (IntValue<'ctx>, bool), theirs: (IntValue<'ctx>, bool)) -> bool {
        if ours.1 == theirs.1 && self.are_same(ours.0.into(), theirs.0.into(), MOST_STEPS) {
            return true;
        }
        let compared = |(condition, goes_on): (IntValue<'ctx>, bool)| {
            let from = condition.as_instruction_value()?;
            let predicate = from.get_icmp_predicate().filter(|_| !llvm::promises(from).other)?;
            Some((
                if goes_on { predicate } else { opposite(predicate) },
                llvm::int_operand(from, 0)?,
                llvm::int_operand(from, 1)?,
            ))
        };
        let (Some((one, left, right)), Some((other, value, bound))) = (compared(ours), compared(theirs)) else {
            return false;
        };
        if one != other || !self.are_same(left.into(), value.into(), MOST_STEPS) {
            return false;
        }
        self.are_same(right.into(), bound.into(), MOST_STEPS) || is_alike(one, right, bound, value)
    }

    /// Whether a value of the loop would be one of the block.
    fn are_same(&mut self, ours: BasicValueEnum<'ctx>, theirs: BasicValueEnum<'ctx>, steps: u32) -> bool {
        if ours.get_type() != theirs.get_type() || steps == 0 {
            return false;
        }
        let Some(from) = llvm::instruction_of(ours).filter(|_| !self.found.is_invariant(ours)) else {
            return ours == theirs || sum(ours) == sum(theirs) && promises_nothing(ours);
        };
        if from.get_opcode() == Op::Phi {
            return self.begins(from, sum(theirs));
        }
        if let Some(known) = self.same.get(&from) {
            return sum(*known) == sum(theirs);
        }
        let kept = self.clone();
        if let Some(of) = llvm::instruction_of(theirs).filter(|of| are_alike(from, *of, self.block)) {
            let ours = llvm::value_operands(from).map(|(_, value)| value).collect::<Vec<_>>();
            let theirs = llvm::value_operands(of).map(|(_, value)| value).collect::<Vec<_>>();
            let mut is_same = |at: &[usize]| {
                ours.len() == theirs.len()
                    && at.iter().zip(&ours).all(|(at, value)| self.are_same(*value, theirs[*at], steps - 1))
            };
            let straight: Vec<usize> = (0..theirs.len()).collect();
            let mut all = is_same(&straight);
            if !all && theirs.len() >= 2 && commutes(from) {
                self.clone_from(&kept);
                // A call has the function behind them.
                let turned: Vec<usize> = [1, 0].into_iter().chain(2..theirs.len()).collect();
                all = turned.iter().zip(&ours).all(|(at, value)| self.are_same(*value, theirs[*at], steps - 1));
            }
            if all {
                self.same.insert(from, llvm::result(of));
                return true;
            }
            self.clone_from(&kept);
        }
        // The first number that is added: LLVM adds it to nothing.
        if let Some(nothing) = neutral(from)
            && self.adds_to(from, nothing, theirs, steps)
        {
            self.same.insert(from, theirs);
            return true;
        }
        self.clone_from(&kept);
        // A phi, and something added to it.
        let (base, more) = sum(ours);
        let phi = llvm::instruction_of(base).filter(|phi| phi.get_parent() == Some(self.found.head));
        let Some(phi) = phi.filter(|phi| phi.get_opcode() == Op::Phi && *phi != from) else { return false };
        let (of, theirs_more) = sum(theirs);
        let Some(begin) = theirs_more.checked_sub(more) else { return false };
        if !self.begins(phi, (of, begin)) {
            return false;
        }
        let mut at = from;
        while at != phi {
            self.weaker.push(at);
            let Some(next) = at.get_operand(0).and_then(|value| llvm::instruction_of(value.value()?)) else {
                return false;
            };
            at = next;
        }
        self.same.insert(from, theirs);
        true
    }

    /// Whether a value is added to a phi that begins with nothing.
    fn adds_to(
        &mut self,
        sum: InstructionValue<'ctx>,
        nothing: BasicValueEnum<'ctx>,
        theirs: BasicValueEnum<'ctx>,
        steps: u32,
    ) -> bool {
        let kept = self.clone();
        let operands: Vec<_> = llvm::value_operands(sum).map(|(_, value)| value).collect();
        let [one, other] = operands[..] else { return false };
        [(one, other), (other, one)].into_iter().any(|(of, added)| {
            let phi = llvm::instruction_of(of).filter(|phi| phi.get_parent() == Some(self.found.head));
            let is_sum = phi.is_some_and(|phi| phi.get_opcode() == Op::Phi && self.begins(phi, (nothing, 0)))
                && self.are_same(added, theirs, steps - 1);
            if !is_sum {
                self.clone_from(&kept);
            }
            is_sum
        })
    }

    /// Whether a phi may begin with this, for all that is computed of it.
    fn begins(&mut self, phi: InstructionValue<'ctx>, with: Sum<'ctx>) -> bool {
        *self.first.entry(phi).or_insert(with) == with
    }

    /// The phi that another one is a round later, if it is behind that one by the same in every round.
    fn lags(&self, phi: InstructionValue<'ctx>, next: BasicValueEnum<'ctx>) -> Option<(InstructionValue<'ctx>, i64)> {
        let other = llvm::instruction_of(next).filter(|other| other.get_parent() == Some(self.found.head))?;
        let is_other = other.get_opcode() == Op::Phi && other != phi;
        let (_, after) = self.found.incoming(llvm::result(other)).filter(|_| is_other)?;
        let (of, step) = sum(after);
        let ((one, behind), (same, ahead)) = (self.first.get(&phi)?, self.first.get(&other)?);
        let is_step = of == next && one == same && ahead.checked_sub(*behind) == Some(step);
        let is_wide = match next {
            BasicValueEnum::PointerValue(_) => true,
            BasicValueEnum::IntValue(number) => number.get_type().get_bit_width() == 64,
            _ => false,
        };
        (is_step && is_wide).then_some((other, -step))
    }

    /// Has the loop begin with the round.
    fn take(&self, context: &'ctx Context) -> std::result::Result<(), BuilderError> {
        let Self { found, before, branch, goes_on, first, weaker, .. } = self;
        let builder = context.create_builder();
        let Some(enters) = before.get_terminator() else { return Ok(()) };
        let Some(end) = found.head.get_terminator() else { return Ok(()) };
        let Some(body) = found.head.get_instructions().find(|from| from.get_opcode() != Op::Phi) else { return Ok(()) };
        let phis: Option<Vec<_>> = llvm::phis(found.head)
            .map(|phi| found.incoming(llvm::result(phi)).map(|(begin, next)| (phi, begin, next)))
            .collect();
        let Some(phis) = phis else { return Ok(()) };
        let (late, phis): (Vec<_>, Vec<_>) =
            phis.into_iter().partition(|(phi, _, next)| self.lags(*phi, *next).is_some());
        let mut written = Vec::new();
        for (phi, begin, next) in phis {
            // As far on that an address which is read is one of the slice's.
            let (at, more) = first.get(&phi).copied().unwrap_or((begin, 0));
            let ahead = if more == 0 { 0 } else { reads_behind(found, phi).unwrap_or(0) };
            builder.position_before(&phi);
            let new = builder.build_phi(llvm::result(phi).get_type(), "")?;
            builder.position_before(&enters);
            let begin = build_sum(context, &builder, (at, more.wrapping_add(ahead)))?;
            builder.position_before(&end);
            let next = build_sum(context, &builder, (next, ahead))?;
            new.add_incoming(&[(&begin, *before), (&next, found.head)]);
            written.push((phi, new.as_basic_value(), ahead));
        }
        for (phi, _, next) in late {
            let (other, by) = self.lags(phi, next).expect("it was asked before");
            builder.position_before(&body);
            let now = build_sum(context, &builder, (llvm::result(other), by))?;
            llvm::replace_uses(phi, now);
            phi.erase_from_basic_block();
        }
        for (phi, new, ahead) in &written {
            builder.position_before(&body);
            let now = build_sum(context, &builder, (*new, -ahead))?;
            llvm::replace_uses(*phi, now);
        }
        written.iter().for_each(|(phi, ..)| phi.erase_from_basic_block());
        for sum in weaker {
            forget_promises(&builder, *sum)?;
        }
        llvm::always_branch(context, *branch, *goes_on);
        llvm::forget_loop(context, &found.jumps_back());
        Ok(())
    }
}

/// How far behind an address of the loop it reads, if it does so at one place.
fn reads_behind<'ctx>(found: &Loop<'ctx>, phi: InstructionValue<'ctx>) -> Option<i64> {
    let mut places = found.head.get_instructions().filter(|from| llvm::is_plain_load(*from)).filter_map(|load| {
        let (base, more) = sum(load.get_operand(0)?.value()?);
        (base == llvm::result(phi)).then_some(more)
    });
    let place = places.next()?;
    places.all(|other| other == place).then_some(place)
}

/// Whether a block only computes and loads.
fn only_reads(block: BasicBlock<'_>) -> bool {
    block.get_instructions().all(is_quiet)
}

/// The branch above a loop, whether it goes there where its condition holds, and where else; between are blocks that only lead
/// on.
fn question<'ctx>(
    before: BasicBlock<'ctx>,
) -> Option<(BasicBlock<'ctx>, InstructionValue<'ctx>, bool, BasicBlock<'ctx>)> {
    let mut block = before;
    for _ in 0..MOST_BLOCKS {
        let [above] = llvm::predecessors(block)[..] else { return None };
        let branch = above.get_terminator()?;
        if !only_reads(block) || !only_reads(above) {
            return None;
        }
        if let Some((then, other)) = llvm::branch_targets(branch) {
            let goes_on = then == block;
            let is_known = llvm::int_operand(branch, 0).and_then(IntValue::get_zero_extended_constant);
            match is_known {
                Some(holds) if (holds == 1) == goes_on => {}
                Some(_) => return None,
                None => return Some((above, branch, goes_on, if goes_on { other } else { then })),
            }
        }
        block = above;
    }
    None
}

/// A value as a sum of another one and a constant.
fn sum(value: BasicValueEnum<'_>) -> Sum<'_> {
    let (mut at, mut more) = (value, 0_i64);
    for _ in 0..MOST_STEPS {
        let Some(from) = llvm::instruction_of(at) else { break };
        let next = match from.get_opcode() {
            Op::GetElementPtr => llvm::element_of(from).and_then(|(base, size, index)| {
                let bytes = index.get_sign_extended_constant()?.checked_mul(i64::try_from(size).ok()?)?;
                Some((base.into(), bytes))
            }),
            // Numbers of fewer bits may come round.
            Op::Add if llvm::int_operand(from, 0).is_some_and(|number| number.get_type().get_bit_width() == 64) => {
                let by = llvm::int_operand(from, 1).and_then(IntValue::get_sign_extended_constant);
                llvm::int_operand(from, 0).zip(by).map(|(number, by)| (number.into(), by))
            }
            _ => None,
        };
        let Some((base, by)) = next else { break };
        let Some(sum) = more.checked_add(by) else { break };
        (at, more) = (base, sum);
    }
    (at, more)
}

/// Whether a sum is a number or an address wherever what it is of is one.
fn promises_nothing(value: BasicValueEnum<'_>) -> bool {
    let mut at = value;
    let (base, _) = sum(value);
    while at != base {
        let Some(from) = llvm::instruction_of(at) else { return false };
        let Some(next) = from.get_operand(0).and_then(|operand| operand.value()) else { return false };
        if llvm::promises(from) != llvm::Promises::default() || llvm::is_in_bounds(from) {
            return false;
        }
        at = next;
    }
    true
}

fn build_sum<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    (value, more): Sum<'ctx>,
) -> std::result::Result<BasicValueEnum<'ctx>, BuilderError> {
    if more == 0 {
        return Ok(value);
    }
    Ok(match value {
        BasicValueEnum::PointerValue(address) => {
            let bytes = context.i64_type().const_int(more.cast_unsigned(), true);
            llvm::build_byte_distance(context, builder, address, bytes)?.into()
        }
        _ => {
            let number = value.into_int_value();
            builder.build_int_add(number, number.get_type().const_int(more.cast_unsigned(), true), "")?.into()
        }
    })
}

/// Writes a sum without what it promises.
fn forget_promises<'ctx>(
    builder: &Builder<'ctx>,
    sum: InstructionValue<'ctx>,
) -> std::result::Result<(), BuilderError> {
    builder.position_before(&sum);
    let first = sum.get_operand(0).and_then(|value| value.value()).expect("a sum is one of something");
    let new = match first {
        BasicValueEnum::PointerValue(address) => llvm::build_same_offset(builder, sum, address).into(),
        _ => {
            let by = llvm::int_operand(sum, 1).expect("it is a sum of numbers");
            builder.build_int_add(first.into_int_value(), by, "")?.into()
        }
    };
    if llvm::result(sum) != new {
        llvm::replace_uses(sum, new);
    }
    Ok(())
}

/// Whether an instruction of the loop may stand for one of the block, if what they are computed of is the same.
fn are_alike<'ctx>(ours: InstructionValue<'ctx>, theirs: InstructionValue<'ctx>, block: BasicBlock<'ctx>) -> bool {
    let (one, other) = (llvm::promises(ours), llvm::promises(theirs));
    let keeps = |ours: bool, theirs: bool| !ours || theirs;
    best::are_of_a_kind(ours, theirs)
        && llvm::is_rounded(ours) == llvm::is_rounded(theirs)
        && keeps(one.signed, other.signed)
        && keeps(one.unsigned, other.unsigned)
        && keeps(one.other, other.other)
        && keeps(llvm::is_in_bounds(ours), llvm::is_in_bounds(theirs))
        && keeps(llvm::is_in_bounds_above(ours), llvm::is_in_bounds_above(theirs))
        && match ours.get_opcode() {
            Op::Load => {
                // Nothing is stored between, as the block and the loop only read.
                theirs.get_parent() == Some(block)
                    && keeps(llvm::is_load_of_number(ours), llvm::is_load_of_number(theirs))
                    && ours.get_alignment().ok() <= theirs.get_alignment().ok()
            }
            Op::GetElementPtr => llvm::element_of(ours).is_some(),
            Op::Call => llvm::called_function(ours).is_some(),
            Op::Phi | Op::ExtractValue | Op::InsertValue | Op::ShuffleVector => false,
            _ => true,
        }
}

/// What a sum is nothing with.
fn neutral(sum: InstructionValue<'_>) -> Option<BasicValueEnum<'_>> {
    match (sum.get_opcode(), llvm::result(sum)) {
        (Op::FAdd, BasicValueEnum::FloatValue(number)) => Some(number.get_type().const_float(-0.0).into()),
        (Op::Add | Op::Or | Op::Xor, BasicValueEnum::IntValue(number)) => Some(number.get_type().const_zero().into()),
        _ => None,
    }
}

/// Whether an instruction's first two operands may change places.
fn commutes(from: InstructionValue<'_>) -> bool {
    const CHOICES: [&str; 8] = [
        "llvm.umin.",
        "llvm.umax.",
        "llvm.smin.",
        "llvm.smax.",
        "llvm.maximumnum.",
        "llvm.minimumnum.",
        "llvm.maxnum.",
        "llvm.minnum.",
    ];
    best::commutes(from) || llvm::calls(from, &CHOICES)
}

/// Whether it is the same to compare a number with either of two bounds, because it is a multiple of something.
fn is_alike(predicate: IntPredicate, one: IntValue<'_>, other: IntValue<'_>, value: IntValue<'_>) -> bool {
    let bounds = one.get_zero_extended_constant().zip(other.get_zero_extended_constant());
    let Some((one, other)) = bounds.filter(|_| value.get_type().get_bit_width() == 64) else { return false };
    if !matches!(predicate, IntPredicate::ULT | IntPredicate::UGE) {
        return false;
    }
    [4, 8, 16, 2].into_iter().any(|of| one.div_ceil(of) == other.div_ceil(of) && is_multiple(value, of))
}

/// Whether a number is a multiple of a power of two, as what is left of a slice is one of an element's size.
fn is_multiple(value: IntValue<'_>, of: u64) -> bool {
    let difference = value.as_instruction_value().filter(|from| from.get_opcode() == Op::Sub);
    let address = |at| llvm::int_operand(difference?, at).and_then(llvm::pointer_of_integer);
    let (Some(one), Some(other)) = (address(0), address(1)) else { return false };
    let others = meetings::bases(other, of);
    meetings::bases(one, of).iter().any(|base| others.contains(base))
}
