//! Runs what indexes a plane or a volume in a copy without the checks of these indices, where the slice is large enough.
//!
//! ```text
//! before: for dy in -r..=r { for dx in -r..=r {
//!             if x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height {
//!                 br i1 (icmp ult i64 (sext i32 ((%y + %dy) * %width + %x + %dx)), %len), label %inside, label %panic
//! after:  %fits = %width * %height <= %len                         ; the same for all threads
//!         br i1 %fits, label %fast, label %slow
//!         fast: … br i1 true, label %inside, label %panic
//!         slow: …                                                  ; as it was
//! ```
//!
//! A filter asks of each neighbour whether it is inside of the image, and Rust then asks again whether its index is inside of the
//! slice. The image's width and height are numbers of their own, so only the launch can tell that the slice has as many
//! elements. With a way out of every load, ptxas neither gave the branches predicates nor had several loads under way, and
//! nothing that has an end in it is unrolled: a convolution by 5 × 5 took two and a half times as long as nvcc's.
//!
//! **Why it is right.** With `x` in `0..width` and `y` in `0..height`, `y * width + x` is below `height * width`, and so is
//! `(z * height + y) * width + x` of a volume below the product of the three. The factors are asked to be small enough for
//! the product to be one of 64 bits; where the index is computed in 32, the product must be at most 2^31, so that no index
//! of the area wraps around or is negative. What the index is, is compared as a sum modulo 2^32 or 2^64. That the coordinates are
//! inside is known from branches on every way to the check, or is that of a neighbour nearer to 0, which a branch has shown to
//! be there; what a branch shows holds in the copy as well, because the copy takes the same
//! branches. What decides depends on the kernel's arguments alone, so that all threads of a launch take the same way.
//!
//! Where the copy addresses neighbours whose column and row differ by little from what is known before it, it does so from one
//! address for each row: in 64 bits column and row are what they are in 32, because both are inside and smaller than 2^30, and
//! the difference, a constant or what a loop of few rounds counts, is less than 2^18.
//!
//! Not where an index is computed in 64 bits: `indices/` has a copy for those, in which it drops checks that a view implies. Nor
//! where threads meet, nor where there are few such checks outside of loops, which are cheaper merged.

use std::collections::HashSet;

use super::bounds::{instruction, parts};
use super::chain::{Check, compared};
use super::copy::{self, Copies, Version};
use super::sums::{Factors, Sum};
use crate::llvm::{
    self, BasicBlock, BasicValue, Builder, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntPredicate, IntValue, PointerValue, Unroll,
};
use crate::loops::{self, Graph, Loop, integer};

/// Branches above a check that are looked at, the nearest ones.
const MOST_BRANCHES: usize = 32;

/// Instructions that are copied.
const MOST_INSTRUCTIONS: usize = 2000;

/// Areas that one copy asks for.
const MOST_AREAS: usize = 4;

/// Checks outside of loops that are worth a copy.
const LEAST_CHECKS: usize = 6;

/// Instructions that compute what is asked before.
const MOST_STEPS: usize = 24;

/// A volume has as many.
const MOST_DIMENSIONS: usize = 3;

/// Neighbours of an element are nearer than this.
const MOST_APART: u32 = 1 << 16;

/// Steps of a loop that counts small numbers.
const MOST_STEP: i64 = 1 << 8;

/// Indices of 32 bits are below this.
const END_OF_HALF: u64 = 1 << 31;

/// The extents of an area, from within, and the slice that must have as many elements.
#[derive(Clone, PartialEq, Eq)]
struct Area<'ctx> {
    extents: Vec<IntValue<'ctx>>,
    len: IntValue<'ctx>,
    /// What no extent is less than.
    least: u32,
}

/// A check of an index of an area.
struct Element<'ctx> {
    check: Check<'ctx>,
    area: Area<'ctx>,
    index: IntValue<'ctx>,
    /// From within, as many as the area has extents.
    coordinates: Vec<Coordinate<'ctx>>,
}

/// A number that is within an extent: a value and a constant.
struct Coordinate<'ctx> {
    value: IntValue<'ctx>,
    offset: u32,
    extent: IntValue<'ctx>,
}

