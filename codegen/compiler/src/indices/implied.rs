//! Removes checks of indices that others imply, in the copy with indices of 32 bits.
//!
//! ```text
//! before: %i = add i32 (mul i32 %y, %width), %x                       ; 0 < %y
//!         br i1 (%i - %width < %len and %i < %len and %i + %width < %len), label %inside, label %slow
//! after:  br i1 (%i + %width < %len), label %inside, label %slow
//! ```
//!
//! `checks` has joined the checks of a thread's neighbours. An index is a sum of products, and numbers are small in this copy;
//! so of indices with one limit often only the largest need be compared, because the others are not negative. A point and six
//! neighbours in a box had six comparisons for one. Where a branch goes by that, the test before the copy also asks whether each
//! slice is as long as the view has elements: on a torus, or where neighbours are clamped into the view, no neighbour is always
//! the largest, and of a stencil's even the largest need not be compared then. The same test is for the rows of a loop and the
//! parts that are taken of them (`counts.rs`). Two numbers of a kernel's own may be such a width and height, too, if neither is
//! 0. What else a branch asks goes where the numbers are seen to be so, as the assertion of `clamp` that its bounds are in order.
//! A comparison that stands behind a branch that tells its outcome has that: `x >= 0` of a thread inside of the view, whose
//! `usize::try_from(x)` LLVM does not see to succeed while a width has 64 bits.
//!
//! **Why it is right.** All parts of a condition are numbers: none comes from what LLVM may leave undefined (`numbers.rs`). So
//! the condition holds exactly if each part does, in any order, and a part may go that is shown to hold wherever the parts that
//! stay do, with the branches that lead there. What went is not used to show anything any more. Each part that went before
//! another was shown with its help, but that one is shown by what stays; so all are. `places.rs` has why a comparison of values
//! of 32 bits says something of sums that have no end. Branches still go where they went; so what is known in a block from
//! those above it stays so, whatever parts these lose, and in a loop by those of the round before. The narrowing is done before,
//! and what it took from a part that was asked earlier is in the instructions themselves by then.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::hash::{QuickMap, QuickSet};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntPredicate, IntValue,
};
use crate::loops::Graph;

use super::cases::Cases;
use super::counts::Counts;
use super::numbers::Numbers;
use super::parts::{Guarded, MOST_PARTS, Part, leave_out, parts};
use super::places::{Area, BITS, Comparison, MOST_STEPS, Order, Place, comparison, follow, is_choice, is_of_sum};
use super::products;
use super::ranges::{Interval, constant};
use super::small::BITS_OF_A_THIRD;

/// Checks that must go for a test of whether slices are as long as a view has elements.
const FEWEST_COVERED: usize = 3;

/// How many checks a branch counts as that is gone with them: what comes behind it has waited for it.
const OF_A_BRANCH: usize = 2;

/// How often a check counts in a loop.
const OF_A_LOOP: usize = 2;

/// How deep an index is looked into for a row.
const MOST_STEPS_TO_ROW: u32 = 8;

/// Pairs of numbers that are tried as a width and a height.
const MOST_PAIRS: usize = 6;

/// What has gone of a kernel's conditions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gone {
    Nothing,
    Some,
    /// Most checks of a slice that is as long as a view has elements.
    Covered,
}

