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
//! instructions.

use std::collections::HashSet;

use crate::llvm::{
    self, BasicBlock, BasicValueEnum, Context, FunctionValue, InstructionOpcode, InstructionValue, Module, Unroll, Use,
};
use crate::settled;

use super::natural::{Graph, Loop};

/// Bytes of arrays that can become registers: a thread has 255 of 4 bytes.
const MOST_BYTES: u64 = 512;

/// Bytes of tables that may become part of the code.
const MOST_OF_A_TABLE: u64 = 2048;

/// Marks loops for unrolling, and says which functions have any.
pub fn unroll<'ctx>(context: &Context, module: &Module<'ctx>) -> HashSet<FunctionValue<'ctx>> {
    let mut marked = HashSet::new();
    for function in settled::open(module) {
        let blocks = indexed_in(function);
        for found in Graph::of(function).innermost() {
            let indexes = blocks.iter().any(|block| found.contains(*block)) || walks_table(&found);
            if indexes && !llvm::unroll_was_disabled(context, &found.jumps_back()) {
                llvm::set_unroll(context, &found.jumps_back(), Unroll::Full);
                marked.insert(function);
            }
        }
    }
    marked
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

/// Where small local arrays are indexed by what is not a constant.
fn indexed_in<'ctx>(function: FunctionValue<'ctx>) -> Vec<BasicBlock<'ctx>> {
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
                        blocks.extend(user.get_parent());
                    }
                    pending.push(user);
                }
            }
        }
    }
    blocks
}

fn is_indexed(gep: InstructionValue<'_>) -> bool {
    (1..gep.get_num_operands()).any(|index| {
        gep.get_operand(index)
            .and_then(|operand| operand.value())
            .is_some_and(|operand| matches!(operand, BasicValueEnum::IntValue(index) if !index.is_const()))
    })
}
