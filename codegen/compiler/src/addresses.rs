//! Adds to a pointer first what several addresses have in common.
//!
//! ```text
//! before: one: %row = getelementptr float, ptr %to, i64 %y.width
//!              store float %a, ptr (getelementptr float, ptr %row, i64 %x)
//!         two: %below = getelementptr float, ptr %to, i64 %y8.width
//!              store float %b, ptr (getelementptr float, ptr %below, i64 %x)
//! after:       %column = getelementptr float, ptr %to, i64 %x          ; in a block on every way to both
//!         one: store float %a, ptr (getelementptr float, ptr %column, i64 %y.width)
//!         two: store float %b, ptr (getelementptr float, ptr %column, i64 %y8.width)
//! ```
//!
//! An element of a plane stands at `y * width + x`. LLVM's InstCombine adds the product to the pointer and then the column,
//! for each row anew, which takes two more instructions of 32 bits an address. In a block behind a test, as that for the
//! plane's edge, they decide whether ptxas gives its instructions a predicate, so that the loads of all rows are under way
//! together, or jumps around it. Where one store lies behind two such sums, a transposition waited for four loads of shared
//! memory one after the other.
//!
//! **Why it is right.** Addresses are sums of 64 bits, and sums do not depend on the order, whatever overflows. The new ones
//! promise nothing of what lies between: a column alone may be past the end of what the pointer points into. What is
//! computed earlier has no effect, and its operands are on every way to where it stands now.

mod columns;
mod joined;
mod rows;

use std::collections::HashSet;

use crate::llvm::{
    self, BasicBlock, BasicValue, Context, FunctionValue, InstructionOpcode, InstructionValue, IntValue, Module,
    PointerValue, Use,
};
use crate::loops::Graph;

pub use self::columns::lift;
pub use self::joined::join;
pub use self::rows::follow_rows;

/// Rewrites such addresses, but for those in loops, where LLVM counts them up.
pub fn share<'ctx>(context: &'ctx Context, module: &Module<'ctx>) {
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 0) {
        share_in(context, function);
    }
}

/// The sum of a pointer, a product, and what other addresses add too.
struct Address<'ctx> {
    /// Adds the product.
    first: InstructionValue<'ctx>,
    /// Adds the rest.
    last: InstructionValue<'ctx>,
    block: BasicBlock<'ctx>,
    base: PointerValue<'ctx>,
    /// The bytes of an element, and which element the rest is.
    rest: (u64, IntValue<'ctx>),
}

impl<'ctx> Address<'ctx> {
    fn of(last: InstructionValue<'ctx>) -> Option<Self> {
        let (row, size, index) = llvm::element_of(last).filter(|(.., index)| !index.is_const())?;
        let first = row.as_instruction_value()?;
        let (base, _, product) = llvm::element_of(first)?;
        let block = last.get_parent().filter(|block| first.get_parent() == Some(*block))?;
        let is_product = product.as_instruction_value().is_some_and(|from| from.get_opcode() == InstructionOpcode::Mul);
        let is_its_own = matches!(llvm::uses(&row)[..], [Use::Instruction(_)]);
        (is_product && is_its_own).then_some(Self { first, last, block, base, rest: (size, index) })
    }

    fn shared(&self) -> (PointerValue<'ctx>, (u64, IntValue<'ctx>)) {
        (self.base, self.rest)
    }
}

fn share_in<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) {
    let mut addresses: Vec<Address<'ctx>> = llvm::instructions(function).filter_map(Address::of).collect();
    if addresses.len() < 2 {
        return;
    }
    let graph = Graph::of(function);
    let outside = graph.outside_innermost();
    // Of a longer sum the end is looked at.
    let firsts: HashSet<_> = addresses.iter().map(|address| address.first).collect();
    addresses.retain(|Address { last, block, .. }| outside.contains(block) && !firsts.contains(last));
    while let Some(shared) = addresses.first().map(Address::shared) {
        let (together, others) = addresses.into_iter().partition::<Vec<_>, _>(|address| address.shared() == shared);
        addresses = others;
        if together.len() > 1 {
            write(context, &graph, &together);
            // What was written is gone, also where others begin.
            let is_gone = |at| together.iter().any(|written| [written.first, written.last].contains(&at));
            addresses.retain(|address| !llvm::instruction_of(address.base.into()).is_some_and(is_gone));
        }
    }
}