/// Removes what others imply in a kernel that has two copies.
pub fn remove<'ctx>(context: &'ctx Context, kernel: FunctionValue<'ctx>) -> Result<Gone> {
    let (Some(first), Some(narrow)) = (kernel.get_first_basic_block(), narrow_copy(kernel)) else {
        return Ok(Gone::Nothing);
    };
    let graph = Graph::of(kernel);
    cut_early(context, first, narrow);
    let same = QuickMap::default();
    // Nothing is known of one copy by the other.
    let is_of_copy = |block: &BasicBlock<'ctx>| *block == first || graph.is_reached_by_way_of(*block, narrow);
    let blocks: Vec<BasicBlock<'ctx>> = graph.by_dominance().into_iter().filter(is_of_copy).collect();
    let returning = llvm::returning_blocks(kernel);
    let given = |covered: &[Covered<'ctx>]| -> Vec<_> {
        let mut cases = products::given(first);
        for case in &mut cases {
            for (number, range) in covered.iter().flat_map(Covered::given).chain(thirds(kernel)) {
                case.entry(number).and_modify(|known| *known = known.meet(range)).or_insert(range);
            }
        }
        cases
    };
    let find = |asking: &[BasicBlock<'ctx>], covered: &[Covered<'ctx>]| -> Vec<(BasicBlock<'ctx>, Vec<Part<'ctx>>)> {
        let given = given(covered);
        let ranges = Cases::of_blocks(&graph, &blocks, &given, &same);
        let mut numbers = Numbers::new(kernel, &ranges);
        let areas: Vec<_> = covered.iter().map(|covered| covered.area).collect();
        let counts = Counts::of(&graph, &blocks, &ranges, &mut numbers, &areas);
        let of_block = |block: &BasicBlock<'ctx>| {
            let told = counts.told(*block, &graph);
            let parts = parts(*block, &returning);
            (*block, implied(*block, parts, told, &ranges, &mut numbers, &areas))
        };
        asking.iter().map(of_block).filter(|(_, parts)| !parts.is_empty()).collect()
    };
    let mut gone = find(&blocks[1..], &[]);
    let mut covered = areas(kernel);
    let in_loops: QuickSet<_> = graph.loops().into_iter().flat_map(|found| found.blocks).collect();
    covered.retain(|one| {
        // What comes behind a check that has failed asks again which it was.
        let count = |block: BasicBlock<'ctx>, gone: &[Part<'ctx>]| -> usize {
            if !returning.contains(&block) {
                return 0;
            }
            let mut rest = parts(block, &returning);
            rest.retain(|part| !gone.contains(part));
            let checks = rest.iter().filter(|part| is_check(part, &one.area)).count();
            let branch = if checks == rest.len() { checks.min(1) * OF_A_BRANCH } else { 0 };
            (checks + branch) * if in_loops.contains(&block) { OF_A_LOOP } else { 1 }
        };
        let with_checks = |block: &BasicBlock<'ctx>| count(*block, &[]) > 0;
        let asking: Vec<_> = blocks.iter().copied().filter(with_checks).collect();
        let left = |gone: &[(BasicBlock<'ctx>, Vec<Part<'ctx>>)]| -> usize {
            let of = |block| gone.iter().find(|(known, _)| *known == block).map_or(&[][..], |(_, parts)| parts);
            asking.iter().map(|block| count(*block, of(*block))).sum()
        };
        let before = left(&gone);
        before >= FEWEST_COVERED && left(&find(&asking, &[*one])) + FEWEST_COVERED <= before
    });
    if !covered.is_empty() {
        gone = find(&blocks[1..], &covered);
        test_areas(context, kernel, &covered)
            .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("cannot test an area: {error}")))?;
    }
    for (block, parts) in &gone {
        leave_out(context, *block, parts);
    }
    let given = given(&covered);
    let ranges = Cases::of_blocks(&graph, &blocks, &given, &same);
    let counts = Counts::of(&graph, &blocks, &ranges, &mut Numbers::new(kernel, &ranges), &[]);
    let decided: Vec<_> = blocks[1..].iter().flat_map(|block| decided(*block, &graph, &ranges, &counts)).collect();
    for (comparison, holds) in &decided {
        llvm::replace_uses(*comparison, context.bool_type().const_int((*holds).into(), false).into());
    }
    Ok(match gone.is_empty() && decided.is_empty() {
        true => Gone::Nothing,
        false if covered.is_empty() => Gone::Some,
        false => Gone::Covered,
    })
}

