//! Has the threads of a warp meet behind a loop that they leave by several ways.
//!
//! ```text
//! before: loop:  br i1 (fcmp olt float %d, 0.001), label %hit, label %next      ; `return Some(t)`
//!         next:  br i1 (fcmp ogt float %t, 20.0), label %miss, label %loop     ; `break`, and `None` behind it
//!         hit:   %x = phi float [ %t.old, %loop ]                               ; much is computed here
//! after:  loop:  br i1 …, label %out, label %next
//!         next:  br i1 …, label %out, label %loop
//!         out:   %is = phi i1 [ true, %loop ], [ false, %next ]
//!                %x = phi float [ %t.old, %loop ], [ poison, %next ]
//!                br i1 %is, label %hit, label %miss
//! ```
//!
//! A search returns an `Option`, which is looked at behind the loop. LLVM sees on each way out what it will be, and goes on from
//! there. For a GPU that is wrong: threads find something in different rounds, and the first block that is on all ways from
//! the loop is where the work on what was found is done. So every group of threads does that work by itself: of a ray that hits a
//! ball, the normal and the shadow, for as many rounds as there are in which one of 32 rays hits. nvcc, which does not thread
//! such jumps, has threads meet where the search ends.
//!
//! Sound: on each way out the new block's phis are what they were on that way, and its branch goes on as that way did.
//!
//! Only where there is so much on one way alone that it is worth a branch, and nothing that threads do together: which of them
//! are there must not change. Nor where a loop may wait for what another thread does, as for a lock: that thread may be one that
//! has left the loop. Ways to panics stay as they are.

use std::collections::HashSet;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicTypeEnum, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, Module, TargetMachine,
};

use super::branches::{is_convergent, panics};
use super::natural::{self, Graph, Loop};

/// What must be done on one way alone, in instructions.
const FEWEST: usize = 16;

/// For how many instructions one counts that takes longer: memory, roots and divisions.
const OF_A_SLOW_ONE: usize = 4;

/// Blocks between a loop and one that follows it.
const MOST_JUMPS: usize = 4;

/// Ways out of a loop.
const MOST_WAYS: usize = 3;

/// Blocks of a function.
const MOST_BLOCKS: u32 = 2000;

/// Does so with the loops of every function.
pub fn reunite<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine) -> Result<()> {
    for function in llvm::functions(module) {
        let blocks = function.count_basic_blocks();
        if !(3..=MOST_BLOCKS).contains(&blocks)
            || Graph::of(function).loops().iter().all(|found| targets(found).len() < 2)
        {
            continue;
        }
        natural::simplify_in(function, machine)?;
        let mut seen = HashSet::new();
        loop {
            let joined = reunite_next(context, function, &mut seen).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot have threads meet behind a loop: {error}"))
            })?;
            match joined {
                None => break,
                // Other loops want phis for what leaves them by way of the new block, and blocks of their own to leave to.
                Some(true) => natural::simplify_in(function, machine)?,
                Some(false) => {}
            }
        }
    }
    Ok(())
}

/// Does so with the next loop that was not seen, if there is one, from within, and says whether it is changed.
fn reunite_next<'ctx>(
    context: &'ctx Context,
    function: FunctionValue<'ctx>,
    seen: &mut HashSet<BasicBlock<'ctx>>,
) -> std::result::Result<Option<bool>, BuilderError> {
    let loops = Graph::of(function).loops();
    let next = loops.iter().filter(|found| !seen.contains(&found.head)).min_by_key(|found| found.blocks.len());
    let Some(found) = next else { return Ok(None) };
    seen.insert(found.head);
    let mut targets = targets(found);
    targets.retain(|to| !leads_to_rest(context, *to, found, &loops));
    if !(2..=MOST_WAYS).contains(&targets.len()) || !is_worth_it(found, &loops, &targets) {
        return Ok(Some(false));
    }
    join(context, function, found, &targets)?;
    Ok(Some(true))
}

/// Where a loop goes on, but for panics.
fn targets<'ctx>(found: &Loop<'ctx>) -> Vec<BasicBlock<'ctx>> {
    let mut targets = Vec::new();
    for to in found.blocks.iter().filter_map(|block| block.get_terminator()).flat_map(llvm::block_operands) {
        if !found.contains(to) && !targets.contains(&to) && !panics(to) {
            targets.push(to);
        }
    }
    targets
}

/// Whether a way goes to a loop that LLVM is to leave as it is: what is left of an unrolled one, or one as it was written, to which a
/// copy without checks goes where a check fails. Of the first all threads have about as many rounds, and the other is hardly
/// ever run; but numbers that are kept for either cost registers.
fn leads_to_rest<'ctx>(context: &Context, to: BasicBlock<'ctx>, found: &Loop<'ctx>, loops: &[Loop<'ctx>]) -> bool {
    let is_rest = |block: BasicBlock<'ctx>| {
        loops.iter().any(|other| other.head == block && llvm::unroll_is_disabled(context, &other.jumps_back()))
    };
    let (mut at, mut steps) = (to, MOST_JUMPS);
    while !is_rest(at) {
        let next = at.get_terminator().map(llvm::block_operands).unwrap_or_default();
        match next[..] {
            [next] if steps > 0 && !found.contains(next) => (at, steps) = (next, steps - 1),
            _ => return false,
        }
    }
    true
}

