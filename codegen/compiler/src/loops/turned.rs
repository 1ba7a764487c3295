//! Has a loop ask at its end whether there is another round, where it asked at its head.
//!
//! ```text
//! before: loop: %n = phi i32 [ 1, %before ], [ %next, %more ]
//!               br i1 (icmp eq i32 %n, %limit), label %end, label %more
//!         more: …
//!               %next = add i32 %n, 1
//!               br i1 %escapes, label %end, label %loop
//!         end:  %count = phi i32 [ %limit, %loop ], [ %n, %more ]
//! after:  loop: br i1 (icmp eq i32 1, %limit), label %end, label %more
//!         more: %n = phi i32 [ 1, %loop ], [ %next, %turn ]
//!               …
//!               br i1 %escapes, label %end, label %turn
//!         turn: %next = add i32 %n, 1
//!               br i1 (icmp eq i32 (xor i32 %next, %limit), 0), label %end, label %more
//!         end:  %count = phi i32 [ %limit, %loop ], [ %n, %more ], [ %next, %turn ]
//! ```
//!
//! LLVM turns loops so, but not one that may end at its end, too: a search whose first round finds nothing, as `0..limit` with a
//! `return` in it often is once LLVM has seen that. Then the count of a round and the limit both live to the end, and ptxas moves
//! one of them to where the result belongs before it branches, in every round. Turned, one register has the count: what is next
//! is computed where nobody looks at the old one any more, and it is the limit where that ends the loop. A Mandelbrot set had
//! twelve instructions a round for nvcc's eleven.
//!
//! LLVM's code generator has a pass that knows what is equal behind a branch, and would put the limit back; it does not see
//! through a difference.
//!
//! **Why it is right.** The same is asked, of the same numbers, before the first round and before each other. What is next is
//! computed later and of the same values, by an instruction that neither stores nor ends anything. Where a round ended by it, it
//! is the limit that it was compared with; a branch that asks for a value which means nothing never gets there.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op, InstructionValue,
    IntPredicate, IntValue, Module, Use,
};

use super::branches::is_convergent;
use super::natural::{Graph, Loop};

/// Loops of one function.
const MOST_LOOPS: usize = 16;

/// Turns such loops.
pub fn turn<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 2) {
        turn_in(context, function)
            .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("cannot turn a loop: {error}")))?;
    }
    Ok(())
}

fn turn_in<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> std::result::Result<(), BuilderError> {
    // Each has a block more, which the graph does not know.
    for _ in 0..MOST_LOOPS {
        let loops = Graph::of(function).innermost();
        let Some(turn) = loops.iter().find_map(|found| Turn::of(context, found)) else { break };
        turn.write(context)?;
    }
    Ok(())
}

/// A phi of the loop's head, what it is at first, and what it is next.
type Carried<'ctx> = (InstructionValue<'ctx>, BasicValueEnum<'ctx>, BasicValueEnum<'ctx>);

/// A loop that asks at its head for a number alone, and at its end for something else.
struct Turn<'ctx> {
    head: BasicBlock<'ctx>,
    /// What comes behind the head in a round.
    body: BasicBlock<'ctx>,
    latch: BasicBlock<'ctx>,
    /// Where the loop ends by the head.
    exit: BasicBlock<'ctx>,
    compared: InstructionValue<'ctx>,
    carried: Vec<Carried<'ctx>>,
    /// What the counter is next, and the limit.
    next: InstructionValue<'ctx>,
    limit: IntValue<'ctx>,
}

