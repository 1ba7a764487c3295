//! Computes the addresses behind a barrier, and behind a check that follows one, before the threads wait there.
//!
//! ```text
//! before: entry:  br i1 %all, label %fast, label %slow                     ; both load a tile
//!         met:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
//!                 br i1 %fits, label %inside, label %panic
//!         inside: %to = getelementptr float, ptr %plane, i64 (%y * %width)
//!                 %from = getelementptr float, ptr addrspace(3) @tile, i64 (33 * %x + %y)
//! after:  fast:   %to.fast = getelementptr float, ptr %plane, i64 (%y * %width)
//!                 %from.fast = getelementptr float, ptr addrspace(3) @tile, i64 (33 * %x + %y)
//!                 …
//!         met:    %to = phi ptr [ %to.fast, … ], [ %to.slow, … ]
//!                 %from = phi ptr addrspace(3) [ %from.fast, … ], [ %from.slow, … ]
//!                 call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
//!                 br i1 %fits, label %inside, label %panic
//! ```
//!
//! Where no check follows a barrier, and nothing comes before it in two copies, ptxas itself computes what comes next while a thread waits for its loads. It moves nothing
//! across the check, so that a transposition began to compute where it stores when all threads had met. On an H200, which has
//! memory enough to notice, this and the rows' addresses (`addresses/rows.rs`) took its tile from 0.987 to 0.992 of nvcc's speed.
//!
//! Where two copies of some code come before the barrier, it is computed in each, behind the branch to it: before that, it would
//! delay the loads. ptxas does not do that either, so it is done whether or not a check follows, and so it is with what the next
//! few branches ask, as those of a thread with several elements: that took the tile from 0.991 to 0.992 of nvcc's speed. Where
//! there are no copies, it is computed right before the barrier, if a check follows.
//!
//! **Why it is right.** Arithmetic of numbers that are known before is the same wherever it is computed, and has no effect.
//! What means nothing where the check fails is not looked at there.

use std::collections::{HashMap, HashSet};

use super::moved::{self, Early};
use crate::llvm::{
    self, BasicBlock, BasicValueEnum, Builder, BuilderError, Context, InstructionOpcode, InstructionValue,
};
use crate::loops::Graph;

/// Conditions that are computed ahead of a barrier.
const MOST_CONDITIONS: usize = 4;

/// A barrier outside of loops, and what comes before and behind it.
pub struct Met<'ctx> {
    /// Where it is.
    pub block: BasicBlock<'ctx>,
    /// The block that is on every way there, and nearest.
    pub before: BasicBlock<'ctx>,
    /// The last one in its block.
    pub barrier: InstructionValue<'ctx>,
    /// Where the check leads that follows, if one does.
    pub inside: Option<BasicBlock<'ctx>>,
}

/// Computes what is wanted behind the check before the barrier, where that is possible.
pub fn compute<'ctx>(context: &'ctx Context, graph: &Graph<'ctx>, met: &Met<'ctx>) -> Result<(), BuilderError> {
    if let Some(copies) = copies(graph, met) {
        let inside = met.inside.unwrap_or(met.block);
        let found = wanted(inside, &Early { graph, before: met.before, late: HashSet::new() });
        // What is frozen is one number, and not one in each copy.
        let is_unfit =
            |from: &InstructionValue<'ctx>| llvm::is_position(*from) || from.get_opcode() == InstructionOpcode::Freeze;
        if !found.is_empty() && !found.iter().any(is_unfit) {
            return write_in_both(context, graph, met, copies, &found);
        }
    }
    let Some(inside) = met.inside else { return Ok(()) };
    let late = met.block.get_instructions().skip_while(|from| *from != met.barrier).collect();
    let found = wanted(inside, &Early { graph, before: met.block, late });
    if found.iter().any(|from| llvm::is_position(*from)) {
        return Ok(());
    }
    llvm::move_before(context, &found, met.barrier);
    let builder = context.create_builder();
    builder.position_before(&met.barrier);
    for from in &found {
        moved::keep_for(context, &builder, llvm::result(*from), needing(*from, &found))?;
    }
    Ok(())
}