/// Copies what such checks are in, in a function.
pub fn copy<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<(), BuilderError> {
    let candidates: Vec<_> =
        function.get_basic_blocks().into_iter().filter_map(|block| Check::of(block, false)).collect();
    if candidates.is_empty() || llvm::instructions(function).any(loops::is_convergent) {
        return Ok(());
    }
    let graph = Graph::of(function);
    let mut factors = Factors::default();
    let elements: Vec<_> =
        candidates.into_iter().filter_map(|check| Element::of(check, &graph, &mut factors)).collect();
    let all_loops = graph.loops();
    let is_in_loop = |element: &Element<'ctx>| all_loops.iter().any(|found| found.contains(element.check.block));
    if elements.len() < LEAST_CHECKS && !elements.iter().any(is_in_loop) {
        return Ok(());
    }
    let has_element = |found: &Loop<'ctx>| elements.iter().any(|element| found.contains(element.check.block));
    let blocks: Vec<_> = elements.iter().map(|element| element.check.block).collect();
    let Some(mut head) = graph.common_dominator(&blocks) else { return Ok(()) };
    while let Some(around) = all_loops.iter().find(|found| found.contains(head)) {
        let Some(before) = graph.dominator(around.head) else { return Ok(()) };
        head = before;
    }
    let inside: Vec<_> = function
        .get_basic_blocks()
        .into_iter()
        .filter(|block| *block != head && graph.dominator(*block).is_some() && graph.is_reached_by_way_of(*block, head))
        .collect();
    let mut areas: Vec<&Area<'ctx>> = Vec::new();
    for element in &elements {
        if !areas.contains(&&element.area) {
            areas.push(&element.area);
        }
    }
    let size: usize = inside.iter().map(|block| block.get_instructions().count()).sum();
    if areas.len() > MOST_AREAS || size > MOST_INSTRUCTIONS {
        return Ok(());
    }
    let builder = context.create_builder();
    let Some(end) = head.get_terminator().filter(|end| end.get_opcode() == Op::Br) else { return Ok(()) };
    builder.position_before(&end);
    let mut fits = context.bool_type().const_int(1, false);
    for area in areas {
        fits = builder.build_and(fits, area.fits(&builder, &inside)?, "")?;
    }
    let version = copy::version(context, function, head, &inside, fits)?;
    let counted = loops::counted(function, &all_loops, has_element);
    let mut rows =
        Rows { context, builder: &builder, version: &version, inside: &inside, counted: &counted, known: Vec::new() };
    for element in &elements {
        rows.address(element, &graph)?;
        let end = version.copy_of(element.check.block).get_terminator().expect("a copy ends as its block does");
        llvm::always_branch(context, end, element.check.inside_first);
    }
    // It is there to panic.
    for found in all_loops.iter().filter(|found| inside.contains(&found.head)) {
        llvm::set_unroll(context, &found.jumps_back(), Unroll::None);
    }
    Ok(())
}

impl<'ctx> Element<'ctx> {
    fn of(check: Check<'ctx>, graph: &Graph<'ctx>, factors: &mut Factors<'ctx>) -> Option<Self> {
        let (index, len) = compared(check.condition, check.inside_first, IntPredicate::ULT)?;
        let is_uniform = |value| is_uniform(value, &mut { MOST_STEPS });
        if len.get_type().get_bit_width() != 64 || !is_uniform(len) {
            return None;
        }
        let half = [Op::SExt, Op::ZExt].into_iter().find_map(|extends| integer(instruction(index, extends)?, 0))?;
        let known = Known::new(&Facts::of(graph, check.block), factors);
        let coordinates = known.coordinates(&factors.sum(half)?, MOST_DIMENSIONS)?;
        let extents = coordinates.iter().map(|coordinate| coordinate.extent).collect();
        let area = Area { extents, len, least: known.least_extent };
        (coordinates.len() > 1).then_some(Self { check, area, index, coordinates })
    }
}

/// What is in `0..` of something.
struct Range<'ctx> {
    value: IntValue<'ctx>,
    /// What is added to the value.
    more: u32,
    /// The sum of both.
    at: Sum,
    extent: IntValue<'ctx>,
    /// The extent as a factor.
    factor: Sum,
    /// Whether it may yet be negative, and then be anything below.
    may_be_negative: bool,
}

