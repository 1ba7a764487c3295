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
//! An inclusive range that is inside of another loop may yet ask whether its last round has been, and count on only if not; so
//! the first rounds are gone through, with what is known of all numbers that the loop counts.
//!
//! **Why it is right.** Both sides of each comparison are the same number and a constant, so its outcome is that of the constants
//! where neither side wraps around or changes its sign. That is known of the number by branches on every way to the loop
//! (`indices/ranges.rs`). The condition is asked in every round, so the loop ends in the first one in which it holds.

use std::collections::HashSet;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result as Outcome};
use crate::hash::QuickMap;
use crate::indices::Ranges;
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntPredicate, IntValue, Module, Unroll,
};
use crate::loops::{self, Graph, Loop, SimpleForm};
use crate::settled;

/// Rounds of a window.
const MOST_ROUNDS: u32 = 8;

/// Instructions that are left of windows in each other.
const MOST_INSTRUCTIONS: usize = 1500;

/// Instructions that are looked at for one value.
const MOST_STEPS: usize = 12;

/// Counts the rounds of such loops, has them unrolled, and says in which functions there were any.
pub fn count<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    form: &SimpleForm<'_>,
) -> Outcome<HashSet<FunctionValue<'ctx>>> {
    let mut counted = HashSet::new();
    form.give(module)?;
    for function in settled::open_and_fast(module).filter(|function| loops::has_loops(*function)) {
        let any = count_in(context, function).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot count the rounds of a window: {error}"))
        })?;
        if any {
            form.lose();
            counted.insert(function);
        }
    }
    Ok(counted)
}

fn count_in<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<bool, BuilderError> {
    let graph = Graph::of(function);
    let all = graph.loops();
    let mut windows: Vec<(&Loop<'ctx>, Window<'ctx>)> = Vec::new();
    for found in all.iter().filter(|found| !loops::is_marked(context, &found.jumps_back())) {
        windows.extend(Window::of(&graph, found).map(|window| (found, window)));
    }
    if windows.is_empty() {
        return Ok(false);
    }
    let (given, same) = (QuickMap::default(), QuickMap::default());
    let ranges = Ranges::of_function(&graph, &given, &same);
    windows.retain(|(_, window)| window.is_sound(&ranges));
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

/// A loop that counts from a number near another one, and ends near the same.
struct Window<'ctx> {
    head: BasicBlock<'ctx>,
    before: BasicBlock<'ctx>,
    latch: BasicBlock<'ctx>,
    /// The branch that ends the loop, and whether it does where its condition holds.
    end: InstructionValue<'ctx>,
    ends_if: bool,
    near: IntValue<'ctx>,
    /// The least and the most that is added to the number in what is compared.
    least: i64,
    most: i64,
    rounds: u32,
}

impl<'ctx> Window<'ctx> {
    fn of(graph: &Graph<'ctx>, found: &Loop<'ctx>) -> Option<Self> {
        let (before, [latch]) = (graph.block_before(found)?, &found.latches[..]) else { return None };
        let near: Vec<_> = llvm::phis(found.head)
            .filter_map(|phi| match found.incoming_of(llvm::result(phi))?.0 {
                BasicValueEnum::IntValue(first) => Some(sum(first).0).filter(|near| !near.is_const()),
                _ => None,
            })
            .collect();
        found.blocks.iter().find_map(|block| {
            let end = block.get_terminator().filter(|_| graph.is_reached_by_way_of(*latch, *block))?;
            let (then, other) = llvm::branch_targets(end)?;
            let ends_if = match (found.contains(then), found.contains(other)) {
                (false, true) => true,
                (true, false) => false,
                _ => return None,
            };
            let condition = llvm::int_operand(end, 0)?;
            near.iter().find_map(|near| {
                let mut rounds = Rounds { found, near: *near, phis: QuickMap::default(), least: 0, most: 0 };
                let count = rounds.until(condition, ends_if)?;
                let Rounds { least, most, .. } = rounds;
                Some(Self {
                    head: found.head,
                    before,
                    latch: *latch,
                    end,
                    ends_if,
                    near: *near,
                    least,
                    most,
                    rounds: count,
                })
            })
        })
    }

