//! Loads the second number for shared memory before the first is stored, where both are stored under one condition.
//!
//! ```text
//! before: one:    br i1 %outside, label %meet, label %store
//!         store:  store float %a, ptr addrspace(3) %p
//!                 br label %meet
//!         meet:   br i1 %has, label %load, label %two
//!         load:   %l = load float, ptr addrspace(1) %q
//!                 br label %two
//!         two:    %b = phi float [ 0.0, %meet ], [ %l, %load ]
//!                 br i1 %outside, label %end, label %last
//!         last:   store float %b, ptr addrspace(3) %r
//! after:  as before, but that `store` is empty, and
//!         last:   store float %a, ptr addrspace(3) %p
//!                 store float %b, ptr addrspace(3) %r
//! ```
//!
//! ptxas moves no load across a store behind a branch: a thread waited for its element of the one tile, stored it, and only then
//! asked for that of the other. With nothing between, it has both loads on their way, without a branch.
//!
//! **Why it is right.** Each block has no other ways in than these, so that `last` runs where `store` did and only there: the
//! condition is the same value, and so is the side. Between both are only arithmetic and plain loads of global memory, which is
//! not shared memory and lets no other thread see anything. A store that is volatile or atomic stays.

use crate::llvm::{
    self, BasicBlock, BasicValueEnum, Context, FunctionValue, InstructionOpcode, InstructionValue, Module,
};

/// Does so in every kernel.
pub fn store_together<'ctx>(context: &'ctx Context, module: &Module<'ctx>) {
    for kernel in llvm::functions(module).filter(|function| function.get_call_conventions() == llvm::PTX_KERNEL) {
        store_in(context, kernel);
    }
}

fn store_in<'ctx>(context: &'ctx Context, kernel: FunctionValue<'ctx>) {
    for one in kernel.get_basic_blocks() {
        let Some((store, last)) = later(one) else { continue };
        if let Some(place) = last.get_first_instruction() {
            llvm::move_before(context, &[store], place);
        }
    }
}

/// The store behind a block's end, and the block to which it can be moved.
fn later<'ctx>(one: BasicBlock<'ctx>) -> Option<(InstructionValue<'ctx>, BasicBlock<'ctx>)> {
    let (condition, targets) = ends(one)?;
    [false, true].into_iter().find_map(|other| {
        let (store, meet) = if other { (targets.1, targets.0) } else { targets };
        let found = only_store(store, one, meet)?;
        let (_, sides) = ends(meet)?;
        let has_no_other_way = same(llvm::predecessors(meet), [one, store]) && llvm::phis(meet).next().is_none();
        [sides, (sides.1, sides.0)].into_iter().find_map(|(load, two)| {
            let is_between = has_no_other_way
                && llvm::predecessors(load) == [meet]
                && jumps(load) == Some(two)
                && same(llvm::predecessors(two), [meet, load])
                && [meet, load, two].into_iter().all(is_quiet)
                && load.get_instructions().any(|at| at.get_opcode() == InstructionOpcode::Load);
            let (again, (then, otherwise)) = ends(two).filter(|_| is_between)?;
            let (last, end) = if other { (otherwise, then) } else { (then, otherwise) };
            (again == condition && only_store(last, two, end).is_some()).then_some((found, last))
        })
    })
}

/// The condition at a block's end, and both blocks behind it, which differ.
fn ends<'ctx>(block: BasicBlock<'ctx>) -> Option<(BasicValueEnum<'ctx>, (BasicBlock<'ctx>, BasicBlock<'ctx>))> {
    let end = block.get_terminator()?;
    let targets = llvm::branch_targets(end).filter(|(then, other)| then != other)?;
    Some((end.get_operand(0)?.value()?, targets))
}

/// Where a block jumps without a condition.
fn jumps(block: BasicBlock<'_>) -> Option<BasicBlock<'_>> {
    let end = block.get_terminator().filter(|end| llvm::branch_targets(*end).is_none())?;
    match llvm::block_operands(end)[..] {
        [to] => Some(to),
        _ => None,
    }
}

/// A block's store to shared memory, if it has nothing else, comes only from one block and jumps to another.
fn only_store<'ctx>(
    block: BasicBlock<'ctx>,
    from: BasicBlock<'ctx>,
    to: BasicBlock<'ctx>,
) -> Option<InstructionValue<'ctx>> {
    let store = block.get_first_instruction().filter(|first| llvm::is_plain_store(*first))?;
    let is_alone = store.get_next_instruction() == block.get_terminator()
        && llvm::predecessors(block) == [from]
        && jumps(block) == Some(to);
    (is_alone && space(store, 1) == Some(llvm::SHARED_SPACE.into())).then_some(store)
}

