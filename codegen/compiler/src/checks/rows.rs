//! Addresses neighbours in a plane from one address for each row.
//!
//! ```text
//! before: %p = getelementptr float, ptr %image, i64 (sext i32 ((%y + 1) * %width + %x + 2))
//! after:  %here = getelementptr i8, ptr %image, i64 (4 * (sext %y * zext %width + sext %x))       ; where the copy begins
//!         %below = getelementptr i8, ptr %here, i64 (4 * 1 * zext %width)
//!         %p = getelementptr i8, ptr %below, i64 8
//! ```
//!
//! An index of 32 bits may wrap around, so that neighbours have no address in common, and each needs a product and an address of
//! its own before its load. With one address a row all others are a constant in the load.
//!
//! **Why it is right.** Column and row are in `0..` of extents below 2^30 where the element is looked at (`areas.rs`), and differ by
//! less than 2^18 from numbers that are known where the copy begins: by a constant, or by what a loop of few rounds counts in
//! small steps. So in 64 bits these numbers with their signs and the difference are the column and the row, nothing wraps around,
//! and the sum is the index. An address of a row may be outside of the slice, and nothing is said of it.

use super::copy::Version;
use super::within::{Coordinate, MOST_APART, Place};
use crate::llvm::{
    self, BasicBlock, BasicValue, Builder, BuilderError, Context, InstructionOpcode as Op, InstructionValue, IntValue,
    PointerValue, Use,
};
use crate::loops::{Graph, instruction};

/// Instructions that are looked at for one coordinate.
const MOST_STEPS: usize = 24;

/// Steps of a loop that counts small numbers.
const MOST_STEP: i64 = 1 << 8;

/// Where the rows of planes begin that a copy addresses.
pub struct Rows<'a, 'ctx> {
    context: &'ctx Context,
    builder: &'a Builder<'ctx>,
    version: &'a Version<'ctx>,
    inside: &'a [BasicBlock<'ctx>],
    /// The heads of loops that have a small number of rounds.
    counted: &'a [BasicBlock<'ctx>],
    known: Vec<(Row<'ctx>, PointerValue<'ctx>)>,
}

/// A row of a plane, and a column in it: where the plane begins, the size of an element, how many a row has, and the numbers of
/// column and row, to the second of which is added what a loop counts, if it does, and a constant.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Row<'ctx> {
    plane: PointerValue<'ctx>,
    size: u64,
    width: IntValue<'ctx>,
    column: IntValue<'ctx>,
    row: IntValue<'ctx>,
    below: Way<'ctx>,
}

/// How far a neighbour is: what a loop counts, and a constant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Way<'ctx> {
    counted: Option<InstructionValue<'ctx>>,
    constant: i32,
}