    /// Whether nothing that is compared wraps around or changes its sign.
    fn is_sound(&self, ranges: &Ranges<'_, 'ctx>) -> bool {
        let near = ranges.in_block(self.near, self.before);
        let bits = self.near.get_type().get_bit_width();
        near.low + i128::from(self.least) >= 0 && near.high + i128::from(self.most) < 1 << (bits - 1)
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

/// What a value is in a round.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    /// So much more than the number that all is near to.
    Near(i64),
    Number(i64),
}

/// The rounds of a loop, gone through with what is known of its values.
struct Rounds<'a, 'ctx> {
    found: &'a Loop<'ctx>,
    near: IntValue<'ctx>,
    phis: QuickMap<IntValue<'ctx>, Known>,
    least: i64,
    most: i64,
}

impl<'ctx> Rounds<'_, 'ctx> {
    /// How many rounds there are until a condition is so.
    fn until(&mut self, condition: IntValue<'ctx>, is: bool) -> Option<u32> {
        let phis: Vec<_> = llvm::phis(self.found.head)
            .filter_map(|phi| match llvm::result(phi) {
                BasicValueEnum::IntValue(phi) => Some((phi, self.found.incoming(phi)?)),
                _ => None,
            })
            .collect();
        let value = |of: BasicValueEnum<'ctx>| match of {
            BasicValueEnum::IntValue(of) => Some(of),
            _ => None,
        };
        let mut next: Vec<Option<Known>> =
            phis.iter().map(|(_, (first, _))| self.know(value(*first)?, &mut { MOST_STEPS })).collect();
        for round in 1..=MOST_ROUNDS {
            self.phis = phis.iter().zip(&next).filter_map(|((phi, _), known)| Some((*phi, (*known)?))).collect();
            match self.know(condition, &mut { MOST_STEPS })? {
                Known::Number(holds) if (holds != 0) == is => return Some(round),
                Known::Number(_) => {}
                Known::Near(_) => return None,
            }
            next = phis.iter().map(|(_, (_, next))| self.know(value(*next)?, &mut { MOST_STEPS })).collect();
        }
        None
    }

    fn know(&mut self, value: IntValue<'ctx>, steps: &mut usize) -> Option<Known> {
        use Known::{Near, Number};
        if value == self.near {
            return Some(Near(0));
        }
        if let Some(known) = self.phis.get(&value) {
            return Some(*known);
        }
        if value.get_type().get_bit_width() == 1
            && let Some(constant) = value.get_zero_extended_constant()
        {
            return Some(Number(constant.cast_signed()));
        }
        if let Some(constant) = value.get_sign_extended_constant() {
            return Some(Number(constant));
        }
        let from = value.as_instruction_value()?;
        *steps = steps.checked_sub(1)?;
        let mut at = |index| self.know(llvm::int_operand(from, index)?, steps);
        match from.get_opcode() {
            Op::Add => match (at(0)?, at(1)?) {
                (Near(near), Number(more)) | (Number(more), Near(near)) => Some(Near(near.checked_add(more)?)),
                _ => None,
            },
            Op::ZExt if llvm::int_operand(from, 0)?.get_type().get_bit_width() == 1 => at(0),
            Op::Select => match at(0)? {
                Number(0) => at(2),
                Number(_) => at(1),
                Near(_) => None,
            },
            opcode @ (Op::And | Op::Or | Op::Xor) if value.get_type().get_bit_width() == 1 => {
                let (Number(one), Number(other)) = (at(0)?, at(1)?) else { return None };
                Some(Number(match opcode {
                    Op::And => one & other,
                    Op::Or => one | other,
                    _ => one ^ other,
                }))
            }
            Op::ICmp => {
                let (Near(one), Near(other)) = (at(0)?, at(1)?) else { return None };
                self.least = self.least.min(one).min(other);
                self.most = self.most.max(one).max(other);
                Some(Number(holds(from.get_icmp_predicate()?, one, other).into()))
            }
            _ => None,
        }
    }
}

/// A number as another one and a constant.
fn sum(mut value: IntValue<'_>) -> (IntValue<'_>, i64) {
    let mut all = 0_i64;
    for _ in 0..MOST_STEPS {
        let add = value.as_instruction_value().filter(|from| from.get_opcode() == Op::Add);
        let parts = add.and_then(|add| {
            Some((llvm::int_operand(add, 0)?, llvm::int_operand(add, 1)?.get_sign_extended_constant()?))
        });
        let Some((inner, total)) = parts.and_then(|(inner, more)| Some((inner, all.checked_add(more)?))) else { break };
        (value, all) = (inner, total);
    }
    (value, all)
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

    /// A window from one before a number on, where the number is known to be so; `mark` is said of the loop.
    fn counted_of(is: &str, end: &str, mark: &str) -> String {
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
              br i1 %ends, label %done, label %loop, !llvm.loop !0
            done: ret float %more
            out: ret float 0.0
            }}
            !0 = distinct !{{!0, !1}}
            !1 = !{{!\"{mark}\"}}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        llvm::set_target(&module);
        let arch: Arch = "sm_90".parse().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        count(&context, &module, &SimpleForm::of(&machine)).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    fn counted(is: &str, end: &str) -> String {
        counted_of(is, end, "llvm.loop.mustprogress")
    }

    #[test]
    fn a_loop_that_is_not_to_be_unrolled_is_left_alone() {
        let is_counted = |mark| counted_of("ugt i64 %y, 0", "icmp ugt i64 %k, %y", mark).contains("icmp eq i32");
        assert!(is_counted("llvm.loop.mustprogress"));
        assert!(!is_counted("llvm.loop.unroll.disable"));
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
