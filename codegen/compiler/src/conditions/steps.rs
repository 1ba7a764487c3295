//! A choice of values that a loop makes in several steps.
//!
//! ```text
//! before: a:  switch i8 %state, label %default [i8 0, label %plain  i8 1, label %quoted]
//!         plain:  switch i8 %byte, label %end [i8 44, label %comma  i8 34, label %quote]
//!         quoted: %closes = icmp eq i8 %byte, 34
//!                 %then = select i1 %closes, i8 0, i8 1
//!                 br label %end
//!         comma:  %more = add i32 %count, 1
//!                 br label %end
//!         end:    %next = phi i8 [ 0, %plain ], [ %then, %quoted ], [ 0, %comma ], [ 1, %quote ]
//!                 %all = phi i32 [ %count, %plain ], [ %count, %quoted ], [ %more, %comma ], [ %count, %quote ]
//! after:  a:      %is.plain = icmp eq i8 %state, 0
//!                 %is.comma = select i1 %is.plain, i1 (icmp eq i8 %byte, 44), i1 false
//!                 …
//!                 %all = select i1 %is.comma, i32 (add i32 %count, 1), i32 %count
//!                 br label %end
//! ```
//!
//! A scanner's `match` of its state and of a byte is such a choice, and so are nested `if`s that only decide numbers. The threads of
//! a warp are in different states and go through all arms one after the other, each behind a jump and a place to meet; what
//! they do there is less than that. Without branches the loop's loads are also taken several at a time.
//!
//! **Why it is right.** Everything in the arms is computed whether it is asked for or not, which harms nothing and may mean
//! nothing; only `select`s look at it, for the way that would have been taken. That a way was taken is asked by `select`s as
//! well, since the second condition may mean nothing where the first one does not hold.

use std::collections::HashMap;

use crate::llvm::{
    self, BasicBlock, BasicValueEnum, Builder, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntPredicate, IntValue,
};
use crate::loops::Graph;

use super::cheap::is_cheap;

/// Blocks in which it is chosen; LLVM does without branches where there are fewer.
const LEAST_BLOCKS: usize = 3;
const MOST_BLOCKS: usize = 10;

/// Instructions of all of them.
const MOST_INSTRUCTIONS: usize = 16;

/// Choices between two values.
const MOST_CHOICES: usize = 20;

/// Blocks that choose values, from a head to an end.
struct Steps<'ctx> {
    head: BasicBlock<'ctx>,
    /// Each behind all that lead to it.
    blocks: Vec<BasicBlock<'ctx>>,
    end: BasicBlock<'ctx>,
}

/// A jump of a block to another one, with the condition that it asks.
struct Jump<'ctx> {
    from: BasicBlock<'ctx>,
    to: BasicBlock<'ctx>,
    asks: Asks<'ctx>,
}

/// What decides a jump.
enum Asks<'ctx> {
    Nothing,
    Is(IntValue<'ctx>, bool),
    /// Whether a number is one of these, or none of them.
    Cases(IntValue<'ctx>, Vec<IntValue<'ctx>>, bool),
}

/// Chooses at once in the loops of a function, and says whether there was something.
pub fn choose<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<bool, BuilderError> {
    let loops = Graph::of(function).innermost();
    let mut any = false;
    for found in &loops {
        for head in &found.blocks {
            let steps = Steps::of(*head).filter(|steps| {
                steps.end != found.head
                    && steps.blocks.iter().all(|block| found.contains(*block) && *block != found.head)
            });
            if let Some(steps) = steps {
                steps.choose(context)?;
                any = true;
                // The other blocks of the loop may not be reached any more.
                break;
            }
        }
    }
    Ok(any)
}

impl<'ctx> Steps<'ctx> {
    /// The shortest from a block on.
    fn of(head: BasicBlock<'ctx>) -> Option<Self> {
        if targets(head).len() < 2 {
            return None;
        }
        let mut blocks: Vec<BasicBlock<'ctx>> = Vec::new();
        loop {
            let mut ends: Vec<BasicBlock<'ctx>> = Vec::new();
            for to in blocks.iter().chain([&head]).flat_map(|block| targets(*block)) {
                if !blocks.contains(&to) && !ends.contains(&to) {
                    ends.push(to);
                }
            }
            if let [end] = ends[..] {
                let steps = Self { head, blocks, end };
                return steps.is_fit().then_some(steps);
            }
            let is_known = |from: &BasicBlock<'ctx>| *from == head || blocks.contains(from);
            let next = ends.into_iter().find(|block| {
                *block != head && only_chooses(*block) && llvm::predecessors(*block).iter().all(is_known)
            })?;
            if blocks.len() == MOST_BLOCKS {
                return None;
            }
            blocks.push(next);
        }
    }

