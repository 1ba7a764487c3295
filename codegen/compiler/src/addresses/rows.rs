//! Computes one row's address where several rows of a plane are a constant number of rows apart.
//!
//! ```text
//! before: one: store float %a, ptr (getelementptr float, ptr %column, i64 (zext i32 %y) * (zext i32 %width))
//!         two: store float %b, ptr (getelementptr float, ptr %column, i64 (zext i32 (%y + 8)) * (zext i32 %width))
//! after:       %first = getelementptr float, ptr %column, i64 (zext i32 %y) * (zext i32 %width)  ; in a block on every way to both
//!         one: store float %a, ptr %first
//!         two: store float %b, ptr (getelementptr i8, ptr %first, i64 32 * (zext i32 %width))
//! ```
//!
//! A product and the sum of an address are three instructions, the second half of which waits for the first. The distance to
//! a row whose address is known is a product with a constant, which ptxas adds in the same instruction, `IMAD.WIDE`. A thread
//! that transposes four rows of a tile takes a dozen instructions less, of 100.
//!
//! LLVM's code generator knows this, but not where the row was extended from 32 bits after the constant was added.
//!
//! **Why it is right.** Where a row is looked at, its sum of 32 bits does not overflow, because LLVM was promised so, and so
//! it is the same in 64 bits. There products and sums are exact modulo 2^64, as addresses are. The first row is written anew
//! without that promise, unless a branch asks of it: then it holds. The new addresses promise nothing of what lies between.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntValue, Low, Module, PointerValue,
};
use crate::loops::Graph;
use crate::offsets::Sum;

/// Bytes of an element times rows: what fits into an instruction.
const MOST_BYTES: u64 = 1 << 20;

/// Instructions between a number and a condition that asks of it.
const MOST_STEPS: u32 = 4;

/// Rewrites such addresses, but for those in innermost loops, where LLVM counts them up.
pub fn follow_rows<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 0) {
        follow_in(context, function)
            .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("cannot compute a row's address: {error}")))?;
    }
    Ok(())
}

/// The address of a row's element.
struct Row<'ctx> {
    at: InstructionValue<'ctx>,
    block: BasicBlock<'ctx>,
    plane: Plane<'ctx>,
    /// As it was computed, and as a sum.
    row: IntValue<'ctx>,
    number: Sum<'ctx>,
}

/// What rows are of.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Plane<'ctx> {
    base: PointerValue<'ctx>,
    /// The bytes of an element.
    size: u64,
    width: Low<'ctx>,
}

impl<'ctx> Row<'ctx> {
    /// Either factor may be the width.
    fn of(at: InstructionValue<'ctx>) -> impl Iterator<Item = Self> {
        let product = llvm::element_of(at).and_then(|(base, size, index)| {
            let from = index.as_instruction_value().filter(|from| from.get_opcode() == Op::Mul)?;
            let low = |side| Low::of(llvm::int_operand(from, side)?);
            Some((base, size, [low(0)?, low(1)?]))
        });
        product.into_iter().flat_map(move |(base, size, [one, other])| {
            let ways = [(one, other), (other, one)].into_iter().take(if one == other { 1 } else { 2 });
            ways.filter_map(move |(width, row)| {
                let Low::Whole(row) = row else { return None };
                Some(Self {
                    at,
                    block: at.get_parent()?,
                    plane: Plane { base, size, width },
                    row,
                    number: Sum::of(row)?,
                })
            })
        })
    }
}

fn follow_in<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> std::result::Result<(), BuilderError> {
    let mut rows: Vec<Row<'ctx>> = llvm::instructions(function).flat_map(Row::of).collect();
    if rows.len() < 2 {
        return Ok(());
    }
    let graph = Graph::of(function);
    let outside = graph.outside_innermost();
    rows.retain(|Row { block, .. }| outside.contains(block));
    while let Some(one) = rows.pop() {
        let is_like = |row: &Row<'ctx>| row.plane == one.plane && row.number.is_like(&one.number);
        let (mut together, others) = rows.into_iter().partition::<Vec<_>, _>(is_like);
        rows = others;
        together.push(one);
        let constants = || together.iter().map(|row| row.number.constant);
        let (first, last) = (constants().min().unwrap_or_default(), constants().max().unwrap_or_default());
        let distance = (last - first).checked_mul(together[0].plane.size);
        if last != first && distance.is_some_and(|bytes| bytes <= MOST_BYTES) {
            let blocks: Vec<_> = together.iter().map(|row| row.block).collect();
            let Some(block) = graph.common_dominator(&blocks).filter(|block| outside.contains(block)) else {
                continue;
            };
            write(context, &graph, block, &together, first)?;
            // What was written is gone, also where other rows begin.
            let is_gone = |at: InstructionValue<'ctx>| together.iter().any(|written| written.at == at);
            rows.retain(|row| !is_gone(row.at) && !llvm::instruction_of(row.plane.base.into()).is_some_and(is_gone));
        }
    }
    Ok(())
}

