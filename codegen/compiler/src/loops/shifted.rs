//! Has what a loop shifts by a number only known at run time grow by the same in each round.
//!
//! ```text
//! before: loop: %z = phi i64 [ 0, %before ], [ %next, %loop ]
//!               %layer = shl i64 (add i64 %z, %c), %n
//! after:  loop: %z = phi i64 [ 0, %before ], [ %next, %loop ]
//!               %grown = phi i64 [ shl i64 0, %n, %before ], [ add i64 %grown, (shl i64 1, %n), %loop ]
//!               %layer = add i64 %grown, (shl i64 %c, %n)
//! ```
//!
//! A product of a counter and `1 << n`, as of a layer and the stride of a `DisjointStrided`, is a shift to LLVM, and of a shift
//! by a variable it does not see that it grows alike: each address of the loop was computed from the counter again, with half a
//! dozen instructions of 64 bits, and so far behind the branches of the loop that ptxas did not run its loads at once.
//!
//! **Why it is right.** Modulo 2^64, the shift of a sum is the sum of the shifts. Where `%n` is too large, both are undefined.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicValue, BuilderError, Context, InstructionOpcode as Op, InstructionValue, IntValue, Module, TargetMachine,
};
use crate::settled;

use super::natural::{Graph, Growth, Loop, simplify_in};

/// Bits of an index.
const INDEX: u32 = 64;

/// How deep the sum is looked into that is shifted.
const MOST_STEPS: u32 = 4;

/// Does so in all innermost loops.
pub fn grow<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine) -> Result<()> {
    for function in settled::open_and_fast(module).filter(|function| function.count_basic_blocks() > 1) {
        let has_any = |found: &Loop<'ctx>| shifted_in(found).next().is_some();
        if !Graph::of(function).innermost().iter().any(has_any) {
            continue;
        }
        simplify_in(function, machine)?;
        let graph = Graph::of(function);
        for found in graph.innermost() {
            grow_in(context, &graph, &found).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot have a shifted number grow: {error}"))
            })?;
        }
    }
    Ok(())
}

fn shifted_in<'ctx>(found: &Loop<'ctx>) -> impl Iterator<Item = Shifted<'ctx>> {
    let instructions = found.blocks.iter().flat_map(|block| block.get_instructions());
    instructions.filter_map(|shift| Shifted::of(found, shift))
}

/// A counter that is shifted, with something else that does not change.
struct Shifted<'ctx> {
    shift: InstructionValue<'ctx>,
    counter: IntValue<'ctx>,
    others: Vec<IntValue<'ctx>>,
    by: IntValue<'ctx>,
}

