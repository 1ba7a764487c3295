//! What the rounds of a loop are when all of them are written one behind the other: they are gone through, with the numbers
//! that the loop counts.
//!
//! ```text
//! loop:  %i = phi i64 [ 0, %entry ], [ %next, %join ]
//!        switch i64 (lshr i64 %i, 4), label %last [i64 0, label %first …]    ; decided, in each of 64 rounds
//! join:  %at = and i64 (phi i64 […]), 15                                    ; a number
//!        %word = load i32, ptr (getelementptr i32, ptr %block, i64 %at)     ; stays, at a place that is known
//! ```
//!
//! Where nothing is known of a condition, both ways are gone, so that there are at least as many instructions as will be left.
//! It says how large something becomes, and changes nothing.

use std::collections::HashSet;

use crate::hash::{QuickMap, QuickSet};
use crate::llvm::{
    self, BasicBlock, BasicTypeEnum, BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntPredicate, IntValue,
};

use super::natural::Loop;

/// Rounds of a loop.
const MOST_ROUNDS: u32 = 128;

/// Blocks of a loop.
const MOST_BLOCKS: usize = 128;

/// Instructions that are gone through.
const MOST_STEPS: u64 = 50_000;

/// What is known of a value in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known<'ctx> {
    /// A number; of a pointer, how many bytes it is behind another one.
    Number(Option<BasicValueEnum<'ctx>>, u64),
    /// A constant that is not looked up.
    Constant,
}

/// The rounds of a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rounds {
    /// How many there are, with the one in which the loop ends.
    pub count: u32,
    /// Instructions that are left of all of them.
    pub instructions: u64,
    /// Branches, other than for another round, that are decided.
    pub decided: u64,
    /// Places that are found by other arithmetic than what grows by the same in every round.
    pub found: u64,
}

/// A function whose loops are gone through.
pub struct Walk<'a, 'ctx> {
    loops: &'a [Loop<'ctx>],
    /// Blocks, each behind those that lead to it without jumping back.
    order: Vec<BasicBlock<'ctx>>,
    known: QuickMap<InstructionValue<'ctx>, Known<'ctx>>,
    steps: u64,
}

impl<'a, 'ctx> Walk<'a, 'ctx> {
    /// `loops` are all of the function's.
    pub fn new(function: FunctionValue<'ctx>, loops: &'a [Loop<'ctx>]) -> Self {
        Self { loops, order: order(function), known: QuickMap::default(), steps: 0 }
    }

    /// The rounds of a loop with those of the loops in it, if their number is known at least where no other condition ends
    /// them.
    pub fn of(&mut self, found: &Loop<'ctx>) -> Option<Rounds> {
        self.known.clear();
        self.steps = 0;
        if self.may_end(found) { self.rounds(found) } else { None }
    }

    fn rounds(&mut self, found: &Loop<'ctx>) -> Option<Rounds> {
        if found.blocks.len() > MOST_BLOCKS {
            return None;
        }
        let inner: Vec<&'a Loop<'ctx>> = self.inner(found);
        let blocks: Vec<_> = self.order.iter().copied().filter(|block| found.contains(*block)).collect();
        let phis: Vec<_> = llvm::phis(found.head).collect();
        let mut values: Vec<_> = phis
            .iter()
            .map(|phi| found.incoming(llvm::result(*phi)).and_then(|(first, _)| self.value(first)))
            .collect();
        let mut all = Rounds::default();
        for count in 1..=MOST_ROUNDS {
            phis.iter().zip(values).for_each(|(phi, value)| self.know(*phi, value));
            if !self.round(found, &blocks, &inner, &mut all)? {
                return Some(Rounds { count, ..all });
            }
            let next = |phi: &InstructionValue<'ctx>| {
                found.incoming(llvm::result(*phi)).and_then(|(_, next)| self.value(next))
            };
            values = phis.iter().map(next).collect();
        }
        None
    }

