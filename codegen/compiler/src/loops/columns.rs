//! Computes again the addresses that a local array holds, where each is as far behind the one before.
//!
//! ```text
//! before: fill:  %k = phi i64 [ 0, %before ], [ %after, %fill ]
//!                %value = getelementptr float, ptr %first, i64 (shl i64 %k, %n)
//!                store ptr %value, ptr (getelementptr ptr, ptr %column, i64 %k)
//!                br i1 (icmp eq i64 %after, 64), label %moved, label %fill
//!         moved: call void @llvm.memcpy(ptr %moved, ptr %column, i64 512)           ; an `Option` or an iterator has them
//!         loop:  %to = load ptr, ptr (getelementptr ptr, ptr %moved, i64 %z)
//! after:  loop:  %to = getelementptr float, ptr %first, i64 (shl i64 %z, %n)
//! ```
//!
//! `DisjointStrided::get_mut` gives a thread a column of a volume as an array of references. The thread that walks down 64
//! layers kept 64 addresses, and moved them from one variable to the next; or its loop was unrolled 64 times so that they
//! became registers, with four checks and a branch in each round: none of them waits for fewer loads than all the others do.
//! With the addresses computed, the arrays go, and a loop is left that [`super::split`] frees of its checks.
//!
//! Arrays of up to 32 elements are filled by straight code at this point, and stay: their loops become straight code too.
//!
//! **Why it is right.** Nothing else is ever written to the array where a round may look: each store, and each copy from
//! another such array, puts at a place what is computed for that place. What was never written there is undefined, and may be
//! that address as well. What the addresses are computed of is computed once, in no loop, so that it is the same where the
//! array was filled and where it is read. An index that may be anywhere is trusted only where nothing else is in the variable.

use std::ops::Range;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::hash::{QuickMap, QuickSet};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue,
    InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue, Module, PointerValue, TargetMachine, Use,
};
use crate::settled;

use super::branches::Branch;
use super::natural::{Graph, Growth, Loop};

/// Bytes of an address.
const ADDRESS: u64 = 8;

/// Bytes of the smallest array that is looked at.
const LEAST_BYTES: u64 = 17 * ADDRESS;

/// Uses of a local variable that are looked at.
const MOST_USES: usize = 256;

/// Columns of one function.
const MOST_COLUMNS: usize = 4;

/// Removes the copies of arrays that nobody reads, and addresses in them; what fills the first goes in LLVM's next run.
const CLEAN: &str = "adce,dse";

/// Does so for all arrays.
pub fn recompute<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine) -> Result<()> {
    for function in settled::open_and_fast(module).filter(|function| function.count_basic_blocks() > 1) {
        for _ in 0..MOST_COLUMNS {
            let is_changed = recompute_in(context, function).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot compute a local array's addresses: {error}"))
            })?;
            if !is_changed {
                break;
            }
            llvm::run_passes_on_function(function, machine, CLEAN).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("LLVM's passes `{CLEAN}` failed: {error}"))
            })?;
        }
    }
    Ok(())
}

/// The same in a function; returns whether there were any.
fn recompute_in<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<bool, BuilderError> {
    let is_array = |from: &InstructionValue<'ctx>| {
        from.get_opcode() == Op::Alloca && llvm::allocated_bytes(*from).is_some_and(|bytes| bytes >= LEAST_BYTES)
    };
    let variables: Vec<_> = llvm::instructions(function).filter(is_array).filter_map(Variable::of).collect();
    if variables.is_empty() {
        return Ok(false);
    }
    let graph = Graph::of(function);
    let loops = graph.loops();
    let Some(known) = Columns::of(&variables) else { return Ok(false) };
    let mut is_changed = false;
    let builder = context.create_builder();
    for variable in &variables {
        let Some(held) = known.held.get(&variable.alloca) else { continue };
        for (load, place) in &variable.loads {
            if llvm::result(*load).get_type() == known.column.first.get_type().into()
                && known.column.is_known_at(&graph, *load)
                && let Some(element) = held.element(&loops, *place, context.i64_type())
            {
                builder.position_before(load);
                let address = known.column.address(&builder, element)?;
                llvm::replace_uses(*load, address.into());
                load.erase_from_basic_block();
                is_changed = true;
            }
        }
    }
    Ok(is_changed)
}

