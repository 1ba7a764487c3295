//! Computes an address once where several differ from it by constants.
//!
//! ```text
//! before: one: store float %a, ptr (getelementptr float, ptr @tile, i64 (zext i32 (33 * %y + %x)))
//!         two: store float %b, ptr (getelementptr float, ptr @tile, i64 (zext i32 (33 * (%y + 8) + %x)))
//! after:       %first = getelementptr float, ptr @tile, i64 (zext i32 (33 * %y + %x))  ; in a block on every way to both
//!         one: store float %a, ptr %first
//!         two: store float %b, ptr (getelementptr i8, ptr %first, i64 1056)
//! ```
//!
//! A thread that fills a tile stores several elements, each if it is inside of the whole, so that the stores stand behind
//! branches. LLVM finds what addresses have in common within a block, or where one block is on the way to the other. Here
//! each branch asked where shared memory begins, and computed its address from that, even where it was the same. Only
//! addresses in statics are rewritten: where a parameter points costs nothing to ask.
//!
//! **Why it is right.** Where an address is used, no part of its index overflows, because LLVM was promised so. What is left
//! without the constants is no larger, so it does not overflow there either, and the difference is the constant. The new
//! addresses promise nothing of what lies between.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, Builder, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntType, IntValue, Module, PointerValue,
};
use crate::loops::Graph;

/// Instructions of one index.
const MOST_STEPS: usize = 16;

/// Rewrites such addresses, but for those in loops, where LLVM counts them up.
pub fn share<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 1) {
        share_in(context, function)
            .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("cannot compute an address once: {error}")))?;
    }
    Ok(())
}

/// An element of which the index is a sum.
struct Address<'ctx> {
    at: InstructionValue<'ctx>,
    block: BasicBlock<'ctx>,
    base: PointerValue<'ctx>,
    /// The bytes of an element.
    size: u64,
    /// The index's own type, and that in which it is computed.
    index: IntType<'ctx>,
    sum: Sum<'ctx>,
}

/// Numbers times factors, and a constant.
pub struct Sum<'ctx> {
    ty: IntType<'ctx>,
    terms: Vec<(IntValue<'ctx>, u64)>,
    /// What is added to them.
    pub constant: u64,
}

impl<'ctx> Address<'ctx> {
    fn of(at: InstructionValue<'ctx>) -> Option<Self> {
        let (base, size, index) = llvm::element_of(at)?;
        if index.get_type().get_bit_width() != 64 || !llvm::is_constant(&base) {
            return None;
        }
        let sum = Sum::of(extended(index).unwrap_or(index))?;
        let is_one = matches!(sum.terms[..], [] | [(_, 1)]);
        (!is_one).then_some(Self { at, block: at.get_parent()?, base, size, index: index.get_type(), sum })
    }

    fn is_like(&self, other: &Self) -> bool {
        (self.base, self.size, self.index) == (other.base, other.size, other.index) && self.sum.is_like(&other.sum)
    }
}

impl<'ctx> Sum<'ctx> {
    /// What a value is the sum of, as far as nothing in it overflows.
    pub fn of(value: IntValue<'ctx>) -> Option<Self> {
        let mut sum = Self { ty: value.get_type(), terms: Vec::new(), constant: 0 };
        sum.add(value, 1, &mut { MOST_STEPS })?;
        Some(sum)
    }

    /// Whether another sum differs in the constant alone.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.ty, self.terms.len()) == (other.ty, other.terms.len())
            && self.terms.iter().all(|term| other.terms.contains(term))
    }

    /// Adds a value times a factor. Whatever overflows where that is not excluded, or is no sum, is a number by itself.
    fn add(&mut self, value: IntValue<'ctx>, factor: u64, steps: &mut usize) -> Option<()> {
        if let Some(constant) = value.get_zero_extended_constant() {
            self.constant = self.constant.checked_add(constant.checked_mul(factor)?)?;
            return Some(());
        }
        *steps = steps.checked_sub(1)?;
        let from = value.as_instruction_value();
        let side = |index| from.and_then(|from| llvm::int_operand(from, index));
        let constant = || side(1).and_then(|side| side.get_zero_extended_constant());
        let promises = from.map(llvm::promises).unwrap_or_default();
        match from.map(|from| from.get_opcode()) {
            Some(Op::Add) if promises.unsigned => {}
            Some(Op::Or) if promises.other => {}
            Some(Op::Mul) if promises.unsigned && constant().is_some() => {
                return self.add(side(0)?, factor.checked_mul(constant()?)?, steps);
            }
            Some(Op::Shl) if promises.unsigned && constant().is_some() => {
                let by = u32::try_from(constant()?).ok()?;
                return self.add(side(0)?, factor.checked_mul(1_u64.checked_shl(by)?)?, steps);
            }
            Some(Op::ZExt) if side(0).is_some_and(|side| side.get_type().get_bit_width() > 1) => {
                return self.add(side(0)?, factor, steps);
            }
            Some(Op::Trunc) if promises.unsigned => return self.add(side(0)?, factor, steps),
            _ => {
                match self.terms.iter_mut().find(|(known, _)| *known == value) {
                    Some((_, known)) => *known = known.checked_add(factor)?,
                    None => self.terms.push((value, factor)),
                }
                return Some(());
            }
        }
        self.add(side(0)?, factor, steps)?;
        self.add(side(1)?, factor, steps)
    }

    /// Writes the sum without the constant.
    pub fn write(&self, builder: &Builder<'ctx>) -> std::result::Result<IntValue<'ctx>, BuilderError> {
        let mut sum = self.ty.const_zero();
        for (value, factor) in &self.terms {
            // None is more than the sum, which is of this type.
            let number = match value.get_type().get_bit_width() > self.ty.get_bit_width() {
                true => builder.build_int_truncate(*value, self.ty, "")?,
                false => builder.build_int_z_extend_or_bit_cast(*value, self.ty, "")?,
            };
            let product = match factor {
                1 => number,
                _ => builder.build_int_mul(number, self.ty.const_int(*factor, false), "")?,
            };
            sum = if sum.is_const() { product } else { builder.build_int_add(sum, product, "")? };
        }
        Ok(sum)
    }
}