    /// Whether something may decide that a round is the last. In most loops it is a number that nobody knows, and to go through
    /// as many rounds as there may be would only show that.
    fn may_end(&self, found: &Loop<'ctx>) -> bool {
        let decided = self.may_be_decided(found);
        let inner = self.inner(found);
        let (mut pending, mut seen) = (vec![found.head], QuickSet::default());
        // The blocks that are reached in every round.
        while let Some(block) = pending.pop() {
            if !found.contains(block) || !seen.insert(block) {
                continue;
            }
            let inner = inner.iter().find(|inner| inner.head == block);
            let targets: Vec<_> = match inner {
                Some(inner) => {
                    let ends = inner.blocks.iter().filter_map(|from| from.get_terminator());
                    ends.flat_map(llvm::block_operands).filter(|to| !inner.contains(*to)).collect()
                }
                None if decided.contains(&block) => Vec::new(),
                None => block.get_terminator().map(llvm::block_operands).unwrap_or_default(),
            };
            if targets.contains(&found.head) {
                return false;
            }
            pending.extend(targets);
        }
        true
    }

    /// The blocks of a loop whose condition is known in some round, and maybe others.
    fn may_be_decided(&self, found: &Loop<'ctx>) -> QuickSet<BasicBlock<'ctx>> {
        let blocks: Vec<_> = self.order.iter().copied().filter(|block| found.contains(*block)).collect();
        let mut known = QuickSet::default();
        loop {
            let before = known.len();
            for instruction in blocks.iter().flat_map(|block| block.get_instructions()) {
                if !instruction.is_terminator() && !known.contains(&instruction) && self.may_know(instruction, &known) {
                    known.insert(instruction);
                }
            }
            if known.len() == before {
                break;
            }
        }
        let is_decided = |block: &BasicBlock<'ctx>| {
            let end = block.get_terminator();
            let condition = end.filter(|end| llvm::block_operands(*end).len() > 1).and_then(|end| end.get_operand(0));
            condition.and_then(|condition| condition.value()).is_some_and(|value| self.may_be(value, &known))
        };
        blocks.into_iter().filter(is_decided).collect()
    }

    /// Whether [`Self::compute`] or [`Self::told`] may know an instruction's value, if these are all that it may know.
    fn may_know(&self, instruction: InstructionValue<'ctx>, known: &QuickSet<InstructionValue<'ctx>>) -> bool {
        let is_known = |value| self.may_be(value, known);
        let mut operands = llvm::value_operands(instruction).map(|(_, operand)| operand);
        match instruction.get_opcode() {
            Op::Phi => llvm::incoming(instruction).into_iter().any(|(value, _)| is_known(value)),
            Op::Select => operands.next().is_some_and(is_known) && operands.any(is_known),
            Op::GetElementPtr | Op::Load => operands.all(is_known),
            _ => llvm::is_pure(instruction) && operands.all(is_known),
        }
    }

    /// The same of any value.
    fn may_be(&self, value: BasicValueEnum<'ctx>, known: &QuickSet<InstructionValue<'ctx>>) -> bool {
        llvm::instruction_of(value).is_some_and(|from| known.contains(&from)) || self.value(value).is_some()
    }

    /// The loops in a loop that are in no other loop of it.
    fn inner(&self, found: &Loop<'ctx>) -> Vec<&'a Loop<'ctx>> {
        let within: Vec<_> =
            self.loops.iter().filter(|other| other.head != found.head && found.contains(other.head)).collect();
        let is_direct = |inner: &&&'a Loop<'ctx>| {
            within.iter().all(|other| other.head == inner.head || !other.contains(inner.head))
        };
        within.iter().filter(is_direct).copied().collect()
    }

