//! Makes one loop of a search and of the loop that goes on behind what it has found.
//!
//! ```text
//! before: search: %p = phi ptr [ %first, %before ], [ %next, %none ]     ; `filter_map(hit).min_by(…)`: the first one …
//!                 br i1 %miss, label %none, label %found
//!         none:   br i1 (icmp eq ptr %next, %end), label %nothing, label %search
//!         found:  br i1 (icmp eq ptr %next, %end), label %out, label %rest
//!         rest:   %q = phi ptr [ %next, %found ], [ … ]                  ; … and then the best of all others
//!                 %best = phi float [ %hit, %found ], [ %better, %again ]
//!                 br i1 %miss.of.q, label %again, label %take
//!         take:   %new = … %best, %hit.of.q …
//! after:  search: %has = phi i1 [ false, %before ], [ %has.now, %none ]
//!                 %best = phi float [ 0.0, %before ], [ %best.now, %none ]
//!                 br i1 %miss, label %none, label %take
//!         take:   %new = select i1 %has, (… %best, %hit …), %hit
//!         none:   br i1 (icmp eq ptr %next, %end), label %over, label %search
//!         over:   br i1 %has.now, label %out, label %nothing
//! ```
//!
//! Rust takes the first element for itself, and the threads of a warp find theirs in different rounds. All wait for the last one,
//! and then each goes on behind its own: the elements are gone through twice, and no two threads load the same one at once. The
//! nearest of many spheres took two and a half times as long as in CUDA C++.
//!
//! **Why it is right.** Both loops compute the same of an element, by instructions that differ in nothing but in what they are
//! computed of, and the second one begins with the element behind the one that was found: an element that is found is the first
//! one, or is taken as the second loop takes it, and any other changes nothing in either. Both end behind the same element. Neither
//! loop stores, so nobody sees that they are one, and no threads meet in them. What a load promised of its number is forgotten,
//! because the search had ended before.

use std::collections::HashMap;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue,
    InstructionOpcode as Op, InstructionValue, IntPredicate, Module, Use,
};
use crate::settled;

use super::best::{do_the_same, is_known};
use super::branches::is_quiet;
use super::natural::{Graph, Loop, SimpleForm};

/// Instructions that are compared.
const MOST_STEPS: usize = 256;

/// Blocks behind a loop, before both ways out are one.
const MOST_BEHIND: usize = 4;

/// Joins every search with the loop behind it.
pub fn go_on<'ctx>(context: &'ctx Context, module: &Module<'ctx>, form: &SimpleForm<'_>) -> Result<()> {
    let may_have = |function: &FunctionValue<'ctx>| Graph::of(*function).innermost().len() > 1;
    if !settled::open_and_fast(module).any(|function| may_have(&function)) {
        return Ok(());
    }
    form.give(module)?;
    for function in settled::open_and_fast(module).filter(may_have) {
        let loops = Graph::of(function).innermost();
        let pair = loops.iter().find_map(|first| loops.iter().find_map(|rest| Pair::of(first, rest)));
        if let Some(pair) = pair {
            form.lose();
            pair.join(context, function).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot join a search with the loop behind it: {error}"))
            })?;
        }
    }
    Ok(())
}

/// What a loop keeps: its phi, the first value, and that of a round that takes an element.
type Kept<'ctx> = (InstructionValue<'ctx>, BasicValueEnum<'ctx>, BasicValueEnum<'ctx>);

/// What values are on one way.
type Values<'ctx> = HashMap<BasicValueEnum<'ctx>, BasicValueEnum<'ctx>>;

/// A way through the rounds of a loop.
struct Rounds<'a, 'ctx> {
    of: &'a Loop<'ctx>,
    /// The blocks of a round that takes an element up to where that shows, with each one's condition, and whether it must hold.
    asked: Vec<(BasicBlock<'ctx>, BasicValueEnum<'ctx>, bool)>,
    /// Where such a round goes on.
    taken: BasicBlock<'ctx>,
    latch: BasicBlock<'ctx>,
    /// Whether there is another round, the condition for that, and where the loop ends.
    ends: BasicValueEnum<'ctx>,
    ends_if: bool,
    over: BasicBlock<'ctx>,
}

