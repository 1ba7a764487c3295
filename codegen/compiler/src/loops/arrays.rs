//! Has loops unrolled whose rounds index a local array or walk a constant table: with constant indices the array becomes
//! registers, and the table's numbers become part of the code.
//!
//! ```text
//! before: %schedule = alloca [64 x i32]
//!         loop: %at = getelementptr [4 x i8], ptr %schedule, i64 %round      ; ld.local, st.local in every round
//!               br i1 %more, label %loop, label %end
//! after:        br i1 %more, label %loop, label %end, !llvm.loop !{…, !"llvm.loop.unroll.full"}
//! ```
//!
//! LLVM unrolls loops by the size of their bodies, and does not count what an array in local memory costs a GPU: a load from
//! memory in place of a register. It unrolls what is marked so only if the number of rounds is a constant, and up to 16,384
//! instructions. Where it is at most a constant, as in `for i in 0..=step` of a triangle of 64 steps, LLVM is asked to write as
//! many rounds as there are at most, each behind a branch.
//!
//! So are the rounds of a hash, which take one of several formulas by their number (`match i >> 4 { … }`), or find a word by
//! it (`key[sum & 3]`): with the numbers, branches go, and words that several rounds read are loaded once. And so are loops in
//! each other, the inner ones of which run as often as the outer one has counted (`for j in 0..=i`): LLVM unrolls from within,
//! where the number of rounds does not show yet. Neither where that would be long: it would not stay in the cache of
//! instructions, and the 24 rounds of Keccak, 200 instructions each, took 8 % longer than their loop.
//!
//! **Why it is right.** Marks change how often a body stands in a loop, never what it does.

use std::collections::HashSet;

use crate::llvm::{
    self, BasicBlock, BasicValueEnum, Context, FunctionValue, InstructionOpcode, InstructionValue, Module, Unroll, Use,
};
use crate::settled;

use super::natural::{Graph, Loop};
use super::rounds::Walk;

/// Bytes of arrays that can become registers: a thread has 255 of 4 bytes.
const MOST_BYTES: u64 = 512;

/// Bytes of tables that may become part of the code.
const MOST_OF_A_TABLE: u64 = 2048;

/// Instructions that are left of a loop by a table.
const MOST_OF_A_WALK: u64 = 2048;

/// Instructions that are left of rounds with branches or places by their number.
const MOST_OF_ROUNDS: u64 = 1024;

/// Instructions that are left of loops in each other.
const MOST_OF_A_NEST: u64 = 1536;

/// Instructions of a round of which there are at most so many.
const MOST_OF_A_ROUND: usize = 24;

/// Marks loops for unrolling, and says which functions have any.
pub fn unroll<'ctx>(context: &Context, module: &Module<'ctx>) -> HashSet<FunctionValue<'ctx>> {
    let mut marked = HashSet::new();
    for function in settled::open(module) {
        let blocks = indexed_in(function);
        let loops = Graph::of(function).loops();
        let is_disabled = |found: &Loop<'ctx>| llvm::unroll_was_disabled(context, &found.jumps_back());
        let indexes = |found: &Loop<'ctx>| blocks.iter().any(|(block, _)| found.contains(*block));
        let writes = |found: &Loop<'ctx>| blocks.iter().any(|(block, writes)| *writes && found.contains(*block));
        let mut walk = Walk::new(function, &loops);
        let mut whole: HashSet<BasicBlock<'ctx>> = HashSet::new();
        // The outer ones first.
        let mut nests: Vec<_> = loops.iter().filter(|found| indexes(found)).collect();
        nests.sort_by_key(|found| std::cmp::Reverse(found.blocks.len()));
        for nest in nests {
            let all: Vec<_> = loops.iter().filter(|inner| nest.contains(inner.head)).collect();
            let is_nest = all.len() > 1 && !whole.contains(&nest.head) && !all.iter().any(|found| is_disabled(found));
            if is_nest && walk.of(nest).is_some_and(|rounds| rounds.instructions <= MOST_OF_A_NEST) {
                whole.extend(all.iter().map(|found| found.head));
            }
        }
        for found in &loops {
            let jumps = found.jumps_back();
            let is_inner = loops.iter().all(|other| other.head == found.head || !found.contains(other.head));
            // LLVM did not do it the last time.
            let full = if llvm::is_to_be_unrolled(context, &jumps) { Unroll::Full } else { Unroll::Whole };
            let mut rounds = || walk.of(found);
            let unroll = if whole.contains(&found.head) {
                full
            } else if !is_inner {
                continue;
            } else if indexes(found) {
                match rounds() {
                    // An array that is only read is a table.
                    Some(rounds) if rounds.instructions > MOST_OF_A_WALK && !writes(found) => continue,
                    Some(_) => full,
                    None if is_bounded(found) => Unroll::Bounded,
                    None => Unroll::Full,
                }
            } else if walks_table(found) {
                match rounds() {
                    Some(rounds) if rounds.instructions > MOST_OF_A_WALK => continue,
                    Some(_) => full,
                    None => Unroll::Full,
                }
            } else if !llvm::has_loop_mark(context, &jumps)
                && rounds()
                    .is_some_and(|rounds| rounds.decided + rounds.found > 0 && rounds.instructions <= MOST_OF_ROUNDS)
            {
                full
            } else {
                continue;
            };
            if !is_disabled(found) {
                llvm::set_unroll(context, &jumps, unroll);
                marked.insert(function);
            }
        }
    }
    marked
}

