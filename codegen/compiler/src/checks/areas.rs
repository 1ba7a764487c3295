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
//! With a constant `k` in the place of the last coordinate, the index is in one of `k + 1` areas that lie one behind the other, as
//! those of the channels of an image do; of all such constants the largest is asked for. The extents are asked to be small enough
//! for the product to be a number of 64 bits, and that so many times to be at most 2^31, so that no index of the area wraps around
//! or is negative. What branches have shown holds in the copy as well, because the copy takes the same branches, and divides where
//! they lead to a division. What decides follows from the function's arguments alone: all threads of a kernel take the same way.
//!
//! Not where an index is computed in 64 bits: `indices/` has a copy for those, in which it drops checks that a view implies. Nor
//! where threads meet, nor where there are few such checks outside of loops, which are cheaper merged.

use super::apart;
use super::chain::{Check, compared};
use super::copy::{self, Copies};
use super::rows::Rows;
use super::sums::{Factors, Sum};
use super::within::{Known, Place, Remainder, is_uniform};
use crate::llvm::{
    self, BasicBlock, Builder, BuilderError, Context, FunctionValue, InstructionOpcode as Op, IntPredicate, IntValue,
    Module, Unroll,
};
use crate::loops::{self, Graph, Loop, instruction};

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

/// The extents of an area, from within, and the slice that must have as many elements as several of them.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Area<'ctx> {
    extents: Vec<IntValue<'ctx>>,
    /// How many lie one behind the other.
    times: u32,
    len: IntValue<'ctx>,
    /// What no extent is less than.
    least: u32,
}

/// A check of an index of an area.
struct Element<'ctx> {
    check: Check<'ctx>,
    area: Area<'ctx>,
    index: IntValue<'ctx>,
    /// With as many coordinates as the area has extents.
    place: Place<'ctx>,
}

impl<'ctx> Element<'ctx> {
    /// Its values that may be phis within what is copied.
    fn values(&mut self) -> impl Iterator<Item = &mut IntValue<'ctx>> {
        self.place.coordinates.iter_mut().map(|coordinate| &mut coordinate.value).chain([&mut self.index])
    }
}

/// Where a phi stands.
fn place_of(value: IntValue<'_>) -> Option<(BasicBlock<'_>, usize)> {
    let phi = instruction(value, Op::Phi)?;
    let block = phi.get_parent()?;
    llvm::phis(block).position(|other| other == phi).map(|at| (block, at))
}

