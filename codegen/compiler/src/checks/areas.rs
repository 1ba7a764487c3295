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
//! `(z * height + y) * width + x` of a volume below the product of the three (`within.rs` says which coordinates an index has).
//! The extents are asked to be small enough for the product to be a number of 64 bits, and that to be at most 2^31, so that no
//! index of the area wraps around or is negative. What branches have shown holds in the copy as well, because the copy takes the
//! same branches. What decides follows from the function's arguments alone: all threads of a kernel take the same way.
//!
//! Not where an index is computed in 64 bits: `indices/` has a copy for those, in which it drops checks that a view implies. Nor
//! where threads meet, nor where there are few such checks outside of loops, which are cheaper merged.

use super::chain::{Check, compared};
use super::copy::{self, Copies};
use super::rows::Rows;
use super::sums::{Factors, Sum};
use super::within::{Coordinate, Known, is_uniform};
use crate::llvm::{
    self, BasicBlock, Builder, BuilderError, Context, FunctionValue, InstructionOpcode as Op, IntPredicate, IntValue,
    Unroll,
};
use crate::loops::{self, Graph, Loop, instruction, integer};

/// Instructions that are copied.
const MOST_INSTRUCTIONS: usize = 2000;

/// Areas that one copy asks for.
const MOST_AREAS: usize = 4;

/// Checks outside of loops that are worth a copy.
const LEAST_CHECKS: usize = 6;

/// A volume has as many.
const MOST_DIMENSIONS: usize = 3;

/// Indices of 32 bits are below this.
const END_OF_HALF: u64 = 1 << 31;

/// The extents of an area, from within, and the slice that must have as many elements.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Area<'ctx> {
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

impl<'ctx> Element<'ctx> {
    /// Its values that may be phis within what is copied.
    fn values(&mut self) -> impl Iterator<Item = &mut IntValue<'ctx>> {
        self.coordinates.iter_mut().map(|coordinate| &mut coordinate.value).chain([&mut self.index])
    }
}

/// Where a phi stands.
fn place(value: IntValue<'_>) -> Option<(BasicBlock<'_>, usize)> {
    let phi = instruction(value, Op::Phi)?;
    let block = phi.get_parent()?;
    llvm::phis(block).position(|other| other == phi).map(|at| (block, at))
}

/// Copies what such checks are in, in a function.
pub fn copy<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<(), BuilderError> {
    let has_checks = || function.get_basic_blocks().into_iter().any(|block| Check::of(block, false).is_some());
    if !has_checks() || llvm::instructions(function).any(loops::is_convergent) {
        return Ok(());
    }
    let graph = Graph::of(function);
    let mut factors = Factors::default();
    let all_loops = graph.loops();
    let is_in_loop = |element: &Element<'ctx>| all_loops.iter().any(|found| found.contains(element.check.block));
    let mut elements_of = |may_be_clamped| -> Vec<_> {
        let blocks = function.get_basic_blocks().into_iter();
        let checks = blocks.filter_map(|block| Check::of(block, false));
        checks.filter_map(|check| Element::of(check, &graph, &mut factors, may_be_clamped)).collect()
    };
    let mut elements = elements_of(true);
    if !elements.iter().any(is_in_loop) {
        // What is clamped needs no copy there: such checks follow each other, and are merged.
        elements = elements_of(false);
    }
    if elements.len() < LEAST_CHECKS && !elements.iter().any(is_in_loop) {
        return Ok(());
    }
    let blocks: Vec<_> = elements.iter().map(|element| element.check.block).collect();
    let has_element = |found: &Loop<'ctx>| blocks.iter().any(|block| found.contains(*block));
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
    // The phis behind the head are written anew.
    let places: Vec<Vec<_>> =
        elements.iter_mut().map(|element| element.values().map(|value| place(*value)).collect()).collect();
    let version = copy::version(context, function, head, &inside, fits)?;
    head.get_terminator().into_iter().for_each(|choice| llvm::set_unlikely(context, choice));
    for (element, places) in elements.iter_mut().zip(places) {
        for (value, place) in element.values().zip(places) {
            if let Some(phi) = place.and_then(|(block, at)| llvm::phis(block).nth(at)) {
                *value = llvm::result(phi).into_int_value();
            }
        }
    }
    let counted = loops::counted(function, &all_loops, has_element);
    let mut rows = Rows::new(context, &builder, &version, &inside, &counted);
    for element in &elements {
        // Where others come behind the check as well, nothing is known of the index there.
        if llvm::predecessors(element.check.inside)[..] == [element.check.block] {
            rows.address(element.index, &element.coordinates, element.check.inside, &graph)?;
        }
        let end = version.copy_of(element.check.block).get_terminator().expect("a copy ends as its block does");
        llvm::always_branch(context, end, element.check.inside_first);
    }
    // It is there to panic. But an array that one of its loops indexes would be memory for both copies, and filled for both.
    let indexed = loops::that_index_arrays(function);
    let is_cold =
        |found: &&Loop<'ctx>| inside.contains(&found.head) && !indexed.iter().any(|block| found.contains(*block));
    for found in all_loops.iter().filter(is_cold) {
        llvm::set_unroll(context, &found.jumps_back(), Unroll::None);
    }
    Ok(())
}

impl<'ctx> Element<'ctx> {
    fn of(check: Check<'ctx>, graph: &Graph<'ctx>, factors: &mut Factors<'ctx>, may_be_clamped: bool) -> Option<Self> {
        let (index, half, len) = indexed(&check)?;
        let mut known = Known::at(check.block, graph, factors);
        let sum = factors.sum(half)?;
        if may_be_clamped {
            known.add_clamped(&sum, factors);
        }
        let (area, coordinates) = Area::of(&known, &sum, len)?;
        Some(Self { check, area, index, coordinates })
    }
}

/// The index that a check looks at, what of 32 bits that is extended from, and a length that is the same for all threads.
pub(super) fn indexed<'ctx>(check: &Check<'ctx>) -> Option<(IntValue<'ctx>, IntValue<'ctx>, IntValue<'ctx>)> {
    let (index, len) = compared(check.condition, check.inside_first, IntPredicate::ULT)?;
    if len.get_type().get_bit_width() != 64 || !is_uniform(len) {
        return None;
    }
    let half = [Op::SExt, Op::ZExt].into_iter().find_map(|extends| integer(instruction(index, extends)?, 0))?;
    Some((index, half, len))
}

impl<'ctx> Area<'ctx> {
    /// The one that an index is in, by what is known, and the coordinates there.
    pub(super) fn of(known: &Known<'ctx>, index: &Sum, len: IntValue<'ctx>) -> Option<(Self, Vec<Coordinate<'ctx>>)> {
        let coordinates = known.coordinates(index, MOST_DIMENSIONS).filter(|coordinates| coordinates.len() > 1)?;
        let extents = coordinates.iter().map(|coordinate| coordinate.extent).collect();
        Some((Self { extents, len, least: known.least_extent }, coordinates))
    }

    /// Writes whether the slice has so many elements; `inside` are blocks that come later.
    pub(super) fn fits(
        &self,
        builder: &Builder<'ctx>,
        inside: &[BasicBlock<'ctx>],
    ) -> Result<IntValue<'ctx>, BuilderError> {
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