/// Whether two blocks, in any order, are all that was found.
fn same<'ctx>(found: Vec<BasicBlock<'ctx>>, wanted: [BasicBlock<'ctx>; 2]) -> bool {
    found.len() == 2 && wanted.iter().all(|block| found.contains(block))
}

/// Whether a block has only arithmetic and plain loads of global memory.
fn is_quiet(block: BasicBlock<'_>) -> bool {
    block.get_instructions().all(|at| {
        llvm::is_pure(at)
            || at.get_opcode() == InstructionOpcode::Phi
            || Some(at) == block.get_terminator()
            || llvm::is_plain_load(at) && space(at, 0) == Some(llvm::GLOBAL_SPACE.into())
    })
}

/// The address space of the pointer that an operand is.
fn space(access: InstructionValue<'_>, operand: u32) -> Option<u32> {
    match access.get_operand(operand)?.value()? {
        BasicValueEnum::PointerValue(pointer) => Some(llvm::address_space(pointer)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::parse_ir;

    const BODY: &str = "br i1 %outside, label %meet, label %store
        store: store float %a, ptr addrspace(3) %p
          br label %meet
        meet: br i1 %has, label %load, label %two
        load: %l = load float, ptr addrspace(1) %q
          br label %two
        two: %b = phi float [ 0.0, %meet ], [ %l, %load ]
          br i1 %outside, label %end, label %last
        last: store float %b, ptr addrspace(3) %r
          br label %end
        end: ret void";

    /// The number of stores in the last block that stores.
    fn together(body: &str) -> usize {
        let text = format!(
            "declare void @f()
            define ptx_kernel void @k(i1 %outside, i1 %has, float %a, ptr addrspace(3) %p, ptr addrspace(1) %q,
                                      ptr addrspace(3) %r, ptr %g) {{
            entry: {body}
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        store_together(&context, &module);
        module.verify().unwrap();
        let last = module.get_function("k").unwrap().get_basic_blocks();
        let last = last.into_iter().find(|block| block.get_name().to_bytes() == b"last").unwrap();
        last.get_instructions().filter(|at| at.get_opcode() == InstructionOpcode::Store).count()
    }

    #[test]
    fn the_first_is_stored_behind_the_second_load() {
        assert_eq!(together(BODY), 2);
        // The other side of both, and of the load.
        let other = BODY
            .replace("%meet, label %store", "%store, label %meet")
            .replace("%end, label %last", "%last, label %end");
        assert_eq!(together(&other), 2);
        assert_eq!(together(&BODY.replace("%has, label %load, label %two", "%has, label %two, label %load")), 2);
    }

    #[test]
    fn a_store_stays_where_a_condition_fails() {
        for (from, to) in [
            // Another condition, or the other side of it.
            ("br i1 %outside, label %end", "br i1 %has, label %end"),
            ("%end, label %last", "%last, label %end"),
            // What is between may see the store, or lets other threads see it.
            ("load float, ptr addrspace(1) %q", "load float, ptr addrspace(3) %p"),
            ("load float, ptr addrspace(1) %q", "load float, ptr %g"),
            ("load float, ptr addrspace(1) %q", "load volatile float, ptr addrspace(1) %q"),
            ("load float, ptr addrspace(1) %q", "load atomic float, ptr addrspace(1) %q acquire, align 4"),
            ("meet: br", "meet: call void @f()\n br"),
            ("meet: br", "meet: fence release\n br"),
            ("meet: br", "meet: store float %a, ptr addrspace(3) %r\n br"),
            // What is stored elsewhere, or is waited for.
            ("store float %a, ptr addrspace(3) %p", "store float %a, ptr %g"),
            ("store: store float", "store: store volatile float"),
            ("last: store float %b, ptr addrspace(3) %r", "last: store float %b, ptr addrspace(1) %q"),
            // More ways in.
            ("end: ret void", "end: br i1 %has, label %meet, label %out\n out: ret void"),
        ] {
            let body = BODY.replace(from, to);
            assert_ne!(body, BODY, "{from}");
            assert_eq!(together(&body), 1, "{to}");
        }
    }
}
