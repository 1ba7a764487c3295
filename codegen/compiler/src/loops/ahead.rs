//! Has the loads of an unrolled loop's round stand before its arithmetic, and before its branches.
//!
//! ```text
//! before: loop: %a.0 = load float, ptr %p.0              after: loop: %a.0 = load float, ptr %p.0
//!               %s.0 = fma(%a.0, %x, %s)                              %p.1 = getelementptr …
//!               %p.1 = getelementptr …                                %a.1 = load float, ptr %p.1
//!               %a.1 = load float, ptr %p.1                           %s.0 = fma(%a.0, %x, %s)
//!               %s.1 = fma(%a.1, %x, %s.0)                            %s.1 = fma(%a.1, %x, %s.0)
//! ```
//!
//! ptxas unrolls such a loop four times more, and orders what it finds so that it keeps to 32 registers. It begins with the
//! order of the text: where a sum stands behind each pair of loads, how many loads it asks for before it waits for one is a
//! matter of luck. Of a matrix times a vector, whose addresses take some registers more than in CUDA C++, it asked for seven
//! rows, and then for three times three, where nvcc's code has eight and eight. With the loads in front it is eight and
//! eight: on an H100 105 µs instead of 113, and for two matrices 419 instead of 429, as in CUDA C++.
//!
//! ```text
//! before: loop:  %a.0 = load float, ptr %p.0             after: loop:  %a.0 = load float, ptr %p.0
//!                br i1 %is.less, label %one, label %two                %a.1 = load float, ptr %p.1
//!         one:   …                                                     br i1 %is.less, label %one, label %two
//!         two:   %a.1 = load float, ptr %p.1                    one:   …
//!                …                                              two:   …
//! ```
//!
//! Where a round does something only for some of what it loads, as a search for the nearest points, the second round's load
//! stood behind the branch of the first, across which ptxas moves none: each round waited for its own. nvcc has them in front.
//!
//! **Why it is right.** The loads are in blocks that are run whenever the head is: on every way to the only block that
//! jumps back, in a loop that ends nowhere but there. Nothing in the loop stores, waits for others or ends the thread,
//! so they read the same. What their addresses are computed from moves with them, in its order. Nothing is computed otherwise
//! than before.

use std::collections::HashSet;

use crate::llvm::{self, BasicBlock, BasicTypeEnum, Context, InstructionOpcode as Op, InstructionValue, Module};

use super::branches::is_quiet;
use super::natural::{Graph, Loop};
use super::past;

/// Loads of a round: of fewer, ptxas asks for all at once anyway.
const FEWEST_LOADS: usize = 4;

/// Registers for what a round loads, all of which are kept at once.
const MOST_REGISTERS: u64 = 16;

/// Moves the loads of every such loop.
pub fn hasten<'ctx>(context: &'ctx Context, module: &Module<'ctx>) {
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 1) {
        let graph = Graph::of(function);
        for found in graph.innermost() {
            if load_in_head(context, &graph, &found) {
                load_first(context, found.head);
            } else if let [block] = found.blocks[..] {
                past::load_past_stores(context, block);
            }
        }
        let all = graph.loops();
        let is_straight = |block: &BasicBlock<'ctx>| all.iter().all(|found| !found.contains(*block));
        let blocks = function.get_basic_blocks().into_iter().filter(is_straight);
        blocks.for_each(|block| past::load_past_stores(context, block));
    }
}

/// Moves what is loaded in every round to the loop's head, if that has not all blocks; says whether the head has it all.
fn load_in_head<'ctx>(context: &'ctx Context, graph: &Graph<'ctx>, found: &Loop<'ctx>) -> bool {
    let instructions = || found.blocks.iter().flat_map(|block| block.get_instructions());
    let [latch] = found.latches[..] else { return false };
    let ends = |block: &&BasicBlock<'ctx>| {
        let targets = block.get_terminator().map(llvm::block_operands).unwrap_or_default();
        **block != latch && targets.iter().any(|to| !found.contains(*to))
    };
    if !instructions().all(is_quiet) || found.blocks.iter().any(|block| ends(&block)) {
        return false;
    }
    let always = |block: &&BasicBlock<'ctx>| graph.is_reached_by_way_of(latch, **block);
    let mut early: Vec<InstructionValue<'ctx>> = Vec::new();
    let mut known: HashSet<InstructionValue<'ctx>> = found.head.get_instructions().collect();
    for block in graph.by_dominance().iter().filter(|block| found.contains(**block)).filter(always) {
        for from in block.get_instructions() {
            let is_known = |of| known.contains(&of) || found.is_invariant(llvm::result(of));
            let computes = llvm::is_pure(from) || llvm::is_plain_load(from);
            if *block != found.head && computes && operands(from).all(is_known) {
                known.insert(from);
                early.push(from);
            }
        }
    }
    let in_head = found.head.get_instructions().filter(|from| llvm::is_plain_load(*from));
    let loads: Vec<_> = in_head.chain(early.iter().copied().filter(|from| llvm::is_plain_load(*from))).collect();
    let registers: u64 = loads.iter().map(|load| registers(*load)).sum();
    if loads.len() < FEWEST_LOADS || registers > MOST_REGISTERS {
        return false;
    }
    let needed = needed(&early);
    early.retain(|from| needed.contains(from));
    if let Some(end) = found.head.get_terminator() {
        llvm::move_before(context, &early, end);
    }
    true
}