/// Whether a loop is one block that ends by what it counts, so that each of its rounds may be the last.
fn is_bounded(found: &Loop<'_>) -> bool {
    let [block] = found.blocks[..] else { return false };
    let calls = |from: InstructionValue<'_>| from.get_opcode() == InstructionOpcode::Call && !llvm::is_pure(from);
    block.get_instructions().count() <= MOST_OF_A_ROUND && !block.get_instructions().any(calls)
}

/// Whether each round of a loop takes the next element of a small constant table: what it finds there are constants too.
fn walks_table(found: &Loop<'_>) -> bool {
    let is_table = |pointer| {
        llvm::global_of(pointer).is_some_and(|global| {
            global.is_constant() && llvm::static_bytes(global).is_some_and(|size| size <= MOST_OF_A_TABLE)
        })
    };
    let phis: Vec<_> =
        found.head.get_instructions().take_while(|phi| phi.get_opcode() == InstructionOpcode::Phi).collect();
    let by_pointer = phis.iter().flat_map(|phi| llvm::incoming(*phi)).any(|(value, block)| match value {
        BasicValueEnum::PointerValue(pointer) => !found.contains(block) && is_table(pointer),
        _ => false,
    });
    by_pointer
        || phis.iter().flat_map(|phi| llvm::uses(&llvm::result(*phi))).any(|user| match user {
            Use::Instruction(user) if user.get_opcode() == InstructionOpcode::GetElementPtr => {
                matches!(user.get_operand(0).and_then(|base| base.value()), Some(BasicValueEnum::PointerValue(base)) if is_table(base))
            }
            _ => false,
        })
}

/// Where small local arrays are indexed by what is not a constant, and whether what is found there may be written.
fn indexed_in<'ctx>(function: FunctionValue<'ctx>) -> Vec<(BasicBlock<'ctx>, bool)> {
    let arrays = llvm::instructions(function).filter(|instruction| {
        let size = || llvm::allocated_bytes(*instruction);
        instruction.get_opcode() == InstructionOpcode::Alloca
            && size().is_some_and(|size| (8..=MOST_BYTES).contains(&size))
    });
    let mut blocks = Vec::new();
    for array in arrays {
        let mut pending = vec![array];
        while let Some(address) = pending.pop() {
            for user in llvm::uses(&llvm::result(address)) {
                let Use::Instruction(user) = user else { continue };
                if user.get_opcode() == InstructionOpcode::GetElementPtr {
                    if is_indexed(user) {
                        blocks.extend(user.get_parent().map(|block| (block, !is_only_read(user))));
                    }
                    pending.push(user);
                }
            }
        }
    }
    blocks
}

/// Whether an address is only loaded from.
fn is_only_read(address: InstructionValue<'_>) -> bool {
    llvm::uses(&llvm::result(address))
        .iter()
        .all(|user| matches!(user, Use::Instruction(user) if user.get_opcode() == InstructionOpcode::Load))
}

fn is_indexed(gep: InstructionValue<'_>) -> bool {
    (1..gep.get_num_operands()).any(|index| {
        gep.get_operand(index)
            .and_then(|operand| operand.value())
            .is_some_and(|operand| matches!(operand, BasicValueEnum::IntValue(index) if !index.is_const()))
    })
}