impl<'a, 'ctx> Rounds<'a, 'ctx> {
    fn of(found: &'a Loop<'ctx>) -> Option<Self> {
        let [latch] = found.latches[..] else { return None };
        if latch == found.head || !found.blocks.iter().flat_map(|block| block.get_instructions()).all(is_quiet) {
            return None;
        }
        let branch = |block: BasicBlock<'ctx>| {
            let end = block.get_terminator()?;
            let (then, other) = llvm::branch_targets(end)?;
            Some((BasicValueEnum::from(llvm::int_operand(end, 0)?), then, other))
        };
        let (ends, then, other) = branch(latch)?;
        let (ends_if, over) = if other == found.head { (true, then) } else { (false, other) };
        if found.contains(over) {
            return None;
        }
        let (mut asked, mut at) = (Vec::new(), found.head);
        while asked.len() < found.blocks.len() && found.contains(at) {
            let Some((condition, then, other)) = branch(at) else { break };
            let (goes_if, next) = match (then == latch, other == latch) {
                (true, false) => (false, other),
                (false, true) => (true, then),
                _ => return None,
            };
            asked.push((at, condition, goes_if));
            at = next;
        }
        (!asked.is_empty()).then_some(Self { of: found, asked, taken: at, latch, ends, ends_if, over })
    }
}

/// A search, and the loop that goes on behind it.
struct Pair<'a, 'ctx> {
    first: Rounds<'a, 'ctx>,
    rest: Rounds<'a, 'ctx>,
    /// What the second loop computes, in the first.
    twins: Values<'ctx>,
    /// What the second loop keeps: its phi, the first value, as the search knows it, and that of a round that takes an element.
    kept: Vec<Kept<'ctx>>,
}

