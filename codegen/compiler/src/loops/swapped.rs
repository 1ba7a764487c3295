//! Writes two rounds of a loop one behind the other where each round exchanges what the next one works with.
//!
//! ```text
//! before: loop: %front = phi ptr [ %a, %before ], [ %back, %loop ]         ; `buffers.swap()`
//!               %back = phi ptr [ %b, %before ], [ %front, %loop ]
//!               …                                                          ; reads %front, writes to %back, waits
//!               br i1 (icmp eq i64 %next, 511), label %end, label %loop
//! after:  loop: …                                                          ; reads %a, writes to %b, waits
//!               br i1 (icmp eq i64 %next, 511), label %end, label %again
//!         again: …                                                         ; reads %b, writes to %a, waits
//!               br label %loop                                             ; 511 is odd
//! ```
//!
//! Two buffers that change places are two addresses in registers, which move from one to the other in each round, and
//! what is read is read from an address that was just moved. LLVM unrolls no loop with a barrier whose rounds it cannot
//! divide; nvcc does, and has each address where it is. So it is with a number that tells one of two from the other
//! (`buffer ^= 1`).
//!
//! **Why it is right.** The second round is the first one's blocks once more, with what they do at its end in place of
//! the phis, and both ask for the loop's end. A barrier is run as often as before, by the same threads: those of one
//! round are in one copy. So it is with what lanes exchange, who wait for those that the mask names, wherever in the code
//! these do the same (PTX ISA, `shfl.sync`: "until all non-exited threads corresponding to membermask have executed
//! `shfl.sync` with the same qualifiers and same membermask value"; `redux.sync` as well). Where a constant number of
//! rounds is counted, one of the two blocks alone can be the last.

use crate::diagnostic::Result;
use crate::llvm::{
    self, BasicBlock, BasicValueEnum, Context, FunctionValue, InstructionOpcode as Op, InstructionValue, IntPredicate,
    IntValue, Module,
};
use crate::settled;

use super::branches::{Branch, is_convergent};
use super::marked::is_marked;
use super::natural::{Graph, Loop, SimpleForm};

/// Instructions of a round that is written twice.
const MOST_INSTRUCTIONS: usize = 100;

/// The barriers of a block, which may stand at two places.
const BARRIER: &[u8] = b"llvm.nvvm.barrier.cta.sync.";

/// What lanes do together that a mask names, which may stand at two places as well.
const OF_A_WARP: [&[u8]; 2] = [b"llvm.nvvm.shfl.sync.", b"llvm.nvvm.redux.sync."];

/// Does so with the innermost loops of all functions.
pub fn alternate<'ctx>(context: &'ctx Context, module: &Module<'ctx>, form: &SimpleForm<'_>) -> Result<()> {
    form.give(module)?;
    for function in settled::open_and_fast(module).filter(|function| function.count_basic_blocks() > 1) {
        for found in Graph::of(function).innermost().iter().filter(|found| is_fit(context, found)) {
            form.lose();
            write_twice(context, function, found);
        }
    }
    Ok(())
}

fn is_fit(context: &Context, found: &Loop<'_>) -> bool {
    let instructions = || found.blocks.iter().flat_map(|block| block.get_instructions());
    let is_kept = |from: InstructionValue<'_>| is_convergent(from) && !is_barrier(from) && !is_of_warp(from);
    found.latches.len() == 1
        && llvm::phis(found.head).any(|phi| alternates(found, phi))
        && instructions().count() <= MOST_INSTRUCTIONS
        && !instructions().any(is_kept)
        && !is_marked(context, &found.jumps_back())
}

/// Whether an instruction is a barrier of a block.
pub fn is_barrier(from: InstructionValue<'_>) -> bool {
    llvm::called_function(from).is_some_and(|callee| callee.get_name().to_bytes().starts_with(BARRIER))
}