/// The comparisons of a block whose outcome is known there. What means nothing may as well have that.
fn decided<'ctx>(
    block: BasicBlock<'ctx>,
    graph: &Graph<'ctx>,
    ranges: &Cases<'_, 'ctx>,
    counts: &Counts<'ctx>,
) -> Vec<(InstructionValue<'ctx>, bool)> {
    let comparisons: Vec<_> = block.get_instructions().filter(|from| from.get_opcode() == Op::ICmp).collect();
    if comparisons.is_empty() || comparisons.len() > MOST_PARTS {
        return Vec::new();
    }
    let place = Place { ranges, facts: ranges.facts(block), told: counts.told(block, graph), areas: &[] };
    let decide = |from: InstructionValue<'ctx>| {
        if let Some(holds) = ranges.decide(from, &place.facts) {
            return Some(holds);
        }
        let (predicate, left, right) = comparison(from).filter(|_| !place.told.is_empty())?;
        // What is smaller where it holds, and where it does not.
        let (small, large, by) = match predicate {
            IntPredicate::ULT => (left, right, 1),
            IntPredicate::UGT => (right, left, 1),
            IntPredicate::ULE => (left, right, 0),
            IntPredicate::UGE => (right, left, 0),
            _ => return None,
        };
        let is = |small: IntValue<'ctx>, large, by| {
            small.get_type().get_bit_width() == BITS && place.implies(Order { small, large, by }, &mut Vec::new())
        };
        if is(small, large, by) { Some(true) } else { is(large, small, 1 - by).then_some(false) }
    };
    comparisons.into_iter().filter_map(|from| Some((from, decide(from)?))).collect()
}

/// Whether a part checks an index of an area's slice, or of what is left of that behind an index. It is in some row of the area:
/// a slice that has an element for each row or column has no element for each of the area, though all its indices are below that.
fn is_check<'ctx>(part: &Part<'ctx>, area: &Area<'ctx>) -> bool {
    let left_of = |large: IntValue<'ctx>| {
        let from = large.as_instruction_value().filter(|from| from.get_opcode() == Op::Sub)?;
        Some((llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?))
    };
    part.check().is_some_and(|check| match left_of(check.large) {
        Some((len, start)) => len == area.len && is_in_row(start, area, MOST_STEPS_TO_ROW),
        None => check.large == area.len && is_in_row(check.small, area, MOST_STEPS_TO_ROW),
    })
}

/// Whether an index is a sum with a product of one of the extents.
fn is_in_row<'ctx>(index: IntValue<'ctx>, area: &Area<'ctx>, steps: u32) -> bool {
    let Some(from) = index.as_instruction_value().filter(|_| steps > 0) else { return false };
    let mut operands = (0..from.get_num_operands()).filter_map(|at| llvm::int_operand(from, at));
    match from.get_opcode() {
        Op::Mul => operands.any(|factor| area.extents.contains(&factor)),
        Op::Add | Op::Sub | Op::Select => operands.any(|part| is_in_row(part, area, steps - 1)),
        Op::Call => is_choice(from) && operands.any(|part| is_in_row(part, area, steps - 1)),
        Op::Phi => llvm::incoming(from).into_iter().any(|(way, _)| match way {
            BasicValueEnum::IntValue(way) => is_in_row(way, area, steps - 1),
            _ => false,
        }),
        _ => false,
    }
}

/// Where the copy with indices of 32 bits begins, if only the test leads there.
pub fn narrow_copy(kernel: FunctionValue<'_>) -> Option<BasicBlock<'_>> {
    let first = kernel.get_first_basic_block()?;
    let (narrow, wide) = llvm::branch_targets(first.get_terminator()?)?;
    (narrow != wide && llvm::predecessors(narrow) == [first]).then_some(narrow)
}

/// Has the first block cut what the copy would of what that one knows: all areas are found there.
fn cut_early<'ctx>(context: &'ctx Context, first: BasicBlock<'ctx>, narrow: BasicBlock<'ctx>) {
    let is_known = |cut: &InstructionValue<'ctx>| {
        let of = llvm::int_operand(*cut, 0).and_then(|of| of.as_instruction_value());
        cut.get_opcode() == Op::Trunc
            && llvm::promises(*cut) == llvm::Promises::default()
            && of.is_some_and(|of| of.get_parent() == Some(first) && of.get_opcode() == Op::Freeze)
    };
    let mut cuts: Vec<_> = narrow.get_instructions().filter(is_known).collect();
    // A third of a number is shifted and masked, too.
    for from in narrow.get_instructions() {
        let of = llvm::int_operand(from, 0).and_then(|of| of.as_instruction_value());
        let is_here = of.is_some_and(|of| {
            cuts.contains(&of)
                || of.get_parent() == Some(first) && matches!(of.get_opcode(), Op::Freeze | Op::LShr | Op::Trunc)
        });
        let is_constant = || llvm::int_operand(from, 1).is_some_and(IntValue::is_const);
        let is_part = match from.get_opcode() {
            Op::Trunc => llvm::promises(from) == llvm::Promises::default(),
            Op::LShr | Op::And => is_constant() && llvm::promises(from) == llvm::Promises::default(),
            _ => false,
        };
        if is_here && is_part && !cuts.contains(&from) {
            cuts.push(from);
        }
    }
    if let Some(end) = first.get_terminator() {
        llvm::move_before(context, &cuts, end);
    }
}