    /// Goes through one round, and says whether there may be another.
    fn round(
        &mut self,
        found: &Loop<'ctx>,
        blocks: &[BasicBlock<'ctx>],
        inner: &[&'a Loop<'ctx>],
        all: &mut Rounds,
    ) -> Option<bool> {
        let mut jumps: QuickSet<(BasicBlock<'ctx>, BasicBlock<'ctx>)> = QuickSet::default();
        let mut again = false;
        for block in blocks {
            let is_reached = *block == found.head || jumps.iter().any(|(_, to)| to == block);
            if !is_reached || inner.iter().any(|inner| inner.head != *block && inner.contains(*block)) {
                continue;
            }
            if let Some(inner) = inner.iter().find(|inner| inner.head == *block) {
                let rounds = self.rounds(inner)?;
                all.instructions += rounds.instructions;
                all.decided += rounds.decided;
                all.found += rounds.found;
                for from in &inner.blocks {
                    let to = from.get_terminator().map(llvm::block_operands).unwrap_or_default();
                    jumps.extend(to.into_iter().filter(|to| !inner.contains(*to)).map(|to| (*from, to)));
                }
                continue;
            }
            for instruction in block.get_instructions().filter(|instruction| !instruction.is_terminator()) {
                self.steps += 1;
                if self.steps > MOST_STEPS {
                    return None;
                }
                if instruction.get_opcode() == Op::Phi {
                    if *block != found.head {
                        let value = self.told(instruction, &jumps);
                        self.know(instruction, value);
                    }
                    continue;
                }
                all.found += u64::from(self.finds(instruction));
                let value = self.compute(instruction);
                if value.is_none() {
                    all.instructions += cost(instruction);
                }
                self.know(instruction, value);
            }
            let end = block.get_terminator()?;
            let (targets, is_decided) = self.targets(end);
            let stays = |to: &BasicBlock<'ctx>| *to != found.head && found.contains(*to);
            if is_decided {
                all.decided += u64::from(llvm::block_operands(end).iter().all(stays));
            } else if targets.len() > 1 {
                all.instructions += targets.len() as u64 - 1;
            }
            again |= targets.contains(&found.head);
            jumps.extend(targets.into_iter().map(|to| (*block, to)));
        }
        Some(again || jumps.iter().any(|(_, to)| *to == found.head))
    }

    fn know(&mut self, instruction: InstructionValue<'ctx>, value: Option<Known<'ctx>>) {
        match value {
            Some(value) => self.known.insert(instruction, value),
            None => self.known.remove(&instruction),
        };
    }

    fn value(&self, value: BasicValueEnum<'ctx>) -> Option<Known<'ctx>> {
        match value {
            BasicValueEnum::IntValue(number) if number.get_type().get_bit_width() <= 64 => {
                let constant = number.get_zero_extended_constant().map(|number| Known::Number(None, number));
                constant.or_else(|| self.known.get(&number.as_instruction_value()?).copied())
            }
            BasicValueEnum::PointerValue(pointer) => {
                if let Some(from) = pointer.as_instruction_value() {
                    let is_fixed = || {
                        let block = from.get_parent();
                        self.loops.iter().all(|found| block.is_none_or(|block| !found.contains(block)))
                    };
                    let known = self.known.get(&from).copied();
                    return known.or_else(|| is_fixed().then_some(Known::Number(Some(value), 0)));
                }
                let (base, offset) = llvm::constant_place(pointer);
                Some(Known::Number(Some(base.into()), offset))
            }
            BasicValueEnum::FloatValue(number) => {
                let known = || self.known.get(&number.as_instruction_value()?).copied();
                if number.is_const() { Some(Known::Constant) } else { known() }
            }
            _ => None,
        }
    }

    /// What a phi is behind these jumps.
    fn told(
        &self,
        phi: InstructionValue<'ctx>,
        jumps: &QuickSet<(BasicBlock<'ctx>, BasicBlock<'ctx>)>,
    ) -> Option<Known<'ctx>> {
        let block = phi.get_parent()?;
        let incoming = llvm::incoming(phi);
        let mut told = incoming.iter().filter(|(_, from)| jumps.contains(&(*from, block)));
        let first = self.value(told.next()?.0)?;
        told.all(|(value, _)| self.value(*value) == Some(first)).then_some(first)
    }

    /// Where a block goes, and whether a condition that is known has decided it.
    fn targets(&self, end: InstructionValue<'ctx>) -> (Vec<BasicBlock<'ctx>>, bool) {
        let number = || match self.value(end.get_operand(0)?.value()?)? {
            Known::Number(None, number) => Some(number),
            _ => None,
        };
        if let Some((then, other)) = llvm::branch_targets(end)
            && let Some(number) = number()
        {
            return (vec![if number & 1 == 1 { then } else { other }], true);
        }
        if let Some((rest, cases)) = llvm::switch_targets(end)
            && let Some(number) = number()
        {
            let case = cases.iter().find(|(case, _)| case.get_zero_extended_constant() == Some(number));
            return (vec![case.map_or(rest, |(_, to)| *to)], true);
        }
        (llvm::block_operands(end), false)
    }

    /// Whether an address has an index that is known, but is not what a loop counts.
    fn finds(&self, gep: InstructionValue<'ctx>) -> bool {
        gep.get_opcode() == Op::GetElementPtr
            && (1..gep.get_num_operands()).filter_map(|at| llvm::int_operand(gep, at)).any(|index| {
                let mut index = index.as_instruction_value();
                while let Some(from) = index.filter(|from| matches!(from.get_opcode(), Op::ZExt | Op::SExt | Op::Shl)) {
                    index = llvm::int_operand(from, 0).and_then(|value| value.as_instruction_value());
                }
                let is_found = |from: &InstructionValue<'ctx>| {
                    matches!(from.get_opcode(), Op::And | Op::Xor | Op::LShr | Op::URem | Op::UDiv | Op::Load)
                };
                index.is_some_and(|from| is_found(&from) && self.known.contains_key(&from))
            })
    }

