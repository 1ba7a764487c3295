//! Computes before a barrier what the checks behind it ask for.
//!
//! ```text
//! before: entry: …
//!                br i1 %all, label %fast, label %slow                     ; both load a tile
//!         met:   call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
//!                br i1 (%block.x == 32 and %block.y == 8), label %mine, label %panic
//! after:  entry: …
//!                %fits = and i1 (%block.x == 32), (%block.y == 8)
//!                br i1 %all, label %fast, label %slow
//!         met:   call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
//!                br i1 %fits, label %mine, label %panic
//! ```
//!
//! The block's size and the kernel's parameters take as long to read as shared memory. ptxas moves nothing across a branch, so
//! that a thread reads them when all have met, and then the tile: the store of a transposition waited for each in turn. Before
//! the branch that comes before the barrier, they are read while others load.
//!
//! Only where a check follows the barrier: else ptxas itself computes early. Not in loops, where a register counts more.
//!
//! **Why it is right.** A position, and arithmetic of numbers that are known before, is the same wherever it is computed, and
//! computing it has no effect. The check itself stays where it is. What means nothing where the check fails is not looked at
//! there.

use std::collections::HashSet;

use super::early;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValueEnum, Builder, BuilderError, Context, FunctionValue, InstructionOpcode,
    InstructionValue, Module, Use,
};
use crate::loops::{self, Graph};

/// Values that live longer for one barrier.
const MOST_VALUES: usize = 16;

/// Does so in every kernel.
pub fn compute_ahead<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for kernel in llvm::functions(module).filter(|function| function.get_call_conventions() == llvm::PTX_KERNEL) {
        compute_in(context, kernel).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot compute before a barrier: {error}"))
        })?;
    }
    Ok(())
}

fn compute_in<'ctx>(context: &'ctx Context, kernel: FunctionValue<'ctx>) -> std::result::Result<(), BuilderError> {
    let meets = |block: &BasicBlock<'ctx>| block.get_instructions().any(is_barrier);
    let blocks: Vec<BasicBlock<'ctx>> = kernel.get_basic_blocks().into_iter().filter(meets).collect();
    if blocks.is_empty() {
        return Ok(());
    }
    let graph = Graph::of(kernel);
    let in_loops: HashSet<_> = graph.innermost().into_iter().flat_map(|found| found.blocks).collect();
    let slow = slow(kernel);
    let builder = context.create_builder();
    for block in blocks.into_iter().filter(|block| !in_loops.contains(block)) {
        let Some(before) = graph.dominator(block).filter(|before| !in_loops.contains(before)) else { continue };
        let Some(end) = before.get_terminator() else { continue };
        let found = ahead(&graph, block, before, &slow);
        for instruction in &found {
            if llvm::is_position(*instruction) {
                builder.position_before(&end);
                early::write(context, &builder, *instruction)?;
                continue;
            }
            llvm::move_before(context, &[*instruction], end);
            let decides = |user: &Use<'ctx>| matches!(user, Use::Instruction(user) if user.is_terminator());
            if llvm::uses(&llvm::result(*instruction)).iter().any(decides) {
                builder.position_before(&end);
                keep(context, &builder, *instruction)?;
            }
        }
    }
    Ok(())
}

/// Has a condition be computed where the builder stands, for the branches that ask for it.
fn keep<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    condition: InstructionValue<'ctx>,
) -> std::result::Result<(), BuilderError> {
    let condition = llvm::result(condition).into_int_value();
    let ty = condition.get_type().fn_type(&[condition.get_type().into()], false);
    let text = "mov.pred $0, $1;".to_owned();
    let assembly = context.create_inline_asm(ty, text, "=b,b".to_owned(), true, false, None, false);
    let kept = builder.build_indirect_call(ty, assembly, &[condition.into()], "")?.try_as_basic_value().unwrap_basic();
    for user in llvm::uses(&condition) {
        if let Use::Instruction(user) = user
            && user.is_terminator()
        {
            user.set_operand(0, kept);
        }
    }
    Ok(())
}

/// What can be computed at the end of another block of the conditions of the checks that follow the last barrier of this one.
fn ahead<'ctx>(
    graph: &Graph<'ctx>,
    block: BasicBlock<'ctx>,
    before: BasicBlock<'ctx>,
    slow: &HashSet<BasicBlock<'ctx>>,
) -> Vec<InstructionValue<'ctx>> {
    let mut found: Vec<InstructionValue<'ctx>> = Vec::new();
    let mut at = block;
    while let Some(inside) = inside(at, slow) {
        let condition = at.get_terminator().and_then(|end| end.get_operand(0)).and_then(|value| value.value());
        let known = found.len();
        if !condition.is_some_and(|condition| can_be_early(graph, condition, before, &mut found)) {
            found.truncate(known);
        }
        if llvm::predecessors(inside) != [at] || inside.get_instructions().any(loops::is_convergent) {
            break;
        }
        at = inside;
    }
    found
}