impl<'a, 'ctx> Pair<'a, 'ctx> {
    fn of(first: &'a Loop<'ctx>, rest: &'a Loop<'ctx>) -> Option<Self> {
        if first.head == rest.head {
            return None;
        }
        let (first, rest) = (Rounds::of(first)?, Rounds::of(rest)?);
        let found = first.taken;
        let is_search = !first.of.contains(found)
            && first.of.blocks.len() == first.asked.len() + 1
            && llvm::predecessors(found) == [first.asked.last()?.0]
            && llvm::phis(first.latch).all(|phi| has_one_value(phi));
        let take = rest.taken;
        let has_arm = rest.of.contains(take)
            && rest.of.blocks.len() == rest.asked.len() + 2
            && take.get_terminator().is_some_and(|end| llvm::block_operands(end)[..] == [rest.latch])
            && llvm::predecessors(take).len() == 1;
        if !is_search || !has_arm || first.asked.len() != rest.asked.len() {
            return None;
        }
        // Behind what was found: whether it was the last one, and the block before the other loop.
        let mut known = Values::new();
        enter(found, first.asked.last()?.0, &mut known);
        let end = found.get_terminator()?;
        let (then, other) = llvm::branch_targets(end)?;
        let (last, before) = if first.ends_if { (then, other) } else { (other, then) };
        let quiet = |block: BasicBlock<'ctx>| block.get_instructions().all(is_quiet_or_division);
        let goes_to_rest = before.get_terminator().is_some_and(|end| llvm::block_operands(end)[..] == [rest.of.head]);
        if !goes_to_rest || llvm::predecessors(before) != [found] || !quiet(found) || !quiet(before) {
            return None;
        }
        let mut same = Same { first: first.of, rest: rest.of, known: &known, twins: Values::new(), steps: MOST_STEPS };
        let asks_the_same =
            llvm::int_operand(end, 0).is_some_and(|ends| is_equal(ends.into(), first.ends, &known, MOST_STEPS));
        if !asks_the_same {
            return None;
        }
        for ((_, one, is), (_, other, same_is)) in first.asked.iter().zip(&rest.asked) {
            if is != same_is || !same.are(*one, *other) {
                return None;
            }
        }
        let ends_alike = first.ends_if == rest.ends_if && same.are(first.ends, rest.ends);
        if !ends_alike && !same.end_alike(&first, &rest) {
            return None;
        }
        let twins = same.twins;
        // A load of the search is made by the other loop too, of each element of which the search makes it.
        let place = |rounds: &Rounds<'_, 'ctx>, from: InstructionValue<'ctx>| {
            rounds.asked.iter().position(|(block, ..)| from.get_parent() == Some(*block))
        };
        let is_made = |load: InstructionValue<'ctx>| {
            let Some(at) = place(&first, load) else { return false };
            let of_load = twins.iter().filter(|(_, twin)| **twin == llvm::result(load));
            let mut others = of_load.filter_map(|(other, _)| llvm::instruction_of(*other));
            others.any(|other| place(&rest, other).is_some_and(|other| other <= at))
        };
        let instructions = first.of.blocks.iter().flat_map(|block| block.get_instructions());
        if !instructions.filter(|from| llvm::is_plain_load(*from)).all(is_made) {
            return None;
        }
        let kept = kept(&rest, &twins, &known)?;
        let between = [found, before];
        let is_in = |value: BasicValueEnum<'ctx>, blocks: &[BasicBlock<'ctx>]| {
            llvm::instruction_of(value).and_then(|from| from.get_parent()).is_some_and(|block| blocks.contains(&block))
        };
        // Where an element is taken, what is computed between the loops is not known, nor what the search's last block does.
        let copies = Copied {
            rest: rest.of,
            twins: twins.iter().filter(|(_, twin)| !is_in(**twin, &[first.latch])).map(|(a, b)| (*a, *b)).collect(),
            between,
        };
        let mut found_in = Found::default();
        let mut can_take = |(_, one, taken): &(_, _, _)| {
            !is_in(*one, &between) && copies.can(*taken, &kept, MOST_STEPS, &mut found_in)
        };
        if !kept.iter().all(&mut can_take) || found_in.calls && found_in.promises {
            return None;
        }
        // What is computed between the loops is not known behind both any more.
        let stays = |from: InstructionValue<'ctx>| {
            from.is_terminator()
                || llvm::uses(&llvm::result(from)).into_iter().all(|user| {
                    let Use::Instruction(user) = user else { return false };
                    let told =
                        |(value, at): &(_, BasicBlock<'ctx>)| *value != llvm::result(from) || between.contains(at);
                    let is_near = user.get_parent().is_some_and(|at| between.contains(&at) || rest.of.contains(at));
                    is_near || user.get_opcode() == Op::Phi && llvm::incoming(user).iter().all(told)
                })
        };
        if !between.iter().flat_map(|block| block.get_instructions()).all(stays) {
            return None;
        }
        let pair = Self { first, rest, twins, kept };
        pair.ends_as_if_it_went_on(last, found, known)?;
        Some(pair)
    }

    /// Whether the way out of what was found last of all leads where the other loop does, with the same values.
    fn ends_as_if_it_went_on(
        &self,
        last: BasicBlock<'ctx>,
        found: BasicBlock<'ctx>,
        mut known: Values<'ctx>,
    ) -> Option<()> {
        let mut after: Values<'ctx> = HashMap::new();
        for (phi, first, _) in &self.kept {
            let (_, next) = self.rest.of.incoming(llvm::result(*phi))?;
            after.insert(next, *first);
        }
        let is_loaded_from = |pointer: BasicValueEnum<'ctx>| {
            let instructions = self.first.asked.iter().flat_map(|(block, ..)| block.get_instructions());
            let mut loads = instructions.filter(|from| llvm::is_plain_load(*from));
            loads.any(|load| {
                load.get_operand(0).and_then(|from| from.value()) == Some(pointer)
                    && matches!(pointer, BasicValueEnum::PointerValue(p) if llvm::address_space(p) == 0)
            })
        };
        let ways = |mut at: BasicBlock<'ctx>, mut from: BasicBlock<'ctx>, values: &mut Values<'ctx>| {
            let mut way = Vec::new();
            for _ in 0..MOST_BEHIND {
                way.push((at, from));
                enter(at, from, values);
                if !at.get_instructions().all(is_quiet) {
                    break;
                }
                let Some(end) = at.get_terminator() else { break };
                let next = match (&llvm::block_operands(end)[..], llvm::branch_targets(end)) {
                    ([next], _) => *next,
                    (_, Some((then, other))) => {
                        let Some(compare) =
                            llvm::int_operand(end, 0).and_then(|condition| condition.as_instruction_value())
                        else {
                            break;
                        };
                        let (left, right) = (compare.get_operand(0), compare.get_operand(1));
                        let [Some(left), Some(right)] = [left, right].map(|side| side.and_then(|side| side.value()))
                        else {
                            break;
                        };
                        let is_null = matches!(right, BasicValueEnum::PointerValue(null) if null.is_null());
                        if !is_null || !is_loaded_from(resolved(left, values)) {
                            break;
                        }
                        match compare.get_icmp_predicate() {
                            Some(IntPredicate::EQ) => other,
                            Some(IntPredicate::NE) => then,
                            _ => break,
                        }
                    }
                    _ => break,
                };
                (from, at) = (at, next);
            }
            way
        };
        let one = ways(last, found, &mut known);
        let other = ways(self.rest.over, self.rest.latch, &mut after);
        let meeting = |(block, from): &(BasicBlock<'ctx>, BasicBlock<'ctx>)| {
            let other = other.iter().find(|(at, _)| at == block)?;
            Some((*block, *from, other.1))
        };
        let (block, from, other_from) = one.iter().find_map(meeting)?;
        let are_equal = |phi: InstructionValue<'ctx>| {
            let one = llvm::incoming_from(phi, from).map(|value| resolved(value, &known));
            let other = llvm::incoming_from(phi, other_from).map(|value| resolved(value, &after));
            one.is_some() && one == other
        };
        // Beyond the meeting block nothing but its phis tells which way was taken.
        (from != other_from && llvm::phis(block).all(are_equal)).then_some(())
    }

    fn join(&self, context: &'ctx Context, function: FunctionValue<'ctx>) -> std::result::Result<(), BuilderError> {
        let Self { first, rest, .. } = self;
        let builder = context.create_builder();
        let truth = context.bool_type();
        let (yes, no) = (truth.const_int(1, false), truth.const_zero());
        let head = first.of.head;
        let outside: Vec<_> = llvm::predecessors(head).into_iter().filter(|from| !first.of.contains(*from)).collect();
        let shows = first.asked.last().expect("a search asks").0;
        let take = context.append_basic_block(function, "");
        let _ = take.move_after(shows);
        let over = context.append_basic_block(function, "");
        let _ = over.move_after(first.latch);
        let out = context.append_basic_block(function, "");
        let _ = out.move_after(over);

        // What is kept, at the start of a round and at its end.
        let start = head.get_first_instruction().expect("a block has instructions");
        builder.position_before(&start);
        let has = builder.build_phi(truth, "")?;
        let mut phis = Vec::new();
        for (phi, ..) in &self.kept {
            phis.push(builder.build_phi(llvm::result(*phi).get_type(), "")?);
        }
        let start = first.latch.get_first_instruction().expect("a block has instructions");
        builder.position_before(&start);
        let has_now = builder.build_phi(truth, "")?;
        let mut now = Vec::new();
        for (phi, ..) in &self.kept {
            now.push(builder.build_phi(llvm::result(*phi).get_type(), "")?);
        }
        outside.iter().for_each(|from| has.add_incoming(&[(&no, *from)]));
        has.add_incoming(&[(&has_now.as_basic_value(), first.latch)]);
        for (phi, now) in phis.iter().zip(&now) {
            let none = phi.as_basic_value().get_type().const_zero();
            outside.iter().for_each(|from| phi.add_incoming(&[(&none, *from)]));
            phi.add_incoming(&[(&now.as_basic_value(), first.latch)]);
        }

        // A round that takes an element.
        builder.position_at_end(take);
        let is_late = |value: BasicValueEnum<'ctx>| {
            llvm::instruction_of(value).is_some_and(|from| from.get_parent() == Some(first.latch))
        };
        let mut twins = self.twins.clone();
        twins.retain(|_, twin| !is_late(*twin));
        for ((phi, ..), own) in self.kept.iter().zip(&phis) {
            twins.insert(llvm::result(*phi), own.as_basic_value());
        }
        let is_taken = has.as_basic_value().into_int_value();
        for ((_, one, value), now) in self.kept.iter().zip(&now) {
            let more = copied(&builder, *value, rest.of, &mut twins);
            let new = builder.build_select(is_taken, more, *one, "")?;
            now.add_incoming(&[(&new, take)]);
        }
        has_now.add_incoming(&[(&yes, take)]);
        for phi in llvm::phis(first.latch).filter(|phi| llvm::incoming(*phi).iter().all(|(_, from)| *from != take)) {
            let value = llvm::incoming(phi)[0].0;
            llvm::add_incoming(phi, value, take);
        }
        for (block, ..) in &first.asked {
            has_now.add_incoming(&[(&is_taken, *block)]);
            for (phi, now) in phis.iter().zip(&now) {
                now.add_incoming(&[(&phi.as_basic_value(), *block)]);
            }
        }
        // The way to the other loop stays, for its phis, and is never taken.
        builder.build_conditional_branch(no, first.taken, first.latch)?;
        let shown = shows.get_terminator().expect("a block that is finished ends in a jump");
        llvm::retarget(shown, first.taken, take);
        llvm::replace_predecessor(first.taken, shows, take, |value| value);

        // The end.
        let end = first.latch.get_terminator().expect("a block that is finished ends in a jump");
        llvm::retarget(end, first.over, over);
        llvm::replace_predecessor(first.over, first.latch, over, |value| value);
        builder.position_at_end(over);
        builder.build_conditional_branch(has_now.as_basic_value().into_int_value(), out, first.over)?;
        builder.position_at_end(out);
        builder.build_unconditional_branch(rest.over)?;
        let mut last: Values<'ctx> = HashMap::new();
        for ((phi, ..), now) in self.kept.iter().zip(&now) {
            if let Some((_, next)) = rest.of.incoming(llvm::result(*phi)) {
                last.insert(next, now.as_basic_value());
            }
        }
        for phi in llvm::phis(rest.over).collect::<Vec<_>>() {
            if let Some(value) = llvm::incoming_from(phi, rest.latch) {
                llvm::add_incoming(phi, resolved(value, &last), out);
            }
        }
        let loads =
            first.of.blocks.iter().flat_map(|block| block.get_instructions()).filter(|i| llvm::is_plain_load(*i));
        loads.collect::<Vec<_>>().into_iter().for_each(llvm::forget_value);
        // Both loops were marked as they were, and neither is now.
        llvm::forget_loop(context, &first.of.jumps_back());
        Ok(())
    }
}