/// Moves what a block loads before what it computes of that.
fn load_first<'ctx>(context: &'ctx Context, block: BasicBlock<'ctx>) {
    let instructions: Vec<_> = block.get_instructions().collect();
    let loads: HashSet<_> = instructions.iter().copied().filter(|from| llvm::is_plain_load(*from)).collect();
    let needed = needed(&instructions);
    let is_user = |from: &InstructionValue<'ctx>| {
        let is_load = |from: InstructionValue<'ctx>| loads.contains(&from);
        from.get_opcode() != Op::Phi && !needed.contains(from) && operands(*from).any(is_load)
    };
    let Some(first) = instructions.iter().position(is_user) else { return };
    let moved: Vec<_> = instructions[first..].iter().copied().filter(|from| needed.contains(from)).collect();
    llvm::move_before(context, &moved, instructions[first]);
}

/// The loads among instructions, and which of these their addresses are computed from.
fn needed<'ctx>(instructions: &[InstructionValue<'ctx>]) -> HashSet<InstructionValue<'ctx>> {
    let all: HashSet<_> = instructions.iter().copied().collect();
    let mut needed = HashSet::new();
    // What is used stands before its users, but for what a phi takes from the round before.
    for from in instructions.iter().rev().filter(|from| from.get_opcode() != Op::Phi) {
        if llvm::is_plain_load(*from) || needed.contains(from) {
            needed.insert(*from);
            needed.extend(operands(*from).filter(|of| all.contains(of) && of.get_opcode() != Op::Phi));
        }
    }
    needed
}