/// The addresses in a block, the conditions that follow them, and what they are computed from, each behind its operands.
fn wanted<'ctx>(inside: BasicBlock<'ctx>, early: &Early<'_, 'ctx>) -> Vec<InstructionValue<'ctx>> {
    let mut found: Vec<InstructionValue<'ctx>> = Vec::new();
    for address in inside.get_instructions().filter(|from| is_address(*from)) {
        early.add(Some(llvm::result(address)), &mut found);
    }
    if !found.is_empty() {
        let mut at = Some(inside);
        for _ in 0..MOST_CONDITIONS {
            let Some(block) = at else { break };
            early.add(moved::condition(block), &mut found);
            at = next(block);
        }
    }
    found
}

/// Where both ways meet that a block ends in, if one of them has a block of its own.
fn next(block: BasicBlock<'_>) -> Option<BasicBlock<'_>> {
    let (one, other) = llvm::branch_targets(block.get_terminator()?)?;
    let goes_to = |from: BasicBlock<'_>, to: BasicBlock<'_>| {
        from.get_terminator().is_some_and(|end| llvm::block_operands(end)[..] == [to])
    };
    if goes_to(one, other) { Some(other) } else { goes_to(other, one).then_some(one) }
}

/// Whether it is an address that costs more than an offset in the instruction that uses it. LLVM has yet to find where one
/// leads that may lead anywhere, and finds nothing once it is kept.
fn is_address(from: InstructionValue<'_>) -> bool {
    llvm::element_of(from).is_some_and(|(base, _, index)| !index.is_const() && llvm::address_space(base) != 0)
}

/// What uses the result of one of these.
fn needing<'ctx>(from: InstructionValue<'ctx>, found: &[InstructionValue<'ctx>]) -> Vec<InstructionValue<'ctx>> {
    moved::users(llvm::result(from), |user| {
        if is_address(from) { !found.contains(&user) } else { llvm::branch_targets(user).is_some() }
    })
}

/// Two blocks of which one is on each way to the barrier.
fn copies<'ctx>(graph: &Graph<'ctx>, met: &Met<'ctx>) -> Option<[BasicBlock<'ctx>; 2]> {
    let (one, other) = llvm::branch_targets(met.before.get_terminator()?)?;
    let is_copy = |block: &BasicBlock<'ctx>| llvm::predecessors(*block) == [met.before];
    let is_one_way = |from: &BasicBlock<'ctx>| {
        let named = from.get_terminator().map(llvm::block_operands).unwrap_or_default();
        let is_behind = |block| graph.is_reached_by_way_of(*from, block);
        named.iter().filter(|block| **block == met.block).count() == 1 && (is_behind(one) || is_behind(other))
    };
    let fits = [one, other].iter().all(is_copy) && llvm::predecessors(met.block).iter().all(is_one_way);
    fits.then_some([one, other])
}

