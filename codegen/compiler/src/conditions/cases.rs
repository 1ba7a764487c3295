//! A `match` of few numbers whose arms only choose values.
//!
//! ```text
//! before: a:  switch i8 %x, label %rest [i8 3, label %end  i8 4, label %four]
//!         four: %y = icmp eq i8 %me, 1
//!               br label %end
//!         rest: br label %end
//!         end:  phi i1 [ true, %a ], [ %y, %four ], [ false, %rest ]
//! after:  a:  %y = icmp eq i8 %me, 1
//!             %four = select i1 (icmp eq i8 %x, 4), i1 %y, i1 false
//!             or i1 %four, (icmp eq i8 %x, 3)
//! ```
//!
//! So LLVM writes `x == 3 || x == 4 && me == 1`. A value that no arm asks for may mean nothing; `select` does not look at it.
//! Where all other numbers choose `false`, the cases are joined by `or`: %x is one number, so where it is that of a case, all
//! other cases are `false`. A choice between two conditions would be twice as many instructions. For the same reason a case
//! that chooses what all other numbers choose needs no `select`: so `match step % 6 { 0 => x += 1, 1 => x -= 1, 2 => y += 1, … }`
//! has two of them for each of `x` and `y`. Numbers that follow each other and choose alike are one comparison, as those of
//! `b'\t'..=b'\r'`, `%x - 9 < 5`. The threads of a warp would go through all arms, and ptxas makes a jump through a
//! table of such cases, which takes as long as thirty instructions.
//!
//! A `match` of an enum has no other numbers. Then each value is, where no case holds that chooses another one, what most arms
//! choose. Where the number is the order of two others, those are compared; so `match x.cmp(&y)` in a merge of sorted lists is:
//!
//! ```text
//! before: a:       %order = call i8 @llvm.ucmp.i8.i32(i32 %x, i32 %y)
//!                  switch i8 %order, label %never [i8 -1, label %end  i8 0, label %equal  i8 1, label %greater]
//!         equal:   br label %end
//!         greater: br label %end
//!         end:     phi i64 [ %next.i, %a ], [ %next.i, %equal ], [ %i, %greater ]
//! after:  a:       select i1 (icmp ugt i32 %x, %y), i64 %i, i64 %next.i
//! ```
//!
//! **Why it is right.** The number is that of exactly one arm, or nothing: a `switch` by a value that means nothing, or to what is
//! never reached, has no meaning itself. So exactly one comparison holds of those that tell all arms apart, and whichever arm
//! goes without one is chosen where no other is. The order means nothing exactly where one of the numbers does.

use crate::llvm::{
    self, BasicBlock, BasicValueEnum, Builder, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntPredicate, IntValue,
};

use super::cheap::is_cheap;
use super::orders::Order;
use super::steps::is_never;

/// Comparisons that tell numbers apart from all others.
const MOST_CASES: usize = 6;

/// Instructions of an arm.
const MOST_INSTRUCTIONS: usize = 4;

/// Instructions of all arms.
const MOST_OF_ALL: usize = 10;

/// Choices between two values.
const MOST_CHOICES: usize = 12;

/// A switch that chooses values.
struct Choice<'ctx> {
    switch: InstructionValue<'ctx>,
    block: BasicBlock<'ctx>,
    of: IntValue<'ctx>,
    /// The arm of all other numbers; none if there are no others.
    rest: Option<BasicBlock<'ctx>>,
    cases: Vec<(IntValue<'ctx>, BasicBlock<'ctx>)>,
    /// Where all arms end; it may be one itself, which does nothing.
    end: BasicBlock<'ctx>,
}

/// Joins what can be, and says whether there was something.
pub fn join<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<bool, BuilderError> {
    let mut any = false;
    for block in function.get_basic_blocks() {
        if let Some(choice) = Choice::of(block) {
            choice.join(context)?;
            any = true;
        }
    }
    Ok(any)
}