/// Where in a local variable something is: so many bytes behind its begin, and an element of so many bytes further.
#[derive(Clone, Copy)]
struct Place<'ctx> {
    bytes: u64,
    index: Option<(u64, IntValue<'ctx>)>,
}

/// What is written to a local variable.
enum Write<'ctx> {
    Value(Place<'ctx>, BasicValueEnum<'ctx>),
    /// So many bytes from a place in another one.
    Copy {
        to: u64,
        from: Option<(InstructionValue<'ctx>, u64)>,
        bytes: u64,
    },
}

/// A local variable, all that writes to it, and the addresses that are loaded from it.
struct Variable<'ctx> {
    alloca: InstructionValue<'ctx>,
    writes: Vec<Write<'ctx>>,
    loads: Vec<(InstructionValue<'ctx>, Place<'ctx>)>,
}

impl<'ctx> Variable<'ctx> {
    /// One whose address goes nowhere else.
    fn of(alloca: InstructionValue<'ctx>) -> Option<Self> {
        let mut variable = Self { alloca, writes: Vec::new(), loads: Vec::new() };
        let mut pending = vec![(alloca, Place { bytes: 0, index: None })];
        let mut count = 0;
        while let Some((address, place)) = pending.pop() {
            for user in llvm::uses(&llvm::result(address)) {
                let Use::Instruction(user) = user else { return None };
                count += 1;
                match user.get_opcode() {
                    _ if count > MOST_USES => return None,
                    Op::GetElementPtr => pending.push((user, place.behind(user)?)),
                    Op::Load => {
                        if matches!(llvm::result(user), BasicValueEnum::PointerValue(_)) && llvm::is_plain_load(user) {
                            variable.loads.push((user, place));
                        }
                    }
                    Op::Store => {
                        let value = llvm::operand(user, 0)?;
                        if value == llvm::result(address) {
                            return None;
                        }
                        variable.writes.push(Write::Value(place, value));
                    }
                    Op::Call if llvm::calls(user, &["llvm.lifetime."]) => {}
                    Op::Call => variable.copy(user, address, place)?,
                    _ => return None,
                }
            }
        }
        Some(variable)
    }

    /// Notes a copy from it or to it.
    fn copy(
        &mut self,
        call: InstructionValue<'ctx>,
        address: InstructionValue<'ctx>,
        place: Place<'ctx>,
    ) -> Option<()> {
        let is_copy = llvm::calls(call, &["llvm.memcpy.p0.p0."]);
        let bytes = llvm::int_operand(call, 2).and_then(|bytes| bytes.get_zero_extended_constant());
        if !is_copy || place.index.is_some() {
            return None;
        }
        if llvm::operand(call, 0)? == llvm::result(address) {
            let from = llvm::operand(call, 1).and_then(constant_place).filter(|(from, _)| *from != self.alloca);
            self.writes.push(Write::Copy { to: place.bytes, from, bytes: bytes? });
        }
        Some(())
    }
}

impl<'ctx> Place<'ctx> {
    /// What a `getelementptr` of the place leads to.
    fn behind(self, gep: InstructionValue<'ctx>) -> Option<Self> {
        let (_, size, index) = llvm::element_of(gep)?;
        match (index.get_sign_extended_constant(), self.index) {
            (Some(index), _) => {
                let bytes = size.wrapping_mul(index.cast_unsigned());
                Some(Self { bytes: self.bytes.wrapping_add(bytes), ..self })
            }
            (None, None) if index.get_type().get_bit_width() == 64 => Some(Self { index: Some((size, index)), ..self }),
            _ => None,
        }
    }
}