impl<'ctx> Turn<'ctx> {
    fn of(context: &'ctx Context, found: &Loop<'ctx>) -> Option<Self> {
        let [latch] = found.latches[..] else { return None };
        let head = found.head;
        let end = head.get_terminator()?;
        let (then, other) = llvm::branch_targets(end)?;
        let compared = llvm::int_operand(end, 0)?.as_instruction()?;
        let is_head =
            head.get_instructions().all(|from| from.get_opcode() == Op::Phi || from == compared || from == end);
        let is_equal = match compared.get_icmp_predicate()? {
            IntPredicate::EQ => true,
            IntPredicate::NE => false,
            _ => return None,
        };
        let (exit, body) = if is_equal { (then, other) } else { (other, then) };
        let jump = latch.get_terminator()?;
        let (one, another) = llvm::branch_targets(jump)?;
        let out = if one == head { another } else { one };
        let is_fit = is_head
            && latch != head
            && !found.contains(exit)
            && found.contains(body)
            && llvm::predecessors(body) == [head]
            && llvm::phis(body).next().is_none()
            && one != another
            && !found.contains(out)
            && !llvm::has_loop_mark(context, &[jump])
            && llvm::uses(&compared).len() == 1
            && !found.blocks.iter().flat_map(|block| block.get_instructions()).any(is_convergent);
        if !is_fit {
            return None;
        }
        let carried: Option<Vec<Carried<'ctx>>> = llvm::phis(head)
            .map(|phi| {
                let [(first, from), (next, to)] = llvm::incoming(phi)[..] else { return None };
                let (first, next) = if to == latch { (first, next) } else { (next, first) };
                (from == latch || to == latch).then_some((phi, first, next))
            })
            .collect();
        let carried = carried?;
        let sides = [llvm::int_operand(compared, 0)?, llvm::int_operand(compared, 1)?];
        let counter =
            |value: IntValue<'ctx>| carried.iter().find(|(phi, ..)| llvm::result(*phi) == BasicValueEnum::from(value));
        let ((counter, _, next), limit) = match sides.map(counter) {
            [Some(counter), None] => (*counter, sides[1]),
            [None, Some(counter)] => (*counter, sides[0]),
            _ => return None,
        };
        let next = llvm::instruction_of(next)?;
        // The result is the limit there, or what the counter is.
        let results = [BasicValueEnum::from(limit), llvm::result(counter)];
        let is_result =
            |(value, from): &(BasicValueEnum<'ctx>, BasicBlock<'ctx>)| *from == head && results.contains(value);
        let has_result = llvm::phis(exit).any(|phi| llvm::incoming(phi).iter().any(is_result));
        let turn = Self { head, body, latch, exit, compared, carried, next, limit };
        (has_result && found.is_invariant(limit.into()) && turn.is_only_next(counter) && turn.is_asked_in_loop(found))
            .then_some(turn)
    }

    /// Whether what the counter is next is computed of it and a constant where a round ends, and looked at by the counter alone.
    fn is_only_next(&self, counter: InstructionValue<'ctx>) -> bool {
        let is_constant = |index| llvm::int_operand(self.next, index).is_some_and(IntValue::is_const);
        self.next.get_opcode() == Op::Add
            && self.next.get_parent() == Some(self.latch)
            && llvm::int_operand(self.next, 0).is_some_and(|value| llvm::result(counter) == BasicValueEnum::from(value))
            && is_constant(1)
            && llvm::uses(&self.next).iter().all(|user| matches!(user, Use::Instruction(user) if *user == counter))
    }

    /// Whether nobody behind the loop asks for a phi of its head but by a phi where the loop ends.
    fn is_asked_in_loop(&self, found: &Loop<'ctx>) -> bool {
        self.carried.iter().flat_map(|(phi, ..)| llvm::uses(phi)).all(|user| match user {
            Use::Instruction(user) => {
                let is_inside = user.get_parent().is_some_and(|block| found.contains(block));
                let is_of_exit = || user.get_opcode() == Op::Phi && user.get_parent() == Some(self.exit);
                let is_of_body = || {
                    let of_head = |(_, from): &(BasicValueEnum<'ctx>, BasicBlock<'ctx>)| *from == self.head;
                    user.get_opcode() == Op::Phi && !llvm::incoming(user).iter().any(of_head)
                };
                is_inside || is_of_exit() || is_of_body()
            }
            Use::Global(_) => false,
        })
    }

