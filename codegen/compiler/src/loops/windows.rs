//! Counts the rounds of a loop over a window, whose first and last number are near to one number.
//!
//! ```text
//! before: loop: %k = phi i64 [ (add i64 %y, -1), %before ], [ %next, %last ]     ; `for k in y - 1..=y + 1`
//!               …
//!         last: %next = add i64 %k, 1
//!               br i1 (icmp ugt i64 %k, %y), label %end, label %loop
//! after:  loop: %round = phi i32 [ 0, %before ], [ (add i32 %round, 1), %last ]
//!         last: br i1 (icmp eq i32 %round, 2), label %end, label %loop
//! ```
//!
//! LLVM takes the difference of both for the number of rounds, and the larger one in place of the last unless a branch says that
//! it is not less. It has dropped that branch before, because the one that keeps the window in its image says so: `y >= 1`. So three
//! by three neighbours were loops, with checks in each round.
//!
//! **Why it is right.** Both sides of the comparison are the same number and a constant each, so its outcome in each round is
//! that of the constants where neither side wraps around or changes its sign. That is known of the number by branches on
//! every way to the loop (`indices/ranges.rs`). The comparison is made in every round, so the loop ends in the first one in
//! which it holds.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result as Outcome};
use crate::hash::QuickMap;
use crate::indices::Ranges;
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntPredicate, IntValue, Module, Unroll,
};
use crate::settled;

use super::branches::integer;
use super::natural::{Graph, Loop, SimpleForm};

/// Rounds of a window.
const MOST_ROUNDS: u32 = 8;

/// Instructions that are left of windows in each other.
const MOST_INSTRUCTIONS: usize = 1500;

/// How many sums there may be from a number to the one that it is near to.
const MOST_STEPS: usize = 4;

/// Counts the rounds of such loops, and has them unrolled.
pub fn count_windows<'ctx>(context: &'ctx Context, module: &Module<'ctx>, form: &SimpleForm<'_>) -> Outcome<()> {
    form.give(module)?;
    for function in settled::open_and_fast(module).filter(|function| super::has_loops(*function)) {
        let any = count_in(context, function).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot count the rounds of a window: {error}"))
        })?;
        if any {
            form.lose();
        }
    }
    Ok(())
}

fn count_in<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<bool, BuilderError> {
    let graph = Graph::of(function);
    let loops = graph.loops();
    let mut windows: Vec<(&Loop<'ctx>, Window<'ctx>)> = Vec::new();
    for found in &loops {
        windows.extend(Window::of(&graph, found).map(|window| (found, window)));
    }
    if windows.is_empty() {
        return Ok(false);
    }
    let (given, same) = (QuickMap::default(), QuickMap::default());
    let ranges = Ranges::of_function(&graph, &given, &same);
    windows.retain_mut(|(_, window)| window.count(&ranges));
    for (found, window) in &windows {
        window.end_by_count(context)?;
        let times = |block: BasicBlock<'ctx>| {
            let around = windows.iter().filter(|(other, _)| other.contains(block) && found.contains(other.head));
            around.map(|(_, window)| window.rounds as usize).product::<usize>()
        };
        let left: usize = found.blocks.iter().map(|block| block.get_instructions().count() * times(*block)).sum();
        if left <= MOST_INSTRUCTIONS {
            llvm::set_unroll(context, &found.jumps_back(), Unroll::Full);
        }
    }
    Ok(!windows.is_empty())
}

/// A loop that counts from a number near another one, and compares with a number near the same.
struct Window<'ctx> {
    head: BasicBlock<'ctx>,
    before: BasicBlock<'ctx>,
    latch: BasicBlock<'ctx>,
    /// The branch that ends the loop, and whether it does where its condition holds.
    end: InstructionValue<'ctx>,
    ends_if: bool,
    predicate: IntPredicate,
    near: IntValue<'ctx>,
    /// What is compared in the first round is so much more than the number, and the other side always so much.
    first: i64,
    bound: i64,
    rounds: u32,
}

impl<'ctx> Window<'ctx> {
    fn of(graph: &Graph<'ctx>, found: &Loop<'ctx>) -> Option<Self> {
        let (before, [latch]) = (graph.block_before(found)?, &found.latches[..]) else { return None };
        found.blocks.iter().find_map(|block| {
            let end = block.get_terminator().filter(|_| graph.is_reached_by_way_of(*latch, *block))?;
            let (then, other) = llvm::branch_targets(end)?;
            let ends_if = match (found.contains(then), found.contains(other)) {
                (false, true) => true,
                (true, false) => false,
                _ => return None,
            };
            let compare = integer(end, 0)?.as_instruction_value()?;
            let predicate = compare.get_icmp_predicate()?;
            let sides = [(integer(compare, 0)?, integer(compare, 1)?, predicate), {
                (integer(compare, 1)?, integer(compare, 0)?, turned(predicate))
            }];
            sides.into_iter().find_map(|(counted, bound, predicate)| {
                let (counter, more) = sum(counted);
                let (first, next) = found.incoming(counter)?;
                let (BasicValueEnum::IntValue(first), BasicValueEnum::IntValue(next)) = (first, next) else {
                    return None;
                };
                let ((near, first), (other, bound)) = (sum(first), sum(bound));
                let is_window = sum(next) == (counter, 1) && near == other && !near.is_const();
                is_window.then_some(Self {
                    head: found.head,
                    before,
                    latch: *latch,
                    end,
                    ends_if,
                    predicate,
                    near,
                    first: first.checked_add(more)?,
                    bound,
                    rounds: 0,
                })
            })
        })
    }