/// Whether a value can be computed at the end of a block; adds what must be computed for it, each behind its operands.
fn can_be_early<'ctx>(
    graph: &Graph<'ctx>,
    value: BasicValueEnum<'ctx>,
    before: BasicBlock<'ctx>,
    found: &mut Vec<InstructionValue<'ctx>>,
) -> bool {
    let Some(from) = llvm::instruction_of(value) else { return true };
    let is_above = |block| graph.is_reached_by_way_of(before, block);
    if found.contains(&from) || from.get_parent().is_some_and(is_above) {
        return true;
    }
    let is_early = found.len() < MOST_VALUES
        && (llvm::is_position(from) || llvm::is_pure(from))
        && llvm::value_operands(from).all(|(_, operand)| can_be_early(graph, operand, before, found));
    if is_early {
        found.push(from);
    }
    is_early
}

/// The blocks that panic, those that do nothing but end the function, and those that only choose between some of them.
fn slow<'ctx>(kernel: FunctionValue<'ctx>) -> HashSet<BasicBlock<'ctx>> {
    let mut slow: HashSet<BasicBlock<'ctx>> = HashSet::new();
    let blocks = kernel.get_basic_blocks();
    loop {
        let known = slow.len();
        for block in &blocks {
            let Some(end) = block.get_terminator() else { continue };
            let targets = llvm::block_operands(end);
            let stores =
                || block.get_instructions().any(|from| llvm::is_plain_store(from) || llvm::is_plain_load(from));
            let is_slow = match end.get_opcode() {
                InstructionOpcode::Unreachable => true,
                InstructionOpcode::Return => block.get_first_instruction() == Some(end),
                _ => targets.len() == 2 && !stores() && targets.iter().all(|target| slow.contains(target)),
            };
            if is_slow {
                slow.insert(*block);
            }
        }
        if slow.len() == known {
            return slow;
        }
    }
}

/// Where a check goes that a block ends in, if it does not fail.
fn inside<'ctx>(block: BasicBlock<'ctx>, slow: &HashSet<BasicBlock<'ctx>>) -> Option<BasicBlock<'ctx>> {
    let (then, other) = llvm::branch_targets(block.get_terminator()?)?;
    match (slow.contains(&then), slow.contains(&other)) {
        (false, true) => Some(then),
        (true, false) => Some(other),
        _ => None,
    }
}

fn is_barrier(instruction: InstructionValue<'_>) -> bool {
    llvm::called_function(instruction)
        .is_some_and(|callee| callee.get_name().to_string_lossy().starts_with("llvm.nvvm.barrier.cta.sync"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A kernel in which a check follows a barrier, after [`compute_ahead`]: the first block.
    fn first(condition: &str, other: &str) -> String {
        let text = format!(
            "declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
            declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) convergent
            declare void @panic() noreturn
            define ptx_kernel void @f(ptr %from, ptr addrspace(3) %tile, i32 %n, i1 %mine) {{
            entry: br i1 %mine, label %load, label %met
            load: %x = load i32, ptr %from
              store i32 %x, ptr addrspace(3) %tile
              br label %met
            met: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
              %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
              {condition}
              br i1 %fits, label %inside, label %{other}
            inside: %y = load i32, ptr addrspace(3) %tile
              store i32 %y, ptr %from
              br label %end
            some: br i1 %mine, label %panic, label %end
            more: store i32 %n, ptr %from
              br label %end
            end: ret void
            panic: call void @panic()
              unreachable
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        compute_ahead(&context, &module).unwrap();
        module.verify().unwrap();
        let ir = module.get_function("f").unwrap().print_to_string().to_string();
        ir.split("\n\n").next().unwrap_or_default().to_owned()
    }

    #[test]
    fn a_check_behind_a_barrier_is_decided_before_it() {
        for other in ["panic", "some"] {
            let entry = first("%fits = icmp eq i32 %size, %n", other);
            let order = ["%ntid.x;", "icmp eq", "mov.pred", "br i1 %mine"].map(|part| entry.find(part));
            assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{other}: {entry}");
        }
    }

    #[test]
    fn what_is_loaded_or_no_check_stays() {
        // What the barrier waits for, and a branch both of whose ways go on.
        let loaded = "%z = load i32, ptr addrspace(3) %tile\n %fits = icmp eq i32 %size, %z";
        for (condition, other) in [(loaded, "panic"), ("%fits = icmp eq i32 %size, %n", "more")] {
            let entry = first(condition, other);
            assert!(!entry.contains("asm") && !entry.contains("icmp"), "{entry}");
        }
    }
}