/// What the second loop keeps. None if it has another phi, or lets out something else.
fn kept<'ctx>(rest: &Rounds<'_, 'ctx>, twins: &Values<'ctx>, known: &Values<'ctx>) -> Option<Vec<Kept<'ctx>>> {
    let mut kept = Vec::new();
    for phi in llvm::phis(rest.of.head) {
        let value = llvm::result(phi);
        let (first, next) = rest.of.incoming(value)?;
        let joins = llvm::instruction_of(next)
            .filter(|next| next.get_opcode() == Op::Phi && next.get_parent() == Some(rest.latch));
        let Some(joins) = joins else {
            // What goes on by itself has a twin, or only counts.
            let step = llvm::instruction_of(next).filter(|next| {
                matches!(next.get_opcode(), Op::Add | Op::GetElementPtr)
                    && llvm::value_operands(*next).all(|(_, side)| side == value || llvm::is_constant(&side))
            });
            if twins.contains_key(&value) || step.is_some() {
                continue;
            }
            return None;
        };
        let mut taken = None;
        for (told, from) in llvm::incoming(joins) {
            if from == rest.taken {
                taken = Some(told);
            } else if told != value {
                return None;
            }
        }
        kept.push((phi, resolved(first, known), taken?));
    }
    let is_kept = |value: BasicValueEnum<'ctx>| {
        kept.iter().any(|(phi, ..)| rest.of.incoming(llvm::result(*phi)).is_some_and(|(_, next)| next == value))
    };
    let tells = |phi| llvm::incoming_from(phi, rest.latch);
    let all_known =
        llvm::phis(rest.over).all(|phi| tells(phi).is_some_and(|value| is_kept(value) || rest.of.is_invariant(value)));
    (!kept.is_empty() && all_known).then_some(kept)
}