/// Whether enough is done on one way alone, and nothing together.
fn is_worth_it<'ctx>(found: &Loop<'ctx>, loops: &[Loop<'ctx>], targets: &[BasicBlock<'ctx>]) -> bool {
    let ends = |block: &BasicBlock<'ctx>| block.get_terminator().is_some_and(|end| end.get_opcode() == Op::Br);
    // A block that leaves the loop either way leaves it for one target.
    let leaves_once = |block: &BasicBlock<'ctx>| {
        let to = block.get_terminator().map(llvm::block_operands).unwrap_or_default();
        to.iter().filter(|to| targets.contains(to)).count() <= 1
    };
    let ways: Vec<_> = targets.iter().map(|target| reached(*target, found, loops)).collect();
    let alone = |at: usize| {
        let elsewhere = |block: &BasicBlock<'ctx>| {
            ways.iter().enumerate().any(|(other, blocks)| other != at && blocks.contains(block))
        };
        ways[at].iter().filter(|block| !elsewhere(block)).copied().collect::<Vec<_>>()
    };
    let all: Vec<_> = (0..targets.len()).map(alone).collect();
    let work = |blocks: &Vec<BasicBlock<'ctx>>| {
        let is_head = |block: &BasicBlock<'ctx>| loops.iter().any(|other| other.head == *block);
        let counted = || blocks.iter().flat_map(|block| block.get_instructions()).map(weight).sum::<usize>();
        blocks.iter().any(is_head) || counted() >= FEWEST
    };
    let together =
        |blocks: &[BasicBlock<'ctx>]| blocks.iter().flat_map(|block| block.get_instructions()).any(is_convergent);
    found.blocks.iter().all(|block| ends(block) && leaves_once(block))
        && all.iter().any(work)
        && !found.blocks.iter().flat_map(|block| block.get_instructions()).any(may_wait)
        && !all.iter().any(|blocks| together(blocks))
}

/// Whether an instruction may look at what another thread does, or is one that threads do together.
fn may_wait(instruction: InstructionValue<'_>) -> bool {
    match instruction.get_opcode() {
        Op::Load => !llvm::is_plain_load(instruction),
        Op::Store => !llvm::is_plain_store(instruction),
        Op::AtomicRMW | Op::AtomicCmpXchg | Op::Fence => true,
        Op::Call => {
            let callee = llvm::called_function(instruction);
            is_convergent(instruction)
                || callee.is_none_or(|callee| !callee.get_name().to_bytes().starts_with(b"llvm."))
        }
        _ => false,
    }
}

/// The blocks that are reached from one without going round a loop that this one is in.
fn reached<'ctx>(from: BasicBlock<'ctx>, found: &Loop<'ctx>, loops: &[Loop<'ctx>]) -> HashSet<BasicBlock<'ctx>> {
    let goes_round =
        |block: &BasicBlock<'ctx>| loops.iter().any(|outer| outer.head == *block && outer.contains(found.head));
    let (mut seen, mut pending) = (HashSet::from([from]), vec![from]);
    while let Some(block) = pending.pop() {
        let next = block.get_terminator().map(llvm::block_operands).unwrap_or_default();
        pending.extend(next.into_iter().filter(|to| !goes_round(to) && !panics(*to) && seen.insert(*to)));
    }
    seen
}

fn weight(instruction: InstructionValue<'_>) -> usize {
    match instruction.get_opcode() {
        Op::Phi | Op::Br => 0,
        Op::Load | Op::Store | Op::FDiv | Op::UDiv | Op::SDiv | Op::URem | Op::SRem | Op::AtomicRMW => OF_A_SLOW_ONE,
        Op::Call => match llvm::called_function(instruction) {
            Some(callee) if callee.get_name().to_bytes().starts_with(b"llvm.assume") => 0,
            Some(callee) if callee.get_name().to_bytes().starts_with(b"llvm.lifetime") => 0,
            Some(callee) if callee.get_name().to_bytes().starts_with(b"llvm.sqrt") => OF_A_SLOW_ONE,
            Some(callee) if callee.get_name().to_bytes().starts_with(b"llvm.") => 1,
            _ => FEWEST,
        },
        _ => 1,
    }
}

