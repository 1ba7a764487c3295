//! Knows the checks of elements of a plane whose coordinates are clamped to it.
//!
//! ```text
//! before: %x = smin i32 (smax i32 (%column + 1), 0), (%width - 1)                 ; `(column + 1).clamp(0, width - 1)`
//!         %y = usub.sat i32 %row, 1                                               ; `row.saturating_sub(1)`, `row < height`
//!         br i1 (icmp ult i64 (sext i32 (%y * %width + %x) to i64), %len), …      ; and so for eight neighbours more
//! after:  %fits = icmp ult i64 (%height * %width - 1), %len  ; in place of the nine comparisons
//! ```
//!
//! A filter that goes on with the last pixel at the edge of an image has no branch for its neighbours, but Rust checks the index
//! of each. To compare the largest of them, all are computed before the first is loaded, and each stays in a register.
//!
//! **Why it is right.** A minimum with `width - 1` is below the width, if that is not 0; so is what is 0 or such a number, and what
//! is less than a number that a branch has shown to be below. With `x < width` and `y < height`, both below 2^31, `y * width + x` is
//! below their product, which is asked to be at most 2^31, so that nothing wraps around. That the slice has so many elements is
//! enough, but not needed: where it has not, each check is made by itself, and what comes behind them is run if none fails.
//!
//! Not where an index is computed in 64 bits: `indices/` drops such checks in its copy.

use super::bounds::{below, instruction, shown};
use super::chain::{Chain, compared};
use super::copy::Copies;
use super::within::{clamped, is_uniform, less_of};
use crate::llvm::{self, BasicValue, Builder, BuilderError, Context, InstructionOpcode as Op, IntPredicate, IntValue};
use crate::loops::{Graph, integer};

/// Instructions that are looked at for one number.
const MOST_STEPS: usize = 8;

/// Checks that are worth a product.
const LEAST_CHECKS: usize = 3;

/// Extents are below this, and indices of 32 bits.
const END_OF_HALF: u64 = 1 << 31;

/// A number of 32 bits, whichever way it is extended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent<'ctx> {
    /// A number, which may be extended somewhere.
    Value(IntValue<'ctx>),
    /// The lower half of a number of 64 bits.
    Low(IntValue<'ctx>),
}

/// A plane, and a slice that has its elements.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Plane<'ctx> {
    width: Extent<'ctx>,
    height: Extent<'ctx>,
    len: IntValue<'ctx>,
}

/// Checks of elements of one plane, by their place in a chain.
pub struct Elements<'ctx> {
    plane: Plane<'ctx>,
    pub checks: Vec<usize>,
}

/// The numbers that branches have shown to be below others.
type Facts<'ctx> = [(IntValue<'ctx>, IntValue<'ctx>)];

/// The checks of a chain that are of elements of planes.
pub fn elements<'ctx>(chain: &Chain<'ctx>) -> Vec<Elements<'ctx>> {
    let mut found: Vec<Elements<'ctx>> = Vec::new();
    let is_candidate = |condition: IntValue<'ctx>, inside_first| {
        compared(condition, inside_first, IntPredicate::ULT).filter(|(index, _)| sum_of(*index).is_some())
    };
    let candidates: Vec<_> = chain
        .checks
        .iter()
        .enumerate()
        .filter_map(|(at, check)| Some((at, is_candidate(check.condition, check.inside_first)?)))
        .collect();
    let Some(function) = chain.head.get_parent().filter(|_| candidates.len() >= LEAST_CHECKS) else { return found };
    let mut facts = Vec::new();
    shown(&Graph::of(function), chain.head).into_iter().for_each(|(condition, is)| below(condition, is, &mut facts));
    // Where it is asked for all checks, those before have been asked too, as whether the thread has a pixel.
    let first = candidates.first().map_or(0, |(at, _)| *at);
    chain.checks[..first].iter().for_each(|check| below(check.condition, check.inside_first, &mut facts));
    for (at, (index, len)) in candidates {
        let Some(plane) = Plane::of(index, len, &facts) else { continue };
        match found.iter_mut().find(|elements| elements.plane == plane) {
            Some(elements) => elements.checks.push(at),
            None => found.push(Elements { plane, checks: vec![at] }),
        }
    }
    found.retain(|elements| elements.checks.len() >= LEAST_CHECKS);
    found
}

impl<'ctx> Elements<'ctx> {
    /// Writes whether the slice has an element for each of the plane.
    pub fn fit(
        &self,
        context: &'ctx Context,
        builder: &Builder<'ctx>,
        copies: &mut Copies<'ctx>,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let wide = context.i64_type();
        let number = |number| wide.const_int(number, false);
        let width = self.plane.width.write(context, builder, copies)?;
        let height = self.plane.height.write(context, builder, copies)?;
        let len = frozen(builder, self.plane.len, copies);
        let any = builder.build_or(width, height, "")?;
        let small = builder.build_int_compare(IntPredicate::ULT, any, number(END_OF_HALF), "")?;
        let elements = builder.build_int_mul(height, width, "")?;
        let last = builder.build_int_sub(elements, number(1), "")?;
        let has_all = builder.build_int_compare(IntPredicate::ULT, last, len, "")?;
        let is_half = builder.build_int_compare(IntPredicate::ULT, last, number(END_OF_HALF), "")?;
        let fit = builder.build_and(small, is_half, "")?;
        builder.build_and(fit, has_all, "")
    }
}