/// Whether what a block leads to leads back to it.
fn comes_again<'ctx>(block: BasicBlock<'ctx>) -> bool {
    let after = |block: BasicBlock<'ctx>| block.get_terminator().map(llvm::block_operands).unwrap_or_default();
    let mut seen = QuickSet::default();
    let mut pending = after(block);
    while let Some(next) = pending.pop() {
        if seen.insert(next) {
            pending.extend(after(next));
        }
    }
    seen.contains(&block)
}

/// The local variable that an address is in, and how many bytes it is behind its begin.
fn constant_place<'ctx>(address: BasicValueEnum<'ctx>) -> Option<(InstructionValue<'ctx>, u64)> {
    let from = llvm::instruction_of(address)?;
    if from.get_opcode() == Op::Alloca {
        return Some((from, 0));
    }
    let (base, size, index) = llvm::element_of(from)?;
    let bytes = size.wrapping_mul(index.get_sign_extended_constant()?.cast_unsigned());
    let (alloca, before) = constant_place(base.into())?;
    Some((alloca, before.wrapping_add(bytes)))
}

/// How far an address is from the first one, by its number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Distance<'ctx> {
    Number,
    Shifted(IntValue<'ctx>),
    Times(IntValue<'ctx>),
}

/// Addresses by their number.
#[derive(Clone, Copy)]
struct Column<'ctx> {
    first: PointerValue<'ctx>,
    /// Bytes of what the distance counts.
    size: u64,
    distance: Distance<'ctx>,
    /// One of the instructions that compute them.
    gep: InstructionValue<'ctx>,
}

impl<'ctx> Column<'ctx> {
    /// That of which a value is the address with a number.
    fn of(value: BasicValueEnum<'ctx>, number: IntValue<'ctx>) -> Option<Self> {
        let gep = llvm::instruction_of(value)?;
        let (first, size, index) = llvm::element_of(gep)?;
        let other = |from: InstructionValue<'ctx>| Some((llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?));
        let distance = if index == number {
            Distance::Number
        } else {
            let from = index.as_instruction_value()?;
            match (from.get_opcode(), other(from)?) {
                (Op::Shl, (left, by)) if left == number => Distance::Shifted(by),
                (Op::Mul, (left, by)) | (Op::Mul, (by, left)) if left == number => Distance::Times(by),
                _ => return None,
            }
        };
        Some(Self { first, size, distance, gep })
    }

    fn is(&self, other: &Self) -> bool {
        (self.first, self.size, self.distance) == (other.first, other.size, other.distance)
    }

    /// What it is computed of.
    fn parts(&self) -> impl Iterator<Item = InstructionValue<'ctx>> {
        let by = match self.distance {
            Distance::Number => None,
            Distance::Shifted(by) | Distance::Times(by) => by.as_instruction_value(),
        };
        self.first.as_instruction_value().into_iter().chain(by)
    }

    /// Whether it is computed once.
    fn is_one(&self) -> bool {
        !self.parts().filter_map(|part| part.get_parent()).any(comes_again)
    }

    /// Whether all that it is computed of is known at an instruction.
    fn is_known_at(&self, graph: &Graph<'ctx>, at: InstructionValue<'ctx>) -> bool {
        let Some(block) = at.get_parent() else { return false };
        self.parts()
            .filter_map(|part| part.get_parent())
            .all(|above| above != block && graph.is_reached_by_way_of(block, above))
    }

    /// Writes the address with a number.
    fn address(&self, builder: &Builder<'ctx>, element: Element<'ctx>) -> Result<PointerValue<'ctx>, BuilderError> {
        let number = element.write(builder)?;
        let index = match self.distance {
            Distance::Number => number,
            Distance::Shifted(by) => builder.build_left_shift(number, by, "")?,
            Distance::Times(by) => builder.build_int_mul(number, by, "")?,
        };
        Ok(llvm::build_other_element(builder, self.gep, self.first, index))
    }
}

/// An element of the array: so many behind what an index of elements, or of bytes, says.
struct Element<'ctx> {
    index: Option<IntValue<'ctx>>,
    counts_bytes: bool,
    more: u64,
    word: llvm::IntType<'ctx>,
}