/// Where the first of these, or the way to it, can use what they share.
fn place<'ctx>(graph: &Graph<'ctx>, together: &[Address<'ctx>]) -> Option<InstructionValue<'ctx>> {
    let blocks: Vec<BasicBlock<'ctx>> = together.iter().map(|address| address.block).collect();
    let block = graph.common_dominator(&blocks)?;
    let first = together.iter().find(|address| address.block == block).map(|address| address.last);
    first.or_else(|| block.get_terminator())
}

fn write<'ctx>(context: &'ctx Context, graph: &Graph<'ctx>, together: &[Address<'ctx>]) {
    let (Some(place), Some(one)) = (place(graph, together), together.first()) else { return };
    let builder = context.create_builder();
    builder.position_before(&place);
    let column = llvm::build_same_offset(&builder, one.last, one.base);
    for Address { first, last, .. } in together {
        builder.position_before(last);
        let address = llvm::build_same_offset(&builder, *first, column);
        llvm::replace_uses(*last, address.into());
        last.erase_from_basic_block();
        first.erase_from_basic_block();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A function of two rows and `more`, after [`share`].
    fn shared(second_column: &str, more: &str) -> String {
        let text = format!(
            "define void @f(ptr addrspace(1) %to, i64 %y, i64 %z, i64 %width, i64 %x, i64 %other, i1 %c, i1 %d) {{
            entry: br i1 %c, label %one, label %middle
            one:
              %y.width = mul i64 %y, %width
              %row = getelementptr inbounds float, ptr addrspace(1) %to, i64 %y.width
              %at = getelementptr inbounds float, ptr addrspace(1) %row, i64 %x
              store float 1.0, ptr addrspace(1) %at
              br label %middle
            middle: br i1 %d, label %two, label %end
            two:
              %z.width = mul i64 %z, %width
              %below = getelementptr inbounds float, ptr addrspace(1) %to, i64 %z.width
              %there = getelementptr inbounds float, ptr addrspace(1) %below, i64 {second_column}
              store float 2.0, ptr addrspace(1) %there
              {more}
              br label %end
            end: ret void
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        share(&context, &module);
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    #[test]
    fn what_rows_have_in_common_is_added_once_and_first() {
        let ir = shared("%x", "");
        let sums: Vec<&str> = ir.lines().filter(|line| line.contains("getelementptr")).map(str::trim).collect();
        let [column, one, two] = sums[..] else { panic!("{ir}") };
        assert!(column.ends_with("= getelementptr float, ptr addrspace(1) %to, i64 %x"), "{ir}");
        let name = column.split(' ').next().unwrap();
        for (sum, product) in [(one, "%y.width"), (two, "%z.width")] {
            assert!(sum.ends_with(&format!("= getelementptr float, ptr addrspace(1) {name}, i64 {product}")), "{ir}");
        }
        assert!(ir.find(column).unwrap() < ir.find("one:").unwrap(), "{ir}");
        assert!(!ir.contains("inbounds"), "a column alone may be outside: {ir}");
    }

    #[test]
    fn others_stay_as_they_are() {
        for (column, more) in [
            // Another column.
            ("%other", ""),
            // The row is asked for as well.
            ("%x", "store float 3.0, ptr addrspace(1) %below"),
        ] {
            assert_eq!(shared(column, more).matches("getelementptr inbounds").count(), 4, "{column} {more}");
        }
    }

    #[test]
    fn what_begins_where_others_are_written_stays_as_it_is() {
        let text = "define void @f(ptr addrspace(1) %p, i64 %z, i64 %y, i64 %area, i64 %width, i64 %x, i64 %c) {
            %z1 = xor i64 %z, 1
            %y1 = xor i64 %y, 1
            %layer = mul i64 %z, %area
            %next = mul i64 %z1, %area
            %row = mul i64 %y, %width
            %below = mul i64 %y1, %width
            %f0 = getelementptr float, ptr addrspace(1) %p, i64 %layer
            %l0 = getelementptr float, ptr addrspace(1) %f0, i64 %x
            %f1 = getelementptr float, ptr addrspace(1) %p, i64 %next
            %l1 = getelementptr float, ptr addrspace(1) %f1, i64 %x
            %g0 = getelementptr float, ptr addrspace(1) %l0, i64 %row
            %h0 = getelementptr float, ptr addrspace(1) %g0, i64 %c
            %g1 = getelementptr float, ptr addrspace(1) %l0, i64 %below
            %h1 = getelementptr float, ptr addrspace(1) %g1, i64 %c
            store float 1.0, ptr addrspace(1) %l0
            store float 2.0, ptr addrspace(1) %l1
            store float 3.0, ptr addrspace(1) %h0
            store float 4.0, ptr addrspace(1) %h1
            ret void
        }";
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        share(&context, &module);
        module.verify().unwrap();
        let ir = module.get_function("f").unwrap().print_to_string().to_string();
        assert!(ir.contains("getelementptr float, ptr addrspace(1) %p, i64 %x\n"), "{ir}");
        assert!(ir.contains(", i64 %row\n") && ir.contains("%h1 = "), "{ir}");
    }
}
