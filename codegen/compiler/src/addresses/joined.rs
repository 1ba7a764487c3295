//! Adds a column to where its row begins in 32 bits, and then both to a pointer.
//!
//! ```text
//! before: %row = getelementptr float, ptr %to, i64 (sext i32 %y.width to i64)
//!         store float %a, ptr (getelementptr float, ptr %row, i64 (zext i32 %x to i64))
//! after:  %i = add i32 %y.width, %x
//!         store float %a, ptr (getelementptr float, ptr %to, i64 (zext i32 %i to i64))
//! ```
//!
//! An element of a plane stands at `y * width + x`. LLVM's InstCombine adds the product to the pointer and then the column, which
//! takes two instructions of 64 bits. The product and the column are one instruction of 32, and where another slice is read at
//! the same place, as by a filter, it has been computed already.
//!
//! Not where rows or columns are shared by several addresses, which is for [`share`](super::share), nor in loops.
//!
//! **Why it is right.** Where the element is looked at, both numbers are seen not to be negative, and their sum to be below 2^31, so
//! that it does not matter in how many bits they are added. The new address promises nothing of what lies between.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::hash::QuickMap;
use crate::indices::{self, Interval, RangesOfCopies};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntValue, Module, PointerValue, Use,
};
use crate::loops::{self, Graph};

/// Rewrites such addresses.
pub fn join<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 0) {
        join_in(context, function)
            .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("cannot join a row and a column: {error}")))?;
    }
    Ok(())
}

fn join_in<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> std::result::Result<(), BuilderError> {
    let elements: Vec<Element<'ctx>> = llvm::instructions(function).filter_map(Element::of).collect();
    if elements.is_empty() {
        return Ok(());
    }
    let graph = Graph::of(function);
    let in_loops: Vec<BasicBlock<'ctx>> = graph.loops().into_iter().flat_map(|found| found.blocks).collect();
    let (given, same) = (indices::given_by_test(function, &graph), QuickMap::default());
    let ranges = given.ranges(&graph, &same);
    let place = |element: Element<'ctx>| {
        let place = element.place(&graph, &ranges).filter(|_| !in_loops.contains(&element.block))?;
        Some((element, place))
    };
    let elements: Vec<_> = elements.into_iter().filter_map(place).collect();
    elements.into_iter().try_for_each(|(element, place)| element.write(context, place))
}

/// What is loaded from or stored to an element of a row.
struct Element<'ctx> {
    access: InstructionValue<'ctx>,
    /// The number of the operand that is the address.
    at: u32,
    block: BasicBlock<'ctx>,
    base: PointerValue<'ctx>,
    /// Whose addition to the base is like the new one.
    first: InstructionValue<'ctx>,
    row: IntValue<'ctx>,
    column: IntValue<'ctx>,
}

impl<'ctx> Element<'ctx> {
    fn of(access: InstructionValue<'ctx>) -> Option<Self> {
        let at = match access.get_opcode() {
            Op::Load => 0,
            Op::Store => 1,
            _ => return None,
        };
        let BasicValueEnum::PointerValue(address) = access.get_operand(at)?.value()? else { return None };
        let last = address.as_instruction_value()?;
        let (row, size, column) = llvm::element_of(last)?;
        let first = row.as_instruction_value().filter(|_| matches!(llvm::uses(&row)[..], [Use::Instruction(_)]))?;
        let (base, size_of_row, start) = llvm::element_of(first)?;
        let (row, column) = (extended(start)?, extended(column)?);
        let is_access = |user: &Use<'ctx>| matches!(user, Use::Instruction(user) if matches!(user.get_opcode(), Op::Load | Op::Store));
        let is_product = loops::instruction(row, Op::Mul).is_some() && llvm::uses(&address).iter().all(is_access);
        let block = access.get_parent()?;
        // A number of bytes is added to both words of an address, with the row in the same instructions.
        let is_alike = size > 1 && size == size_of_row && first.get_num_operands() == 2;
        (is_alike && is_product).then_some(Self { access, at, block, base, first, row, column })
    }

