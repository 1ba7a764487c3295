//! Knows the checks of elements of a plane whose coordinates are clamped to it.
//!
//! ```text
//! before: %x = smin i32 (smax i32 (%column + 1), 0), (%width - 1)                 ; `(column + 1).clamp(0, width - 1)`
//!         %y = usub.sat i32 %row, 1                                               ; `row.saturating_sub(1)`, `row < height`
//!         br i1 (icmp ult i64 (sext i32 (%y * %width + %x) to i64), %len), …      ; and so for eight neighbours more
//! after:  %fits = icmp ule i64 (%height * %width), %len      ; in place of the nine comparisons
//! ```
//!
//! A filter that goes on with the last pixel at the edge of an image has no branch for its neighbours, but Rust checks the index
//! of each. To compare the largest of them, all are computed before the first is loaded, and each stays in a register.
//!
//! **Why it is right.** What is asked is what `areas.rs` asks before its copies, of coordinates that `within.rs` knows: that the slice
//! has so many elements. That is enough, but not needed: where it has not, each check is made by itself, and what comes behind them
//! is run if none fails. What branches have shown holds at the first of these checks, and is asked with it.
//!
//! Not where an index is computed in 64 bits: `indices/` drops such checks in its copy.

use super::areas::{self, Area};
use super::chain::Chain;
use super::sums::Factors;
use super::within::{Known, Remainder};
use crate::llvm::{self, BasicBlock, Builder, BuilderError, InstructionOpcode as Op, IntValue};
use crate::loops::{Graph, instruction};

/// Checks that are worth a product.
const LEAST_CHECKS: usize = 3;

/// Checks of elements of one area, by their place in a chain.
pub struct Elements<'ctx> {
    area: Area<'ctx>,
    pub checks: Vec<usize>,
}

/// The checks of a chain that are of elements of areas.
pub fn elements<'ctx>(chain: &Chain<'ctx>) -> Vec<Elements<'ctx>> {
    let mut found: Vec<Elements<'ctx>> = Vec::new();
    let checks = chain.checks.iter().enumerate();
    let indexed = checks.filter_map(|(at, check)| {
        let (_, half, len) = areas::indexed(check)?;
        has_row(half).then_some((at, half, len))
    });
    let indexed: Vec<_> = indexed.collect();
    let Some(function) = chain.head.get_parent().filter(|_| indexed.len() >= LEAST_CHECKS) else { return found };
    let mut factors = Factors::default();
    let (first, graph) = (chain.checks[indexed[0].0].block, Graph::of(function));
    let mut known = Known::at(first, &graph, &mut factors);
    known.add_remainders(&Remainder::all(function), first, &graph, &mut factors);
    let sums: Vec<_> = indexed.into_iter().filter_map(|(at, half, len)| Some((at, factors.sum(half)?, len))).collect();
    sums.iter().for_each(|(_, sum, _)| known.add_clamped(sum, &mut factors));
    for (at, sum, len) in &sums {
        let Some((area, _)) = Area::of(&known, sum, *len) else { continue };
        match found.iter_mut().find(|elements| elements.area.is_like(&area)) {
            Some(elements) => {
                elements.area.cover(&area);
                elements.checks.push(*at);
            }
            None => found.push(Elements { area, checks: vec![*at] }),
        }
    }
    found.retain(|elements| elements.checks.len() >= LEAST_CHECKS && !elements.area.is_row());
    found
}

/// Whether a number is a sum with a product, as an index of a plane is; most are not, and are not looked at further.
fn has_row(index: IntValue<'_>) -> bool {
    let is_product = |side| side_of(index, side).is_some_and(|side| instruction(side, Op::Mul).is_some());
    is_product(0) || is_product(1)
}

fn side_of(index: IntValue<'_>, side: u32) -> Option<IntValue<'_>> {
    llvm::int_operand(instruction(index, Op::Add)?, side)
}

impl<'ctx> Elements<'ctx> {
    /// Writes whether the slice has an element for each of the area; `behind` are blocks that come later.
    pub fn fit(&self, builder: &Builder<'ctx>, behind: &[BasicBlock<'ctx>]) -> Result<IntValue<'ctx>, BuilderError> {
        self.area.fits(builder, behind)
    }
}

#[cfg(test)]
mod tests {
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::{self, AnyValue, Context, parse_ir};
    use crate::request::OptLevel;

    const START: &str = "%last = add i32 %width, -1
        %bottom = add i32 %height, -1
        %left = urem i32 %tx, %width";

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
    fn rows_one_behind_the_other_are_asked_for_at_once() {
        // The column is what a division has left, and the rows are the first and the second.
        let ir = merged("%x = add i32 %left, 0", "%y = sub i32 %row, %ty");
        let entry = ir.split("br i1").next().unwrap_or_default();
        assert!(entry.contains("shl nuw nsw i64") && entry.matches("icmp").count() == 2, "{ir}");
        // Both columns are one.
        assert_eq!(ir.matches("load i32").count(), 2, "{ir}");
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
