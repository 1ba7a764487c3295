//! Puts a branch within another one beside it.
//!
//! ```text
//! before: a:     br i1 %up, label %b, label %end
//!         b:     %s1 = fadd float %s0, (load float, ptr %p)
//!                br i1 %left, label %c, label %end
//!         c:     %s2 = fadd float %s1, (load float, ptr %q)
//!                br label %end
//!         end:   %s = phi float [ %s2, %c ], [ %s1, %b ], [ %s0, %a ]
//! after:  a:     br i1 %up, label %b, label %next
//!         b:     %s1 = fadd float %s0, (load float, ptr %p)
//!                br label %next
//!         next:  %t = phi float [ %s1, %b ], [ %s0, %a ]
//!                br i1 (select i1 %up, i1 %left, i1 false), label %c, label %end
//!         c:     %s2 = fadd float %t, (load float, ptr %q)
//!                br label %end
//!         end:   %s = phi float [ %s2, %c ], [ %t, %next ]
//! ```
//!
//! ptxas writes a few instructions behind a branch as predicated ones, and then begins all their loads at once; it keeps a branch
//! that has another one within it, and each load waits for the one before. A sum over neighbours, of which each is asked if it
//! is inside of the image, is written as branches side by side; LLVM puts those into each other that ask the same of a row.
//!
//! **Why it is right.** `c` runs exactly where both conditions hold, after `b`, as before. What it has of `b` comes by the phi, or
//! is arithmetic without effect that is computed before both. `select` does not look at the second condition where the
//! first fails.

use std::collections::HashSet;

use crate::llvm::{
    self, BasicBlock, BasicValueEnum, Builder, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntValue,
};

/// Instructions behind a branch, without those of addresses: more ptxas does not predicate.
const MOST_INSTRUCTIONS: usize = 8;

/// A branch within another one.
struct Nested<'ctx> {
    head: BasicBlock<'ctx>,
    outer: BasicBlock<'ctx>,
    inner: BasicBlock<'ctx>,
    end: BasicBlock<'ctx>,
    /// Whether the first target of the branches is the block behind it.
    head_first: bool,
    outer_first: bool,
    /// What the inner block has of the outer one, and that can be computed before both.
    early: Vec<InstructionValue<'ctx>>,
}

/// Puts all beside each other that can be.
pub fn put<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<(), BuilderError> {
    let builder = context.create_builder();
    for head in function.get_basic_blocks() {
        if let Some(nested) = Nested::of(head) {
            nested.write(context, &builder)?;
        }
    }
    Ok(())
}

impl<'ctx> Nested<'ctx> {
    fn of(head: BasicBlock<'ctx>) -> Option<Self> {
        let (then, other) = llvm::branch_targets(head.get_terminator()?)?;
        Self::by(head, then, other, true).or_else(|| Self::by(head, other, then, false))
    }