/// Whether one value means nothing if another does.
fn depends<'ctx>(value: BasicValueEnum<'ctx>, on: BasicValueEnum<'ctx>, steps: u32) -> bool {
    let carries = |from: &InstructionValue<'ctx>| {
        matches!(from.get_opcode(), Op::ICmp | Op::And | Op::Or | Op::Xor | Op::Add | Op::Sub | Op::ZExt | Op::Trunc)
    };
    let mut operands = llvm::instruction_of(value).filter(carries).into_iter().flat_map(llvm::value_operands);
    value == on || steps > 0 && operands.any(|(_, operand)| depends(operand, on, steps - 1))
}

fn write<'ctx>(
    context: &'ctx Context,
    graph: &Graph<'ctx>,
    block: BasicBlock<'ctx>,
    together: &[Row<'ctx>],
    first: u64,
) -> std::result::Result<(), BuilderError> {
    let is_one = |from: &InstructionValue<'ctx>| together.iter().any(|row| row.at == *from);
    let place = block.get_instructions().find(is_one).or_else(|| block.get_terminator());
    let (Some(place), Some(Row { plane, number, .. })) = (place, together.first()) else { return Ok(()) };
    let Plane { base, size, width } = *plane;
    let (builder, wide) = (context.create_builder(), context.i64_type());
    builder.position_before(&place);
    // What the branch asks of must mean something; what else is promised of a row holds only where it is looked at.
    let is_known = |row: &IntValue<'ctx>| {
        let above = row.as_instruction_value().and_then(|from| from.get_parent());
        let is_above = above.is_none_or(|above| graph.is_reached_by_way_of(block, above));
        let condition = llvm::branch_targets(place).and_then(|_| place.get_operand(0)?.value());
        is_above && condition.is_some_and(|condition| depends(condition, (*row).into(), MOST_STEPS))
    };
    let is_first = |row: &&Row<'ctx>| row.number.constant == first && is_known(&row.row);
    let number = match together.iter().find(is_first) {
        Some(row) => row.row,
        None => {
            let number = number.write(&builder)?;
            builder.build_int_nuw_add(number, number.get_type().const_int(first, false), "")?
        }
    };
    let number = builder.build_int_z_extend(number, wide, "")?;
    let elements = builder.build_int_z_extend(width.write(context, &builder)?, wide, "")?;
    let bytes = builder.build_int_mul(builder.build_int_mul(number, elements, "")?, wide.const_int(size, false), "")?;
    let start = llvm::build_byte_distance(context, &builder, base, bytes)?;
    for Row { at, number, .. } in together {
        let mut address = start;
        if number.constant != first {
            builder.position_before(at);
            // Else one product of 64 bits would be made of all of them.
            let elements = llvm::build_hidden(context, &builder, width.write(context, &builder)?)?;
            let elements = builder.build_int_z_extend(elements, wide, "")?;
            let bytes = builder.build_int_mul(elements, wide.const_int((number.constant - first) * size, false), "")?;
            address = llvm::build_byte_distance(context, &builder, start, bytes)?;
        }
        llvm::replace_uses(*at, address.into());
        at.erase_from_basic_block();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// The function `f` after [`follow_rows`].
    fn after(text: &str) -> String {
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        follow_rows(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    /// A function of two rows, after [`follow_rows`].
    fn followed(second: &str, wide: &str, end: &str) -> String {
        let text = format!(
            "define void @f(ptr addrspace(1) %column, i32 %y, i32 %z, i32 %width, i64 %pair, i1 %c, i1 %d) {{
            entry: %bits = and i64 %pair, 4294967295
              %whole = zext i32 %width to i64
              br i1 %c, label %one, label %middle
            one:
              %first = zext i32 %y to i64
              %row = mul nuw i64 {wide}, %first
              %at = getelementptr inbounds float, ptr addrspace(1) %column, i64 %row
              store float 1.0, ptr addrspace(1) %at
              br label %middle
            middle: br i1 %d, label %two, label %end
            two:
              %below = {second}
              %second = zext i32 %below to i64
              %other = mul nuw i64 %second, {wide}
              %there = getelementptr inbounds float, ptr addrspace(1) %column, i64 %other
              store float 2.0, ptr addrspace(1) %there
              br label %end
            end: {end}
            }}"
        );
        after(&text)
    }

    #[test]
    fn one_row_is_multiplied_and_the_other_follows() {
        for second in ["add nuw i32 %y, 8", "or disjoint i32 %y, 8"] {
            for (wide, hidden) in [("%whole", "(i32 %width)"), ("%bits", "(i32 %")] {
                let ir = followed(second, wide, "ret void");
                let parts = ["mul i64 %", "mul i64 %", "one:", "two:", "asm \"mov.b32", hidden, ", 32"];
                let mut rest = ir.as_str();
                for part in parts {
                    rest = rest.split_once(part).unwrap_or_else(|| panic!("{part} {ir}")).1;
                }
                assert!(!ir.contains("inbounds"), "an address between may be outside: {ir}");
            }
        }
    }

    #[test]
    fn others_stay_as_they_are() {
        for (second, wide, end) in [
            // Another row, and the same one.
            ("sub i32 %z, 0", "%whole", "ret void"),
            ("add nuw i32 %y, 0", "%whole", "ret void"),
            // The sum may overflow.
            ("add i32 %y, 8", "%whole", "ret void"),
            // Of a width of 64 bits.
            ("add nuw i32 %y, 8", "%pair", "ret void"),
            // So far away that the distance is no constant in an instruction.
            ("add nuw i32 %y, 300000", "%whole", "ret void"),
            ("add nuw i32 %y, 8", "%whole", "br i1 %d, label %middle, label %last\n last: ret void"),
        ] {
            let ir = followed(second, wide, end);
            // A loop has one of them.
            assert_eq!(ir.matches("getelementptr inbounds").count(), 2, "{ir}");
        }
    }

    /// What [`follow_rows`] makes of a function of stores through these pointers.
    fn all(parameters: &str, body: &str) -> String {
        let text = format!("define void @f(ptr addrspace(1) %p, {parameters}) {{ entry:\n{body}\n ret void }}");
        after(&text)
    }

    #[test]
    fn squares_and_rows_of_layers_are_written_once() {
        // Both factors are the width.
        let square = "%w = zext i32 %y to i64\n %z = add nuw i32 %y, 8\n %v = zext i32 %z to i64
            %a = mul i64 %w, %w\n %b = mul i64 %v, %w
            %q = getelementptr float, ptr addrspace(1) %p, i64 %a\n store float 1.0, ptr addrspace(1) %q
            %r = getelementptr float, ptr addrspace(1) %p, i64 %b\n store float 2.0, ptr addrspace(1) %r";
        assert!(all("i32 %y", square).contains("asm"));
        // Rows begin where layers do.
        let layers = "%z0 = zext i32 %z to i64\n %zn = add nuw i32 %z, 1\n %z1 = zext i32 %zn to i64
            %y0 = zext i32 %y to i64\n %yn = add nuw i32 %y, 1\n %y1 = zext i32 %yn to i64
            %area = zext i32 %a to i64\n %width = zext i32 %w to i64
            %m0 = mul i64 %z0, %area\n %m1 = mul i64 %z1, %area\n %n0 = mul i64 %y0, %width\n %n1 = mul i64 %y1, %width
            %p0 = getelementptr float, ptr addrspace(1) %p, i64 %m0
            %q0 = getelementptr float, ptr addrspace(1) %p0, i64 %n0\n store float 1.0, ptr addrspace(1) %q0
            %q1 = getelementptr float, ptr addrspace(1) %p0, i64 %n1\n store float 2.0, ptr addrspace(1) %q1
            %p1 = getelementptr float, ptr addrspace(1) %p, i64 %m1\n store float 3.0, ptr addrspace(1) %p1";
        assert!(all("i32 %z, i32 %y, i32 %a, i32 %w", layers).contains("asm"));
    }

    #[test]
    fn a_row_that_is_not_looked_at_promises_nothing() {
        let ir = |condition: &str| {
            let text = format!(
                "define void @f(ptr addrspace(1) %p, i32 %y, i32 %width, i1 %c) {{
                entry: %low = or disjoint i32 %y, 8\n %high = add nuw i32 %y, 16
                  %w = zext i32 %width to i64
                  %mine = icmp ult i32 %low, 99
                  br i1 {condition}, label %one, label %two
                one: %l = zext i32 %low to i64\n %a = mul i64 %l, %w
                  %q = getelementptr float, ptr addrspace(1) %p, i64 %a\n store float 1.0, ptr addrspace(1) %q
                  ret void
                two: %h = zext i32 %high to i64\n %b = mul i64 %h, %w
                  %r = getelementptr float, ptr addrspace(1) %p, i64 %b\n store float 2.0, ptr addrspace(1) %r
                  ret void
                }}"
            );
            after(&text)
        };
        let uses = |condition| ir(condition).matches("zext i32 %low to i64").count();
        assert_eq!(uses("%c"), 1, "as it was: {}", ir("%c"));
        // A branch that asks of it would mean nothing either.
        assert_eq!(uses("%mine"), 2, "{}", ir("%mine"));
    }
}