/// Has these ways out of a loop go by way of one new block.
fn join<'ctx>(
    context: &'ctx Context,
    function: FunctionValue<'ctx>,
    found: &Loop<'ctx>,
    targets: &[BasicBlock<'ctx>],
) -> std::result::Result<(), BuilderError> {
    let builder = context.create_builder();
    let out = context.append_basic_block(function, "");
    let from = |target: &BasicBlock<'ctx>| {
        let goes = |block: &&BasicBlock<'ctx>| {
            block.get_terminator().is_some_and(|end| llvm::block_operands(end).contains(target))
        };
        found.blocks.iter().filter(goes).copied().collect::<Vec<_>>()
    };
    let ways: Vec<(BasicBlock<'ctx>, Vec<BasicBlock<'ctx>>)> = targets.iter().map(|to| (*to, from(to))).collect();
    builder.position_at_end(out);
    // Whether a block goes each of the ways; the first is where none of the others is.
    let mut chosen = Vec::new();
    for (target, _) in &ways[1..] {
        let is = builder.build_phi(context.bool_type(), "")?;
        for (to, blocks) in &ways {
            let holds = context.bool_type().const_int(u64::from(to == target), false);
            blocks.iter().for_each(|block| is.add_incoming(&[(&holds, *block)]));
        }
        chosen.push(is.as_basic_value().into_int_value());
    }
    for (target, _) in &ways {
        for phi in llvm::phis(*target).collect::<Vec<_>>() {
            let value = llvm::result(phi);
            let ty: BasicTypeEnum<'ctx> = value.get_type();
            builder.position_at_end(out);
            let joined = builder.build_phi(ty, "")?;
            for (to, blocks) in &ways {
                for block in blocks {
                    let told = if to == target { llvm::incoming_from(phi, *block) } else { None };
                    let told: BasicValueEnum<'ctx> = told.unwrap_or_else(|| llvm::poison(ty));
                    llvm::add_incoming(joined.as_instruction(), told, *block);
                }
            }
            llvm::replace_uses(phi, joined.as_basic_value());
            phi.erase_from_basic_block();
        }
    }
    for (target, blocks) in &ways {
        for block in blocks {
            llvm::retarget(block.get_terminator().expect("a block has an end"), *target, out);
        }
    }
    let mut at = out;
    for (number, is) in chosen.iter().enumerate() {
        builder.position_at_end(at);
        let last = number + 1 == chosen.len();
        let other = if last { ways[0].0 } else { context.append_basic_block(function, "") };
        builder.build_conditional_branch(*is, ways[number + 1].0, other)?;
        at = other;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loops::staged::after;

    /// A search, after [`reunite`], with where it goes on in its second block, and what is done with what it finds.
    fn reunited(otherwise: &str, hit: &str) -> String {
        let text = format!(
            "declare float @llvm.sqrt.f32(float)
            declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
            declare void @__rust_ptx_panic_with_1(i64) noreturn
            define void @f(ptr %from, ptr %to, i64 %n, i64 %m) {{
            entry: br label %loop
            loop: %k = phi i64 [ 0, %entry ], [ %next, %goes ]
              %p = getelementptr float, ptr %from, i64 %k
              %x = load float, ptr %p
              %is = fcmp olt float %x, 1.0
              br i1 %is, label %hit, label %goes
            goes: %next = add i64 %k, 1
              %done = icmp eq i64 %next, %n
              {otherwise}
            hit: %found = phi i64 [ %k, %loop ]
              {hit}
              br label %end
            miss: br label %end
            panic: call void @__rust_ptx_panic_with_1(i64 %next)
              unreachable
            end: %r = phi i64 [ %found, %hit ], [ -1, %miss ]
              store i64 %r, ptr %to
              ret void
            }}"
        );
        after(&text, |context, module, machine| reunite(context, module, machine).unwrap())
    }

    const OR_MISS: &str = "br i1 %done, label %miss, label %loop";

    /// Enough for a meeting.
    fn roots(count: usize) -> String {
        let root =
            |at| format!("%r{at} = call float @llvm.sqrt.f32(float %x)\n store volatile float %r{at}, ptr %to\n");
        (0..count).map(root).collect()
    }

    #[test]
    fn threads_meet_before_what_is_done_on_one_way() {
        let ir = reunited(OR_MISS, &roots(4));
        assert!(ir.contains("= phi i1 [ ") && ir.contains("[ poison, %goes ]"), "{ir}");
        // Where there is no more than a number to be taken, they meet there.
        let ir = reunited(OR_MISS, "");
        assert!(!ir.contains("phi i1"), "{ir}");
    }

    #[test]
    fn what_threads_do_together_and_panics_stay() {
        let ir = reunited(OR_MISS, &(roots(4) + "call void @llvm.nvvm.barrier.cta.sync.all(i32 0)"));
        assert!(!ir.contains("phi i1"), "{ir}");
        // A lock may be held by a thread that has left.
        let ir = reunited(
            "%lock = load atomic i32, ptr %from syncscope(\"device\") acquire, align 4\n br i1 %done, label %miss, label %loop",
            &roots(4),
        );
        assert!(!ir.contains("phi i1"), "{ir}");
        // One way out alone.
        let ir = reunited("br i1 %done, label %panic, label %loop", &roots(4));
        assert!(!ir.contains("phi i1"), "{ir}");
    }
}
