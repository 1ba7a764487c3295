//! Drops checks of elements that branches have shown to be inside of a plane, where the slice is that plane.
//!
//! ```text
//! before: br i1 (icmp ult i64 %x, %width and icmp ult i64 %y, %height), label %in_plane, label %out
//!         in_plane: br i1 (icmp ult i64 (%y * %width + %x), (mul nuw i64 %width, %height)), label %inside, label %panic
//! after:  in_plane: br i1 true, label %inside, label %panic
//! ```
//!
//! A layer of a volume is such a slice, `&input[c * width * height..][..width * height]`, and one of which an assertion has told
//! its length. LLVM knows the length, but not that a product with a smaller factor leaves room for a column. Nine neighbours had
//! nine checks for that, each with a way out, so that ptxas neither predicated their loads nor had several under way.
//!
//! **Why it is right.** With `x < width` and `y < height`, `y * width + x` is at most `(height - 1) * width + width - 1`, which is
//! `height * width - 1`, and does not wrap around where that product does not. What is below the lower bits of a number is below
//! the number. Where a height is `len / width`, its product with
//! the width is at most `len`.

use super::bounds::{below, shown};
use super::chain::compared;
use crate::llvm::{
    self, BasicBlock, BasicValueEnum, Context, FunctionValue, InstructionOpcode as Op, InstructionValue, IntPredicate,
    IntValue, Use,
};
use crate::loops::{Graph, instruction};

/// Drops those of a function.
pub fn drop<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) {
    let candidates: Vec<_> = llvm::instructions(function).filter_map(Element::of).collect();
    if candidates.is_empty() {
        return;
    }
    let graph = Graph::of(function);
    for element in candidates {
        // What a loop does not change LLVM has compared before it, and branched on the result where branches have shown more.
        for user in llvm::uses(&element.check) {
            let Use::Instruction(user) = user else { continue };
            let Some(block) = user.get_parent().filter(|_| user.get_opcode() != Op::Phi) else { continue };
            if element.is_in_plane(&facts(&graph, block)) {
                let holds = context.bool_type().const_int(u64::from(element.is_asked), false);
                let is_asked = |(_, operand): &(u32, BasicValueEnum<'ctx>)| *operand == llvm::result(element.check);
                let asked: Vec<_> = llvm::value_operands(user).filter(is_asked).collect();
                for (index, _) in asked {
                    assert!(user.set_operand(index, holds), "the user has that operand");
                }
            }
        }
    }
}

/// A comparison of a sum, of which one side is a product, with a length.
struct Element<'ctx> {
    check: InstructionValue<'ctx>,
    /// Whether the check holds where the element is inside.
    is_asked: bool,
    row: [IntValue<'ctx>; 2],
    column: IntValue<'ctx>,
    len: IntValue<'ctx>,
}

impl<'ctx> Element<'ctx> {
    fn of(check: InstructionValue<'ctx>) -> Option<Self> {
        check.get_icmp_predicate()?;
        let BasicValueEnum::IntValue(condition) = llvm::result(check) else { return None };
        let asks = |is_asked| Some((compared(condition, is_asked, IntPredicate::ULT)?, is_asked));
        let ((index, len), is_asked) = asks(true).or_else(|| asks(false))?;
        let sum = instruction(index, Op::Add)?;
        let sides = (llvm::int_operand(sum, 0)?, llvm::int_operand(sum, 1)?);
        [sides, (sides.1, sides.0)].into_iter().find_map(|(row, column)| {
            let product = instruction(row, Op::Mul)?;
            Some(Self {
                check,
                is_asked,
                row: [llvm::int_operand(product, 0)?, llvm::int_operand(product, 1)?],
                column,
                len,
            })
        })
    }

    /// Whether it is one of a plane that is as long as the slice, by what is below what.
    fn is_in_plane(&self, facts: &[(IntValue<'ctx>, IntValue<'ctx>)]) -> bool {
        let is_below = |one: IntValue<'ctx>, other: IntValue<'ctx>| {
            let narrow = extended(one);
            facts.contains(&(one, other))
                || facts.iter().any(|(small, large)| Some(*small) == narrow && is_at_most(*large, other))
        };
        let [one, other] = self.row;
        [(one, other), (other, one)].into_iter().any(|(y, width)| {
            is_below(self.column, width)
                && (heights(self.len, width).into_iter().any(|height| is_below(y, height))
                    || facts.iter().any(|(small, height)| *small == y && is_quotient(*height, self.len, width)))
        })
    }
}

/// What a length is the product of a width with, which does not wrap around.
fn heights<'ctx>(len: IntValue<'ctx>, width: IntValue<'ctx>) -> Vec<IntValue<'ctx>> {
    let product = instruction(len, Op::Mul).filter(|product| llvm::has_no_unsigned_wrap(*product));
    let sides = product.and_then(|product| Some([llvm::int_operand(product, 0)?, llvm::int_operand(product, 1)?]));
    match sides {
        Some([one, other]) if one == width => vec![other],
        Some([one, other]) if other == width => vec![one],
        _ => Vec::new(),
    }
}

fn is_quotient<'ctx>(height: IntValue<'ctx>, len: IntValue<'ctx>, width: IntValue<'ctx>) -> bool {
    instruction(height, Op::UDiv).is_some_and(|division| {
        llvm::int_operand(division, 0) == Some(len) && llvm::int_operand(division, 1) == Some(width)
    })
}