fn operands(from: InstructionValue<'_>) -> impl Iterator<Item = InstructionValue<'_>> {
    llvm::value_operands(from).filter_map(|(_, operand)| llvm::instruction_of(operand))
}

/// Registers for what is loaded.
fn registers(load: InstructionValue<'_>) -> u64 {
    BasicTypeEnum::try_from(load.get_type()).map_or(0, |ty| llvm::type_align(ty).0.div_ceil(4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// The instructions of a loop by the first words of their lines, after loads were moved; the block has `%k` for its round.
    fn order(body: &str) -> Vec<String> {
        let latch = if body.ends_with("last:") { "last" } else { "loop" };
        let text = format!(
            "declare float @llvm.fma.f32(float, float, float)
            declare void @anything()
            define void @f(ptr noalias readonly %x, ptr noalias readonly %y, ptr %to, i64 %step, i64 %end) {{
            entry: br label %loop
            loop: %k = phi i64 [ 0, %entry ], [ %next, %{latch} ]
              %s = phi float [ 0.0, %entry ], [ %s.4, %{latch} ]
              {body}
              %next = add i64 %k, 4
              %go = icmp ult i64 %next, %end
              br i1 %go, label %loop, label %out
            out: store float %s.4, ptr %to
              ret void
            }}"
        );
        let context = Context::create();
        let module =
            parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        hasten(&context, &module);
        module.verify().unwrap();
        let text = module.get_function("f").unwrap().print_to_string().to_string();
        let lines = text.lines().skip_while(|line| !line.starts_with("loop:")).skip(1);
        lines.filter_map(|line| line.split_whitespace().next().map(Into::into)).collect()
    }

    /// So many rounds, each of which loads and adds; `between` stands behind the second one.
    fn rounds(count: usize, ty: &str, between: &str) -> String {
        let round = |at: usize| {
            let (value, cut) = match ty {
                "float" => (format!("%a.{at}"), String::new()),
                _ => (format!("%c.{at}"), format!("%c.{at} = fptrunc {ty} %a.{at} to float")),
            };
            let sum = if at == 0 { "%s".into() } else { format!("%s.{at}") };
            format!(
                "%i.{at} = add i64 %k, {at}
                %p.{at} = getelementptr {ty}, ptr %x, i64 %i.{at}
                %a.{at} = load {ty}, ptr %p.{at}
                {cut}
                %s.{} = call float @llvm.fma.f32(float {value}, float {value}, float {sum})
                {}\n",
                at + 1,
                if at == 1 { between } else { "" },
            )
        };
        (0..count).map(round).collect()
    }

    #[test]
    fn loads_stand_before_branches() {
        let round = |at: usize| {
            format!(
                "%i.{at} = add i64 %k, {at}
                %p.{at} = getelementptr float, ptr %x, i64 %i.{at}
                %q.{at} = getelementptr float, ptr %y, i64 %i.{at}
                %a.{at} = load float, ptr %p.{at}
                %b.{at} = load float, ptr %q.{at}
                %is.{at} = fcmp olt float %a.{at}, %b.{at}
                br i1 %is.{at}, label %some.{at}, label %all.{at}
                some.{at}: %more.{at} = fadd float %b.{at}, {sum}
                  BETWEEN.{at}
                  br label %all.{at}
                all.{at}: %s.{next} = phi float [ {sum}, %FROM.{at} ], [ %more.{at}, %some.{at} ]\n",
                next = at + 1,
                sum = if at == 0 { "%s".into() } else { format!("%s.{at}") },
            )
        };
        let of = |between: &str| {
            let text = round(0) + &round(1) + "%s.4 = fadd float %s.2, 0.0\n br label %last\n last:";
            let text = text.replace("BETWEEN.0", between).replace("BETWEEN.1", "");
            text.replace("FROM.0", "loop").replace("FROM.1", "all.0")
        };
        let expected = "%i.0 %p.0 %q.0 %a.0 %b.0 %i.1 %p.1 %q.1 %a.1 %b.1 %is.0 br";
        assert_eq!(order(&of(""))[2..14].join(" "), expected);
        for between in ["store float %a.0, ptr %to", "call void @anything()", "%v = load volatile float, ptr %to"] {
            assert!(!order(&of(between))[..16].contains(&"%a.1".into()), "{between}");
        }
        // A load that is not always made, and one whose address is not always the same.
        let some = "%i.2 = add i64 %k, 5\n %p.2 = getelementptr float, ptr %x, i64 %i.2\n %a.2 = load float, ptr %p.2";
        assert!(!order(&of(some))[..16].contains(&"%a.2".into()));
        let text = of("").replace("%i.1 = add i64 %k, 1", "%w = bitcast float %s.1 to i32\n %i.1 = zext i32 %w to i64");
        assert!(!order(&text)[..16].contains(&"%a.1".into()));
    }

    fn is_hastened(body: &str) -> bool {
        let order = order(body);
        let at = |name: &str| order.iter().position(|word| word == name);
        at("%a.2") < at("%s.1") && at("%a.2").is_some()
    }

    #[test]
    fn loads_stand_before_arithmetic() {
        let words = order(&rounds(4, "float", ""));
        let expected = "%k %s %i.0 %p.0 %a.0 %i.1 %p.1 %a.1 %i.2 %p.2 %a.2 %i.3 %p.3 %a.3 %s.1 %s.2 %s.3 %s.4 %next";
        assert_eq!(words[..19].join(" "), expected);
        assert!(is_hastened(&rounds(4, "double", "")), "eight registers");
    }

    #[test]
    fn what_is_loaded_may_say_where_to_load() {
        let round = |at: usize| {
            format!(
                "%i.{at} = add i64 %k, {at}
                %p.{at} = getelementptr i32, ptr %x, i64 %i.{at}
                %c.{at} = load i32, ptr %p.{at}
                %w.{at} = zext i32 %c.{at} to i64
                %q.{at} = getelementptr float, ptr %y, i64 %w.{at}
                %a.{at} = load float, ptr %q.{at}
                %s.{} = fadd float {}, %a.{at}\n",
                at + 1,
                if at == 0 { "%s".into() } else { format!("%s.{at}") },
            )
        };
        assert!(is_hastened(&(0..4).map(round).collect::<String>()));
    }

    #[test]
    fn others_stay_as_they_are() {
        for between in [
            // Someone may write what is read, end the thread, or wait for others.
            "store float %a.0, ptr %to",
            "call void @anything()",
            "%v = load volatile float, ptr %to",
            "fence seq_cst",
        ] {
            assert!(!is_hastened(&rounds(4, "float", between)), "{between}");
        }
        assert!(!is_hastened(&rounds(9, "double", "")), "eighteen registers");
        assert!(!is_hastened(&(rounds(3, "float", "") + "%s.4 = fneg float %s.3")), "three loads");
    }
}