fn write_in_both<'ctx>(
    context: &'ctx Context,
    graph: &Graph<'ctx>,
    met: &Met<'ctx>,
    copies: [BasicBlock<'ctx>; 2],
    found: &[InstructionValue<'ctx>],
) -> Result<(), BuilderError> {
    let builder = context.create_builder();
    let mut kept = Vec::new();
    for copy in copies {
        let Some(first) = copy.get_instructions().nth(llvm::phis(copy).count()) else { return Ok(()) };
        builder.position_before(&first);
        kept.push(write(context, &builder, found)?);
    }
    for from in found {
        let (value, users) = (llvm::result(*from), needing(*from, found));
        if users.is_empty() {
            continue;
        }
        let Some(first) = met.block.get_first_instruction() else { continue };
        builder.position_before(&first);
        let phi = builder.build_phi(value.get_type(), "")?;
        for way in llvm::predecessors(met.block) {
            let copy = usize::from(!graph.is_reached_by_way_of(way, copies[0]));
            phi.add_incoming(&[(&kept[copy][from], way)]);
        }
        users.into_iter().for_each(|user| moved::replace_in(context, user, value, phi.as_basic_value()));
    }
    Ok(())
}

/// Writes them once more where the builder stands, and keeps there what is needed elsewhere.
fn write<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    found: &[InstructionValue<'ctx>],
) -> Result<HashMap<InstructionValue<'ctx>, BasicValueEnum<'ctx>>, BuilderError> {
    let (mut written, mut kept) = (HashMap::new(), HashMap::new());
    for from in found {
        let operands: Vec<_> = llvm::value_operands(*from)
            .filter_map(|(place, operand)| Some((place, *written.get(&llvm::instruction_of(operand)?)?)))
            .collect();
        let value = llvm::result(llvm::build_copy(builder, *from, &operands));
        written.insert(*from, value);
        if !needing(*from, found).is_empty() {
            kept.insert(*from, moved::keep(context, builder, value)?);
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use crate::checks::compute_ahead;
    use crate::llvm::{AnyValue, Context, parse_ir};

    /// A kernel that loads a tile in one of two copies, or in one only, after [`compute_ahead`]. A check or a branch follows.
    fn computed(slow: &str, index: &str, failed: &str) -> String {
        let text = format!(
            "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) convergent
            declare void @panic() noreturn
            define ptx_kernel void @f(ptr %from, ptr %to, ptr addrspace(3) %tile, i64 %n, i1 %all, i1 %fits) {{
            entry: br i1 %all, label %fast, label %{slow}
            fast: %x = load i32, ptr %from
              store i32 %x, ptr addrspace(3) %tile
              br label %met
            slow: %y = load volatile i32, ptr %from
              store i32 %y, ptr addrspace(3) %tile
              br label %met
            met: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
              %index = {index}
              br i1 %fits, label %inside, label %{failed}
            inside: %at = getelementptr i32, ptr addrspace(3) %tile, i64 %index
              %there = getelementptr i32, ptr %to, i64 %index
              %mine = icmp ult i64 %index, 1000
              br i1 %mine, label %own, label %end
            own: %z = load i32, ptr addrspace(3) %at
              store i32 %z, ptr %there
              br label %end
            end: store i32 1, ptr %from
              ret void
            other: store i32 0, ptr %to
              ret void
            panic: call void @panic()
              unreachable
            }}"
        );
        computed_text(&text)
    }

    /// What becomes of the kernel `f` of this text.
    fn computed_text(text: &str) -> String {
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        compute_ahead(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    /// The block of this name.
    fn block<'a>(ir: &'a str, name: &str) -> &'a str {
        ir.split_once(&format!("\n{name}:")).and_then(|(_, rest)| rest.split("\n\n").next()).expect("it has the block")
    }

    #[test]
    fn it_is_computed_in_both_copies() {
        let ir = computed("slow", "mul i64 %n, 3", "panic");
        for copy in ["fast", "slow"] {
            let order = ["mul i64 %n, 3", "getelementptr", "mov.b64", "mov.pred", "load"];
            let order = order.map(|part| block(&ir, copy).find(part));
            assert!(order.iter().all(Option::is_some), "{ir}");
        }
        assert_eq!(
            block(&ir, "met").matches(" = phi ").count(),
            2,
            "of what leads to shared memory, and a condition: {ir}"
        );
        assert!(!block(&ir, "own").contains("%at,") && block(&ir, "own").contains("%there,"), "{ir}");
    }

    #[test]
    fn else_it_is_computed_right_before_the_barrier() {
        // Not all threads load; what is frozen is one number.
        for (slow, index) in [("met", "mul i64 %n, 3"), ("slow", "freeze i64 %n")] {
            let ir = computed(slow, index, "panic");
            let order = ["%index", "getelementptr", "mov.b64", "barrier.cta"].map(|part| block(&ir, "met").find(part));
            assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{ir}");
            assert!(!block(&ir, "fast").contains("asm"), "{ir}");
        }
    }

    #[test]
    fn behind_copies_no_check_need_follow_and_the_next_conditions_are_computed_too() {
        let elements: String = (0..3)
            .map(|k| {
                format!(
                    "has.{k}: %y.{k} = add i64 %y, {k}
                      %is.{k} = icmp ult i64 %y.{k}, %n
                      br i1 %is.{k}, label %own.{k}, label %has.{}
                    own.{k}: store i32 {k}, ptr addrspace(3) %at
                      br label %has.{}\n",
                    k + 1,
                    k + 1
                )
            })
            .collect();
        let text = format!(
            "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) convergent
            define ptx_kernel void @f(ptr %from, ptr addrspace(3) %tile, i64 %y, i64 %n, i1 %all) {{
            entry: br i1 %all, label %fast, label %slow
            fast: store i32 1, ptr %from
              br label %met
            slow: store i32 2, ptr %from
              br label %met
            met: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
              %at = getelementptr i32, ptr addrspace(3) %tile, i64 %y
              %first = icmp ult i64 %y, 4
              br i1 %first, label %own, label %has.0
            own: store i32 9, ptr addrspace(3) %at
              br label %has.0
            {elements}
            has.3: ret void
            }}"
        );
        let ir = computed_text(&text);
        for copy in ["fast", "slow"] {
            let copy = block(&ir, copy);
            assert!(copy.contains("getelementptr") && copy.matches("mov.pred").count() == 4, "{ir}");
        }
        assert!(!ir.contains("br i1 %is.") && !ir.contains("br i1 %first"), "{ir}");
    }

    #[test]
    fn what_nobody_writes_is_loaded_as_such() {
        let own = "%x = load i32, ptr addrspace(1) %at";
        let next = "%next = getelementptr i32, ptr addrspace(1) %at, i64 5\n %x = load i32, ptr addrspace(1) %next";
        let moved = "br label %loop
                loop: %walk = phi ptr addrspace(1) [ %at, %inside ], [ %further, %loop ]
                  %x = load i32, ptr addrspace(1) %walk
                  %further = getelementptr i32, ptr addrspace(1) %walk, i64 32
                  %more = icmp eq i32 %x, 0
                  br i1 %more, label %loop, label %out
                out:";
        for (attributes, load, is_same) in [
            ("noalias readonly", own, true),
            ("noalias readonly", next, true),
            ("noalias readonly", moved, true),
            ("noalias", own, false),
            ("noalias", moved, false),
            ("readonly", next, false),
        ] {
            let text = format!(
                "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) convergent
                declare void @panic() noreturn
                define ptx_kernel void @f(ptr {attributes} %row, i64 %j, i1 %fits, ptr %to) {{
                entry: %q = addrspacecast ptr %row to ptr addrspace(1)
                  br label %met
                met: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
                  br i1 %fits, label %inside, label %panic
                inside: %at = getelementptr i32, ptr addrspace(1) %q, i64 %j
                  {load}
                  store i32 %x, ptr %to
                  ret void
                panic: call void @panic()
                  unreachable
                }}"
            );
            let ir = computed_text(&text);
            assert!(ir.contains("mov.b64"), "{ir}");
            assert_eq!(ir.contains("!invariant.load"), is_same, "{attributes}: {ir}");
        }
    }

    #[test]
    fn nothing_moves_where_no_check_follows_or_a_load_comes_first() {
        for (index, failed) in [("mul i64 %n, 3", "other"), ("load i64, ptr %from", "panic")] {
            let ir = computed("slow", index, failed);
            assert!(!ir.contains("mov.b64"), "{ir}");
        }
    }

    #[test]
    fn what_a_switch_looks_at_is_no_condition() {
        let text = "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) convergent
            declare void @panic() noreturn
            define ptx_kernel void @f(ptr addrspace(1) %q, i64 %j, i32 %mode, i1 %fits) {
            entry: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
              br i1 %fits, label %inside, label %panic
            inside: %to = getelementptr i32, ptr addrspace(1) %q, i64 %j
              %kind = lshr i32 %mode, 3
              switch i32 %kind, label %other [ i32 0, label %one\n i32 1, label %two ]
            one: store i32 1, ptr addrspace(1) %to\n ret void
            two: store i32 2, ptr addrspace(1) %to\n ret void
            other: store i32 3, ptr addrspace(1) %to\n ret void
            panic: call void @panic()\n unreachable
            }";
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        compute_ahead(&context, &module).unwrap();
        module.verify().unwrap();
        let ir = module.get_function("f").unwrap().print_to_string().to_string();
        assert!(ir.contains("switch i32 %kind") && !ir.contains("mov.pred"), "{ir}");
    }
}