/// What is extended, without a sign.
fn extended(index: IntValue<'_>) -> Option<IntValue<'_>> {
    llvm::int_operand(index.as_instruction_value().filter(|from| from.get_opcode() == Op::ZExt)?, 0)
}

fn share_in<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> std::result::Result<(), BuilderError> {
    let mut addresses: Vec<Address<'ctx>> = llvm::instructions(function).filter_map(Address::of).collect();
    if addresses.len() < 2 {
        return Ok(());
    }
    let graph = Graph::of(function);
    let outside = graph.outside_innermost();
    addresses.retain(|Address { block, .. }| outside.contains(block));
    while let Some(one) = addresses.pop() {
        let (mut together, others) = addresses.into_iter().partition::<Vec<_>, _>(|other| other.is_like(&one));
        addresses = others;
        together.push(one);
        let alone = |address: &Address<'ctx>| {
            !together
                .iter()
                .any(|other| !std::ptr::eq(other, address) && graph.is_reached_by_way_of(address.block, other.block))
        };
        if together.iter().filter(|address| alone(address)).count() > 1 {
            write(context, &graph, &together)?;
        }
    }
    Ok(())
}

fn write<'ctx>(
    context: &'ctx Context,
    graph: &Graph<'ctx>,
    together: &[Address<'ctx>],
) -> std::result::Result<(), BuilderError> {
    let blocks: Vec<BasicBlock<'ctx>> = together.iter().map(|address| address.block).collect();
    let is_one = |from: &InstructionValue<'ctx>| together.iter().any(|address| address.at == *from);
    let place = graph
        .common_dominator(&blocks)
        .and_then(|block| block.get_instructions().find(is_one).or_else(|| block.get_terminator()));
    let (Some(place), Some(one)) = (place, together.first()) else { return Ok(()) };
    let builder = context.create_builder();
    builder.position_before(&place);
    let sum = one.sum.write(&builder)?;
    let index = builder.build_int_z_extend_or_bit_cast(sum, one.index, "")?;
    let bytes = builder.build_int_mul(index, one.index.const_int(one.size, false), "")?;
    // SAFETY: nothing is promised of the address.
    let first = unsafe { builder.build_gep(context.i8_type(), one.base, &[bytes], "")? };
    for Address { at, sum, size, .. } in together {
        builder.position_before(at);
        let bytes = context.i64_type().const_int(sum.constant * size, false);
        // SAFETY: as above.
        let address = unsafe { builder.build_gep(context.i8_type(), first, &[bytes], "")? };
        llvm::replace_uses(*at, address.as_basic_value_enum());
        at.erase_from_basic_block();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// Two elements of a tile behind branches, after [`share`].
    fn shared(below: &str, second: &str) -> String {
        let text = format!(
            "@tile = internal addrspace(3) global [1056 x float] undef
            define void @f(i32 %x, i32 %y, i32 %z, i1 %c, i1 %d) {{
            entry: %y.wide = zext i32 %y to i64
              %y.below = add nuw i64 %y.wide, 8
              br i1 %c, label %one, label %middle
            one: %line = mul nuw i32 %y, 33
              %i = add nuw i32 %line, %x
              %i.wide = zext i32 %i to i64
              %at = getelementptr inbounds float, ptr addrspace(3) @tile, i64 %i.wide
              store float 1.0, ptr addrspace(3) %at
              br label %middle
            middle: br i1 %d, label %two, label %end
            two: %below = {below}
              %line.below = mul nuw i32 %below, 33
              %j = add nuw i32 %line.below, {second}
              %j.wide = zext i32 %j to i64
              %there = getelementptr inbounds float, ptr addrspace(3) @tile, i64 %j.wide
              store float 2.0, ptr addrspace(3) %there
              br label %end
            end: ret void
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        share(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    #[test]
    fn addresses_that_differ_by_a_constant_are_computed_once() {
        let ir = shared("add nuw i32 %y, 8", "%x");
        let entry = ir.split("\n\n").next().unwrap_or_default();
        assert!(entry.contains("getelementptr i8, ptr addrspace(3) @tile") && entry.contains(", 33"), "{ir}");
        assert!(!ir.contains("inbounds") && ir.contains("i64 1056\n"), "8 rows of 33 floats: {ir}");
    }

    #[test]
    fn so_is_the_same_address_behind_different_branches() {
        let ir = shared("add nuw i32 %y, 0", "%x");
        let entry = ir.split("\n\n").next().unwrap_or_default();
        assert!(entry.contains("getelementptr i8, ptr addrspace(3) @tile") && !ir.contains("inbounds"), "{ir}");
    }

    #[test]
    fn a_sum_that_loses_nothing_in_32_bits_is_one() {
        let ir = shared("trunc nuw i64 %y.below to i32", "%x");
        assert!(!ir.contains("inbounds") && ir.contains("i64 1056\n"), "{ir}");
    }

    #[test]
    fn others_stay_as_they_are() {
        // Sums that may overflow or lose a bit, and another column.
        for (below, second) in
            [("add i32 %y, 8", "%x"), ("trunc i64 %y.below to i32", "%x"), ("add nuw i32 %y, 8", "%z")]
        {
            assert_eq!(shared(below, second).matches("getelementptr inbounds").count(), 2, "{below} {second}");
        }
    }
}