impl<'a, 'ctx> Rows<'a, 'ctx> {
    /// Of a version of these blocks.
    pub fn new(
        context: &'ctx Context,
        builder: &'a Builder<'ctx>,
        version: &'a Version<'ctx>,
        inside: &'a [BasicBlock<'ctx>],
        counted: &'a [BasicBlock<'ctx>],
    ) -> Self {
        Self { context, builder, version, inside, counted, known: Vec::new() }
    }

    /// Has the copy address an element by its row and how far it is from a column known before, so that neighbours in one row
    /// share an address; `behind` is where its check holds.
    pub fn address(
        &mut self,
        index: IntValue<'ctx>,
        place: &Place<'ctx>,
        behind: BasicBlock<'ctx>,
        graph: &Graph<'ctx>,
    ) -> Result<(), BuilderError> {
        let ([x, y], 0) = (&place.coordinates[..], place.area) else { return Ok(()) };
        let (Some((column, right)), Some((row, below))) = (self.way_to(x), self.way_to(y)) else { return Ok(()) };
        if !self.is_before(x.extent) {
            return Ok(());
        }
        for user in llvm::uses(&index) {
            let Use::Instruction(user) = user else { continue };
            let Some((plane, size, _)) = llvm::element_of(user) else { continue };
            let is_behind = user
                .get_parent()
                .is_some_and(|block| self.inside.contains(&block) && graph.is_reached_by_way_of(block, behind));
            if !is_behind || llvm::param_index(plane).is_none() {
                continue;
            }
            let begin = self.begin(Row { plane, size, width: x.extent, column, row, below })?;
            let copy = self.version.copy_of_instruction(user);
            self.builder.position_before(&copy);
            let elements = self.distance(right)?;
            llvm::replace_uses(copy, self.behind(begin, elements, size)?.into());
        }
        Ok(())
    }

    /// The address of a row's column, at the begin of the copy or of the round that it is of.
    fn begin(&mut self, of: Row<'ctx>) -> Result<PointerValue<'ctx>, BuilderError> {
        if let Some((_, known)) = self.known.iter().find(|(row, _)| *row == of) {
            return Ok(*known);
        }
        let wide = self.context.i64_type();
        let extended = |value| self.builder.build_int_s_extend(value, wide, "");
        let at_begin = self.version.begin().get_terminator().expect("a copy ends as its block does");
        let (begin, elements) = if of.below == Way::default() {
            self.builder.position_before(&at_begin);
            let width = self.builder.build_int_z_extend(of.width, wide, "")?;
            let above = self.builder.build_int_mul(extended(of.row)?, width, "")?;
            (of.plane, self.builder.build_int_add(above, extended(of.column)?, "")?)
        } else {
            let begin = self.begin(Row { below: Way::default(), ..of })?;
            let in_round = of.below.counted.map(|counted| {
                let head = self.version.copy_of_instruction(counted).get_parent().expect("it is in a block");
                head.get_instructions().find(|from| from.get_opcode() != Op::Phi).expect("a block ends in a jump")
            });
            self.builder.position_before(&in_round.unwrap_or(at_begin));
            let width = self.builder.build_int_z_extend(of.width, wide, "")?;
            (begin, self.builder.build_int_mul(width, self.distance(of.below)?, "")?)
        };
        let begin = self.behind(begin, elements, of.size)?;
        self.known.push((of, begin));
        Ok(begin)
    }

    /// An address so many elements behind another one.
    fn behind(
        &self,
        address: PointerValue<'ctx>,
        elements: IntValue<'ctx>,
        size: u64,
    ) -> Result<PointerValue<'ctx>, BuilderError> {
        let bytes = self.builder.build_int_mul(elements, elements.get_type().const_int(size, false), "")?;
        llvm::build_byte_distance(self.context, self.builder, address, bytes)
    }

    /// A way in 64 bits, in the copy.
    fn distance(&self, way: Way<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        let wide = self.context.i64_type();
        let constant = wide.const_int(i64::from(way.constant).cast_unsigned(), true);
        let Some(counted) = way.counted else { return Ok(constant) };
        let counted = llvm::result(self.version.copy_of_instruction(counted)).into_int_value();
        self.builder.build_int_add(self.builder.build_int_s_extend(counted, wide, "")?, constant, "")
    }

    /// A coordinate as a number that is known before the copy, and how far it is from that.
    fn way_to(&self, coordinate: &Coordinate<'ctx>) -> Option<(IntValue<'ctx>, Way<'ctx>)> {
        let mut way = Way { counted: None, constant: coordinate.offset.cast_signed() };
        let (mut known, mut pending, mut steps) = (None, vec![coordinate.value], MOST_STEPS);
        while let Some(value) = pending.pop() {
            steps = steps.checked_sub(1)?;
            if let Some(constant) = value.get_sign_extended_constant() {
                way.constant = way.constant.wrapping_add(constant as i32);
            } else if let Some(sum) =
                instruction(value, Op::Add).filter(|sum| !self.is_before(value) || adds_constant(*sum))
            {
                pending.extend([llvm::int_operand(sum, 0)?, llvm::int_operand(sum, 1)?]);
            } else if self.is_before(value) && known.is_none() {
                known = Some(value);
            } else {
                let counted = instruction(value, Op::Phi).filter(|phi| way.counted.is_none() && self.is_counted(*phi));
                way.counted = Some(counted?);
            }
        }
        let is_small = way.constant.unsigned_abs() < MOST_APART;
        known.filter(|_| is_small).map(|known| (known, way))
    }

    fn is_before(&self, value: IntValue<'ctx>) -> bool {
        let block = value.as_instruction_value().and_then(|from| from.get_parent());
        block.is_none_or(|block| !self.inside.contains(&block))
    }

    /// Whether a loop counts so, in small steps from a small constant.
    fn is_counted(&self, phi: InstructionValue<'ctx>) -> bool {
        let is_small = |value: IntValue<'ctx>| {
            value.get_sign_extended_constant().is_some_and(|first| first.unsigned_abs() < u64::from(MOST_APART))
        };
        let is_next = |value: IntValue<'ctx>| {
            instruction(value, Op::Add).is_some_and(|sum| {
                let step = llvm::int_operand(sum, 1).and_then(|step| step.get_sign_extended_constant());
                llvm::int_operand(sum, 0) == Some(llvm::result(phi).into_int_value())
                    && step.is_some_and(|step| step.abs() < MOST_STEP)
            })
        };
        // An inclusive range chooses its end after the last round.
        let is_either = |value: IntValue<'ctx>| {
            let choice = instruction(value, Op::Select);
            let sides = choice.and_then(|choice| Some([llvm::int_operand(choice, 1)?, llvm::int_operand(choice, 2)?]));
            sides.is_some_and(|sides| sides.into_iter().all(|side| is_small(side) || is_next(side)))
        };
        phi.get_parent().is_some_and(|head| self.counted.contains(&head))
            && llvm::incoming(phi).into_iter().all(|(value, _)| {
                let value = value.into_int_value();
                is_small(value) || is_next(value) || is_either(value)
            })
    }
}

fn adds_constant(sum: InstructionValue<'_>) -> bool {
    llvm::int_operand(sum, 1).is_some_and(|number| number.is_const())
}