    fn compute(&self, instruction: InstructionValue<'ctx>) -> Option<Known<'ctx>> {
        let opcode = instruction.get_opcode();
        if opcode == Op::GetElementPtr {
            return self.place(instruction);
        }
        if opcode == Op::Load {
            let BasicValueEnum::PointerValue(from) = instruction.get_operand(0)?.value()? else { return None };
            let Some(Known::Number(Some(BasicValueEnum::PointerValue(base)), _)) = self.value(from.into()) else {
                return None;
            };
            return llvm::global_of(base).filter(|table| table.is_constant()).map(|_| Known::Constant);
        }
        if !llvm::is_pure(instruction) {
            return None;
        }
        let operands: Vec<_> = llvm::value_operands(instruction).map(|(_, operand)| self.value(operand)).collect();
        if opcode == Op::Select
            && let [Some(Known::Number(None, condition)), then, other] = operands[..]
        {
            return if condition & 1 == 1 { then } else { other };
        }
        let operands = operands.into_iter().collect::<Option<Vec<_>>>()?;
        let numbers: Option<Vec<u64>> = operands
            .iter()
            .map(|known| match known {
                Known::Number(None, number) => Some(*number),
                _ => None,
            })
            .collect();
        if let (Op::ICmp, [Known::Number(Some(one), a), Known::Number(Some(other), b)]) = (opcode, &operands[..]) {
            let holds = holds(instruction.get_icmp_predicate()?, *a, *b, 64);
            return (one == other).then_some(Known::Number(None, u64::from(holds)));
        }
        // What is at a place is another number than the place's.
        let is_number = operands.iter().all(|known| !matches!(known, Known::Number(Some(_), _)));
        match numbers {
            Some(numbers) => Some(number(instruction, &numbers).map_or(Known::Constant, |n| Known::Number(None, n))),
            None => is_number.then_some(Known::Constant),
        }
    }

    fn place(&self, gep: InstructionValue<'ctx>) -> Option<Known<'ctx>> {
        let (base, size, index) = match llvm::element_of(gep) {
            Some((base, size, index)) => (base, size, self.value(index.into())?),
            None => return None,
        };
        match (self.value(base.into())?, index) {
            (Known::Number(Some(base), offset), Known::Number(None, index)) => {
                Some(Known::Number(Some(base), offset.wrapping_add(index.wrapping_mul(size))))
            }
            _ => None,
        }
    }
}

/// Blocks, each behind those that lead to it without jumping back.
fn order(function: FunctionValue<'_>) -> Vec<BasicBlock<'_>> {
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    let mut pending: Vec<_> = function.get_first_basic_block().into_iter().map(|block| (block, false)).collect();
    while let Some((block, is_done)) = pending.pop() {
        if is_done {
            order.push(block);
        } else if seen.insert(block) {
            pending.push((block, true));
            let targets = block.get_terminator().map(llvm::block_operands).unwrap_or_default();
            pending.extend(targets.into_iter().filter(|to| !seen.contains(to)).map(|to| (to, false)));
        }
    }
    order.reverse();
    order
}

/// How many of the machine's instructions one is, more or less.
fn cost(instruction: InstructionValue<'_>) -> u64 {
    let bits = match BasicTypeEnum::try_from(instruction.get_type()) {
        Ok(BasicTypeEnum::IntType(ty)) => u64::from(ty.get_bit_width()),
        _ => 32,
    };
    match instruction.get_opcode() {
        Op::GetElementPtr | Op::Load | Op::Store => 1,
        Op::FDiv | Op::FRem => 10,
        Op::UDiv | Op::SDiv | Op::URem | Op::SRem => 20,
        Op::Call => match llvm::called_function(instruction) {
            Some(callee) => {
                let name = callee.get_name().to_string_lossy();
                let is_said = ["llvm.assume", "llvm.lifetime", "llvm.experimental.noalias", "llvm.dbg"];
                u64::from(!is_said.iter().any(|said| name.starts_with(said)))
                    * if llvm::is_pure(instruction) { 2 } else { 10 }
            }
            None => 4,
        },
        _ => bits.div_ceil(32),
    }
}

/// What an instruction computes from these numbers.
fn number(instruction: InstructionValue<'_>, numbers: &[u64]) -> Option<u64> {
    let bits = |value: Option<IntValue<'_>>| value.map(|value| value.get_type().get_bit_width());
    let of = bits(llvm::int_operand(instruction, 0))?;
    let result = match BasicTypeEnum::try_from(instruction.get_type()) {
        Ok(BasicTypeEnum::IntType(ty)) if ty.get_bit_width() <= 64 => ty.get_bit_width(),
        _ => return None,
    };
    if of > 64 {
        return None;
    }
    let is_shift = matches!(instruction.get_opcode(), Op::Shl | Op::LShr | Op::AShr);
    if is_shift && numbers.get(1).is_none_or(|by| *by >= u64::from(of)) {
        return None;
    }
    let value = match (instruction.get_opcode(), numbers) {
        (Op::Add, [a, b]) => a.wrapping_add(*b),
        (Op::Sub, [a, b]) => a.wrapping_sub(*b),
        (Op::Mul, [a, b]) => a.wrapping_mul(*b),
        (Op::And, [a, b]) => a & b,
        (Op::Or, [a, b]) => a | b,
        (Op::Xor, [a, b]) => a ^ b,
        (Op::Shl, [a, b]) => a << b,
        (Op::LShr, [a, b]) => a >> b,
        (Op::AShr, [a, b]) => (signed(*a, of) >> b).cast_unsigned(),
        (Op::ZExt | Op::Trunc, [a]) => *a,
        (Op::SExt, [a]) => signed(*a, of).cast_unsigned(),
        (Op::ICmp, [a, b]) => u64::from(holds(instruction.get_icmp_predicate()?, *a, *b, of)),
        _ => return None,
    };
    Some(value & mask(result))
}

fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

fn signed(value: u64, bits: u32) -> i64 {
    (value << (64 - bits)).cast_signed() >> (64 - bits)
}

fn holds(predicate: IntPredicate, a: u64, b: u64, bits: u32) -> bool {
    let (x, y) = (signed(a, bits), signed(b, bits));
    match predicate {
        IntPredicate::EQ => a == b,
        IntPredicate::NE => a != b,
        IntPredicate::UGT => a > b,
        IntPredicate::UGE => a >= b,
        IntPredicate::ULT => a < b,
        IntPredicate::ULE => a <= b,
        IntPredicate::SGT => x > y,
        IntPredicate::SGE => x >= y,
        IntPredicate::SLT => x < y,
        IntPredicate::SLE => x <= y,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{Context, parse_ir};
    use crate::loops::Graph;

    /// What the rounds of the first loop of a function are.
    fn rounds(text: &str) -> Option<Rounds> {
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        let loops = Graph::of(function).loops();
        Walk::new(function, &loops).of(&loops[0])
    }

    #[test]
    fn a_branch_by_the_round_is_decided() {
        let text = "define i32 @f(ptr %p, i32 %x) {
            entry: br label %loop
            loop: %i = phi i32 [ 0, %entry ], [ %next, %join ]
              %s = phi i32 [ %x, %entry ], [ %t, %join ]
              %part = lshr i32 %i, 1
              switch i32 %part, label %b [ i32 0, label %a ]
            a: %m = mul i32 %s, %s
              br label %join
            b: %n = xor i32 %s, %i
              br label %join
            join: %o = phi i32 [ %m, %a ], [ %n, %b ]
              %k = and i32 %i, 1
              %at = getelementptr i32, ptr %p, i32 %k
              %w = load i32, ptr %at
              %t = add i32 %o, %w
              %next = add i32 %i, 1
              %more = icmp ult i32 %next, 4
              br i1 %more, label %loop, label %end
            end: ret i32 %t
        }";
        // Four rounds of three instructions.
        assert_eq!(rounds(text), Some(Rounds { count: 4, instructions: 12, decided: 4, found: 4 }));
        // The rounds are a parameter's; or end by what is loaded, but after four at the latest.
        assert_eq!(rounds(&text.replace("%next, 4", "%next, %x")), None);
        let other = text
            .replace("br i1 %more", "%z = icmp ne i32 %w, 0\n br i1 %z, label %on, label %end\n on: br i1 %more")
            .replace("[ %next, %join ]", "[ %next, %on ]")
            .replace("[ %t, %join ]", "[ %t, %on ]");
        assert_eq!(rounds(&other), Some(Rounds { count: 4, instructions: 20, decided: 4, found: 4 }));
    }

    #[test]
    fn rounds_of_inner_loops_are_those_of_each_round() {
        // 0 + 1 + 2 + 3 rounds of two instructions.
        let text = "define i32 @f(ptr %p) {
            entry: br label %outer
            outer: %i = phi i64 [ 0, %entry ], [ %more, %latch ]
              %any = icmp ugt i64 %i, 0
              br i1 %any, label %inner, label %latch
            inner: %j = phi i64 [ 0, %outer ], [ %next, %inner ]
              %at = getelementptr i32, ptr %p, i64 %j
              %w = load i32, ptr %at
              store i32 %w, ptr %p
              %next = add i64 %j, 1
              %again = icmp ult i64 %next, %i
              br i1 %again, label %inner, label %latch
            latch: %more = add i64 %i, 1
              %last = icmp eq i64 %more, 4
              br i1 %last, label %end, label %outer
            end: ret i32 0
        }";
        assert_eq!(rounds(text), Some(Rounds { count: 4, instructions: 12, decided: 4, found: 0 }));
    }

    #[test]
    fn a_pointer_goes_to_the_end_of_a_table() {
        let text = "@table = constant [4 x i32] [i32 1, i32 2, i32 3, i32 5]
        define i32 @f(i32 %x) {
            entry: br label %loop
            loop: %p = phi ptr [ @table, %entry ], [ %q, %loop ]
              %s = phi i32 [ %x, %entry ], [ %t, %loop ]
              %w = load i32, ptr %p
              %t = mul i32 %s, %w
              %q = getelementptr i8, ptr %p, i64 4
              %end.reached = icmp eq ptr %q, getelementptr (i8, ptr @table, i64 16)
              br i1 %end.reached, label %end, label %loop
            end: ret i32 %t
        }";
        assert_eq!(rounds(text), Some(Rounds { count: 4, instructions: 4, decided: 0, found: 0 }));
    }
}