/// A slice that has as many elements as a plane.
#[derive(Clone, Copy)]
struct Covered<'ctx> {
    area: Area<'ctx>,
    /// Whether the plane's width and height are numbers of their own, of which one less may be asked for: they must not be 0.
    of_numbers: bool,
}

impl<'ctx> Covered<'ctx> {
    /// What is known of the numbers.
    fn given(&self) -> impl Iterator<Item = (IntValue<'ctx>, Interval)> + use<'ctx> {
        let [width, height] = self.area.extents;
        let some = Interval::new(1, i128::from(u32::MAX));
        let of_numbers = self.of_numbers;
        [width, height].into_iter().filter(move |_| of_numbers).map(move |number| (number, some))
    }
}

/// How large the parts of three numbers in one can be, of which the first block has asked that some bits are 0.
fn thirds<'ctx>(kernel: FunctionValue<'ctx>) -> Vec<(IntValue<'ctx>, Interval)> {
    let asked = kernel.get_first_basic_block().map(|first| parts(first, &QuickSet::default())).unwrap_or_default();
    let clear: Vec<(IntValue<'ctx>, u64)> = asked
        .into_iter()
        .filter_map(|part| {
            let (is, masked, zero) = comparison(part.condition()?.as_instruction_value()?)?;
            let from = masked.as_instruction_value().filter(|from| from.get_opcode() == Op::And)?;
            let is_clear = is == IntPredicate::EQ && zero.get_zero_extended_constant() == Some(0);
            Some((
                llvm::int_operand(from, 0)?,
                llvm::int_operand(from, 1)?.get_zero_extended_constant().filter(|_| is_clear)?,
            ))
        })
        .collect();
    let most = |from: InstructionValue<'ctx>| {
        let (value, whole, by, mask) = third(from)?;
        let (_, bits) = clear.iter().find(|(of, _)| *of == whole)?;
        let most = (!*bits).checked_shr(u32::try_from(by).ok()?)? & mask;
        Some((value, Interval::new(0, most.into())))
    };
    if clear.is_empty() { Vec::new() } else { llvm::instructions(kernel).filter_map(most).collect() }
}

/// A part of a number of 64 bits: the value, the number, by how many bits that is shifted, and what is kept of the rest.
fn third<'ctx>(from: InstructionValue<'ctx>) -> Option<(IntValue<'ctx>, IntValue<'ctx>, u64, u64)> {
    let BasicValueEnum::IntValue(value) = llvm::result(Some(from).filter(|from| from.get_opcode() == Op::And)?) else {
        return None;
    };
    let number =
        |from: InstructionValue<'_>, at| llvm::int_operand(from, at).and_then(IntValue::get_zero_extended_constant);
    let inner = |value: IntValue<'ctx>, opcode| {
        value.as_instruction_value().filter(|from: &InstructionValue<'ctx>| from.get_opcode() == opcode)
    };
    let mask = number(from, 1)?;
    let of = llvm::int_operand(from, 0)?;
    let cut = inner(of, Op::Trunc).and_then(|cut| llvm::int_operand(cut, 0)).unwrap_or(of);
    let shifted = inner(cut, Op::LShr).and_then(|shifted| Some((llvm::int_operand(shifted, 0)?, number(shifted, 1)?)));
    let (whole, by) = shifted.unwrap_or((cut, 0));
    (whole.get_type().get_bit_width() == 64).then_some((value, whole, by, mask))
}