fn grow_in<'ctx>(context: &'ctx Context, graph: &Graph<'ctx>, found: &Loop<'ctx>) -> Result<(), BuilderError> {
    let (Some(before), [latch]) = (graph.block_before(found), &found.latches[..]) else { return Ok(()) };
    let (Some(start), Some(end)) = (before.get_terminator(), latch.get_terminator()) else { return Ok(()) };
    let all: Vec<Shifted<'ctx>> = shifted_in(found).collect();
    let builder = context.create_builder();
    let mut known: Vec<(IntValue<'ctx>, IntValue<'ctx>, IntValue<'ctx>)> = Vec::new();
    for Shifted { shift, counter, others, by } in all {
        let grown = match known.iter().find(|(of, shifted, _)| (*of, *shifted) == (counter, by)) {
            Some((.., grown)) => *grown,
            None => {
                let Some((first, step)) = counted(found, counter) else { continue };
                builder.position_before(&start);
                let [first, step] = [builder.build_left_shift(first, by, "")?, builder.build_left_shift(step, by, "")?];
                let Some(head) = found.head.get_first_instruction() else { continue };
                builder.position_before(&head);
                let grown = builder.build_phi(counter.get_type(), "")?;
                builder.position_before(&end);
                let next = builder.build_int_add(grown.as_basic_value().into_int_value(), step, "")?;
                grown.add_incoming(&[(&first, before), (&next, *latch)]);
                let grown = grown.as_basic_value().into_int_value();
                known.push((counter, by, grown));
                grown
            }
        };
        let mut sum = grown;
        for other in others {
            builder.position_before(&start);
            let other = builder.build_left_shift(other, by, "")?;
            builder.position_before(&shift);
            sum = builder.build_int_add(sum, other, "")?;
        }
        llvm::replace_uses(shift, sum.into());
        shift.erase_from_basic_block();
    }
    Ok(())
}

impl<'ctx> Shifted<'ctx> {
    fn of(found: &Loop<'ctx>, shift: InstructionValue<'ctx>) -> Option<Self> {
        if shift.get_opcode() != Op::Shl || llvm::int_operand(shift, 0)?.get_type().get_bit_width() != INDEX {
            return None;
        }
        let by = llvm::int_operand(shift, 1).filter(|by| !by.is_const() && found.is_invariant((*by).into()))?;
        let mut others = Vec::new();
        let counter = counter(found, llvm::int_operand(shift, 0)?, MOST_STEPS, &mut others)?;
        Some(Self { shift, counter, others, by })
    }
}

/// The counter in a sum, and all else that is added.
fn counter<'ctx>(
    found: &Loop<'ctx>,
    value: IntValue<'ctx>,
    steps: u32,
    others: &mut Vec<IntValue<'ctx>>,
) -> Option<IntValue<'ctx>> {
    if steps == 0 || counted(found, value).is_some() {
        return (steps > 0).then_some(value);
    }
    let sum = value.as_instruction_value()?;
    if sum.get_opcode() != Op::Add && !llvm::is_disjoint(sum) {
        return None;
    }
    let (left, right) = (llvm::int_operand(sum, 0)?, llvm::int_operand(sum, 1)?);
    let (part, other) = if found.is_invariant(right.into()) { (left, right) } else { (right, left) };
    if !found.is_invariant(other.into()) {
        return None;
    }
    others.push(other);
    counter(found, part, steps - 1, others)
}

/// What a counter is at first, and by how much it grows.
fn counted<'ctx>(found: &Loop<'ctx>, phi: IntValue<'ctx>) -> Option<(IntValue<'ctx>, IntValue<'ctx>)> {
    let Growth { first, step, .. } = found.growth(phi)?;
    found.is_invariant(step.into()).then_some((first, step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::{AnyValue, parse_ir};
    use crate::request::OptLevel;

    /// A loop over `%z` from 0 that stores `%at`, after [`grow`].
    fn grown(body: &str) -> String {
        let text = format!(
            "define void @f(ptr %to, i64 %c, i64 %n, i64 %first) {{
            entry: br label %loop
            loop: %z = phi i64 [ %first, %entry ], [ %next, %loop ]
              {body}
              store volatile i64 %at, ptr %to
              %next = add nuw nsw i64 %z, 1
              %done = icmp eq i64 %next, 64
              br i1 %done, label %end, label %loop
            end: ret void
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "m").unwrap();
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        grow(&context, &module, &machine).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    /// What is in the loop.
    fn body(ir: &str) -> &str {
        ir.split("loop:").nth(1).unwrap()
    }

    #[test]
    fn shifted_counters_grow() {
        for at in ["shl i64 %z, %n", "shl nuw nsw i64 %z, %n"] {
            let ir = grown(&format!("%at = {at}"));
            assert!(!body(&ir).contains("shl") && ir.matches("phi i64").count() == 2, "{ir}");
            assert!(ir.contains("shl i64 %first, %n") && ir.contains("shl i64 1, %n"), "{ir}");
        }
        // One number for several.
        let ir = grown(
            "%one = add i64 %z, %c\n %two = shl i64 %one, %n\n %three = shl i64 %z, %n\n %at = add i64 %two, %three",
        );
        assert!(!body(&ir).contains("shl") && ir.matches("phi i64").count() == 2, "{ir}");
        assert!(ir.contains("shl i64 %c, %n"), "{ir}");
    }

    #[test]
    fn others_stay() {
        for at in [
            "%at = shl i64 %z, 3",
            "%at = shl i64 %n, %z",
            "%by = add i64 %z, %n\n %at = shl i64 %z, %by",
            "%twice = mul i64 %z, %z\n %at = shl i64 %twice, %n",
            "%either = or i64 %z, %c\n %at = shl i64 %either, %n",
            "%more = add i64 %z, %z\n %at = shl i64 %more, %n",
        ] {
            assert!(body(&grown(at)).contains("%at = shl"), "{at}");
        }
    }
}