    /// Finds out in which round the loop ends, if that is one of the first.
    fn count(&mut self, ranges: &Ranges<'_, 'ctx>) -> bool {
        let ends = |round: u32| holds(self.predicate, self.first + i64::from(round), self.bound) == self.ends_if;
        let Some(last) = (0..MOST_ROUNDS).find(|round| ends(*round)) else { return false };
        self.rounds = last + 1;
        let near = ranges.in_block(self.near, self.before);
        let (least, most) = (self.first.min(self.bound), self.bound.max(self.first + i64::from(last)));
        let bits = self.near.get_type().get_bit_width();
        near.low + i128::from(least) >= 0 && near.high + i128::from(most) < 1 << (bits - 1)
    }

    fn end_by_count(&self, context: &'ctx Context) -> Result<(), BuilderError> {
        let builder = context.create_builder();
        let number = |number: u32| context.i32_type().const_int(number.into(), false);
        builder.position_before(&self.head.get_first_instruction().expect("a block ends in a jump"));
        let round = builder.build_phi(context.i32_type(), "")?;
        let counted = round.as_basic_value().into_int_value();
        builder.position_before(&self.latch.get_terminator().expect("a block ends in a jump"));
        let next = builder.build_int_nuw_add(counted, number(1), "")?;
        round.add_incoming(&[(&number(0), self.before), (&next, self.latch)]);
        builder.position_before(&self.end);
        let predicate = if self.ends_if { IntPredicate::EQ } else { IntPredicate::NE };
        let ends = builder.build_int_compare(predicate, counted, number(self.rounds - 1), "")?;
        llvm::set_condition(self.end, ends);
        Ok(())
    }
}

/// A number as another one and a constant.
fn sum(mut value: IntValue<'_>) -> (IntValue<'_>, i64) {
    let mut all = 0_i64;
    for _ in 0..MOST_STEPS {
        let add = value.as_instruction_value().filter(|from| from.get_opcode() == Op::Add);
        let parts = add.and_then(|add| Some((integer(add, 0)?, integer(add, 1)?.get_sign_extended_constant()?)));
        let Some((inner, all_of_it)) = parts.and_then(|(inner, more)| Some((inner, all.checked_add(more)?))) else {
            break;
        };
        (value, all) = (inner, all_of_it);
    }
    (value, all)
}

/// The same comparison with its sides the other way round.
fn turned(predicate: IntPredicate) -> IntPredicate {
    use IntPredicate::{EQ, NE, SGE, SGT, SLE, SLT, UGE, UGT, ULE, ULT};
    match predicate {
        EQ | NE => predicate,
        ULT => UGT,
        ULE => UGE,
        UGT => ULT,
        UGE => ULE,
        SLT => SGT,
        SLE => SGE,
        SGT => SLT,
        SGE => SLE,
    }
}

fn holds(predicate: IntPredicate, one: i64, other: i64) -> bool {
    use IntPredicate::{EQ, NE, SGE, SGT, SLE, SLT, UGE, UGT, ULE, ULT};
    match predicate {
        EQ => one == other,
        NE => one != other,
        ULT | SLT => one < other,
        ULE | SLE => one <= other,
        UGT | SGT => one > other,
        UGE | SGE => one >= other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::{AnyValue, parse_ir};
    use crate::request::OptLevel;

    /// A window from one before a number on, where the number is known to be so.
    fn counted(is: &str, end: &str) -> String {
        let text = format!(
            "define float @f(ptr %p, i32 %at) {{
            entry: %y = zext i32 %at to i64
              %is = icmp {is}
              br i1 %is, label %before, label %out
            before: %first = add i64 %y, -1
              br label %loop
            loop: %k = phi i64 [ %first, %before ], [ %next, %loop ]
              %sum = phi float [ 0.0, %before ], [ %more, %loop ]
              %from = getelementptr float, ptr %p, i64 %k
              %x = load float, ptr %from
              %more = fadd float %sum, %x
              %next = add i64 %k, 1
              %ends = {end}
              br i1 %ends, label %done, label %loop
            done: ret float %more
            out: ret float 0.0
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        llvm::set_target(&module);
        let arch: Arch = "sm_90".parse().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        count_windows(&context, &module, &SimpleForm::of(&machine)).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    #[test]
    fn a_window_has_as_many_rounds_as_its_ends_are_apart() {
        for (end, last) in [
            ("icmp ugt i64 %k, %y", "2"),
            ("icmp uge i64 %k, %y", "1"),
            ("icmp ult i64 %y, %k", "2"),
            ("icmp sgt i64 %next, %y", "1"),
        ] {
            let ir = counted("ugt i64 %y, 0", end);
            assert!(ir.contains(&format!("icmp eq i32 %0, {last}")) && ir.contains("!llvm.loop"), "{end}: {ir}");
        }
    }

    #[test]
    fn others_are_not_counted() {
        let is_counted = |is: &str, end: &str| counted(is, end).contains("icmp eq i32");
        let end = "icmp ugt i64 %k, %y";
        assert!(is_counted("ugt i64 %y, 0", end));
        // The first number may be below 0; the loop ends by another one, or never.
        assert!(!is_counted("ult i64 %y, 9", end));
        assert!(!is_counted("ugt i64 %y, 0", "icmp ugt i64 %k, 7"));
        assert!(!is_counted("ugt i64 %y, 0", "icmp ugt i64 %k, -1"));
    }
}