/// Finds that two loops compute the same.
struct Same<'a, 'ctx> {
    first: &'a Loop<'ctx>,
    rest: &'a Loop<'ctx>,
    /// What values are behind what was found.
    known: &'a Values<'ctx>,
    twins: Values<'ctx>,
    steps: usize,
}

impl<'ctx> Same<'_, 'ctx> {
    fn are(&mut self, one: BasicValueEnum<'ctx>, other: BasicValueEnum<'ctx>) -> bool {
        if let Some(twin) = self.twins.get(&other) {
            return *twin == one;
        }
        if self.rest.is_invariant(other) {
            return self.first.is_invariant(one) && one == resolved(other, self.known);
        }
        if self.first.incoming_of(one).is_some() {
            let go_alike = self.go_alike(one, other);
            if go_alike {
                self.twins.insert(other, one);
            }
            return go_alike;
        }
        let (Some(from), Some(twin)) = (llvm::instruction_of(one), llvm::instruction_of(other)) else { return false };
        let Some(steps) = self.steps.checked_sub(1) else { return false };
        self.steps = steps;
        let is_inside = from.get_parent().is_some_and(|block| self.first.contains(block));
        if !is_inside || !is_known(from) || !promise_the_same(from, twin) || !do_the_same(from, twin) {
            return false;
        }
        let operands = |from| llvm::value_operands(from).map(|(_, operand)| operand).collect::<Vec<_>>();
        let (ones, others) = (operands(from), operands(twin));
        let are = ones.len() == others.len() && ones.iter().zip(&others).all(|(one, other)| self.are(*one, *other));
        if are {
            self.twins.insert(other, one);
        }
        are
    }

    /// Whether a phi of the search goes on by the same as a value of the other loop, which begins with the next one.
    fn go_alike(&self, phi: BasicValueEnum<'ctx>, other: BasicValueEnum<'ctx>) -> bool {
        let Some((_, next)) = self.first.incoming_of(phi) else { return false };
        let Some(step) = step(phi, next) else { return false };
        if let Some((begins, goes_on)) = self.rest.incoming_of(other) {
            let promise_alike = || {
                let (Some(one), Some(other)) = (llvm::instruction_of(next), llvm::instruction_of(goes_on)) else {
                    return false;
                };
                do_the_same(one, other)
            };
            let begins_there = resolved(begins, self.known) == next;
            return begins_there && self::step(other, goes_on) == Some(step) && promise_alike();
        }
        let Some(from) = llvm::instruction_of(other) else { return false };
        if let Some((base, bytes, index)) = llvm::element_of(from) {
            return bytes as i64 == step
                && index.get_type().get_bit_width() == 64
                && llvm::is_in_bounds(from)
                && self.counts(index.into())
                && resolved(base.into(), self.known) == next;
        }
        let promise_alike = || llvm::instruction_of(next).map(llvm::promises) == Some(llvm::promises(from));
        from.get_opcode() == Op::Add && step == 1 && promise_alike() && {
            let sides: Vec<_> = llvm::value_operands(from).map(|(_, side)| side).collect();
            let is_next = |side| resolved(side, self.known) == next;
            self.counts(sides[0]) && is_next(sides[1]) || self.counts(sides[1]) && is_next(sides[0])
        }
    }

    /// Whether a value of the other loop counts its rounds, from 0.
    fn counts(&self, value: BasicValueEnum<'ctx>) -> bool {
        self.rest.incoming_of(value).is_some_and(|(first, next)| {
            let is_zero = matches!(first, BasicValueEnum::IntValue(n) if n.get_zero_extended_constant() == Some(0));
            is_zero && step(value, next) == Some(1)
        })
    }

    /// Whether the other loop counts as many rounds as are left for the search, which goes up to an address.
    fn end_alike(&self, first: &Rounds<'_, 'ctx>, rest: &Rounds<'_, 'ctx>) -> bool {
        let compare = |ends: BasicValueEnum<'ctx>, ends_if| {
            let compare = llvm::instruction_of(ends)?;
            let sides = [compare.get_operand(0)?.value()?, compare.get_operand(1)?.value()?];
            let wanted = if ends_if { IntPredicate::EQ } else { IntPredicate::NE };
            (compare.get_icmp_predicate()? == wanted).then_some(sides)
        };
        let Some([next, end]) = compare(first.ends, first.ends_if) else { return false };
        let Some([count, rounds]) = compare(rest.ends, rest.ends_if) else { return false };
        // `next` is what a pointer of the search is in the next round.
        let goes = |phi: InstructionValue<'ctx>| {
            let (_, following) = self.first.incoming_of(llvm::result(phi))?;
            step(llvm::result(phi), following).filter(|_| following == next)
        };
        let Some(bytes) = llvm::phis(self.first.head).find_map(goes) else { return false };
        let is_count = llvm::phis(self.rest.head).any(|phi| {
            let value = llvm::result(phi);
            self.counts(value) && self.rest.incoming_of(value).is_some_and(|(_, following)| following == count)
        });
        let is_distance = |value: BasicValueEnum<'ctx>| {
            let divided = llvm::instruction_of(value).filter(|divided| llvm::promises(*divided).other)?;
            let by = llvm::int_operand(divided, 1)?.get_zero_extended_constant()?;
            let size = match divided.get_opcode() {
                Op::UDiv | Op::SDiv => by,
                Op::LShr | Op::AShr => 1_u64.checked_shl(by.try_into().ok()?)?,
                _ => return None,
            };
            let distance = llvm::instruction_of(divided.get_operand(0)?.value()?)?;
            let address = |index| {
                let from = llvm::instruction_of(distance.get_operand(index)?.value()?)?;
                let pointer = from.get_operand(0)?.value()?;
                (from.get_opcode() == Op::PtrToInt).then(|| resolved(pointer, self.known))
            };
            let is_wide = matches!(value, BasicValueEnum::IntValue(rounds) if rounds.get_type().get_bit_width() == 64);
            let is = distance.get_opcode() == Op::Sub && address(0)? == end && address(1)? == next && is_wide;
            Some(is && i64::try_from(size).ok()? == bytes)
        };
        is_count && self.first.is_invariant(end) && is_distance(rounds) == Some(true)
    }
}