    fn by(head: BasicBlock<'ctx>, outer: BasicBlock<'ctx>, end: BasicBlock<'ctx>, head_first: bool) -> Option<Self> {
        let within = outer.get_terminator()?;
        let (then, other) = llvm::branch_targets(within)?;
        let (inner, outer_first) = if other == end { (then, true) } else { (other, false) };
        let is_alone = |block, before: BasicBlock<'ctx>| llvm::predecessors(block) == [before] && block != head;
        let goes_on = |block: BasicBlock<'ctx>| {
            let last = block.get_terminator()?;
            (llvm::branch_targets(last).is_none() && llvm::block_operands(last) == [end]).then_some(())
        };
        if end == head || ![then, other].contains(&end) || !is_alone(outer, head) || !is_alone(inner, outer) {
            return None;
        }
        goes_on(inner)?;
        let is_computed_before =
            llvm::int_operand(within, 0)?.as_instruction().is_none_or(|from| from.get_parent() != Some(outer));
        if !is_computed_before || ![outer, inner].iter().all(|block| is_short(*block)) {
            return None;
        }
        let mut nested = Self { head, outer, inner, end, head_first, outer_first, early: Vec::new() };
        nested.early = nested.early()?;
        Some(nested)
    }

    /// What the inner block has of the outer one but what the phis hand on, each behind its operands; none if that cannot be
    /// computed before both.
    fn early(&self) -> Option<Vec<InstructionValue<'ctx>>> {
        let handed: Vec<_> = llvm::phis(self.end).filter_map(|phi| llvm::incoming_from(phi, self.outer)).collect();
        let is_handed = |from: InstructionValue<'ctx>| handed.contains(&llvm::result(from));
        let of_outer = |from: InstructionValue<'ctx>| {
            let operands = llvm::value_operands(from).filter_map(|(_, operand)| llvm::instruction_of(operand));
            operands.filter(|from| from.get_parent() == Some(self.outer)).collect::<Vec<_>>()
        };
        let mut pending: Vec<_> =
            self.inner.get_instructions().flat_map(of_outer).filter(|from| !is_handed(*from)).collect();
        let is_of = |value: Option<BasicValueEnum<'ctx>>, block: BasicBlock<'ctx>| {
            value.and_then(llvm::instruction_of).is_some_and(|from| from.get_parent() == Some(block))
        };
        let fits = |phi: InstructionValue<'ctx>| {
            let [of_head, of_outer, of_inner] =
                [self.head, self.outer, self.inner].map(|block| llvm::incoming_from(phi, block));
            // What comes through the inner block must come by the same phi; and the phis are written anew one by one.
            (!is_of(of_inner, self.outer) || of_inner == of_outer)
                && ![of_head, of_outer, of_inner].into_iter().any(|value| is_of(value, self.end))
        };
        if !llvm::phis(self.end).all(fits) {
            return None;
        }
        let mut early = HashSet::new();
        while let Some(from) = pending.pop() {
            if !llvm::is_pure(from) || is_handed(from) {
                return None;
            }
            if early.insert(from) {
                pending.extend(of_outer(from));
            }
        }
        Some(self.outer.get_instructions().filter(|from| early.contains(from)).collect())
    }

    fn write(&self, context: &'ctx Context, builder: &Builder<'ctx>) -> Result<(), BuilderError> {
        let (Some(head), Some(outer)) = (self.head.get_terminator(), self.outer.get_terminator()) else {
            return Ok(());
        };
        let (Some(one), Some(other)) = (llvm::int_operand(head, 0), llvm::int_operand(outer, 0)) else { return Ok(()) };
        llvm::move_before(context, &self.early, head);
        builder.position_before(&head);
        let holds =
            |condition: IntValue<'ctx>, first| if first { Ok(condition) } else { builder.build_not(condition, "") };
        let (within, both) = (holds(one, self.head_first)?, holds(other, self.outer_first)?);
        let never = context.bool_type().const_zero();
        let both = builder.build_select(within, both, never, "")?.into_int_value();
        let next = context.insert_basic_block_after(self.outer, "");
        builder.build_conditional_branch(within, self.outer, next)?;
        head.erase_from_basic_block();
        builder.position_before(&outer);
        builder.build_unconditional_branch(next)?;
        outer.erase_from_basic_block();
        builder.position_at_end(next);
        let mut handed = Vec::new();
        for phi in llvm::phis(self.end).collect::<Vec<_>>() {
            let (Some(without), Some(with)) =
                (llvm::incoming_from(phi, self.head), llvm::incoming_from(phi, self.outer))
            else {
                continue;
            };
            let value = if without == with {
                with
            } else {
                let joined = builder.build_phi(with.get_type(), "")?;
                joined.add_incoming(&[(&without, self.head), (&with, self.outer)]);
                joined.as_basic_value()
            };
            handed.push((phi, with, value));
        }
        builder.build_conditional_branch(both, self.inner, self.end)?;
        for (phi, with, value) in handed {
            if with != value {
                self.hand(with, value);
            }
            self.come_by(builder, phi, value, next)?;
        }
        Ok(())
    }

    /// Has the inner block take a value of the outer one from the phi.
    fn hand(&self, with: BasicValueEnum<'ctx>, value: BasicValueEnum<'ctx>) {
        for from in self.inner.get_instructions().collect::<Vec<_>>() {
            for (index, operand) in llvm::value_operands(from).collect::<Vec<_>>() {
                if operand == with && llvm::instruction_of(with).is_some() {
                    from.set_operand(index, value);
                }
            }
        }
    }

    /// The phi at the end without the two ways that came from the head and the outer block, and with that from `next`.
    fn come_by(
        &self,
        builder: &Builder<'ctx>,
        phi: InstructionValue<'ctx>,
        value: BasicValueEnum<'ctx>,
        next: BasicBlock<'ctx>,
    ) -> Result<(), BuilderError> {
        builder.position_before(&phi);
        let new = builder.build_phi(value.get_type(), "")?;
        let with = llvm::incoming_from(phi, self.outer);
        for (incoming, from) in llvm::incoming(phi) {
            if from == self.inner && Some(incoming) == with && llvm::instruction_of(incoming).is_some() {
                // What the outer block computed goes on through the inner one.
                new.add_incoming(&[(&value, from)]);
            } else if from != self.head && from != self.outer {
                new.add_incoming(&[(&incoming, from)]);
            }
        }
        new.add_incoming(&[(&value, next)]);
        llvm::replace_uses(phi, new.as_basic_value());
        phi.erase_from_basic_block();
        Ok(())
    }
}