/// What the first block tells apart: the lengths in 32 bits, the views, which have two numbers of 32 bits in one of 64, and other
/// numbers, each two of which may be a width and a height.
fn areas(kernel: FunctionValue<'_>) -> Vec<Covered<'_>> {
    let Some(first) = kernel.get_first_basic_block() else { return Vec::new() };
    let mut views: Vec<(IntValue<'_>, [Option<IntValue<'_>>; 2])> = Vec::new();
    for cut in first.get_instructions().filter(|from| from.get_opcode() == Op::Trunc) {
        let (Some(of), BasicValueEnum::IntValue(value)) = (llvm::int_operand(cut, 0), llvm::result(cut)) else {
            continue;
        };
        if of.get_type().get_bit_width() != 64 || value.get_type().get_bit_width() != BITS {
            continue;
        }
        let shifted = of.as_instruction_value().filter(|from| from.get_opcode() == Op::LShr);
        if shifted.is_some_and(|from| llvm::int_operand(from, 1).and_then(constant) != Some(BITS.into())) {
            continue;
        }
        let (of, half) = shifted.and_then(|from| llvm::int_operand(from, 0)).map_or((of, 0), |whole| (whole, 1));
        // Not what the block has computed of those.
        if of.as_instruction_value().is_some_and(|from| from.get_opcode() == Op::Mul) {
            continue;
        }
        let at = views.iter().position(|(known, _)| *known == of).unwrap_or_else(|| {
            views.push((of, [None; 2]));
            views.len() - 1
        });
        views[at].1[half] = Some(value);
    }
    let whole = views.iter().filter_map(|(of, [low, high])| Some((*of, low.filter(|_| high.is_none())?)));
    let (lengths, numbers): (Vec<_>, Vec<_>) = whole.partition(|(of, _)| is_length(kernel, *of));
    // Three numbers in one.
    let mut volumes: Vec<(IntValue<'_>, [Option<IntValue<'_>>; 3])> = Vec::new();
    for (value, whole, by, _) in first.get_instructions().filter_map(third) {
        let (at, is_whole) = (by / u64::from(BITS_OF_A_THIRD), by.is_multiple_of(BITS_OF_A_THIRD.into()));
        if at > 2 || !is_whole || value.get_type().get_bit_width() != BITS {
            continue;
        }
        let known = volumes.iter().position(|(of, _)| *of == whole).unwrap_or_else(|| {
            volumes.push((whole, [None; 3]));
            volumes.len() - 1
        });
        volumes[known].1[at as usize] = Some(value);
    }
    let volumes: Vec<_> = volumes
        .into_iter()
        .filter_map(|(whole, [width, height, depth])| Some((whole, [width?, height?], depth?)))
        .collect();
    let both = views.iter().filter_map(|(_, [low, high])| low.zip(*high)).map(|pair| (pair, false));
    let pairs = (0..numbers.len()).flat_map(|one| (one + 1..numbers.len()).map(move |other| (one, other)));
    let pairs = pairs.map(|(one, other)| ((numbers[one].1, numbers[other].1), true)).take(MOST_PAIRS);
    let planes: Vec<_> = both.chain(pairs).collect();
    let areas = lengths.iter().flat_map(|(of, len)| {
        let planes = planes.iter().map(|((width, height), of_numbers)| Covered {
            area: Area { len: *len, extents: [*width, *height], depth: None },
            of_numbers: *of_numbers,
        });
        let volumes = volumes.iter().filter(move |(whole, ..)| whole != of).map(|(_, extents, depth)| Covered {
            area: Area { len: *len, extents: *extents, depth: Some(*depth) },
            of_numbers: false,
        });
        planes.chain(volumes)
    });
    areas.collect()
}

/// Whether a parameter stands behind a pointer, as a slice's length does.
fn is_length(kernel: FunctionValue<'_>, value: IntValue<'_>) -> bool {
    let frozen = value.as_instruction_value().filter(|from| from.get_opcode() == Op::Freeze);
    let param = frozen.and_then(|from| llvm::int_operand(from, 0)).unwrap_or(value);
    let params: Vec<_> = kernel.get_param_iter().collect();
    let at = params.iter().position(|known| *known == BasicValueEnum::IntValue(param));
    at.is_none_or(|at| at > 0 && params[at - 1].is_pointer_value())
}