impl<'ctx> Choice<'ctx> {
    fn of(block: BasicBlock<'ctx>) -> Option<Self> {
        let switch = block.get_terminator()?;
        let (rest, cases) = llvm::switch_targets(switch)?;
        let BasicValueEnum::IntValue(of) = switch.get_operand(0)?.value()? else { return None };
        let rest = Some(rest).filter(|rest| !is_never(*rest));
        let arm = rest.or_else(|| Some(cases.first()?.1))?;
        let choice = |end| Self { switch, block, of, rest, cases: cases.clone(), end };
        [after(arm), Some(arm)].into_iter().flatten().map(choice).find(Self::is_fit)
    }

    fn is_fit(&self) -> bool {
        let straight = self.cases.iter().map(|(_, arm)| *arm).chain(self.rest).filter(|arm| *arm == self.end).count();
        let is_of_end = |value| {
            llvm::instruction_of(value)
                .is_some_and(|from| from.get_opcode() == Op::Phi && from.get_parent() == Some(self.end))
        };
        // They are written anew.
        let hands_on =
            || llvm::phis(self.end).any(|phi| llvm::incoming(phi).into_iter().any(|(value, _)| is_of_end(value)));
        self.end != self.block
            && !hands_on()
            && straight <= 1
            && self.of.get_type().get_bit_width() <= 64
            && self.runs().iter().map(|(_, runs)| runs.len()).sum::<usize>() <= MOST_CASES
            && llvm::phis(self.end).map(|phi| self.choices(phi)).sum::<usize>() <= MOST_CHOICES
            && self.arms().into_iter().flat_map(body).count() <= MOST_OF_ALL
            && self.arms().into_iter().all(|arm| self.is_arm(arm))
    }