/// By how much a phi grows in a round: bytes of a pointer.
fn step<'ctx>(phi: BasicValueEnum<'ctx>, next: BasicValueEnum<'ctx>) -> Option<i64> {
    let from = llvm::instruction_of(next)?;
    let base = from.get_operand(0)?.value()?;
    if base != phi {
        return None;
    }
    match from.get_opcode() {
        Op::Add => llvm::int_operand(from, 1)?.get_sign_extended_constant(),
        Op::GetElementPtr => i64::try_from(llvm::constant_offset(from)?).ok(),
        _ => None,
    }
}

/// Whether two instructions promise the same where [`do_the_same`] does not look.
fn promise_the_same(one: InstructionValue<'_>, other: InstructionValue<'_>) -> bool {
    match one.get_opcode() {
        Op::Load => one.get_alignment().ok() == other.get_alignment().ok(),
        // LLVM may know that the number is not negative.
        Op::UIToFP => false,
        _ => true,
    }
}

/// Learns what a block's phis are where it is come to from another.
fn enter<'ctx>(block: BasicBlock<'ctx>, from: BasicBlock<'ctx>, values: &mut Values<'ctx>) {
    let told: Vec<_> = llvm::phis(block)
        .filter_map(|phi| Some((llvm::result(phi), resolved(llvm::incoming_from(phi, from)?, values))))
        .collect();
    values.extend(told);
}