/// Has the first block test all areas, too.
fn test_areas<'ctx>(
    context: &'ctx Context,
    kernel: FunctionValue<'ctx>,
    covered: &[Covered<'ctx>],
) -> std::result::Result<(), BuilderError> {
    let Some(first) = kernel.get_first_basic_block() else { return Ok(()) };
    let end = first.get_terminator();
    let Some((end, mut all)) = end.and_then(|end| Some((end, llvm::int_operand(end, 0)?))) else { return Ok(()) };
    let builder = context.create_builder();
    builder.position_before(&end);
    for Covered { area: Area { len, extents: [width, height], depth }, of_numbers } in covered {
        // Where the numbers are not small, it does not matter what this is.
        let known = products::known(first, [*width, *height]);
        let mut product = match known {
            Some(product) => product,
            None => builder.build_int_mul(*width, *height, "")?,
        };
        if let Some(depth) = depth {
            product = builder.build_int_mul(product, *depth, "")?;
        }
        let covers = if *of_numbers {
            // Neither is 0 where the last element is there.
            let last = builder.build_int_sub(product, product.get_type().const_int(1, false), "")?;
            builder.build_int_compare(IntPredicate::ULT, last, *len, "")?
        } else {
            builder.build_int_compare(IntPredicate::UGE, *len, product, "")?
        };
        all = builder.build_and(all, covers, "")?;
    }
    llvm::set_condition(end, all);
    Ok(())
}

/// The parts of a block's condition that others imply, with what is told above it.
fn implied<'ctx>(
    block: BasicBlock<'ctx>,
    parts: Vec<Part<'ctx>>,
    above: Vec<Comparison<'ctx>>,
    ranges: &Cases<'_, 'ctx>,
    numbers: &mut Numbers<'_, '_, 'ctx>,
    areas: &[Area<'ctx>],
) -> Vec<Part<'ctx>> {
    let checks: Vec<Part<'ctx>> = parts.iter().copied().filter(|part| part.check().is_some()).collect();
    // A check under a guard, which is frozen, need mean something only where the guard holds.
    let mut is_number = |part: &Part<'ctx>| match part.guarded() {
        Some(Guarded { compared, guard: Some(guard) }) => {
            let BasicValueEnum::IntValue(check) = llvm::result(compared) else { return false };
            let is_frozen = part.condition().is_some_and(|whole| numbers.contain(whole));
            is_frozen && numbers.contain(guard) && numbers.contain_if(guard, check)
        }
        _ => part.condition().is_some_and(|whole| numbers.contain(whole)),
    };
    if checks.is_empty() || parts.len() > MOST_PARTS || !parts.iter().all(&mut is_number) {
        return Vec::new();
    }
    let mut gone: Vec<Part<'ctx>> = Vec::new();
    // The others are cheap to ask, and tell more.
    let others = parts.iter().copied().filter(|part| part.check().is_none());
    for part in checks.into_iter().chain(others) {
        let Some(condition) = part.condition().and_then(|condition| condition.as_instruction_value()) else {
            continue;
        };
        let stay = parts.iter().filter(|other| **other != part && !gone.contains(other));
        let stay: Vec<_> = stay.filter_map(|part| part.condition().map(|condition| (condition, part.holds))).collect();
        let mut facts = ranges.facts(block);
        let mut told = above.clone();
        for (condition, holds) in stay {
            // What a sum is below says nothing of what it is made of.
            if !is_of_sum(condition) {
                ranges.learn(condition, holds, &mut facts);
            }
            follow(condition, holds, &mut told, MOST_STEPS);
        }
        // Where the guard does not hold, nothing is asked.
        if let Some(guard) = part.guarded().and_then(|guarded| guarded.guard) {
            ranges.learn(guard, true, &mut facts);
            follow(guard, true, &mut told, MOST_STEPS);
        }
        let is_implied = match part.check() {
            Some(order) => Place { ranges, facts, told, areas }.implies(order, &mut Vec::new()),
            None => ranges.decide(condition, &facts) == Some(part.holds),
        };
        if is_implied {
            gone.push(part);
        }
    }
    gone
}

#[cfg(test)]
#[path = "implied_tests.rs"]
mod tests;