/// Whether a number of fewer bits is another one, or the lower bits of it, also by the same mask of what both are parts of.
fn is_at_most<'ctx>(narrow: IntValue<'ctx>, wide: IntValue<'ctx>) -> bool {
    let lower = |value| instruction(value, Op::Trunc).and_then(|part| llvm::int_operand(part, 0));
    let masked = |value| {
        let mask = instruction(value, Op::And)?;
        Some((llvm::int_operand(mask, 0)?, llvm::int_operand(mask, 1)?.get_zero_extended_constant()?))
    };
    let is_masked = || {
        let ((part, few), (whole, many)) = masked(narrow).zip(masked(wide))?;
        Some(few == many && lower(part) == Some(whole))
    };
    extended(wide) == Some(narrow) || lower(narrow) == Some(wide) || is_masked() == Some(true)
}

/// What a number of more bits is an extension of.
fn extended(value: IntValue<'_>) -> Option<IntValue<'_>> {
    llvm::int_operand(instruction(value, Op::ZExt)?, 0)
}

/// Which numbers branches on every way to a block have shown to be below which.
fn facts<'ctx>(graph: &Graph<'ctx>, block: BasicBlock<'ctx>) -> Vec<(IntValue<'ctx>, IntValue<'ctx>)> {
    let mut facts = Vec::new();
    shown(graph, block).into_iter().for_each(|(condition, is)| below(condition, is, &mut facts));
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A load from a plane behind two comparisons, after [`drop`].
    fn dropped(len: &str, inside: &str, index: &str, check: &str) -> String {
        let text = format!(
            "declare void @panic()
            define float @f(ptr %from, i64 %width, i64 %height, i64 %dims, i64 %x, i64 %y) {{
            entry: %len = {len}
              %in.row = icmp {inside}
              %in.column = icmp ult i64 %y, %height
              %in = and i1 %in.row, %in.column
              br i1 %in, label %asks, label %out
            asks: %row = {index}
              %i = add i64 %row, %x
              %ok = {check}
              br i1 %ok, label %looks, label %panics
            looks: %p = getelementptr float, ptr %from, i64 %i
              %v = load float, ptr %p
              ret float %v
            panics: call void @panic()
              unreachable
            out: ret float 0.0
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        drop(&context, function);
        module.verify().unwrap();
        function.print_to_string().to_string()
    }

    const LEN: &str = "mul nuw i64 %height, %width";
    const INSIDE: &str = "ult i64 %x, %width";
    const ROW: &str = "mul i64 %y, %width";
    const CHECK: &str = "icmp ult i64 %i, %len";

    #[test]
    fn an_element_of_the_plane_is_in_the_slice() {
        for (len, inside, index) in [
            (LEN, INSIDE, ROW),
            ("mul nuw i64 %width, %height", INSIDE, "mul i64 %width, %y"),
            (LEN, "ugt i64 %width, %x", ROW),
        ] {
            let ir = dropped(len, inside, index, CHECK);
            assert!(ir.contains("br i1 true, label %looks, label %panics"), "{len}, {inside}, {index}: {ir}");
        }
        let ir = dropped(LEN, INSIDE, ROW, "icmp uge i64 %i, %len");
        assert!(ir.contains("br i1 false, label %looks, label %panics"), "{ir}");
    }

    #[test]
    fn a_check_that_stands_before_the_branches_is_known_behind_them() {
        let text = "define float @f(ptr %from, i64 %width, i64 %height, i64 %x, i64 %y) {
            entry: %len = mul nuw i64 %height, %width
              %row = mul i64 %y, %width
              %i = add i64 %row, %x
              %ok = icmp ult i64 %i, %len
              %in.row = icmp ult i64 %x, %width
              %in.column = icmp ult i64 %y, %height
              %in = and i1 %in.row, %in.column
              br i1 %in, label %asks, label %out
            asks: br i1 %ok, label %looks, label %panics
            looks: %p = getelementptr float, ptr %from, i64 %i
              %v = load float, ptr %p
              ret float %v
            panics: unreachable
            out: br i1 %ok, label %looks, label %panics
            }";
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        drop(&context, function);
        let ir = function.print_to_string().to_string();
        assert_eq!(ir.matches("br i1 true").count(), 1, "{ir}");
        assert_eq!(ir.matches("br i1 %ok").count(), 1, "{ir}");
    }

    #[test]
    fn numbers_of_fewer_bits_are_compared() {
        let text = |inside: &str| {
            let text = format!(
                "define i1 @f(i64 %dims, i32 %a, i64 %y, i64 %height) {{
                entry: %w = and i64 %dims, 65535
                  %low = trunc i64 %dims to i32
                  %w.low = and i32 %low, 65535
                  %w.other = and i32 %low, 255
                  %w.part = trunc i64 %w to i32
                  %len = mul nuw i64 %w, %height
                  %in.row = icmp ult i32 %a, {inside}
                  br i1 %in.row, label %next, label %out
                next: %in.column = icmp ult i64 %y, %height
                  br i1 %in.column, label %asks, label %out
                asks: %x = zext i32 %a to i64
                  %row = mul i64 %y, %w
                  %i = add i64 %row, %x
                  %ok = icmp ult i64 %i, %len
                  ret i1 %ok
                out: ret i1 false
                }}"
            );
            let context = Context::create();
            let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
            let function = module.get_function("f").unwrap();
            drop(&context, function);
            function.print_to_string().to_string()
        };
        assert!(["%w.low", "%w.part"].iter().all(|inside| text(inside).contains("ret i1 true")));
        assert!(!text("%w.other").contains("ret i1 true"));
    }

    #[test]
    fn a_quotient_is_a_height() {
        let text = "define i1 @f(i64 %n, i64 %w, i64 %x, i64 %y) {
            entry: %h = udiv i64 %n, %w
              %in.row = icmp ult i64 %x, %w
              br i1 %in.row, label %next, label %out
            next: %in.column = icmp ult i64 %y, %h
              br i1 %in.column, label %asks, label %out
            asks: %row = mul i64 %y, %w
              %i = add i64 %row, %x
              %ok = icmp ult i64 %i, %n
              ret i1 %ok
            out: ret i1 false
            }";
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        drop(&context, function);
        let ir = function.print_to_string().to_string();
        assert!(ir.contains("ret i1 true"), "{ir}");
    }

    #[test]
    fn others_are_checked() {
        for (len, inside, index, check) in [
            // It may wrap around, and others have no such sides.
            ("mul i64 %height, %width", INSIDE, ROW, CHECK),
            ("mul nuw i64 %height, %dims", INSIDE, ROW, CHECK),
            (LEN, "ult i64 %x, %height", ROW, CHECK),
            (LEN, "ule i64 %x, %width", ROW, CHECK),
            (LEN, INSIDE, "mul i64 %x, %width", CHECK),
            (LEN, INSIDE, ROW, "icmp ult i64 %i, %dims"),
            (LEN, INSIDE, ROW, "icmp slt i64 %i, %len"),
        ] {
            let ir = dropped(len, inside, index, check);
            assert!(!ir.contains("br i1 true"), "{len}, {inside}, {index}, {check}: {ir}");
        }
    }
}