fn resolved<'ctx>(value: BasicValueEnum<'ctx>, values: &Values<'ctx>) -> BasicValueEnum<'ctx> {
    *values.get(&value).unwrap_or(&value)
}

/// Whether two values are computed of the same by the same instructions.
fn is_equal<'ctx>(one: BasicValueEnum<'ctx>, other: BasicValueEnum<'ctx>, known: &Values<'ctx>, steps: usize) -> bool {
    let one = resolved(one, known);
    if one == other {
        return true;
    }
    let (Some(from), Some(twin), Some(steps)) = (
        llvm::instruction_of(one),
        llvm::instruction_of(other),
        steps.checked_sub(1).filter(|steps| *steps > MOST_STEPS - 8),
    ) else {
        return false;
    };
    let operands = |from| llvm::value_operands(from).map(|(_, operand)| operand).collect::<Vec<_>>();
    let (ones, others) = (operands(from), operands(twin));
    llvm::is_pure(from)
        && is_known(from)
        && do_the_same(from, twin)
        && ones.len() == others.len()
        && ones.iter().zip(&others).all(|(one, other)| is_equal(*one, *other, known, steps))
}

fn has_one_value(phi: InstructionValue<'_>) -> bool {
    let incoming = llvm::incoming(phi);
    incoming.iter().all(|(value, _)| *value == incoming[0].0)
}