impl<'ctx> Element<'ctx> {
    fn write(&self, builder: &Builder<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        let number = |number| self.word.const_int(number, false);
        let Some(index) = self.index else { return Ok(number(self.more)) };
        let index = if self.counts_bytes {
            builder.build_right_shift(index, number(ADDRESS.trailing_zeros().into()), false, "")?
        } else {
            index
        };
        if self.more == 0 { Ok(index) } else { builder.build_int_add(index, number(self.more), "") }
    }
}

/// What a local variable holds.
struct Held {
    /// Where the first address would be, in bytes, which may be before the variable.
    first: u64,
    /// Bytes where something else may be.
    others: Vec<Range<u64>>,
}

impl Held {
    fn has_others(&self, bytes: &Range<u64>) -> bool {
        self.others.iter().any(|other| other.start < bytes.end && bytes.start < other.end)
    }

    /// Which address is at a place, if it is one in all rounds.
    fn element<'ctx>(
        &self,
        loops: &[Loop<'ctx>],
        place: Place<'ctx>,
        word: llvm::IntType<'ctx>,
    ) -> Option<Element<'ctx>> {
        let bytes = place.bytes.wrapping_sub(self.first).cast_signed();
        let more = (bytes % ADDRESS.cast_signed() == 0).then_some((bytes / ADDRESS.cast_signed()).cast_unsigned())?;
        let Some((size, index)) = place.index else {
            let is_one = !self.has_others(&(place.bytes..place.bytes.checked_add(ADDRESS)?));
            return is_one.then_some(Element { index: None, counts_bytes: false, more, word });
        };
        let counts_bytes = size == 1;
        if size != ADDRESS && !counts_bytes {
            return None;
        }
        if counts_bytes || !self.others.is_empty() {
            let rounds = Counted::of(loops, index)?;
            let all = rounds.first.checked_mul(size)?..rounds.last.checked_mul(size)?.checked_add(ADDRESS)?;
            let all = all.start.checked_add(place.bytes)?..all.end.checked_add(place.bytes)?;
            if self.has_others(&all) || counts_bytes && (rounds.first | rounds.step) % ADDRESS != 0 {
                return None;
            }
        }
        Some(Element { index: Some(index), counts_bytes, more, word })
    }
}

/// What a number is in the rounds of a loop, if these are constants.
struct Counted {
    first: u64,
    step: u64,
    last: u64,
}

impl Counted {
    /// Of the counter of a loop, which is at first a constant and grows by one until it meets another.
    fn of<'ctx>(loops: &[Loop<'ctx>], counter: IntValue<'ctx>) -> Option<Self> {
        let block = counter.as_instruction_value()?.get_parent()?;
        let found = loops.iter().find(|found| found.head == block)?;
        let (first, step, _) = grows(found, counter)?;
        let [latch] = found.latches[..] else { return None };
        let branch = Branch::of(latch)?;
        let until = match branch.predicate {
            IntPredicate::EQ if branch.other == found.head && !found.contains(branch.then) => branch.right,
            IntPredicate::NE if branch.then == found.head && !found.contains(branch.other) => branch.right,
            _ => return None,
        };
        let phi = llvm::int_operand(branch.left.as_instruction_value()?, 0)?;
        let (from, by, next) = grows(found, phi)?;
        let way = until.get_zero_extended_constant()?.checked_sub(from)?;
        if next != branch.left || way == 0 || way % by != 0 {
            return None;
        }
        Some(Self { first, step, last: first.checked_add(step.checked_mul(way / by - 1)?)? })
    }
}

/// What a number begins with in a loop, by how much it grows, and what it is next.
fn grows<'ctx>(found: &Loop<'ctx>, phi: IntValue<'ctx>) -> Option<(u64, u64, IntValue<'ctx>)> {
    let Growth { first, next, step } = found.growth(phi)?;
    let step = step.get_sign_extended_constant().filter(|step| *step > 0)?;
    Some((first.get_zero_extended_constant()?, step.cast_unsigned(), next))
}

