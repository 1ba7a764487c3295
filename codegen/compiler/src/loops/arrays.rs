//! Has loops unrolled whose rounds index a local array: with constant indices the array becomes registers.
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

use crate::llvm::{self, BasicBlock, BasicValueEnum, Context, FunctionValue, InstructionOpcode, InstructionValue, Module, Unroll, Use};

use super::natural::Graph;

/// Bytes of arrays that can become registers: a thread has 255 of 4 bytes.
const MOST_BYTES: u64 = 512;

/// Marks loops for unrolling.
pub fn unroll(context: &Context, module: &Module<'_>) {
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 1) {
        let blocks = indexed_in(function);
        if blocks.is_empty() {
            continue;
        }
        for found in Graph::of(function).innermost() {
            if blocks.iter().any(|block| found.contains(*block)) && !llvm::unroll_is_disabled(&found.jumps_back()) {
                llvm::set_unroll(context, &found.jumps_back(), Unroll::Full);
            }
        }
    }
}

/// Where small local arrays are indexed by what is not a constant.
fn indexed_in<'ctx>(function: FunctionValue<'ctx>) -> Vec<BasicBlock<'ctx>> {
    let arrays = llvm::instructions(function).filter(|instruction| {
        let size = || llvm::allocated_bytes(*instruction);
        instruction.get_opcode() == InstructionOpcode::Alloca && size().is_some_and(|size| (8..=MOST_BYTES).contains(&size))
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
        gep.get_operand(index).and_then(|operand| operand.value()).is_some_and(|operand| {
            matches!(operand, BasicValueEnum::IntValue(index) if !index.is_const())
        })
    })
}
