//! Takes the value that a choice has where a branch by the same condition has already gone one way.
//!
//! ```text
//! before: loop: %at = phi ptr [ %first, %before ], [ %next, %body ]
//!               %done = icmp eq ptr %at, %end
//!               %step = select i1 %done, i64 0, i64 4
//!               %next = getelementptr i8, ptr %at, i64 %step
//!               br i1 %done, label %out, label %body
//!         body: …                                             ; nothing but this block's jump back uses %next
//! after:        %next = getelementptr i8, ptr %at, i64 4
//! ```
//!
//! A slice's iterator stands still when it has come to its end, and `any`, `find` and `position` leave the loop there. LLVM
//! folds the choice only where it stands behind the branch. Left in the loop, it takes two instructions a round, the
//! loop has no constant step, and so no count. A condition that is extended is a choice between 1, or -1, and 0: so LLVM
//! writes the step of `windows`.
//!
//! So it is where another choice by the same condition does not look at it the other way, as an `Option<usize>` has no number
//! where it is none:
//!
//! ```text
//! before: %at = select i1 %is_none, i64 undef, i64 %number
//!         %beyond = icmp ugt i64 %at, 2047
//!         %no = select i1 %is_none, i1 true, i1 %beyond
//! after:  %beyond = icmp ugt i64 %number, 2047
//! ```
//!
//! LLVM leaves the `undef`, because `%number` may be less than that; in a loop it then keeps what the last round had there.
//!
//! Sound: where a use is reached, the branch has gone the way for which the choice is that operand. What is computed from it
//! before the branch does no harm (`is_pure`), and nobody looks at it where the branch went the other way. A choice looks at
//! one of its operands alone.

use crate::llvm::{
    self, BasicBlock, BasicValueEnum, FunctionValue, InstructionOpcode as Op, InstructionValue, IntValue, Use,
};
use crate::loops::Graph;

/// How deep what is computed from a choice is followed to where it is used.
const MOST_STEPS: u32 = 4;

/// Users of a value that are looked at.
const MOST_USERS: usize = 16;

/// Has what uses a choice use one of its operands where that is known.
pub fn decide(function: FunctionValue<'_>) {
    decide_by(function, |_| true);
}

/// Only where a counter that begins with a constant is compared with one: a loop whose rounds LLVM may count one by one. Then it
/// writes some of them out, and leaves out the branches between them, which say how the choices there go.
pub fn decide_counted(function: FunctionValue<'_>) {
    decide_by(function, |condition| {
        let compared = llvm::instruction_of(condition.into()).filter(|from| from.get_opcode() == Op::ICmp);
        let Some(compared) = compared else { return false };
        let constant = |value: BasicValueEnum<'_>| matches!(value, BasicValueEnum::IntValue(value) if value.is_const());
        let counter =
            llvm::operand(compared, 0).and_then(llvm::instruction_of).filter(|from| from.get_opcode() == Op::Phi);
        let begins = |from| llvm::incoming(from).into_iter().any(|(first, _)| constant(first));
        llvm::operand(compared, 1).is_some_and(constant) && counter.is_some_and(begins)
    });
}

fn decide_by<'ctx>(function: FunctionValue<'ctx>, is_wanted: impl Fn(IntValue<'ctx>) -> bool) {
    let choices: Vec<_> = llvm::instructions(function)
        .filter_map(|from| Some((from, parts(from)?)))
        .filter(|(_, (condition, ..))| is_wanted(*condition))
        .collect();
    if choices.is_empty() {
        return;
    }
    let graph = Graph::of(function);
    for (choice, (condition, then, other)) in choices {
        for (from, targets) in branches_by(condition) {
            for (to, value) in [(targets.0, then), (targets.1, other)] {
                replace(choice, value, &Side::Branch { graph: &graph, from, to });
            }
        }
        for by_same in choices_by(condition).filter(|by_same| *by_same != choice) {
            for (index, value) in [(1, then), (2, other)] {
                replace(choice, value, &Side::Choice { choice: by_same, index });
            }
        }
    }
}

/// The condition of a choice, and what it is where that holds and where not.
fn parts(choice: InstructionValue<'_>) -> Option<(IntValue<'_>, BasicValueEnum<'_>, BasicValueEnum<'_>)> {
    let (of_1, of_0) = match choice.get_opcode() {
        Op::Select => (llvm::operand(choice, 1)?, llvm::operand(choice, 2)?),
        opcode @ (Op::ZExt | Op::SExt) => {
            let BasicValueEnum::IntValue(extended) = llvm::result(choice) else { return None };
            let number = extended.get_type();
            let is_signed = opcode == Op::SExt;
            let then = if is_signed { number.const_all_ones() } else { number.const_int(1, false) };
            (then.into(), number.const_zero().into())
        }
        _ => return None,
    };
    let BasicValueEnum::IntValue(condition) = llvm::operand(choice, 0)? else { return None };
    (condition.get_type().get_bit_width() == 1).then_some((condition, of_1, of_0))
}