    fn write(self, context: &'ctx Context) -> std::result::Result<(), BuilderError> {
        let Self { head, body, latch, exit, compared, carried, next, limit } = self;
        let builder = context.create_builder();
        let turn = context.insert_basic_block_after(latch, "");
        builder.position_before(&body.get_first_instruction().expect("a block ends in a jump"));
        let mut made: Vec<(InstructionValue<'ctx>, Carried<'ctx>)> = Vec::new();
        for of in &carried {
            let phi = builder.build_phi(llvm::result(of.0).get_type(), "")?.as_instruction();
            llvm::replace_uses(of.0, llvm::result(phi));
            made.push((phi, *of));
        }
        let new = |value: BasicValueEnum<'ctx>| {
            let phi = made.iter().find(|(_, (old, ..))| llvm::result(*old) == value);
            phi.map_or(value, |(phi, _)| llvm::result(*phi))
        };
        // What the head asked of its phis it asks of what they are at first, and the turn of what they are next.
        let of_phi = |value: BasicValueEnum<'ctx>| made.iter().find(|(phi, _)| llvm::result(*phi) == value);
        let first = |value: BasicValueEnum<'ctx>| of_phi(value).map_or(value, |(_, (_, first, _))| *first);
        let after = |value: BasicValueEnum<'ctx>| of_phi(value).map_or(value, |(_, (.., next))| new(*next));
        for (phi, (_, first, next)) in &made {
            llvm::add_incoming(*phi, *first, head);
            llvm::add_incoming(*phi, new(*next), turn);
        }
        let end = head.get_terminator().expect("a block ends in a jump");
        let (then, other) = llvm::branch_targets(end).expect("it has two ways");
        for phi in llvm::phis(exit) {
            let ways = llvm::incoming(phi);
            let Some(at) = ways.iter().position(|(_, from)| *from == head) else { continue };
            let value = ways[at].0;
            let is_limit = value == BasicValueEnum::from(limit);
            llvm::add_incoming(phi, if is_limit { llvm::result(next) } else { after(value) }, turn);
            let at = u32::try_from(at).expect("a phi has few ways");
            assert!(phi.set_operand(at, first(value)), "the phi has that way");
        }
        llvm::retarget(latch.get_terminator().expect("a block ends in a jump"), head, turn);
        builder.position_at_end(turn);
        let jump = {
            let number = llvm::result(next).into_int_value();
            let difference = builder.build_xor(number, limit, "")?;
            let zero = number.get_type().const_zero();
            let predicate = compared.get_icmp_predicate().expect("it compares numbers");
            let asked = builder.build_int_compare(predicate, difference, zero, "")?;
            builder.build_conditional_branch(asked, then, other)?
        };
        let start = turn.get_first_instruction().unwrap_or(jump);
        llvm::move_before(context, &[next], start);
        for index in 0..2 {
            let value = llvm::int_operand(compared, index).expect("it compares numbers");
            assert!(compared.set_operand(index, first(value.into())), "it has two sides");
        }
        for (phi, ..) in &carried {
            phi.erase_from_basic_block();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use arbtest::arbitrary::Unstructured;

    use super::*;
    use crate::loops::random_tests::do_the_same;
    use crate::loops::staged::after;

    /// A search that ends where `%k` is the limit, or by what it loads, after [`turn`].
    fn turned(compare: &str, targets: &str, of_limit: &str, more: &str) -> String {
        let text = format!(
            "define i32 @f(ptr %from, ptr %to, i32 %limit, i32 %other, i32 %first) {{
            entry: br label %loop
            loop: %k = phi i32 [ %first, %entry ], [ %next, %rest ]
              %sum = phi i32 [ 0, %entry ], [ %grown, %rest ]
              %at.limit = icmp {compare} i32 %k, %limit
              br i1 %at.limit, {targets}
            rest: %p = getelementptr i32, ptr %from, i32 %k
              %x = load i32, ptr %p
              %grown = add i32 %sum, %x
              %next = add i32 %k, 1
              {more}
              %found = icmp eq i32 %x, %other
              br i1 %found, label %end, label %loop
            end: %result = phi i32 [ {of_limit}, %loop ], [ %k, %rest ]
              %all = phi i32 [ %sum, %loop ], [ %grown, %rest ]
              store i32 %all, ptr %to
              ret i32 %result
            }}"
        );
        after(&text, |context, module, _| turn(context, module).unwrap())
    }

    const AT_LIMIT: &str = "label %end, label %rest";

    #[test]
    fn a_count_has_one_register() {
        for (compare, targets, of_limit) in
            [("eq", AT_LIMIT, "%limit"), ("ne", "label %rest, label %end", "%limit"), ("eq", AT_LIMIT, "%k")]
        {
            let ir = turned(compare, targets, of_limit, "");
            assert!(ir.contains(&format!("icmp {compare} i32 %first, %limit")), "{ir}");
            let (_, turn) = ir.split_once("%next = add").expect("it is counted");
            assert!(turn.contains("xor i32 %next, %limit"), "{ir}");
            let (_, end) = ir.split_once("end:").expect("it ends");
            assert!(end.contains("[ %next, %"), "{ir}");
        }
    }

    #[test]
    fn others_stay() {
        for (compare, targets, of_limit, more) in [
            ("uge", AT_LIMIT, "%limit", ""),
            ("eq", "label %rest, label %end", "%limit", ""),
            ("eq", AT_LIMIT, "%other", ""),
            ("eq", AT_LIMIT, "%limit", "store volatile i32 %next, ptr %to"),
        ] {
            let ir = turned(compare, targets, of_limit, more);
            assert!(!ir.contains("xor"), "{ir}");
        }
    }

    /// A loop that ends by its counter or by what it loads, with another phi and with stores on any way.
    fn search(u: &mut Unstructured<'_>) -> arbtest::arbitrary::Result<String> {
        let compare = *u.choose(&["eq", "eq", "ne", "ule"])?;
        let targets = *u.choose(&["label %out, label %rest", "label %rest, label %out"])?;
        let (first, step) = (*u.choose(&["%first", "%more", "1"])?, *u.choose(&["1", "-1", "3"])?);
        let grown = *u.choose(&["%sum", "%k", "%x", "%both"])?;
        let [of_limit, of_found] = [["%wide", "%k", "%sum", "7"], ["%k", "%sum", "%x", "%both"]];
        let (of_limit, of_found) = (*u.choose(&of_limit)?, *u.choose(&of_found)?);
        let again = *u.choose(&["%sum", "%k", "%both", "%x"])?;
        let limit = *u.choose(&["200", "250", "128"])?;
        Ok(format!(
            "define void @f(ptr %from, ptr %to, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
            entry: br label %loop
            loop: %k = phi i64 [ {first}, %entry ], [ %next, %rest ]
              %sum = phi i64 [ %first, %entry ], [ {again}, %rest ]
              %at.limit = icmp {compare} i64 %k, %wide
              br i1 %at.limit, {targets}
            rest: %p = getelementptr i8, ptr %from, i64 %k
              %b = load i8, ptr %p
              %x = zext i8 %b to i64
              %both = add i64 %sum, %x
              store volatile i64 {grown}, ptr %to
              %next = add i64 %k, {step}
              %found = icmp ugt i64 %x, {limit}
              br i1 %found, label %out, label %loop
            out: %result = phi i64 [ {of_limit}, %loop ], [ {of_found}, %rest ]
              store volatile i64 %result, ptr %to
              ret void
            }}"
        ))
    }

    #[test]
    fn rounds_stay_what_they_were() {
        let is_turned = |_: &str, after: &str| after.contains("xor");
        do_the_same(search, |context, module, _| turn(context, module).unwrap(), is_turned);
    }
}