/// Copies what such checks are in, in a function.
pub fn copy<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    function: FunctionValue<'ctx>,
) -> Result<(), BuilderError> {
    let has_checks = || function.get_basic_blocks().into_iter().any(|block| Check::of(block, false).is_some());
    if !has_checks() || llvm::instructions(function).any(loops::is_convergent) {
        return Ok(());
    }
    let graph = Graph::of(function);
    let (mut factors, remainders) = (Factors::default(), Remainder::all(function));
    let all_loops = graph.loops();
    let is_in_loop = |element: &Element<'ctx>| all_loops.iter().any(|found| found.contains(element.check.block));
    let mut elements_of = |may_be_clamped| -> Vec<_> {
        let blocks = function.get_basic_blocks().into_iter();
        let checks = blocks.filter_map(|block| Check::of(block, false));
        checks.filter_map(|check| Element::of(check, &graph, &remainders, &mut factors, may_be_clamped)).collect()
    };
    let mut elements = elements_of(true);
    if !elements.iter().any(is_in_loop) {
        // What is clamped needs no copy there: such checks follow each other, and are merged.
        elements = elements_of(false);
    }
    let areas = Area::all(elements.iter().map(|element| &element.area));
    elements.retain(|element| areas.iter().any(|area| area.is_like(&element.area)));
    // What is within by how it is computed alone is checked by checks that follow each other, too.
    let is_worth = |element: &&Element<'ctx>| element.place.is_shown || is_in_loop(element);
    if elements.iter().filter(is_worth).count() < LEAST_CHECKS && !elements.iter().any(is_in_loop) {
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
    let size: usize = inside.iter().map(|block| block.get_instructions().count()).sum();
    if areas.len() > MOST_AREAS || size > MOST_INSTRUCTIONS {
        return Ok(());
    }
    let builder = context.create_builder();
    let Some(end) = head.get_terminator().filter(|end| end.get_opcode() == Op::Br) else { return Ok(()) };
    builder.position_before(&end);
    let mut fits = context.bool_type().const_int(1, false);
    for area in &areas {
        fits = builder.build_and(fits, area.fits(&builder, &inside)?, "")?;
    }
    // The phis behind the head are written anew.
    let places: Vec<Vec<_>> =
        elements.iter_mut().map(|element| element.values().map(|value| place_of(*value)).collect()).collect();
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
            rows.address(element.index, &element.place, element.check.inside, &graph)?;
        }
        let end = version.copy_of(element.check.block).get_terminator().expect("a copy ends as its block does");
        llvm::always_branch(context, end, element.check.inside_first);
    }
    apart::keep(module, &builder, &version, &inside, &all_loops)?;
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
    fn of(
        check: Check<'ctx>,
        graph: &Graph<'ctx>,
        remainders: &[Remainder<'ctx>],
        factors: &mut Factors<'ctx>,
        may_be_clamped: bool,
    ) -> Option<Self> {
        let (index, half, len) = indexed(&check)?;
        let mut known = Known::at(check.block, graph, factors);
        let sum = factors.sum(half)?;
        known.add_remainders(remainders, check.block, graph, factors);
        if may_be_clamped {
            known.add_clamped(&sum, factors);
        }
        let (area, place) = Area::of(&known, &sum, len)?;
        Some(Self { check, area, index, place })
    }
}

/// The index that a check looks at, what of 32 bits that is extended from, and a length that is the same for all threads.
pub(super) fn indexed<'ctx>(check: &Check<'ctx>) -> Option<(IntValue<'ctx>, IntValue<'ctx>, IntValue<'ctx>)> {
    let (index, len) = compared(check.condition, check.inside_first, IntPredicate::ULT)?;
    if len.get_type().get_bit_width() != 64 || !is_uniform(len) {
        return None;
    }
    let half =
        [Op::SExt, Op::ZExt].into_iter().find_map(|extends| llvm::int_operand(instruction(index, extends)?, 0))?;
    Some((index, half, len))
}

impl<'ctx> Area<'ctx> {
    /// The one that an index is in, by what is known, and where.
    pub(super) fn of(known: &Known<'ctx>, index: &Sum, len: IntValue<'ctx>) -> Option<(Self, Place<'ctx>)> {
        let place = known.place(index, MOST_DIMENSIONS)?;
        let extents = place.coordinates.iter().map(|coordinate| coordinate.extent).collect();
        Some((Self { extents, times: place.area + 1, len, least: known.least_extent }, place))
    }