    fn is_fit(&self) -> bool {
        let instructions = self.blocks.iter().flat_map(|block| block.get_instructions());
        let count = instructions.filter(|from| !from.is_terminator() && from.get_opcode() != Op::Phi).count();
        let is_inside = |from: &BasicBlock<'ctx>| *from == self.head || self.blocks.contains(from);
        let choices = self
            .blocks
            .iter()
            .chain([&self.end])
            .flat_map(|block| llvm::phis(*block))
            .map(|phi| llvm::incoming(phi).iter().filter(|(_, from)| is_inside(from)).count().saturating_sub(1));
        let straight = self.head.get_terminator().map(llvm::block_operands).unwrap_or_default();
        self.end != self.head
            // Its phis have an entry for each jump.
            && straight.iter().filter(|to| **to == self.end).count() <= 1
            && self.blocks.len() >= LEAST_BLOCKS
            && count <= MOST_INSTRUCTIONS
            && choices.sum::<usize>() <= MOST_CHOICES
    }

    fn choose(&self, context: &'ctx Context) -> Result<(), BuilderError> {
        let builder = context.create_builder();
        let old = self.head.get_terminator().expect("a block that is finished ends in a jump");
        builder.position_before(&old);
        let yes = context.bool_type().const_all_ones();
        let mut reached = HashMap::from([(self.head, yes)]);
        let mut taken = Vec::new();
        for block in [self.head].iter().chain(&self.blocks) {
            if *block != self.head {
                let ways = || taken.iter().filter(|(jump, _): &&(Jump<'ctx>, IntValue<'ctx>)| jump.to == *block);
                let mut is_reached = context.bool_type().const_zero();
                for (_, is) in ways() {
                    is_reached = builder.build_or(is_reached, *is, "")?;
                }
                reached.insert(*block, is_reached);
                for instruction in block.get_instructions().filter(|from| !from.is_terminator()).collect::<Vec<_>>() {
                    if instruction.get_opcode() == Op::Phi {
                        let value = self.told(&builder, instruction, *block, &taken)?;
                        llvm::replace_uses(instruction, value);
                    } else {
                        instruction.remove_from_basic_block();
                        builder.insert_instruction(&instruction, None);
                    }
                }
            }
            // What it asks may be a phi of its own, which is another value by now.
            for jump in jumps(*block) {
                let is = jump.asks.ask(context, &builder)?;
                let is = if *block == self.head {
                    is
                } else {
                    builder.build_select(reached[block], is, yes.get_type().const_zero(), "")?.into_int_value()
                };
                taken.push((jump, is));
            }
        }
        let mut values = Vec::new();
        for phi in llvm::phis(self.end) {
            values.push(self.told(&builder, phi, self.end, &taken)?);
        }
        builder.build_unconditional_branch(self.end)?;
        if llvm::predecessors(self.end).contains(&self.head) && targets(self.head).contains(&self.end) {
            let mut values = values.into_iter();
            llvm::replace_predecessor(self.end, self.head, self.head, |old| values.next().unwrap_or(old));
        } else {
            let phis: Vec<_> = llvm::phis(self.end).collect();
            phis.into_iter().zip(values).for_each(|(phi, value)| llvm::add_incoming(phi, value, self.head));
        }
        old.erase_from_basic_block();
        // Nothing comes there any more.
        for phi in self.blocks.iter().flat_map(|block| llvm::phis(*block)).collect::<Vec<_>>() {
            llvm::replace_uses(phi, llvm::poison(llvm::result(phi).get_type()));
            phi.erase_from_basic_block();
        }
        Ok(())
    }

    /// What a phi of a block is, by the jumps that were taken to it.
    fn told(
        &self,
        builder: &Builder<'ctx>,
        phi: InstructionValue<'ctx>,
        block: BasicBlock<'ctx>,
        taken: &[(Jump<'ctx>, IntValue<'ctx>)],
    ) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        let mut ways = taken.iter().filter(|(jump, _)| jump.to == block).map(|(jump, is)| {
            (llvm::incoming_from(phi, jump.from).expect("a phi knows all blocks that jump to it"), *is)
        });
        let (mut value, _) = ways.next().expect("one of them jumps there");
        for (other, is) in ways.filter(|(other, _)| *other != value).collect::<Vec<_>>() {
            value = builder.build_select(is, other, value, "")?;
        }
        Ok(value)
    }
}

impl<'ctx> Asks<'ctx> {
    fn ask(&self, context: &'ctx Context, builder: &Builder<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        match self {
            Self::Nothing => Ok(context.bool_type().const_all_ones()),
            Self::Is(condition, true) => Ok(*condition),
            Self::Is(condition, false) => builder.build_not(*condition, ""),
            Self::Cases(of, cases, is) => {
                let mut any = context.bool_type().const_zero();
                for case in cases {
                    any = builder.build_or(any, builder.build_int_compare(IntPredicate::EQ, *of, *case, "")?, "")?;
                }
                if *is { Ok(any) } else { builder.build_not(any, "") }
            }
        }
    }
}