fn is_quiet_or_division(from: InstructionValue<'_>) -> bool {
    is_quiet(from) || llvm::is_division(from)
}

/// What is computed where the search takes an element.
struct Copied<'a, 'ctx> {
    rest: &'a Loop<'ctx>,
    twins: Values<'ctx>,
    between: [BasicBlock<'ctx>; 2],
}

/// What there is among that: of a call LLVM may be told that its numbers mean something, which they may not where something else
/// was promised, and nothing was kept yet.
#[derive(Default)]
struct Found {
    calls: bool,
    promises: bool,
}

impl<'ctx> Copied<'_, 'ctx> {
    /// Whether a value of the second loop can be computed there, also while nothing is kept: nothing is loaded for it.
    fn can(&self, value: BasicValueEnum<'ctx>, kept: &[Kept<'ctx>], steps: usize, found: &mut Found) -> bool {
        let Some(from) = llvm::instruction_of(value) else { return true };
        if self.rest.is_invariant(value) {
            return from.get_parent().is_some_and(|block| !self.between.contains(&block));
        }
        if self.twins.contains_key(&value) || kept.iter().any(|(phi, ..)| *phi == from) {
            return true;
        }
        let Some(steps) = steps.checked_sub(MOST_STEPS / 32) else { return false };
        found.calls |= from.get_opcode() == Op::Call;
        found.promises |= llvm::promises(from) != llvm::Promises::default() || llvm::is_in_bounds(from);
        let mut operands = llvm::value_operands(from).map(|(_, operand)| operand);
        from.get_opcode() != Op::Phi
            && !llvm::is_plain_load(from)
            && operands.all(|operand| self.can(operand, kept, steps, found))
    }
}

/// A value of the second loop, in a round of the first that takes an element.
fn copied<'ctx>(
    builder: &Builder<'ctx>,
    value: BasicValueEnum<'ctx>,
    rest: &Loop<'ctx>,
    twins: &mut Values<'ctx>,
) -> BasicValueEnum<'ctx> {
    if let Some(twin) = twins.get(&value) {
        return *twin;
    }
    let Some(from) = llvm::instruction_of(value).filter(|_| !rest.is_invariant(value)) else { return value };
    let operands: Vec<_> =
        llvm::value_operands(from).map(|(at, operand)| (at, copied(builder, operand, rest, twins))).collect();
    let copy = llvm::result(llvm::build_copy(builder, from, &operands));
    twins.insert(value, copy);
    copy
}

#[cfg(test)]
#[path = "onward_tests.rs"]
mod tests;