    /// All that are to be asked for, of several; a single row is not.
    pub(super) fn all<'a>(of: impl Iterator<Item = &'a Self>) -> Vec<Self>
    where
        'ctx: 'a,
    {
        let mut all: Vec<Self> = Vec::new();
        for area in of {
            match all.iter_mut().find(|known| known.is_like(area)) {
                Some(known) => known.cover(area),
                None => all.push(area.clone()),
            }
        }
        all.retain(|area| !area.is_row());
        all
    }

    /// Whether both are one, but for how many lie one behind the other.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.extents == other.extents && self.len == other.len
    }

    /// Has what shows that the slice has these areas show it for those of another one like it.
    pub(super) fn cover(&mut self, other: &Self) {
        (self.times, self.least) = (self.times.max(other.times), self.least.max(other.least));
    }

    /// Whether it is no more than a row.
    pub(super) fn is_row(&self) -> bool {
        self.extents.len() == 1 && self.times == 1
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
        let times = u64::from(self.times);
        asked.push(builder.build_int_compare(IntPredicate::ULE, product, number(END_OF_HALF / times), "")?);
        product = builder.build_int_mul(product, number(times), "")?;
        // The product of two is below 2^60 then, and that of three below 2^63.
        let most = number(if self.extents.len() > 2 { 1 << 21 } else { 1 << 30 });
        asked.push(builder.build_int_compare(IntPredicate::ULT, any, most, "")?);
        let has_all = builder.build_int_compare(IntPredicate::ULE, product, len, "")?;
        asked.into_iter().try_fold(has_all, |all, one| builder.build_and(all, one, ""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::{AnyValue, parse_ir};
    use crate::request::OptLevel;

    /// Branches to a check where a number is below the height.
    const GUARD: &str = "%g = icmp ult i32 %r, %height
        br i1 %g, label %inside, label %next";
    const REST: &str = "%x = urem i32 %i, %n";
    const INDEX: &str = "%m = mul i32 %r, %n
        %s = add i32 %m, %x";
    const PLANES: &str = "%m = mul i32 %height, {at}
        %e = add i32 %m, %r
        %t{at} = mul i32 %e, %n
        %s = add i32 %t{at}, %x";

    /// A function that adds up six elements of a slice, each behind a branch and a check of its index, after [`copy`] and passes
    /// of LLVM's. In each text, `%r` is a row and `{at}` its number.
    fn copied(start: &str, guard: &str, index: &str, passes: &str) -> String {
        let here = |text: &str, at: usize| {
            let named = ["%r", "%g", "%m", "%s", "%e"].into_iter().fold(text.to_string(), |text, name| {
                [",", " ", "\n"]
                    .iter()
                    .fold(text + "\n", |text, end| text.replace(&format!("{name}{end}"), &format!("{name}{at}{end}")))
            });
            let named = named.replace("%inside", &format!("%c{at}")).replace("%next", &format!("%b{}", at + 1));
            named.replace("{at}", &at.to_string())
        };
        let elements = (0..6).map(|at| {
            let (guard, index) = (here(guard, at), here(index, at));
            format!(
                "b{at}: %r{at} = add i32 %row, {at}
                  {guard}
                c{at}: {index}
                  %i{at} = zext i32 %s{at} to i64
                  %ok{at} = icmp ult i64 %i{at}, %len
                  br i1 %ok{at}, label %l{at}, label %p{at}
                l{at}: %at{at} = getelementptr i32, ptr %data, i64 %i{at}
                  %v{at} = load i32, ptr %at{at}
                  %old{at} = load i32, ptr %sum
                  %new{at} = add i32 %old{at}, %v{at}
                  store i32 %new{at}, ptr %sum
                  br label %b{}
                p{at}: call void @__rust_ptx_panic_with_1(i64 %i{at})
                  unreachable\n",
                at + 1
            )
        });
        let elements: String = elements.collect();
        let text = format!(
            "declare void @__rust_ptx_panic_with_1(i64) noreturn
            define i32 @f(ptr noalias %data, i64 %len, i32 %i, i32 %n, i32 %row, i32 %height, i1 %z) {{
            entry: %sum = alloca i32
              store i32 0, ptr %sum
              {start}
              br label %b0
            {elements}
            b6: %all = load i32, ptr %sum
              ret i32 %all
            }}"
        );
        let context = Context::create();
        let module =
            parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        copy(&context, &module, module.get_function("f").unwrap()).unwrap();
        module.verify().unwrap();
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        if !passes.is_empty() {
            llvm::run_passes(&module, &machine, passes).unwrap();
        }
        apart::drop(&module);
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    fn unchecked(ir: &str) -> usize {
        ir.matches("br i1 true").count()
    }

    #[test]
    fn what_a_division_leaves_is_below_the_divisor() {
        let decomposed = "%q = udiv i32 %i, %n
            %p = mul i32 %n, %q
            %x = sub i32 %i, %p";
        for start in [REST.to_string(), decomposed.to_string(), decomposed.replace("%n, %q", "%q, %n")] {
            let ir = copied(&start, GUARD, INDEX, "");
            assert_eq!(unchecked(&ir), 6, "{start}: {ir}");
        }
        // Of row and column together LLVM knows that they are the number that was divided.
        let quotient = GUARD.replace("%r,", "%q,");
        let ir = copied(decomposed, &quotient, "%s = add i32 %i, 0", "");
        assert_eq!(unchecked(&ir), 6, "{ir}");
        // A number that is frozen where the function begins is one number.
        let frozen = "%w = freeze i32 %n\n %x = urem i32 %i, %w";
        let ir = copied(frozen, GUARD, &INDEX.replace("%n", "%w"), "");
        assert_eq!(unchecked(&ir), 6, "{ir}");
    }

    #[test]
    fn what_a_condition_denies_is_known() {
        let denied = "%g = icmp ult i32 %r, %height
            %m = xor i1 %g, true
            %e = select i1 %z, i1 true, i1 %m
            br i1 %e, label %next, label %inside";
        let index = INDEX.replace("%m", "%mul{at}");
        let ir = copied(REST, denied, &index, "");
        assert_eq!(unchecked(&ir), 6, "{ir}");
        let ir = copied(REST, &denied.replace("i32 %r, %height", "i32 %height, %r"), &index, "");
        assert_eq!(unchecked(&ir), 0, "{ir}");
    }

    #[test]
    fn others_are_checked() {
        for (start, index, why) in [
            ("%x = urem i32 %i, %height", INDEX, "by another number"),
            ("%x = srem i32 %i, %n", INDEX, "with a sign"),
            ("%x = udiv i32 %i, %n", INDEX, "the quotient"),
            ("%q = udiv i32 %row, %n\n %p = mul i32 %q, %n\n %x = sub i32 %i, %p", INDEX, "of another number"),
            ("%y = urem i32 %i, %n\n %x = add i32 %y, 1", INDEX, "one more"),
            (REST, "%m = mul i32 %r, %height\n %s = add i32 %m, %x", "a row of another length"),
            (REST, "%m = mul i32 %row, %n\n %s = add i32 %m, %x", "a row of which nothing is known"),
            (REST, "%m = mul i32 %n, -2\n %s = add i32 %m, %x", "before the first"),
            ("", "%x{at} = urem i32 %i, %n\n %m = mul i32 %r, %n\n %s = add i32 %m, %r", "of which nothing is left"),
        ] {
            let ir = copied(start, GUARD, index, "");
            assert_eq!(unchecked(&ir), 0, "{why}: {ir}");
        }
    }

    #[test]
    fn of_areas_one_behind_the_other_as_many_are_asked_for_as_are_used() {
        // Each row by a constant: the columns are shown, and six rows asked for.
        let columns = "%g = icmp ult i32 %i, %n
            br i1 %g, label %inside, label %next";
        let rows = "%m = mul i32 %n, {at}
            %s = add i32 %m, %i";
        let ir = copied("", columns, rows, "");
        assert_eq!(unchecked(&ir), 6, "{ir}");
        assert!(ir.contains(", 357913941") && ir.contains(", 6\n"), "{ir}");
        // So is each plane.
        let ir = copied(REST, GUARD, PLANES, "");
        assert_eq!(unchecked(&ir), 6, "{ir}");
        assert!(ir.contains(", 357913941"), "{ir}");
        // What a division has left needs no branch, and its checks no copy; nor does a single row.
        let ir = copied(REST, "br i1 %z, label %inside, label %next", &rows.replace("%i", "%x"), "");
        assert_eq!(unchecked(&ir), 0, "{ir}");
        let ir = copied("", columns, "%s = add i32 %i, 0", "");
        assert_eq!(unchecked(&ir), 0, "{ir}");
    }

    #[test]
    fn the_last_loads_stay_apart() {
        const JOIN: &str = "function(sroa,simplifycfg,early-cse,simplifycfg<no-keep-loops;sink-common-insts>)";
        let ir = copied(REST, GUARD, PLANES, JOIN);
        assert_eq!(ir.matches("load i32").count(), 12, "{ir}");
    }
}