/// Whether lanes wait in an instruction for those that its mask names.
fn is_of_warp(from: InstructionValue<'_>) -> bool {
    let is_one = |name: &[u8]| OF_A_WARP.iter().any(|start| name.starts_with(start));
    llvm::called_function(from).is_some_and(|callee| is_one(callee.get_name().to_bytes()))
}

/// Whether a phi of the head is the same again after two rounds, and not after one.
fn alternates<'ctx>(found: &Loop<'ctx>, phi: InstructionValue<'ctx>) -> bool {
    let Some((_, next)) = found.incoming_of(llvm::result(phi)) else { return false };
    let Some(from) = llvm::instruction_of(next).filter(|from| *from != phi) else { return false };
    let is_of_phi =
        |index| llvm::int_operand(from, index).is_some_and(|value| llvm::instruction_of(value.into()) == Some(phi));
    let is_constant = |index| llvm::int_operand(from, index).is_some_and(|value| value.is_const());
    match from.get_opcode() {
        Op::Phi => found.incoming_of(next).is_some_and(|(_, next)| next == llvm::result(phi)),
        Op::Xor => is_of_phi(0) && is_constant(1),
        Op::Sub => is_constant(0) && is_of_phi(1),
        _ => false,
    }
}

fn write_twice<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>, found: &Loop<'ctx>) {
    let [latch] = found.latches[..] else { return };
    let Some(at) = found.blocks.iter().position(|block| *block == latch) else { return };
    let last = last_of_two(found, latch);
    llvm::forget_loop(context, &found.jumps_back());
    let copies = llvm::copy_blocks(context, function, &found.blocks);
    let (head, again, second) = (found.head, copies[0], copies[at]);
    let phis: Vec<_> = llvm::phis(head).zip(llvm::phis(again)).collect();
    for (phi, copy) in &phis {
        let Some(next) = llvm::incoming_from(*phi, latch) else { continue };
        llvm::replace_uses(*copy, next);
    }
    let mut next: Vec<BasicValueEnum<'ctx>> =
        phis.iter().filter_map(|(_, copy)| llvm::incoming_from(*copy, second)).collect();
    next.reverse();
    llvm::replace_predecessor(head, latch, second, |old| next.pop().unwrap_or(old));
    phis.into_iter().for_each(|(_, copy)| copy.erase_from_basic_block());
    for (block, old, new) in [(latch, head, again), (second, again, head)] {
        block.get_terminator().into_iter().for_each(|jump| llvm::retarget(jump, old, new));
    }
    // The other one goes on.
    let goes_on = match last {
        Some(true) => Some((latch, again)),
        Some(false) => Some((second, head)),
        None => None,
    };
    let jump = goes_on.and_then(|(block, to)| Some((block.get_terminator()?, to)));
    if let Some((jump, to)) = jump
        && let Some((then, _)) = llvm::branch_targets(jump)
    {
        llvm::always_branch(context, jump, then == to);
    }
}