/// The branches by a condition, and where each goes if it holds and if not.
fn branches_by(condition: IntValue<'_>) -> Vec<(BasicBlock<'_>, (BasicBlock<'_>, BasicBlock<'_>))> {
    users(&condition)
        .into_iter()
        .filter(|user| user.get_opcode() == Op::Br)
        .filter_map(|branch| Some((branch.get_parent()?, llvm::branch_targets(branch)?)))
        .collect()
}

/// The choices by a condition.
fn choices_by(condition: IntValue<'_>) -> impl Iterator<Item = InstructionValue<'_>> {
    let is_by = move |user: &InstructionValue<'_>| {
        user.get_opcode() == Op::Select && llvm::operand(*user, 0) == Some(condition.into())
    };
    users(&condition).into_iter().filter(is_by)
}

/// One of the two ways that a condition has.
enum Side<'a, 'ctx> {
    /// What is reached only by one of the two ways that a branch goes.
    Branch { graph: &'a Graph<'ctx>, from: BasicBlock<'ctx>, to: BasicBlock<'ctx> },
    /// One of the two operands of a choice.
    Choice { choice: InstructionValue<'ctx>, index: u32 },
}

impl<'ctx> Side<'_, 'ctx> {
    /// Whether an instruction uses a value only where this way was taken.
    fn has_use(&self, user: InstructionValue<'ctx>, value: InstructionValue<'ctx>, steps: u32) -> bool {
        let is_of_side = match self {
            Self::Branch { graph, from, to } => {
                let has = |block| llvm::predecessors(*to) == [*from] && graph.is_reached_by_way_of(block, *to);
                let Some(block) = user.get_parent() else { return false };
                if user.get_opcode() == Op::Phi {
                    let value = llvm::result(value);
                    let comes = |before| has(before) || before == *from && block == *to;
                    return llvm::incoming(user).into_iter().all(|(incoming, from)| incoming != value || comes(from));
                }
                has(block)
            }
            Self::Choice { choice, index } => {
                let value = llvm::result(value);
                user == *choice && llvm::value_operands(user).all(|(at, operand)| operand != value || at == *index)
            }
        };
        is_of_side || steps > 0 && llvm::is_pure(user) && self.has_all_uses(user, steps - 1)
    }

    fn has_all_uses(&self, value: InstructionValue<'ctx>, steps: u32) -> bool {
        let users = users(&value);
        users.len() <= MOST_USERS && users.into_iter().all(|user| self.has_use(user, value, steps))
    }
}

fn replace<'ctx>(choice: InstructionValue<'ctx>, by: BasicValueEnum<'ctx>, side: &Side<'_, 'ctx>) {
    let choice_value = llvm::result(choice);
    for user in users(&choice) {
        if !side.has_use(user, choice, MOST_STEPS) {
            continue;
        }
        for (index, operand) in llvm::value_operands(user).collect::<Vec<_>>() {
            if operand == choice_value {
                assert!(user.set_operand(index, by), "the user has that operand");
            }
        }
    }
}

