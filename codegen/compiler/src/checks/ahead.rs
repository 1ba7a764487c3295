//! Computes before a barrier what the checks behind it ask for, and at a kernel's start what its first branches do.
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
//! What a kernel's first branches ask, [`start`](super::start) says.
//!
//! **Why it is right.** A position, and arithmetic of numbers that are known before, is the same wherever it is computed, and
//! computing it has no effect. The check itself stays where it is. What means nothing where the check fails is not looked at
//! there.

use std::collections::HashSet;

use super::behind::{self, Met};
use super::early;
use super::extended;
use super::later;
use super::moved::{self, Early};
use super::start::{self, inside, slow};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{self, BasicBlock, Builder, BuilderError, Context, FunctionValue, InstructionValue, Module};
use crate::loops::{self, Graph};

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
    if !loops::has_loops(kernel)
        && let Some(end) = kernel.get_first_basic_block().and_then(BasicBlock::get_terminator)
    {
        compute(context, &context.create_builder(), &start::asked(kernel), end)?;
    }
    before_barriers(context, kernel)?;
    start::ask_once(context, kernel)?;
    later::compute_later(context, kernel);
    Ok(())
}

fn before_barriers<'ctx>(context: &'ctx Context, kernel: FunctionValue<'ctx>) -> std::result::Result<(), BuilderError> {
    let meets = |block: &BasicBlock<'ctx>| block.get_instructions().any(loops::is_barrier);
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
        compute(context, &builder, &found, end)?;
        if let Some(barrier) = block.get_instructions().filter(|from| loops::is_barrier(*from)).last() {
            let inside = inside(block, &slow).filter(|inside| llvm::predecessors(*inside) == [block]);
            behind::compute(context, &graph, &Met { block, before, barrier, inside })?;
        }
    }
    Ok(())
}

/// Computes these before the end of a block.
fn compute<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    found: &[InstructionValue<'ctx>],
    end: InstructionValue<'ctx>,
) -> std::result::Result<(), BuilderError> {
    let (read, found): (Vec<InstructionValue<'ctx>>, Vec<_>) =
        found.iter().copied().partition(|from| llvm::is_position(*from));
    for instruction in read {
        builder.position_before(&end);
        early::write(context, builder, instruction)?;
    }
    for instruction in &found {
        llvm::move_before(context, &[*instruction], end);
        let value = llvm::result(*instruction);
        builder.position_before(&end);
        let users = moved::users(value, |user| llvm::branch_targets(user).is_some());
        moved::keep_for(context, builder, value, users)?;
    }
    found.into_iter().try_for_each(|from| extended::extend(context, builder, from))
}

/// What can be computed at the end of another block of the conditions of the checks that follow the last barrier of this one.
fn ahead<'ctx>(
    graph: &Graph<'ctx>,
    block: BasicBlock<'ctx>,
    before: BasicBlock<'ctx>,
    slow: &HashSet<BasicBlock<'ctx>>,
) -> Vec<InstructionValue<'ctx>> {
    let early = Early { graph, before, late: HashSet::new() };
    let mut found: Vec<InstructionValue<'ctx>> = Vec::new();
    let mut at = block;
    while let Some(inside) = inside(at, slow) {
        early.add(moved::condition(at), &mut found);
        if llvm::predecessors(inside) != [at] || inside.get_instructions().any(loops::is_convergent) {
            break;
        }
        at = inside;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// The kernel after [`compute_ahead`].
    fn computed(text: &str) -> String {
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        compute_ahead(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

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
        computed(&text).split("\n\n").next().unwrap_or_default().to_owned()
    }

    #[test]
    fn a_check_behind_a_barrier_is_decided_before_it() {
        for other in ["panic", "some"] {
            let entry = first("%fits = icmp eq i32 %size, %n", other);
            let order = ["%ntid.x;", "icmp eq", "mov.pred", "br i1 %mine"].map(|part| entry.find(part));
            assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{other}: {entry}");
        }
    }

    /// A kernel without a barrier whose threads at the edge do less, after [`compute_ahead`]: the first block.
    fn start(between: &str, back: &str) -> String {
        let text = format!(
            "declare void @panic() noreturn
            define ptx_kernel void @f(ptr %from, ptr %to, i64 %len, i64 %n, i64 %i) {{
            entry: %mine = icmp ult i64 %i, %n
              br i1 %mine, label %own, label %end
            own: {between}
              %edge = icmp eq i64 %i, 0
              br i1 %edge, label %first, label %rest
            first: %small = icmp ult i64 %n, 9
              br i1 %small, label %store, label %panic
            rest: %last = add i64 %i, -1
              %inside = icmp ult i64 %last, %len
              br i1 %inside, label %fine, label %panic
            fine: %at = getelementptr i32, ptr %from, i64 %last
              %x = load i32, ptr %at
              store i32 %x, ptr %to
              {back}
            store: store i32 0, ptr %to
              br label %end
            end: ret void
            panic: call void @panic()
              unreachable
            }}"
        );
        computed(&text).split("br i1").next().unwrap_or_default().to_owned()
    }

    #[test]
    fn the_first_branches_are_decided_at_once() {
        let entry = start("", "br label %end");
        assert_eq!((entry.matches("icmp").count(), entry.matches("mov.pred").count()), (3, 2), "{entry}");
        assert!(!entry.contains("%small"), "the shorter way: {entry}");
    }

    #[test]
    fn nothing_is_decided_before_a_load_or_in_a_loop() {
        let entry = start("%y = load i32, ptr %from", "br label %end");
        assert_eq!(entry.matches("mov.pred").count(), 1, "only what is asked right behind: {entry}");
        let entry = start("", "%more = icmp eq i32 %x, 0\n br i1 %more, label %fine, label %end");
        assert!(!entry.contains("mov.pred"), "{entry}");
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
