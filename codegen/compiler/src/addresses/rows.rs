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
//! that transposes four rows of a tile has 16 instructions less between its loads and stores, of 100.
//!
//! LLVM's code generator knows this, but not where the row was extended from 32 bits after the constant was added.
//!
//! **Why it is right.** The sum of 32 bits does not overflow, because LLVM was promised so, and so it is the same in 64 bits.
//! There products and sums are exact modulo 2^64, as addresses are. The new addresses promise nothing of what lies between.

use std::collections::HashSet;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BuilderError, Context, FunctionValue, InstructionOpcode as Op, InstructionValue,
    IntValue, Low, Module, PointerValue,
};
use crate::loops::{self, Graph};
use crate::offsets::Sum;

/// Bytes of an element times rows: what fits into an instruction.
const MOST_BYTES: u64 = 1 << 20;

/// Rewrites such addresses, but for those in loops, where LLVM counts them up.
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
            let low = |side| Low::of(loops::integer(from, side)?);
            Some((base, size, [low(0)?, low(1)?]))
        });
        product.into_iter().flat_map(move |(base, size, [one, other])| {
            [(one, other), (other, one)].into_iter().filter_map(move |(width, row)| {
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
    let reached: HashSet<_> = graph.by_dominance().into_iter().collect();
    let in_loops: HashSet<_> = graph.innermost().into_iter().flat_map(|found| found.blocks).collect();
    rows.retain(|Row { block, .. }| reached.contains(block) && !in_loops.contains(block));
    while let Some(one) = rows.pop() {
        let is_like = |row: &Row<'ctx>| row.plane == one.plane && row.number.is_like(&one.number);
        let (mut together, others) = rows.into_iter().partition::<Vec<_>, _>(is_like);
        rows = others;
        together.push(one);
        let constants = || together.iter().map(|row| row.number.constant);
        let (first, last) = (constants().min().unwrap_or_default(), constants().max().unwrap_or_default());
        let distance = (last - first).checked_mul(together[0].plane.size);
        if last != first && distance.is_some_and(|bytes| bytes <= MOST_BYTES) {
            write(context, &graph, &together, first)?;
            rows.retain(|row| !together.iter().any(|written| written.at == row.at));
        }
    }
    Ok(())
}

fn write<'ctx>(
    context: &'ctx Context,
    graph: &Graph<'ctx>,
    together: &[Row<'ctx>],
    first: u64,
) -> std::result::Result<(), BuilderError> {
    let blocks: Vec<BasicBlock<'ctx>> = together.iter().map(|row| row.block).collect();
    let is_one = |from: &InstructionValue<'ctx>| together.iter().any(|row| row.at == *from);
    let place = graph
        .common_dominator(&blocks)
        .and_then(|block| block.get_instructions().find(is_one).or_else(|| block.get_terminator()));
    let (Some(place), Some(Row { plane, number, .. })) = (place, together.first()) else { return Ok(()) };
    let Plane { base, size, width } = *plane;
    let (builder, wide) = (context.create_builder(), context.i64_type());
    builder.position_before(&place);
    let is_known = |row: &IntValue<'ctx>| {
        let block = row.as_instruction_value().and_then(|from| from.get_parent()).zip(place.get_parent());
        block.is_none_or(|(block, at)| graph.is_reached_by_way_of(at, block) && (at != block || place.is_terminator()))
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
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        follow_rows(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
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
}