/// The jumps of a block, one for each block that it goes to.
fn jumps(from: BasicBlock<'_>) -> Vec<Jump<'_>> {
    let Some(end) = from.get_terminator() else { return Vec::new() };
    let operand = || match end.get_operand(0).and_then(|operand| operand.value()) {
        Some(BasicValueEnum::IntValue(value)) => Some(value),
        _ => None,
    };
    if let (Some((then, other)), Some(condition)) = (llvm::branch_targets(end), operand()) {
        return [(then, true), (other, false)].map(|(to, is)| Jump { from, to, asks: Asks::Is(condition, is) }).into();
    }
    if let (Some((rest, cases)), Some(of)) = (llvm::switch_targets(end), operand()) {
        let numbers = |to| cases.iter().filter(|(_, target)| *target == to).map(|(number, _)| *number).collect();
        let mut jumps: Vec<Jump<'_>> = Vec::new();
        for (_, to) in cases.iter().filter(|(_, to)| *to != rest && !is_never(*to)) {
            if jumps.iter().all(|jump| jump.to != *to) {
                jumps.push(Jump { from, to: *to, asks: Asks::Cases(of, numbers(*to), true) });
            }
        }
        if !is_never(rest) {
            let others = cases.iter().filter(|(_, to)| *to != rest).map(|(number, _)| *number).collect();
            jumps.push(Jump { from, to: rest, asks: Asks::Cases(of, others, false) });
        }
        return jumps;
    }
    llvm::block_operands(end).into_iter().map(|to| Jump { from, to, asks: Asks::Nothing }).collect()
}

/// Where a block goes, each once.
fn targets(block: BasicBlock<'_>) -> Vec<BasicBlock<'_>> {
    let mut all: Vec<BasicBlock<'_>> = Vec::new();
    for to in block.get_terminator().map(llvm::block_operands).unwrap_or_default() {
        if !all.contains(&to) && !is_never(to) {
            all.push(to);
        }
    }
    all
}

/// Whether a block is one that is never reached, as that of the other numbers of a `match` of an enum.
pub fn is_never(block: BasicBlock<'_>) -> bool {
    block.get_first_instruction().is_some_and(|first| first.get_opcode() == Op::Unreachable)
}

/// Whether a block only chooses values and goes on.
fn only_chooses(block: BasicBlock<'_>) -> bool {
    block.get_instructions().all(|from| match from.get_opcode() {
        Op::Phi => true,
        Op::Call => false,
        Op::Br | Op::Switch => true,
        _ => is_cheap(from),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A scanner of three states whose arm for a comma does `more`.
    fn chosen(more: &str) -> (bool, String) {
        let text = format!(
            "define i32 @f(ptr %text, i64 %n) {{
            entry: br label %loop
            loop: %i = phi i64 [ 0, %entry ], [ %j, %end ]
              %count = phi i32 [ 1, %entry ], [ %all, %end ]
              %state = phi i8 [ 0, %entry ], [ %next, %end ]
              %at = getelementptr i8, ptr %text, i64 %i
              %byte = load i8, ptr %at
              switch i8 %state, label %never [ i8 0, label %plain
                                               i8 1, label %quoted ]
            never: unreachable
            plain: switch i8 %byte, label %end [ i8 44, label %comma
                                                 i8 34, label %quote ]
            quoted: %closes = icmp eq i8 %byte, 34
              %then = select i1 %closes, i8 0, i8 1
              br label %end
            comma: %more = {more}
              br label %end
            quote: br label %end
            end: %next = phi i8 [ 0, %plain ], [ %then, %quoted ], [ 0, %comma ], [ 1, %quote ]
              %all = phi i32 [ %count, %plain ], [ %count, %quoted ], [ %more, %comma ], [ %count, %quote ]
              %j = add i64 %i, 1
              %is.last = icmp eq i64 %j, %n
              br i1 %is.last, label %out, label %loop
            out: ret i32 %all
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        let any = choose(&context, function).unwrap();
        let ir = function.print_to_string().to_string();
        (any, ir)
    }

    #[test]
    fn a_scanner_chooses_its_state_at_once() {
        let (any, ir) = chosen("add i32 %count, 1");
        assert!(any, "{ir}");
        let head = ir.split("loop:").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap_or_default();
        assert!(head.contains("br label %end") && !head.contains("switch"), "{ir}");
        assert!(head.contains("add i32 %count, 1"), "{ir}");
    }

    #[test]
    fn what_may_do_harm_is_done_where_it_is_asked_for() {
        assert!(!chosen("load i32, ptr %text").0);
        assert!(!chosen("udiv i32 %count, %count").0);
    }
}
