//! Adds to a pointer before a loop what each of its addresses adds.
//!
//! ```text
//! before: loop: %i = add i64 (%row × %width), %x
//!               load float, ptr (getelementptr float, ptr %table, i64 %i)       ; and others, of other rows
//! after:        %column = getelementptr float, ptr %table, i64 %x
//!         loop: load float, ptr (getelementptr float, ptr %column, i64 (%row × %width))
//! ```
//!
//! `table[row * width + x]` is checked as a whole, so that LLVM adds the column first. Once the check is one of the largest row
//! (`checks/growing.rs`), nothing else asks for the sum, which takes two instructions for each address: those of eight rows
//! take 24 instead of 40.
//!
//! **Why it is right.** Addresses are sums of 64 bits, and sums do not depend on the order, whatever overflows. The new ones
//! promise nothing of what lies between. What is added before the loop has no effect there.

use crate::llvm::{
    self, BasicValue, Context, InstructionOpcode as Op, InstructionValue, IntValue, Module, PointerValue, Use,
};
use crate::loops::{Graph, Loop};

/// Rewrites the addresses of innermost loops.
pub fn lift<'ctx>(context: &'ctx Context, module: &Module<'ctx>) {
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 0) {
        let graph = Graph::of(function);
        for found in graph.innermost() {
            let mut outside = graph.before(found.head).filter(|block| !found.contains(*block));
            if let (Some(before), None) = (outside.next(), outside.next())
                && let Some(end) = before.get_terminator()
            {
                lift_in(context, &found, end);
            }
        }
    }
}

/// An address to which a loop adds what it does not change.
struct Address<'ctx> {
    at: InstructionValue<'ctx>,
    base: PointerValue<'ctx>,
    size: u64,
    column: IntValue<'ctx>,
    rest: IntValue<'ctx>,
}

impl<'ctx> Address<'ctx> {
    fn of(at: InstructionValue<'ctx>, found: &Loop<'ctx>) -> Option<Self> {
        let (base, size, index) = llvm::element_of(at)
            .filter(|(base, _, index)| index.get_type().get_bit_width() == 64 && found.is_invariant((*base).into()))?;
        let sum = index.as_instruction_value().filter(|sum| sum.get_opcode() == Op::Add)?;
        let is_its_own = matches!(llvm::uses(&index)[..], [Use::Instruction(_)]);
        let is_inside = |value: IntValue<'ctx>| !found.is_invariant(value.into());
        let (one, other) = (llvm::int_operand(sum, 0)?, llvm::int_operand(sum, 1)?);
        let (column, rest) = match (is_inside(one), is_inside(other)) {
            (false, true) => (one, other),
            (true, false) => (other, one),
            _ => return None,
        };
        (is_its_own && !column.is_const()).then_some(Self { at, base, size, column, rest })
    }

    fn shared(&self) -> (PointerValue<'ctx>, u64, IntValue<'ctx>) {
        (self.base, self.size, self.column)
    }
}

/// Adds columns before the end of the block from which alone the loop is entered.
fn lift_in<'ctx>(context: &'ctx Context, found: &Loop<'ctx>, end: InstructionValue<'ctx>) {
    let instructions = found.blocks.iter().flat_map(|block| block.get_instructions());
    let mut addresses: Vec<Address<'ctx>> = instructions.filter_map(|at| Address::of(at, found)).collect();
    let builder = context.create_builder();
    while let Some(shared) = addresses.first().map(Address::shared) {
        let (together, others) = addresses.into_iter().partition::<Vec<_>, _>(|address| address.shared() == shared);
        addresses = others;
        // One address is not worth a register for the column.
        let [first, _, ..] = &together[..] else { continue };
        builder.position_before(&end);
        let column = llvm::build_other_element(&builder, first.at, first.base, first.column);
        for Address { at, rest, .. } in &together {
            builder.position_before(at);
            let address = llvm::build_other_element(&builder, *at, column, *rest);
            llvm::replace_uses(*at, address.into());
            at.erase_from_basic_block();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A loop that loads from a table in two places, after [`lift`].
    fn lifted(first: &str, second: &str) -> String {
        let text = format!(
            "define float @f(ptr addrspace(1) %table, i64 %x, i64 %y, i64 %width, i64 %n) {{
            entry: br label %loop
            loop: %k = phi i64 [ 0, %entry ], [ %next, %loop ]
              %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
              %row = mul i64 %k, %width
              %below = add i64 %row, %width
              %i = add nuw i64 {first}
              %j = add i64 {second}
              %p = getelementptr inbounds float, ptr addrspace(1) %table, i64 %i
              %q = getelementptr inbounds float, ptr addrspace(1) %table, i64 %j
              %a = load float, ptr addrspace(1) %p
              %b = load float, ptr addrspace(1) %q
              %c = fadd float %a, %b
              %more = fadd float %sum, %c
              %next = add i64 %k, 1
              %again = icmp ult i64 %next, %n
              br i1 %again, label %loop, label %end
            end: ret float %more
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        lift(&context, &module);
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    #[test]
    fn what_all_addresses_add_is_added_before_the_loop() {
        let ir = lifted("%row, %x", "%x, %below");
        let (before, inside) = ir.split_once("loop:").unwrap();
        assert!(before.contains("getelementptr float, ptr addrspace(1) %table, i64 %x\n"), "{ir}");
        for row in ["%row", "%below"] {
            assert!(inside.contains(&format!("ptr addrspace(1) %0, i64 {row}\n")), "{ir}");
        }
        assert!(!ir.contains("inbounds"), "a column alone may be outside: {ir}");
    }

    #[test]
    fn others_stay_as_they_are() {
        // Another column, one address alone, and a sum that is asked for elsewhere.
        for (first, second) in [("%row, %x", "%below, %y"), ("%row, %x", "%row, %below"), ("%row, %x", "%i, %x")] {
            assert_eq!(lifted(first, second).matches("getelementptr inbounds").count(), 2, "{first}, {second}");
        }
    }
}