impl<'ctx> Range<'ctx> {
    /// What is so much less.
    fn coordinate(&self, less: u32) -> Coordinate<'ctx> {
        Coordinate { value: self.value, offset: self.more.wrapping_sub(less), extent: self.extent }
    }
}

/// What is at least a constant.
struct Least {
    at: Sum,
    least: u32,
    /// Whether it is below 2^31, so that no small number more wraps around.
    is_positive: bool,
}

/// What is known at a check.
struct Known<'ctx> {
    ranges: Vec<Range<'ctx>>,
    least: Vec<Least>,
    /// What no extent may be less than for this to be so.
    least_extent: u32,
}

impl<'ctx> Known<'ctx> {
    fn new(facts: &Facts<'ctx>, factors: &mut Factors<'ctx>) -> Self {
        let is_positive = |value| facts.not_negative.contains(&value) || is_not_negative(value, &mut { MOST_STEPS });
        let mut known = Self { ranges: Vec::new(), least: Vec::new(), least_extent: 0 };
        for Below { small, large, by, is_signed } in &facts.below {
            if !is_uniform(*large, &mut { MOST_STEPS }) {
                continue;
            }
            // What is below an extent less a number is that number below the extent, if it is not less.
            let (extent, less) = less_of(*large).unwrap_or((*large, 0));
            let (Some(at), Some(factor)) = (factors.sum(*small), factors.sum(extent)) else { continue };
            let may_be_negative = *by > 0 || *is_signed && !is_positive(*small);
            let more = less.wrapping_sub(*by);
            let Some(at) = at.and(more) else { continue };
            known.least_extent = known.least_extent.max(less);
            known.ranges.push(Range { value: *small, more, at, extent, factor, may_be_negative });
        }
        let smalls = facts.below.iter().map(|below| (below.small, 0)).filter(|(small, _)| is_positive(*small));
        for (value, least) in facts.least.iter().copied().chain(smalls) {
            let at = factors.sum(value);
            known.least.extend(at.map(|at| Least { at, least, is_positive: is_positive(value) }));
        }
        known
    }

    /// The coordinates, from within, of an index in an area.
    fn coordinates(&self, index: &Sum, dimensions: usize) -> Option<Vec<Coordinate<'ctx>>> {
        let single = self.ranges.iter().find_map(|range| {
            let less = range.at.less(index)?.as_number().filter(|less| *less < MOST_APART)?;
            self.holds(range, less).then(|| range.coordinate(less))
        });
        if let Some(single) = single {
            return Some(vec![single]);
        }
        if dimensions == 1 {
            return None;
        }
        self.ranges.iter().find_map(|range| {
            // What the column is less than the one that is known to be in the row.
            let rest = index.less(&range.at)?;
            let less = rest.added().wrapping_neg();
            if less >= MOST_APART || !self.holds(range, less) {
                return None;
            }
            let rows = rest.and(less)?.divided_by(&range.factor)?;
            let mut all = vec![range.coordinate(less)];
            all.extend(self.coordinates(&rows, dimensions - 1)?);
            Some(all)
        })
    }

    /// Whether what is so much less than a number in a range is in it too.
    fn holds(&self, range: &Range<'ctx>, less: u32) -> bool {
        if less == 0 && !range.may_be_negative {
            return true;
        }
        let is_in_row = |at: &Sum| {
            self.ranges.iter().any(|other| !other.may_be_negative && other.extent == range.extent && other.at == *at)
        };
        self.least.iter().any(|known| {
            // By how much the number in the range is above what is known to be so much, or below.
            let above = range.at.less(&known.at).and_then(|above| above.as_number());
            let below = known.at.less(&range.at).and_then(|below| below.as_number());
            let is_positive = || known.is_positive || is_in_row(&known.at);
            match (above, below) {
                (Some(above), _) if above < MOST_APART => known.least + above >= less && is_positive(),
                (_, Some(below)) if below < MOST_APART => {
                    known.least >= below + less && (!range.may_be_negative || is_positive())
                }
                _ => false,
            }
        })
    }
}