/// A column, and the local variables that hold it.
struct Columns<'ctx> {
    column: Column<'ctx>,
    held: QuickMap<InstructionValue<'ctx>, Held>,
}

impl<'ctx> Columns<'ctx> {
    fn of(variables: &[Variable<'ctx>]) -> Option<Self> {
        let (column, filled, first) = variables.iter().find_map(|variable| {
            let mut filled = variable.writes.iter().filter_map(filled);
            filled.find(|(column, _)| column.is_one()).map(|(column, first)| (column, variable, first))
        })?;
        let mut columns = Self { column, held: QuickMap::default() };
        let held = columns.all_of(filled, first)?;
        columns.held.insert(filled.alloca, held);
        // In whatever order they stand, one more is known each time.
        while let Some((alloca, held)) = variables.iter().find_map(|variable| columns.next(variable)) {
            columns.held.insert(alloca, held);
        }
        Some(columns)
    }

    /// What a variable holds, if something of it comes from one that is known.
    fn next(&self, variable: &Variable<'ctx>) -> Option<(InstructionValue<'ctx>, Held)> {
        if self.held.contains_key(&variable.alloca) {
            return None;
        }
        let first = variable.writes.iter().find_map(|write| match write {
            Write::Copy { to, from: Some((from, at)), .. } => {
                Some(self.held.get(from)?.first.wrapping_add(*to).wrapping_sub(*at))
            }
            _ => None,
        })?;
        Some((variable.alloca, self.all_of(variable, first)?))
    }

    /// What a variable holds where the first address is at a place; none if something else may be anywhere.
    fn all_of(&self, variable: &Variable<'ctx>, first: u64) -> Option<Held> {
        let mut others = Vec::new();
        for write in &variable.writes {
            match write {
                Write::Value(Place { bytes, index: None }, value) => {
                    if !self.is_address(*value, bytes.wrapping_sub(first)) {
                        let end = bytes.checked_add(llvm::type_align(value.get_type()).0)?;
                        others.push(*bytes..end);
                    }
                }
                Write::Value(..) => {
                    filled(write).filter(|(column, at)| *at == first && self.column.is(column))?;
                }
                Write::Copy { to, from, bytes } => {
                    let all = *to..to.checked_add(*bytes)?;
                    let known = from.and_then(|(from, at)| Some((self.held.get(&from)?, at)));
                    match known.filter(|(held, at)| held.first.wrapping_add(*to).wrapping_sub(*at) == first) {
                        Some((held, at)) => others.extend(held.others.iter().filter_map(|other| {
                            let (start, end) = (other.start.max(at), other.end.min(at.checked_add(*bytes)?));
                            (start < end).then(|| start - at + to..end - at + to)
                        })),
                        None => others.push(all),
                    }
                }
            }
        }
        Some(Held { first, others })
    }

    /// Whether a value is the address so many bytes behind the first in an array: one that was loaded of it.
    fn is_address(&self, value: BasicValueEnum<'ctx>, bytes: u64) -> bool {
        let load = llvm::instruction_of(value).filter(|from| llvm::is_plain_load(*from));
        let is_pointer = matches!(value, BasicValueEnum::PointerValue(_));
        let place = load.and_then(|load| llvm::operand(load, 0)).and_then(constant_place);
        is_pointer
            && place.is_some_and(|(alloca, at)| {
                self.held.get(&alloca).is_some_and(|held| {
                    let end = at.checked_add(ADDRESS);
                    at.wrapping_sub(held.first) == bytes && end.is_some_and(|end| !held.has_others(&(at..end)))
                })
            })
    }
}

/// The column that a store in a loop fills an array with, and where the first one is.
fn filled<'ctx>(write: &Write<'ctx>) -> Option<(Column<'ctx>, u64)> {
    match write {
        Write::Value(Place { bytes, index: Some((ADDRESS, number)) }, value) => {
            Column::of(*value, *number).map(|column| (column, *bytes))
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "columns_tests.rs"]
mod tests;