    /// Before what the sum is computed: in the first block where it is known to be small, since another element of this place may
    /// be looked at on another way.
    fn place(&self, graph: &Graph<'ctx>, ranges: &RangesOfCopies<'_, 'ctx>) -> Option<InstructionValue<'ctx>> {
        let is_there = |value: IntValue<'ctx>, block| {
            let from = value.as_instruction_value().and_then(|from| from.get_parent());
            from.is_none_or(|from| from == block || graph.is_reached_by_way_of(block, from))
        };
        let fits = |block: &BasicBlock<'ctx>| {
            is_there(self.row, *block) && is_there(self.column, *block) && self.is_small(*block, ranges)
        };
        let above = std::iter::successors(Some(self.block), |block| graph.dominator(*block));
        let block = above.take_while(fits).last()?;
        if block == self.block { Some(self.access) } else { block.get_terminator() }
    }

    /// Whether the numbers and their sum are below 2^31 in a block.
    fn is_small(&self, block: BasicBlock<'ctx>, ranges: &RangesOfCopies<'_, 'ctx>) -> bool {
        let ranges = ranges.in_block(block);
        let facts = ranges.facts(block);
        let is_small = |row: Interval, column: Interval| {
            row.low >= 0 && column.low >= 0 && row.high + column.high <= i128::from(i32::MAX)
        };
        let [row, column] = [self.row, self.column].map(|part| ranges.any_of(part, &facts));
        let [rows, columns] = [self.row, self.column].map(|part| ranges.each_of(part, &facts));
        let in_each = || rows.iter().zip(&columns).all(|(row, column)| is_small(*row, *column));
        is_small(row, column) || !rows.is_empty() && in_each()
    }

    fn write(&self, context: &'ctx Context, place: InstructionValue<'ctx>) -> std::result::Result<(), BuilderError> {
        let builder = context.create_builder();
        builder.position_before(&place);
        let sum = builder.build_int_add(self.row, self.column, "")?;
        builder.position_before(&self.access);
        // Others extend the sign: with one extension for several blocks, LLVM's code generator shifts 64 bits in each.
        let index = builder.build_int_z_extend(sum, context.i64_type(), "")?;
        let address = llvm::build_other_element(&builder, self.first, self.base, index);
        assert!(self.access.set_operand(self.at, address), "an access has an address");
        Ok(())
    }
}