impl<'ctx> Area<'ctx> {
    /// Writes whether the slice has so many elements; `inside` are blocks that come later.
    fn fits(&self, builder: &Builder<'ctx>, inside: &[BasicBlock<'ctx>]) -> Result<IntValue<'ctx>, BuilderError> {
        let mut copies = Copies::new(inside.iter().copied().collect());
        let mut copy =
            |value: IntValue<'ctx>| llvm::build_freeze(builder, copies.of(builder, value.into()).into_int_value());
        let len = copy(self.len);
        let wide = len.get_type();
        let number = |number| wide.const_int(number, false);
        let (mut any, mut product) = (number(0), number(1));
        let mut asked = Vec::new();
        for extent in &self.extents {
            let mut extent = copy(*extent);
            if extent.get_type() != wide {
                extent = builder.build_int_z_extend(extent, wide, "")?;
            }
            if self.least > 0 {
                asked.push(builder.build_int_compare(IntPredicate::UGE, extent, number(self.least.into()), "")?);
            }
            any = builder.build_or(any, extent, "")?;
            product = builder.build_int_mul(product, extent, "")?;
        }
        asked.push(builder.build_int_compare(IntPredicate::ULE, product, number(END_OF_HALF), "")?);
        // The product of two is below 2^60 then, and that of three below 2^63.
        let most = number(if self.extents.len() == 2 { 1 << 30 } else { 1 << 21 });
        asked.push(builder.build_int_compare(IntPredicate::ULT, any, most, "")?);
        let has_all = builder.build_int_compare(IntPredicate::ULE, product, len, "")?;
        asked.into_iter().try_fold(has_all, |all, one| builder.build_and(all, one, ""))
    }
}

/// Where the rows of planes begin that a copy addresses.
struct Rows<'a, 'ctx> {
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

impl<'ctx> Rows<'_, 'ctx> {
    /// Has the copy address an element by its row and how far it is from a column known before, so that neighbours in one row
    /// share an address.
    fn address(&mut self, element: &Element<'ctx>, graph: &Graph<'ctx>) -> Result<(), BuilderError> {
        let [x, y] = &element.coordinates[..] else { return Ok(()) };
        let (Some((column, right)), Some((row, below))) = (self.parts(x), self.parts(y)) else { return Ok(()) };
        if !self.is_before(x.extent) {
            return Ok(());
        }
        for user in llvm::uses(&element.index) {
            let llvm::Use::Instruction(user) = user else { continue };
            let Some((plane, size, _)) = llvm::element_of(user) else { continue };
            let is_behind = user.get_parent().is_some_and(|block| {
                self.inside.contains(&block) && graph.is_reached_by_way_of(block, element.check.inside)
            });
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
    fn parts(&self, coordinate: &Coordinate<'ctx>) -> Option<(IntValue<'ctx>, Way<'ctx>)> {
        let mut way = Way { counted: None, constant: coordinate.offset.cast_signed() };
        let (mut known, mut pending, mut steps) = (None, vec![coordinate.value], MOST_STEPS);
        while let Some(value) = pending.pop() {
            steps = steps.checked_sub(1)?;
            if let Some(constant) = value.get_sign_extended_constant() {
                way.constant = way.constant.wrapping_add(constant as i32);
            } else if let Some(sum) =
                instruction(value, Op::Add).filter(|sum| !self.is_before(value) || adds_constant(*sum))
            {
                pending.extend([integer(sum, 0)?, integer(sum, 1)?]);
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
                let step = integer(sum, 1).and_then(|step| step.get_sign_extended_constant());
                integer(sum, 0) == Some(llvm::result(phi).into_int_value())
                    && step.is_some_and(|step| step.abs() < MOST_STEP)
            })
        };
        // An inclusive range chooses its end after the last round.
        let is_either = |value: IntValue<'ctx>| {
            let choice = instruction(value, Op::Select);
            let sides = choice.and_then(|choice| Some([integer(choice, 1)?, integer(choice, 2)?]));
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
    integer(sum, 1).is_some_and(|number| number.is_const())
}

/// What a number is less than another by a small constant, and that.
fn less_of(value: IntValue<'_>) -> Option<(IntValue<'_>, u32)> {
    let sum = instruction(value, Op::Add)?;
    let less = integer(sum, 1)?.get_sign_extended_constant()?.checked_neg()?;
    Some((integer(sum, 0)?, u32::try_from(less).ok().filter(|less| *less < MOST_APART)?))
}

/// Whether a number follows from a kernel's arguments, so that all threads have the same.
fn is_uniform(value: IntValue<'_>, steps: &mut usize) -> bool {
    let Some(from) = value.as_instruction_value() else { return true };
    if *steps == 0 || !llvm::is_pure(from) || from.get_opcode() == Op::Phi {
        return false;
    }
    *steps -= 1;
    let mut operands = llvm::value_operands(from);
    operands.all(|(_, operand)| matches!(operand, llvm::BasicValueEnum::IntValue(value) if is_uniform(value, steps)))
}

/// That a number less `by` is below another.
struct Below<'ctx> {
    small: IntValue<'ctx>,
    large: IntValue<'ctx>,
    by: u32,
    is_signed: bool,
}

/// What conditions show.
#[derive(Default)]
struct Facts<'ctx> {
    below: Vec<Below<'ctx>>,
    /// What is at least a constant, as a number without sign or one that is not negative.
    least: Vec<(IntValue<'ctx>, u32)>,
    not_negative: HashSet<IntValue<'ctx>>,
}

impl<'ctx> Facts<'ctx> {
    /// Of branches on every way to a block.
    fn of(graph: &Graph<'ctx>, block: BasicBlock<'ctx>) -> Self {
        let mut facts = Self::default();
        let above = std::iter::successors(graph.dominator(block), |at| graph.dominator(*at));
        for from in above.take(MOST_BRANCHES) {
            let Some(end) = from.get_terminator().filter(|end| end.get_opcode() == Op::Br) else { continue };
            let (Some((then, other)), Some(condition)) = (llvm::branch_targets(end), integer(end, 0)) else { continue };
            for (to, is) in [(then, true), (other, false)] {
                if llvm::predecessors(to) == [from] && graph.is_reached_by_way_of(block, to) {
                    facts.add(condition, is);
                }
            }
        }
        facts
    }

