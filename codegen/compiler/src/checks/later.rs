//! Computes behind a kernel's first branch what only is needed there.
//!
//! ```text
//! before: entry: %at = getelementptr float, ptr addrspace(3) @tile, i32 (33 * %y + %x)
//!                br i1 %all, label %fast, label %slow                     ; both store there what they load
//! after:  entry: br i1 %all, label %fast, label %slow
//!         fast:  %at.fast = getelementptr float, ptr addrspace(3) @tile, i32 (33 * %y + %x)
//!                %x = load …
//!         slow:  %at.slow = getelementptr float, ptr addrspace(3) @tile, i32 (33 * %y + %x)
//! ```
//!
//! What two copies of some code have in common is computed ahead of the branch between them, and ptxas moves nothing across it.
//! So a block of a transposition waited for where its tile lies in shared memory before it loaded anything; behind the branch,
//! that is computed while the loads are on their way.
//!
//! **Why it is right.** Arithmetic of numbers that are known before is the same wherever it is computed, and has no effect.

use crate::llvm::{self, BasicBlock, Builder, Context, FunctionValue, InstructionValue, Use};
use crate::loops::Graph;

/// Does so with what is computed in a kernel's first block.
pub fn compute_later<'ctx>(context: &'ctx Context, kernel: FunctionValue<'ctx>) {
    let Some(entry) = kernel.get_first_basic_block() else { return };
    let Some((one, other)) = entry.get_terminator().and_then(llvm::branch_targets) else { return };
    let ways = [one, other];
    if one == other || ways.iter().any(|way| llvm::predecessors(*way) != [entry]) {
        return;
    }
    let graph = Graph::of(kernel);
    let builder = context.create_builder();
    let mut all: Vec<_> = entry.get_instructions().collect();
    // The last first: then what it is computed of may be needed nowhere else.
    all.reverse();
    for from in all.into_iter().filter(|from| llvm::is_pure(*from)) {
        let Some(users) = users(&graph, from, ways) else { continue };
        for (way, users) in ways.into_iter().zip(users) {
            if !users.is_empty() {
                write(&builder, from, way, &users);
            }
        }
        from.erase_from_basic_block();
    }
}

/// An instruction's users behind each of two ways, if it has some, and none elsewhere.
fn users<'ctx>(
    graph: &Graph<'ctx>,
    from: InstructionValue<'ctx>,
    ways: [BasicBlock<'ctx>; 2],
) -> Option<[Vec<(InstructionValue<'ctx>, u32)>; 2]> {
    let mut found = [Vec::new(), Vec::new()];
    for user in llvm::uses(&llvm::result(from)) {
        let Use::Instruction(user) = user else { return None };
        for (place, operand) in llvm::value_operands(user) {
            if operand != llvm::result(from) {
                continue;
            }
            // A phi needs it where it comes from.
            let at = match llvm::incoming(user).get(place as usize) {
                Some((_, way)) => *way,
                None => user.get_parent()?,
            };
            let way = ways.iter().position(|way| graph.is_reached_by_way_of(at, *way))?;
            if !found[way].contains(&(user, place)) {
                found[way].push((user, place));
            }
        }
    }
    found.iter().any(|users| !users.is_empty()).then_some(found)
}

/// Writes an instruction once more at a block's beginning, for these operands.
fn write<'ctx>(
    builder: &Builder<'ctx>,
    from: InstructionValue<'ctx>,
    way: BasicBlock<'ctx>,
    users: &[(InstructionValue<'ctx>, u32)],
) {
    let Some(first) = way.get_instructions().nth(llvm::phis(way).count()) else { return };
    builder.position_before(&first);
    let copy = llvm::result(llvm::build_copy(builder, from, &[]));
    for (user, place) in users {
        user.set_operand(*place, copy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A kernel that branches at its start, after [`compute_later`]: its blocks, by name.
    fn computed(computed: &str, fast: &str, slow: &str, end: &str) -> [String; 4] {
        let text = format!(
            "define ptx_kernel void @f(ptr %from, ptr addrspace(3) %tile, i32 %t, i1 %all) {{
            entry: {computed}
              br i1 %all, label %fast, label %slow
            fast: {fast}
            slow: {slow}
            end: {end}
              ret void
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let kernel = module.get_function("f").unwrap();
        compute_later(&context, kernel);
        module.verify().unwrap();
        let ir = kernel.print_to_string().to_string();
        let block = |name| ir.split(&format!("\n{name}:")).nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
        ["entry", "fast", "slow", "end"].map(|name| block(name).to_owned())
    }

    const ADDRESS: &str = "%row = mul i32 %t, 33
        %at = getelementptr i32, ptr addrspace(3) %tile, i32 %row";

    #[test]
    fn what_both_ways_need_is_computed_in_each() {
        let [entry, fast, slow, _] = computed(
            ADDRESS,
            "%x = load i32, ptr %from\n store i32 %x, ptr addrspace(3) %at\n br label %end",
            "store i32 1, ptr addrspace(3) %at\n store i32 2, ptr addrspace(3) %at\n br label %end",
            "",
        );
        assert!(!entry.contains("mul") && !entry.contains("getelementptr"), "{entry}");
        for way in [fast, slow] {
            let order = ["mul i32 %t, 33", "getelementptr", "store"].map(|part| way.find(part));
            assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{way}");
        }
    }

    #[test]
    fn what_one_way_needs_is_computed_there_alone() {
        // A phi needs it where it comes from.
        let [entry, fast, slow, end] = computed(
            ADDRESS,
            "br label %end",
            "br label %end",
            "%to = phi ptr addrspace(3) [ %at, %slow ], [ %tile, %fast ]\n store i32 1, ptr addrspace(3) %to",
        );
        assert!(![entry, fast, end].iter().any(|block| block.contains("mul")), "{slow}");
        assert!(slow.contains("mul") && slow.contains("getelementptr"), "{slow}");
    }

    #[test]
    fn what_is_needed_elsewhere_or_is_no_arithmetic_stays() {
        let uses = "store i32 1, ptr addrspace(3) %at\n br label %end";
        let [entry, ..] = computed(ADDRESS, uses, uses, "store i32 2, ptr addrspace(3) %at");
        assert!(entry.contains("getelementptr"), "{entry}");
        let loaded = "%row = load i32, ptr %from\n %at = getelementptr i32, ptr addrspace(3) %tile, i32 %row";
        let [entry, ..] = computed(loaded, uses, uses, "");
        assert!(entry.contains("load") && !entry.contains("getelementptr"), "{entry}");
        let frozen = "%row = freeze i32 %t\n %at = getelementptr i32, ptr addrspace(3) %tile, i32 %row";
        let [entry, ..] = computed(frozen, uses, uses, "");
        assert!(entry.contains("freeze"), "one number, and not one in each way: {entry}");
    }
}