fn users<'ctx>(value: &impl llvm::AnyValue<'ctx>) -> Vec<InstructionValue<'ctx>> {
    let of = |user| match user {
        Use::Instruction(user) => Some(user),
        Use::Global(_) => None,
    };
    llvm::uses(value).into_iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, Context, parse_ir};

    /// A function after [`decide`].
    fn decided(body: &str) -> String {
        decided_by(decide, body)
    }

    fn decided_by(decide: impl Fn(FunctionValue<'_>), body: &str) -> String {
        let text = format!("define void @f(i1 %c, i64 %a, i64 %b, ptr %to, ptr %end) {{ {body} }}");
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        decide(function);
        module.verify().unwrap();
        function.print_to_string().to_string()
    }

    #[test]
    fn an_iterator_moves_by_a_constant() {
        let ir = decided(
            "entry: br label %loop
            loop: %at = phi ptr [ %to, %entry ], [ %next, %body ]
              %done = icmp eq ptr %at, %end
              %step = select i1 %done, i64 0, i64 4
              %next = getelementptr inbounds i8, ptr %at, i64 %step
              br i1 %done, label %out, label %body
            body: store i8 0, ptr %at
              br label %loop
            out: ret void",
        );
        assert!(ir.contains("getelementptr inbounds i8, ptr %at, i64 4"), "{ir}");
    }

    #[test]
    fn a_choice_by_the_same_condition_looks_at_one_operand() {
        let body = |choice: &str| {
            format!(
                "%x = select i1 %c, i64 undef, i64 %a
                 %y = add i64 %x, 1
                 %far = icmp ugt i64 %y, %b
                 %no = {choice}
                 %out = zext i1 %no to i8
                 store i8 %out, ptr %to
                 ret void"
            )
        };
        let ir = decided(&body("select i1 %c, i1 true, i1 %far"));
        assert!(ir.contains("add i64 %a, 1"), "{ir}");
        let ir = decided(&body("select i1 %c, i1 %far, i1 false"));
        assert!(ir.contains("add i64 undef, 1"), "{ir}");
        for (other, why) in [("select i1 %c, i1 %far, i1 %far", "both ways"), ("or i1 %c, %far", "always")] {
            assert!(decided(&body(other)).contains("add i64 %x, 1"), "{why}");
        }
    }

    #[test]
    fn each_side_has_its_own_value() {
        let ir = decided(
            "entry: %x = select i1 %c, i64 %a, i64 %b
              br i1 %c, label %yes, label %no
            yes: store i64 %x, ptr %to
              br label %end.
            no: store i64 %x, ptr %end
              br label %end.
            end.: %y = phi i64 [ %x, %yes ], [ 7, %no ]
              store i64 %y, ptr %to
              ret void",
        );
        assert!(ir.contains("store i64 %a, ptr %to") && ir.contains("store i64 %b, ptr %end"), "{ir}");
        assert!(ir.contains("phi i64 [ %a, %yes ]"), "{ir}");
    }

    #[test]
    fn a_jump_back_is_one_of_the_ways() {
        let ir = decided(
            "entry: br label %loop
            loop: %at = phi i64 [ %a, %entry ], [ %next, %loop ]
              store i64 %at, ptr %to
              %more = icmp ult i64 %at, %b
              %step = select i1 %more, i64 %a, i64 0
              %next = add i64 %at, %step
              br i1 %more, label %loop, label %out
            out: ret void",
        );
        assert!(ir.contains("%next = add i64 %at, %a"), "{ir}");
    }

    #[test]
    fn a_loop_of_a_known_number_of_rounds_is_decided_before_all_others() {
        // `for k in 0..32`
        let of = |first: &str, end: &str| {
            decided_by(
                decide_counted,
                &format!(
                    "entry: br label %loop
                    loop: %k = phi i64 [ {first}, %entry ], [ %next, %loop ]
                      store volatile i64 %k, ptr %to
                      %more = icmp ult i64 %k, {end}
                      %step = zext i1 %more to i64
                      %next = add nuw nsw i64 %k, %step
                      br i1 %more, label %loop, label %out
                    out: ret void"
                ),
            )
        };
        assert!(of("1", "32").contains("%next = add nuw nsw i64 %k, 1"), "{}", of("1", "32"));
        for other in [of("%a", "32"), of("1", "%b")] {
            assert!(other.contains("%next = add nuw nsw i64 %k, %step"), "{other}");
        }
    }

    #[test]
    fn a_condition_that_is_extended_is_a_choice() {
        let ir = decided(
            "entry: br label %loop
            loop: %left = phi i64 [ %a, %entry ], [ %fewer, %loop ]
              %at = phi ptr [ %to, %entry ], [ %next, %loop ]
              store i8 0, ptr %at
              %more = icmp ugt i64 %left, 1
              %step = zext i1 %more to i64
              %next = getelementptr i8, ptr %at, i64 %step
              %less = sext i1 %more to i64
              %fewer = add i64 %left, %less
              br i1 %more, label %loop, label %out
            out: ret void",
        );
        assert!(ir.contains("getelementptr i8, ptr %at, i64 1") && ir.contains("%fewer = add i64 %left, -1"), "{ir}");
        // What is behind the loop sees the other side, too.
        let ir = decided(
            "entry: %x = zext i1 %c to i64
              br i1 %c, label %yes, label %no
            yes: store i64 %x, ptr %to
              br label %no
            no: store i64 %x, ptr %end
              ret void",
        );
        assert!(ir.contains("store i64 1, ptr %to") && ir.contains("store i64 %x, ptr %end"), "{ir}");
    }

    #[test]
    fn what_both_sides_see_stays_a_choice() {
        for body in [
            // Behind both sides, and before the branch.
            "entry: %x = select i1 %c, i64 %a, i64 %b
              br i1 %c, label %yes, label %no
            yes: br label %no
            no: store i64 %x, ptr %to
              ret void",
            "entry: %x = select i1 %c, i64 %a, i64 %b
              store i64 %x, ptr %to
              br i1 %c, label %yes, label %no
            yes: ret void
            no: ret void",
            // What is computed from it is used on both sides.
            "entry: %x = select i1 %c, i64 %a, i64 %b
              %y = add i64 %x, 1
              br i1 %c, label %yes, label %no
            yes: store i64 %y, ptr %to
              ret void
            no: store i64 %y, ptr %to
              ret void",
            // The head of a loop is also reached from elsewhere.
            "entry: %x = select i1 %c, i64 %a, i64 %b
              br label %loop
            loop: store i64 %x, ptr %to
              br i1 %c, label %loop, label %out
            out: ret void",
        ] {
            let ir = decided(body);
            assert!(ir.contains("i64 %x, "), "{ir}");
        }
    }
}