/// Whether a block only computes and loads, and not much.
fn is_short(block: BasicBlock<'_>) -> bool {
    let inside: Vec<_> = block.get_instructions().filter(|from| !from.is_terminator()).collect();
    let is_counted = |from: &InstructionValue<'_>| {
        !matches!(from.get_opcode(), Op::GetElementPtr | Op::SExt | Op::ZExt | Op::AddrSpaceCast | Op::BitCast)
    };
    let is_plain =
        |from: InstructionValue<'_>| from.get_opcode() != Op::Phi && (llvm::is_pure(from) || llvm::is_plain_load(from));
    inside.iter().all(|from| is_plain(*from))
        && inside.iter().filter(|from| is_counted(from)).count() <= MOST_INSTRUCTIONS
        && inside.iter().any(|from| llvm::is_plain_load(*from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A sum of two neighbours, the second of which is looked at where the first one is inside.
    fn put_beside(of_outer: &str, of_inner: &str, sum: &str) -> String {
        let text = format!(
            "define float @f(ptr %p, ptr %q, i1 %up, i1 %left, float %s0, i64 %at, float %other) {{
            a: br i1 %up, label %b, label %end
            b: %index = add i64 %at, 1
              %row = getelementptr float, ptr %p, i64 %index
              %x = load float, ptr %row
              {of_outer}
              %s1 = fadd float %s0, %x
              br i1 %left, label %c, label %end
            c: %cell = getelementptr float, ptr %row, i64 3
              %y = load float, ptr %cell
              {of_inner}
              %s2 = fadd float %s1, %y
              br label %end
            end: %s = phi float [ {sum}, %c ], [ %s1, %b ], [ %s0, %a ]
              ret float %s
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
        let function = module.get_function("f").expect("it is there");
        put(&context, function).expect("it is put");
        module.verify().expect("it is valid");
        function.print_to_string().to_string()
    }

    /// The blocks that a block's end names.
    fn ends<'a>(ir: &'a str, block: &str) -> Vec<&'a str> {
        let body =
            ir.split(&format!("\n{block}:")).nth(1).expect("it is there").split("\n\n").next().unwrap_or_default();
        body.lines().last().map(|last| last.split("label ").skip(1).collect()).unwrap_or_default()
    }

    #[test]
    fn a_branch_within_another_one_is_put_beside_it() {
        for sum in ["%s2", "%s1"] {
            let ir = put_beside("", "", sum);
            assert_eq!(ends(&ir, "b"), ["%1"], "{ir}");
            assert!(ir.contains("select i1 %up, i1 %left, i1 false"), "{ir}");
            assert!(ir.contains("phi float [ %s0, %a ], [ %s1, %b ]"), "{ir}");
            assert!(ir.find("getelementptr float, ptr %p").unwrap() < ir.find("br i1 %up").unwrap(), "of both: {ir}");
            assert!(!ir.split("\nc:").nth(1).unwrap().contains("%s1"), "not what may not have been computed: {ir}");
        }
    }

    #[test]
    fn others_stay_as_they_are() {
        let sums =
            |name: &str| (0..8).map(|at| format!("%{name}{at} = fadd float %other, %other\n")).collect::<String>();
        for (of_outer, of_inner, why) in [
            ("store float %other, ptr %q", "", "others see what is stored"),
            ("%v = load volatile float, ptr %q", "", "it counts how often that is loaded"),
            ("", "%z = fadd float %x, %other", "a loaded number is not handed on"),
            (&*sums("v"), "", "it is long"),
            ("", &*sums("w"), "it is long"),
        ] {
            let ir = put_beside(of_outer, of_inner, "%s2");
            assert_eq!(ends(&ir, "b").len(), 2, "{why}: {ir}");
        }
    }

    #[test]
    fn what_another_phi_hands_on_stays() {
        let text = |phis: &str| {
            format!(
                "define float @f(ptr %p, ptr %q, i1 %up, i1 %left, float %o) {{
                entry: br label %end
                a: br i1 %up, label %b, label %end
                b: %x = load float, ptr %p
                  %s1 = fadd float %o, %x
                  br i1 %left, label %c, label %end
                c: %y = load float, ptr %q
                  %s2 = fadd float %s1, %y
                  br label %end
                end: {phis}
                  br i1 %up, label %a, label %out
                out: ret float %t
                }}"
            )
        };
        let first = "%s = phi float [ 0.0, %entry ], [ %s2, %c ], [ %s1, %b ], [ %o, %a ]";
        for (second, is_put) in [
            ("%t = phi float [ 1.0, %entry ], [ %y, %c ], [ %s1, %b ], [ %o, %a ]", true),
            ("%t = phi float [ 1.0, %entry ], [ %s1, %c ], [ %o, %b ], [ %o, %a ]", false),
            ("%t = phi float [ 1.0, %entry ], [ %s, %c ], [ %s, %b ], [ %s, %a ]", false),
        ] {
            let context = Context::create();
            let text = text(&format!("{first}\n{second}"));
            let module = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
            let function = module.get_function("f").expect("it is there");
            put(&context, function).expect("it is put");
            module.verify().expect("it is valid");
            let ir = function.print_to_string().to_string();
            assert_eq!(ends(&ir, "b").len() == 1, is_put, "{second}: {ir}");
        }
    }
}