    fn add(&mut self, condition: IntValue<'ctx>, is: bool) {
        if let Some(parts) = parts(condition, is) {
            parts.into_iter().for_each(|part| self.add(part, is));
            return;
        }
        let Some(compare) = condition.as_instruction_value() else { return };
        let Some(predicate) = compare.get_icmp_predicate() else { return };
        let (Some(left), Some(right)) = (integer(compare, 0), integer(compare, 1)) else { return };
        use IntPredicate::{EQ, NE, SGE, SGT, SLE, SLT, UGE, UGT, ULE, ULT};
        // The smaller and the larger one, whether they may be equal, and whether they have signs.
        let (small, large, may_equal, is_signed) = match (predicate, is) {
            (ULT, true) | (UGE, false) => (left, right, false, false),
            (UGT, true) | (ULE, false) => (right, left, false, false),
            (ULE, true) | (UGT, false) => (left, right, true, false),
            (UGE, true) | (ULT, false) => (right, left, true, false),
            (SLT, true) | (SGE, false) => (left, right, false, true),
            (SGT, true) | (SLE, false) => (right, left, false, true),
            (SLE, true) | (SGT, false) => (left, right, true, true),
            (SGE, true) | (SLT, false) => (right, left, true, true),
            (NE, true) | (EQ, false) => {
                if right.get_zero_extended_constant() == Some(0) {
                    self.least.push((left, 1));
                }
                return;
            }
            _ => return,
        };
        if let Some(constant) = small.get_sign_extended_constant() {
            let least = constant + i64::from(!may_equal);
            if let Ok(least) = u32::try_from(least) {
                self.least.push((large, least));
                if is_signed {
                    self.not_negative.insert(large);
                }
            }
        }
        self.below.push(Below { small, large, by: u32::from(may_equal), is_signed });
    }
}

/// Whether a number cannot be negative, by how it is computed.
fn is_not_negative(value: IntValue<'_>, steps: &mut usize) -> bool {
    if let Some(constant) = value.get_sign_extended_constant() {
        return constant >= 0;
    }
    let Some(from) = value.as_instruction_value() else { return false };
    if *steps == 0 {
        return false;
    }
    *steps -= 1;
    match from.get_opcode() {
        Op::ZExt => true,
        Op::Call => llvm::is_position(from),
        Op::Add | Op::Mul if llvm::promises(from).signed => {
            llvm::value_operands(from).all(|(_, operand)| is_not_negative(operand.into_int_value(), steps))
        }
        _ => false,
    }
}
