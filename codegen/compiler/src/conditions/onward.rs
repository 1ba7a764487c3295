//! Adds to what a loop counts without asking, where the loop goes on only if there is something to add.
//!
//! ```text
//! before: loop: %count = phi i32 [ 0, %before ], [ %next, %loop ]
//!               %next = add i32 %count, (zext i1 %inside)
//!               br i1 (and i1 %inside, %more), label %loop, label %end
//!         end:  …                                                     ; %next
//! after:  loop: %count = phi i32 [ 0, %before ], [ %onward, %loop ]
//!               %onward = add i32 %count, 1
//!               br i1 (and i1 %inside, %more), label %loop, label %end
//!         end:  %next = add i32 %count, (zext i1 %inside)             ; moved here by LLVM
//! ```
//!
//! So `take_while(…).count()` counts, and a `while` loop that LLVM has joined with its bound. In the loop, the choice is an
//! instruction more a round, and waits for what is asked: the orbit of a point of the Mandelbrot set, for its distance.
//!
//! **Why it is right.** On the way back the branch has told that the condition holds, or that it does not. What is computed of
//! that does no harm where it is not needed, and elsewhere the number is as it was.

use crate::llvm::{self, BasicValueEnum, Context, FunctionValue, InstructionOpcode as Op, InstructionValue, Use};
use crate::loops::{Graph, Loop, conditions};

/// Does so in a function.
pub fn count<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) {
    for found in Graph::of(function).innermost() {
        let [latch] = found.latches[..] else { continue };
        let (Some(end), told) = (latch.get_terminator(), conditions(latch, found.head)) else { continue };
        let Some((then, other)) = llvm::branch_targets(end).filter(|(then, other)| then != other) else { continue };
        let holds = then == found.head;
        if !holds && other != found.head {
            continue;
        }
        let builder = context.create_builder();
        for phi in llvm::phis(found.head).collect::<Vec<_>>() {
            let Some(counted) = Counted::of(&found, phi, &told) else { continue };
            builder.position_before(&end);
            let known = counted.known(holds);
            let onward = llvm::result(llvm::build_copy(&builder, counted.next, &[(counted.place, known)]));
            counted
                .places
                .iter()
                .for_each(|place| assert!(phi.set_operand(*place, onward), "the phi has that operand"));
        }
    }
}

/// A number that each round chooses to add to.
struct Counted<'ctx> {
    next: InstructionValue<'ctx>,
    /// Where that uses the choice.
    place: u32,
    choice: InstructionValue<'ctx>,
    /// Where the phi uses it.
    places: Vec<u32>,
}

impl<'ctx> Counted<'ctx> {
    fn of(found: &Loop<'ctx>, phi: InstructionValue<'ctx>, told: &[Option<InstructionValue<'ctx>>]) -> Option<Self> {
        let (_, next) = found.incoming_of(llvm::result(phi))?;
        let next = llvm::instruction_of(next).filter(|next| {
            matches!(next.get_opcode(), Op::Add | Op::Sub) && next.get_parent().is_some_and(|at| found.contains(at))
        })?;
        let (place, choice) = llvm::value_operands(next).find_map(|(place, operand)| {
            let choice = llvm::instruction_of(operand)?;
            let asked = choice.get_operand(0)?.value().and_then(llvm::instruction_of);
            let is_choice = matches!(choice.get_opcode(), Op::ZExt | Op::SExt);
            (is_choice && asked.is_some() && told.contains(&asked)).then_some((place, choice))
        })?;
        // Else it would be computed twice.
        let is_outside = |user| match user {
            Use::Instruction(user) => user == phi || user.get_parent().is_some_and(|at| !found.contains(at)),
            Use::Global(_) => false,
        };
        let next_value = llvm::result(next);
        let places = llvm::value_operands(phi).filter(|(_, operand)| *operand == next_value);
        let places = places.map(|(place, _)| place).collect();
        llvm::uses(&next_value).into_iter().all(is_outside).then_some(Self { next, place, choice, places })
    }

    /// What the choice is where the condition holds, or does not.
    fn known(&self, holds: bool) -> BasicValueEnum<'ctx> {
        let number = llvm::result(self.choice).into_int_value().get_type();
        match self.choice.get_opcode() {
            _ if !holds => number.const_zero().into(),
            Op::SExt => number.const_all_ones().into(),
            _ => number.const_int(1, false).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A loop that adds `added` to what it counts, and goes on as `goes` says, after [`count`].
    fn counted(added: &str, goes: &str, targets: &str, user: &str) -> String {
        let text = format!(
            "define i32 @f(ptr %to, i1 %c) {{
            entry: br label %loop
            loop: %count = phi i32 [ 0, %entry ], [ %next, %loop ]
              %k = phi i32 [ 256, %entry ], [ %less, %loop ]
              %x = load volatile float, ptr %to
              %inside = fcmp ole float %x, 4.0
              %one = {added}
              %next = add i32 %count, %one
              {user}
              %less = add i32 %k, -1
              %more = icmp ne i32 %less, 0
              %goes = {goes}
              br i1 %goes, label {targets}
            out: ret i32 %next
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        count(&context, function);
        module.verify().unwrap();
        function.print_to_string().to_string()
    }

    const ON: &str = "%loop, label %out";

    #[test]
    fn a_round_that_goes_on_counts_one() {
        for goes in ["and i1 %inside, %more", "select i1 %more, i1 %inside, i1 false", "and i1 %inside, %inside"] {
            let ir = counted("zext i1 %inside to i32", goes, ON, "");
            assert!(ir.contains("add i32 %count, 1\n") && ir.contains("ret i32 %next"), "{ir}");
            assert!(ir.contains("phi i32 [ 0, %entry ], [ %0, %loop ]"), "{ir}");
        }
        let ir = counted("sext i1 %inside to i32", "and i1 %inside, %more", ON, "");
        assert!(ir.contains("add i32 %count, -1"), "{ir}");
        let ir = counted("zext i1 %inside to i32", "or i1 %inside, %more", "%out, label %loop", "");
        assert!(ir.contains("add i32 %count, 0"), "{ir}");
    }

    #[test]
    fn others_ask() {
        for (added, goes, user) in [
            // The loop also goes on where there is nothing to add.
            ("zext i1 %inside to i32", "or i1 %inside, %more", ""),
            // Another condition.
            ("zext i1 %c to i32", "and i1 %inside, %more", ""),
            // The loop needs the number itself.
            ("zext i1 %inside to i32", "and i1 %inside, %more", "store i32 %next, ptr %to"),
        ] {
            let ir = counted(added, goes, ON, user);
            assert!(ir.contains("[ %next, %loop ]"), "{ir}");
        }
    }
}