impl<'ctx> Plane<'ctx> {
    fn of(index: IntValue<'ctx>, len: IntValue<'ctx>, facts: &Facts<'ctx>) -> Option<Self> {
        if len.get_type().get_bit_width() != 64 || !is_uniform(len) {
            return None;
        }
        let [one, other] = sum_of(index)?;
        [(one, other), (other, one)].into_iter().find_map(|(start, column)| {
            let product = instruction(start, Op::Mul)?;
            let width = extent_of(column, facts, &mut { MOST_STEPS })?;
            let [one, other] = [integer(product, 0)?, integer(product, 1)?];
            let row = [(one, other), (other, one)].into_iter().find(|(_, by)| Extent::of(*by) == width)?.0;
            let height = extent_of(row, facts, &mut { MOST_STEPS })?;
            Some(Self { width, height, len })
        })
    }
}

/// The two sides of the sum of 32 bits that an index is, one of which is a product.
fn sum_of(index: IntValue<'_>) -> Option<[IntValue<'_>; 2]> {
    let half = [Op::SExt, Op::ZExt].into_iter().find_map(|extends| integer(instruction(index, extends)?, 0))?;
    let sum = instruction(half, Op::Add).filter(|_| half.get_type().get_bit_width() == 32)?;
    let sides = [integer(sum, 0)?, integer(sum, 1)?];
    sides.iter().any(|side| instruction(*side, Op::Mul).is_some()).then_some(sides)
}

/// What a number is below, if that is not 0.
fn extent_of<'ctx>(value: IntValue<'ctx>, facts: &Facts<'ctx>, steps: &mut usize) -> Option<Extent<'ctx>> {
    if let Some((extent, 1)) = clamped(value, &mut { MOST_STEPS }).and_then(less_of) {
        return Some(Extent::of(extent));
    }
    let shown = facts.iter().find(|(small, large)| is_uniform(*large) && Extent::of(*small) == Extent::of(value));
    if let Some((_, large)) = shown {
        return Some(Extent::of(*large));
    }
    *steps = steps.checked_sub(1)?;
    let from = value.as_instruction_value()?;
    if llvm::calls(from, &["llvm.usub.sat."]) {
        return extent_of(integer(from, 0)?, facts, steps);
    }
    match from.get_opcode() {
        Op::ZExt => extent_of(integer(from, 0)?, facts, steps),
        Op::Select => {
            let [one, other] =
                [integer(from, 1)?, integer(from, 2)?].map(|side| (side, side.get_zero_extended_constant()));
            match (one, other) {
                ((_, Some(0)), (side, None)) | ((side, None), (_, Some(0))) => extent_of(side, facts, steps),
                _ => None,
            }
        }
        _ => None,
    }
}

impl<'ctx> Extent<'ctx> {
    fn of(value: IntValue<'ctx>) -> Self {
        let Some(from) = value.as_instruction_value() else { return Self::Value(value) };
        let operand = integer(from, 0);
        let mask = || integer(from, 1).and_then(|mask| mask.get_zero_extended_constant());
        match (from.get_opcode(), operand) {
            (Op::ZExt, Some(half)) if half.get_type().get_bit_width() == 32 => Self::of(half),
            (Op::Trunc, Some(wide))
                if value.get_type().get_bit_width() == 32 && wide.get_type().get_bit_width() == 64 =>
            {
                Self::low(wide)
            }
            (Op::And, Some(wide)) if wide.get_type().get_bit_width() == 64 && mask() == Some(u64::from(u32::MAX)) => {
                Self::Low(wide)
            }
            _ => Self::Value(value),
        }
    }

    /// The lower half of a number; one that has no upper half is that number.
    fn low(wide: IntValue<'ctx>) -> Self {
        let by = instruction(wide, Op::LShr).and_then(|from| integer(from, 1)?.get_zero_extended_constant());
        if by.is_some_and(|by| by >= 32) { Self::Value(wide) } else { Self::Low(wide) }
    }

    /// Writes it as a number of 64 bits.
    fn write(
        self,
        context: &'ctx Context,
        builder: &Builder<'ctx>,
        copies: &mut Copies<'ctx>,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let wide = context.i64_type();
        match self {
            Self::Value(value) => {
                let value = frozen(builder, value, copies);
                if value.get_type() == wide { Ok(value) } else { builder.build_int_z_extend(value, wide, "") }
            }
            Self::Low(value) => {
                let value = frozen(builder, value, copies);
                builder.build_and(value, wide.const_int(u32::MAX.into(), false), "")
            }
        }
    }
}