/// The number of 32 bits that one of 64 is, whose sign does not matter where it is not negative.
fn extended(value: IntValue<'_>) -> Option<IntValue<'_>> {
    let from = value.as_instruction_value().filter(|from| matches!(from.get_opcode(), Op::SExt | Op::ZExt))?;
    llvm::int_operand(from, 0).filter(|narrow| narrow.get_type().get_bit_width() == 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A store to an element of a plane, whose extents and position are told to be as they are, after [`join`].
    fn joined(told: &str, start: &str, more: &str) -> String {
        let text = format!(
            "define void @f(ptr addrspace(1) %to, i32 %y, i32 %width, i32 %x, i1 %again) {{
            entry: %y.width = {start}
              %wide = sext i32 %y.width to i64
              %x.wide = zext i32 %x to i64
              %row = getelementptr inbounds float, ptr addrspace(1) %to, i64 %wide
              %at = getelementptr inbounds nuw float, ptr addrspace(1) %row, i64 %x.wide
              %all = or i32 %y, %width
              %small = icmp ult i32 %all, 32768
              %in = icmp ult i32 %x, %width
              %both = and i1 %small, %in
              br i1 {told}, label %inside, label %end
            inside: store float 1.0, ptr addrspace(1) %at
              {more}
            end: ret void
            }}"
        );
        let context = Context::create();
        let module =
            parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        join(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    const PRODUCT: &str = "mul i32 %y, %width";

    #[test]
    fn a_column_is_added_to_where_its_row_begins() {
        let ir = joined("%both", PRODUCT, "br label %end");
        let lines: Vec<&str> = ir.lines().map(str::trim).skip_while(|line| !line.starts_with("inside:")).collect();
        let [_, sum, index, address, store, ..] = lines[..] else { panic!("{ir}") };
        let name = |line: &str| line.split(' ').next().unwrap().to_string();
        assert!(sum.ends_with("= add i32 %y.width, %x"), "{ir}");
        assert!(index.ends_with(&format!("= zext i32 {} to i64", name(sum))), "{ir}");
        let of = format!("= getelementptr float, ptr addrspace(1) %to, i64 {}", name(index));
        assert!(address.ends_with(&of), "{ir}");
        assert!(store.contains(&format!("ptr addrspace(1) {}", name(address))), "{ir}");
    }

    #[test]
    fn what_a_test_says_of_the_product_of_the_extents_counts_in_the_copy_behind_it() {
        let text = |limit: &str| {
            format!(
                "define ptx_kernel void @f(ptr addrspace(1) %to, i32 %width, i32 %height, i32 %x, i32 %y) {{
                entry: %width.wide = zext i32 %width to i64
                  %height.wide = zext i32 %height to i64
                  %elements = mul i64 %width.wide, %height.wide
                  %low = trunc i64 %elements to i32
                  %less = add i32 %low, -1
                  %few = icmp ult i32 %less, {limit}
                  %upper = lshr i64 %elements, 32
                  %high = trunc i64 %upper to i32
                  %short = icmp eq i32 %high, 0
                  %small = and i1 %few, %short
                  br i1 %small, label %narrow, label %wide
                narrow: %x.in = icmp ult i32 %x, %width
                  %y.in = icmp ult i32 %y, %height
                  %in = and i1 %x.in, %y.in
                  br i1 %in, label %inside, label %end
                inside: %y.width = mul i32 %y, %width
                  %start = sext i32 %y.width to i64
                  %x.wide = zext i32 %x to i64
                  %row = getelementptr inbounds float, ptr addrspace(1) %to, i64 %start
                  %at = getelementptr inbounds nuw float, ptr addrspace(1) %row, i64 %x.wide
                  store float 1.0, ptr addrspace(1) %at
                  br label %end
                wide: br label %end
                end: ret void
                }}"
            )
        };
        let is_joined = |limit: &str| {
            let context = Context::create();
            let module = parse_ir(&context, text(limit).as_bytes(), "module").unwrap();
            join(&context, &module).unwrap();
            module.verify().unwrap();
            module.print_to_string().to_string().contains("add i32 %y.width, %x")
        };
        assert!(is_joined("268435456") && !is_joined("536870912"));
    }

    #[test]
    fn the_sum_is_computed_where_it_is_known_to_be_small() {
        let more = "br i1 %again, label %one, label %two
            one: store float 2.0, ptr addrspace(1) %at
              br label %two
            two: store float 3.0, ptr addrspace(1) %at
              br label %end";
        let ir = joined("%both", PRODUCT, more);
        let inside = ir.split("inside:").nth(1).and_then(|rest| rest.split("one:").next()).unwrap();
        assert_eq!(
            (inside.matches("add i32 %y.width, %x").count(), ir.matches("add i32 %y.width").count()),
            (3, 3),
            "{ir}"
        );
        assert_eq!(ir.matches("ptr addrspace(1) %at").count(), 0, "{ir}");
    }

    #[test]
    fn others_stay_as_they_are() {
        for (told, start, more) in [
            // Numbers of which too little is known, before the branch and behind it.
            ("%small", PRODUCT, "br label %end"),
            ("%in", PRODUCT, "br label %end"),
            // What is no product, a row with another element, and a loop.
            ("%both", "xor i32 %y, %width", "br label %end"),
            ("%both", PRODUCT, "store float 2.0, ptr addrspace(1) %row\n br label %end"),
            ("%both", PRODUCT, "br i1 %again, label %inside, label %end"),
        ] {
            let ir = joined(told, start, more);
            assert!(ir.contains("store float 1.000000e+00, ptr addrspace(1) %at"), "{told}, {start}, {more}: {ir}");
        }
    }
}