/// Whether the last round is the second of two, if the loop ends by counting a constant number of rounds alone.
fn last_of_two<'ctx>(found: &Loop<'ctx>, latch: BasicBlock<'ctx>) -> Option<bool> {
    let branch = Branch::of(latch)?;
    let goes_on = branch.then == found.head;
    let ends = match branch.predicate {
        IntPredicate::EQ => !goes_on,
        IntPredicate::NE => goes_on,
        _ => false,
    };
    let sum = branch.left.as_instruction().filter(|sum| sum.get_opcode() == Op::Add)?;
    let (first, next) = found.incoming(llvm::int_operand(sum, 0)?)?;
    let BasicValueEnum::IntValue(first) = first else { return None };
    let constant = |value: IntValue<'ctx>| value.get_zero_extended_constant();
    let is_counted = ends && constant(llvm::int_operand(sum, 1)?)? == 1 && next == BasicValueEnum::from(branch.left);
    let rounds = constant(branch.right)?.checked_sub(constant(first)?).filter(|rounds| *rounds > 0)?;
    is_counted.then_some(rounds % 2 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loops::staged::after;

    /// A loop whose rounds work with `%front` and `%back`, after [`alternate`].
    fn written(phis: &str, body: &str, ends: &str, mark: &str) -> String {
        let text = format!(
            "declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
            declare i32 @llvm.nvvm.redux.sync.add(i32, i32) convergent
            declare i32 @others(i32) convergent
            define void @f(ptr %a, ptr %b, ptr %to, i64 %n) {{
            entry: br label %loop
            loop: {phis}
              %k = phi i64 [ 0, %entry ], [ %next, %loop ]
              {body}
              %next = add i64 %k, 1
              %end = {ends}
              br i1 %end, label %out, label %loop{mark}
            out: store i64 %k, ptr %to
              ret void
            }}
            !0 = distinct !{{!0, !1}}
            !1 = !{{!\"llvm.loop.unroll.disable\"}}"
        );
        after(&text, |context, module, machine| alternate(context, module, &SimpleForm::of(machine)).unwrap())
    }

    const SWAPPED: &str = "%front = phi ptr [ %a, %entry ], [ %back, %loop ]
              %back = phi ptr [ %b, %entry ], [ %front, %loop ]";
    const STEP: &str = "%x = load i32, ptr %front
              store i32 %x, ptr %back
              call void @llvm.nvvm.barrier.cta.sync.all(i32 2)";

    fn rounds(ir: &str) -> usize {
        ir.matches("load i32").count()
    }

    #[test]
    fn what_changes_places_stays_in_two_rounds() {
        let ir = written(SWAPPED, STEP, "icmp eq i64 %next, %n", "");
        assert_eq!((rounds(&ir), ir.matches("br i1 %").count()), (2, 2), "{ir}");
        assert!(ir.contains("%0 = phi ptr [ %a, %entry ], [ %0, %3 ]"), "{ir}");
        // The first is the last where their number is odd, and the second where it is even.
        for (count, goes_on) in
            [("511", "br i1 false, label %out, label %loop"), ("512", "br i1 false, label %out, label %3")]
        {
            let ir = written(SWAPPED, STEP, &format!("icmp eq i64 %next, {count}"), "");
            assert_eq!((ir.contains(goes_on), ir.matches("br i1 %").count()), (true, 1), "{count}: {ir}");
        }
    }

    #[test]
    fn a_number_may_tell_one_from_the_other() {
        let step = |next: &str| {
            format!(
                "%which.next = {next}
              %p = getelementptr i32, ptr %a, i32 %which
              %x = load i32, ptr %p
              store i32 %x, ptr %b"
            )
        };
        let phi = "%which = phi i32 [ 0, %entry ], [ %which.next, %loop ]";
        for (next, count) in [("xor i32 %which, 1", 2), ("sub i32 1, %which", 2), ("sub i32 %which, 1", 1)] {
            let ir = written(phi, &step(next), "icmp eq i64 %next, %n", "");
            assert_eq!(rounds(&ir), count, "{next}: {ir}");
        }
    }

    #[test]
    fn lanes_may_exchange_numbers() {
        let step = format!("{STEP}\n%y = call i32 @llvm.nvvm.redux.sync.add(i32 %x, i32 -1)");
        let ir = written(SWAPPED, &step, "icmp eq i64 %next, %n", "");
        assert_eq!(rounds(&ir), 2, "{ir}");
    }

    #[test]
    fn other_loops_stay_as_they_are() {
        let together = format!("{STEP}\n%y = call i32 @others(i32 %x)");
        let same = "%front = phi ptr [ %a, %entry ], [ %front, %loop ]
              %back = phi ptr [ %b, %entry ], [ %back, %loop ]";
        for (phis, body, mark) in
            [(same, STEP, ""), (SWAPPED, together.as_str(), ""), (SWAPPED, STEP, ", !llvm.loop !0")]
        {
            let ir = written(phis, body, "icmp eq i64 %next, %n", mark);
            assert_eq!(rounds(&ir), 1, "{ir}");
        }
    }
}