/// A value where the builder stands, which is the same wherever it is looked at.
fn frozen<'ctx>(builder: &Builder<'ctx>, value: IntValue<'ctx>, copies: &mut Copies<'ctx>) -> IntValue<'ctx> {
    llvm::build_freeze(builder, copies.of(builder, value.into()).into_int_value())
}

#[cfg(test)]
mod tests {
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::{self, AnyValue, Context, parse_ir};
    use crate::request::OptLevel;

    const START: &str = "%last = add i32 %width, -1
        %bottom = add i32 %height, -1";

    /// Four neighbours of a pixel, whose coordinates are computed so of `%column` and `%row`, after the checks are merged.
    fn merged(x: &str, y: &str) -> String {
        let mut blocks = String::new();
        for at in 0..4 {
            let (dx, dy, next) = (at % 2, at / 2, at + 1);
            let here = |text: &str| text.replace("%column", &format!("%c{at}")).replace("%row", &format!("%r{at}"));
            blocks += &format!(
                "b{at}: %c{at} = add i32 %tx, {dx}
                  %r{at} = add i32 %ty, {dy}
                  {}
                  {}
                  %start{at} = mul i32 %y{at}, %width
                  %sum{at} = add i32 %start{at}, %x{at}
                  %i{at} = sext i32 %sum{at} to i64
                  %ok{at} = icmp ult i64 %i{at}, %len
                  br i1 %ok{at}, label %l{at}, label %p{at}
                l{at}: %at{at} = getelementptr i32, ptr %image, i64 %i{at}
                  %v{at} = load i32, ptr %at{at}
                  br label %b{next}
                p{at}: call void @panic(i64 %i{at}, i32 {at})
                  unreachable\n",
                here(x).replace("%m", &format!("%mx{at}")).replace("%x ", &format!("%x{at} ")),
                here(y).replace("%m", &format!("%my{at}")).replace("%y ", &format!("%y{at} ")),
            );
        }
        let text = format!(
            "declare void @panic(i64, i32) noreturn
            declare i32 @llvm.smin.i32(i32, i32)
            declare i32 @llvm.smax.i32(i32, i32)
            declare i32 @llvm.umin.i32(i32, i32)
            define i32 @f(ptr %image, i64 %len, i32 %width, i32 %height, i32 %tx, i32 %ty) {{
            entry: {START}
              br label %b0
            {blocks}
            b4: %s = add i32 %v0, %v1
              %t = add i32 %v2, %v3
              %u = add i32 %s, %t
              ret i32 %u
            }}"
        );
        let context = Context::create();
        let module =
            parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        llvm::run_passes(&module, &machine, "function(simplifycfg)").unwrap();
        super::super::merge(&context, &module, &machine).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    /// Whether the product decides; each panic is there either way, and what is behind the checks is once.
    fn is_of_the_plane(ir: &str) -> bool {
        let entry = ir.split("br i1").next().unwrap_or_default();
        assert!((0..4).all(|at| ir.contains(&format!(", i32 {at})"))), "{ir}");
        assert_eq!(ir.matches("load i32").count(), 4, "{ir}");
        entry.contains("mul nuw i64")
    }

    const X: &str = "%m = call i32 @llvm.smax.i32(i32 %column, i32 0)
        %x = call i32 @llvm.smin.i32(i32 %m, i32 %last)";
    const Y: &str = "%m = call i32 @llvm.smax.i32(i32 %row, i32 0)
        %y = call i32 @llvm.smin.i32(i32 %m, i32 %bottom)";

    #[test]
    fn clamped_neighbours_are_in_the_plane() {
        let ir = merged(X, Y);
        assert!(is_of_the_plane(&ir), "{ir}");
        // As LLVM writes it, where the number is not above 2^31.
        let chosen = "%m = call i32 @llvm.umin.i32(i32 %row, i32 %bottom)
            %neg.%m = icmp slt i32 %row, 0
            %y = select i1 %neg.%m, i32 0, i32 %m"
            .replace("%neg.%m", "%mneg");
        let ir = merged(X, &chosen);
        assert!(is_of_the_plane(&ir), "{ir}");
    }

    #[test]
    fn what_may_be_outside_is_compared() {
        for (x, y, why) in [
            (X.replace("%last", "%width"), Y.to_string(), "one more than the last"),
            (X.to_string(), "%y = call i32 @llvm.smin.i32(i32 %row, i32 %bottom)".to_string(), "negative"),
            (X.replace("%last", "%bottom"), Y.to_string(), "another row's end"),
            (X.to_string(), "%m = add i32 %row, 0\n %y = add i32 %m, 0".to_string(), "not clamped"),
        ] {
            let ir = merged(&x, &y);
            assert!(!is_of_the_plane(&ir), "{why}: {ir}");
        }
    }
}