    /// The blocks between the switch and the end, each once.
    fn arms(&self) -> Vec<BasicBlock<'ctx>> {
        let mut arms: Vec<_> = self.rest.into_iter().collect();
        self.cases.iter().for_each(|(_, arm)| arms.extend(Some(*arm).filter(|arm| !arms.contains(arm))));
        arms.retain(|arm| *arm != self.end);
        arms
    }

    /// What a phi of the end is where an arm was chosen.
    fn told(&self, phi: InstructionValue<'ctx>, arm: BasicBlock<'ctx>) -> Option<BasicValueEnum<'ctx>> {
        let from = if arm == self.end { self.block } else { arm };
        llvm::incoming(phi).into_iter().find(|(_, block)| *block == from).map(|(value, _)| value)
    }

    /// What a phi of the end is if no case chooses another value: that of all other numbers, or what most arms choose; of
    /// several, what is `false`, because it needs fewer instructions.
    fn otherwise(&self, phi: InstructionValue<'ctx>) -> Option<BasicValueEnum<'ctx>> {
        if let Some(rest) = self.rest {
            return self.told(phi, rest);
        }
        let told: Vec<_> = self.runs().into_iter().map(|(arm, _)| self.told(phi, arm)).collect::<Option<_>>()?;
        let times = |value| told.iter().filter(|other| **other == value).count();
        told.iter().copied().max_by_key(|value| (times(*value), is_false(*value)))
    }

    /// How many arms choose another value for a phi of the end than that.
    fn choices(&self, phi: InstructionValue<'ctx>) -> usize {
        let otherwise = self.otherwise(phi);
        self.runs().iter().filter(|(arm, _)| self.told(phi, *arm) != otherwise).count()
    }

    /// The numbers that lead to each arm, as first and last ones of those that follow each other.
    fn runs(&self) -> Vec<(BasicBlock<'ctx>, Vec<(u64, u64)>)> {
        let mut arms: Vec<(BasicBlock<'ctx>, Vec<(u64, u64)>)> = Vec::new();
        let number = |value: IntValue<'ctx>| value.get_zero_extended_constant().expect("a case is a number");
        let mut cases: Vec<_> = self.cases.iter().map(|(value, arm)| (number(*value), *arm)).collect();
        cases.sort_by_key(|(number, _)| *number);
        for (number, arm) in cases {
            let known = arms.iter().position(|(known, _)| *known == arm).unwrap_or_else(|| {
                arms.push((arm, Vec::new()));
                arms.len() - 1
            });
            let runs = &mut arms[known].1;
            match runs.last_mut().filter(|(_, last)| last.checked_add(1) == Some(number)) {
                Some((_, last)) => *last = number,
                None => runs.push((number, number)),
            }
        }
        arms
    }

    /// Writes whether the number leads to an arm.
    fn leads(&self, builder: &Builder<'ctx>, runs: &[(u64, u64)]) -> Result<IntValue<'ctx>, BuilderError> {
        if let Some(order) = Order::of(self.of) {
            return order
                .is_one_of(builder, |number| runs.iter().any(|(first, last)| (*first..=*last).contains(&number)));
        }
        let constant = |number: u64| self.of.get_type().const_int(number, false);
        let mut leads: Option<IntValue<'ctx>> = None;
        for (first, last) in runs {
            let one = if first == last {
                builder.build_int_compare(IntPredicate::EQ, self.of, constant(*first), "")?
            } else {
                let from = builder.build_int_sub(self.of, constant(*first), "")?;
                builder.build_int_compare(IntPredicate::ULE, from, constant(last - first), "")?
            };
            leads = Some(leads.map_or(Ok(one), |leads| builder.build_or(leads, one, ""))?);
        }
        Ok(leads.expect("an arm has a number"))
    }

    /// Whether a block only computes and goes to the end.
    fn is_arm(&self, arm: BasicBlock<'ctx>) -> bool {
        after(arm) == Some(self.end)
            && llvm::predecessors(arm) == [self.block]
            && llvm::phis(arm).next().is_none()
            && body(arm).count() <= MOST_INSTRUCTIONS
            && body(arm).all(is_cheap)
    }

    fn join(&self, context: &'ctx Context) -> Result<(), BuilderError> {
        let builder = context.create_builder();
        builder.position_before(&self.switch);
        for instruction in self.arms().into_iter().flat_map(body).collect::<Vec<_>>() {
            instruction.remove_from_basic_block();
            builder.insert_instruction(&instruction, None);
        }
        let mut arms = Vec::new();
        for (arm, runs) in self.runs() {
            arms.push((self.leads(&builder, &runs)?, arm));
        }
        let mut values = Vec::new();
        for phi in llvm::phis(self.end) {
            let Some(otherwise) = self.otherwise(phi) else { return Ok(()) };
            let mut value = otherwise;
            for (is_case, arm) in &arms {
                let Some(chosen) = self.told(phi, *arm) else { return Ok(()) };
                value = match (chosen, value) {
                    _ if chosen == otherwise => continue,
                    (BasicValueEnum::IntValue(chosen), BasicValueEnum::IntValue(others)) if is_false(otherwise) => {
                        let chosen = builder.build_select(*is_case, chosen, chosen.get_type().const_zero(), "")?;
                        builder.build_or(chosen.into_int_value(), others, "")?.into()
                    }
                    _ => builder.build_select(*is_case, chosen, value, "")?,
                };
            }
            values.push(value);
        }
        let is_straight = llvm::predecessors(self.end).contains(&self.block);
        builder.build_unconditional_branch(self.end)?;
        if is_straight {
            let mut values = values.into_iter();
            llvm::replace_predecessor(self.end, self.block, self.block, |old| values.next().unwrap_or(old));
        } else {
            let phis: Vec<_> = llvm::phis(self.end).collect();
            phis.into_iter().zip(values).for_each(|(phi, value)| llvm::add_incoming(phi, value, self.block));
        }
        self.switch.erase_from_basic_block();
        Ok(())
    }
}

/// Whether a value is a condition that never holds.
fn is_false(value: BasicValueEnum<'_>) -> bool {
    let BasicValueEnum::IntValue(value) = value else { return false };
    value.get_type().get_bit_width() == 1 && value.get_zero_extended_constant() == Some(0)
}

/// What a block does before it ends.
fn body(block: BasicBlock<'_>) -> impl Iterator<Item = InstructionValue<'_>> {
    block.get_instructions().filter(|instruction| !instruction.is_terminator())
}

/// Where a block goes that does not choose.
fn after(block: BasicBlock<'_>) -> Option<BasicBlock<'_>> {
    let end = block.get_terminator().filter(|end| end.get_opcode() == Op::Br)?;
    match llvm::block_operands(end)[..] {
        [after] => Some(after),
        _ => None,
    }
}
