//! Carries a float's place in the total order from round to round, where a loop computes it of the float that it carries.
//!
//! ```text
//! before: loop: %best = phi float [ %first, %before ], [ %less, %loop ]      ; `min_by(|a, b| a.total_cmp(b))`
//!               %a = xor i32 (lshr i32 (ashr i32 (bitcast %best), 31), 1), (bitcast %best)
//!               %b = xor i32 (lshr i32 (ashr i32 (bitcast %x), 31), 1), (bitcast %x)
//!               %less = select i1 (icmp sgt i32 %a, %b), float %x, float %best
//! after:  loop: %a = phi i32 [ %first.key, %before ], [ %kept, %loop ]
//!               %b = xor i32 (lshr i32 (ashr i32 (bitcast %x), 31), 1), (bitcast %x)
//!               %kept = select i1 (icmp sgt i32 %a, %b), i32 %b, i32 %a
//! ```
//!
//! A number that is compared with the best so far has its place computed in any case, and the best was such a number once. The
//! three instructions were a fifth of a search for the nearest of points of four dimensions. Where nobody asks for the float
//! itself, as in a search for the index, that is not carried any more. LLVM writes several rounds one behind the other, so
//! that the best may be one of several numbers, each of which has its place.
//!
//! **Why it is right.** The place follows from the float's bits alone. That of a choice is the choice of both places.

use std::collections::HashMap;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicType, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FloatValue,
    InstructionOpcode as Op, InstructionValue, IntValue, Module, TargetMachine,
};

use super::natural::{Graph, Loop};

/// What removes a float that nobody asks for.
const CLEAN: &str = "adce";

/// Choices that are looked through, one in the other.
const MOST_CHOICES: u32 = 64;

/// Does so for the loops of every function.
pub fn order<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine) -> Result<()> {
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 1) {
        if !llvm::instructions(function).any(|from| float_of_place(from).is_some()) {
            continue;
        }
        let graph = Graph::of(function);
        let mut changed = false;
        for found in graph.innermost() {
            let carries = carry(context, &graph, &found).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot carry a float's place in an order: {error}"))
            })?;
            changed |= carries;
        }
        if changed {
            llvm::run_passes_on_function(function, machine, CLEAN).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("LLVM's passes `{CLEAN}` failed: {error}"))
            })?;
        }
    }
    Ok(())
}

/// Does so in a loop of one block, and says whether there was something.
fn carry<'ctx>(
    context: &'ctx Context,
    graph: &Graph<'ctx>,
    found: &Loop<'ctx>,
) -> std::result::Result<bool, BuilderError> {
    let ([block], Some(before)) = (&found.blocks[..], graph.block_before(found)) else { return Ok(false) };
    let mut changed = false;
    for phi in llvm::phis(*block).collect::<Vec<_>>() {
        let places = Places::of(*block);
        let Some(best) = llvm::float_result(phi) else { continue };
        let Some((BasicValueEnum::FloatValue(first), BasicValueEnum::FloatValue(next))) = found.incoming(best) else {
            continue;
        };
        if !places.known.contains_key(&best) || next == best || !places.are_known(next, best, MOST_CHOICES) {
            continue;
        }
        let builder = context.create_builder();
        builder.position_before(&before.get_terminator().expect("a block has an end"));
        let first = place(context, &builder, first)?;
        builder.position_before(&phi);
        let carried = builder.build_phi(first.get_type(), "")?;
        let place = carried.as_basic_value().into_int_value();
        let next = places.write(&builder, next, (best, place))?;
        carried.add_incoming(&[(&first, before), (&next, *block)]);
        llvm::replace_uses(places.known[&best], place.into());
        changed = true;
    }
    Ok(changed)
}

/// Which floats have their place computed in a block, and by what.
struct Places<'ctx> {
    known: HashMap<FloatValue<'ctx>, InstructionValue<'ctx>>,
    block: BasicBlock<'ctx>,
}

impl<'ctx> Places<'ctx> {
    fn of(block: BasicBlock<'ctx>) -> Self {
        let mut known = HashMap::new();
        for from in block.get_instructions() {
            if let Some(float) = float_of_place(from) {
                known.entry(float).or_insert(from);
            }
        }
        Self { known, block }
    }

    /// The two sides of a choice in the block.
    fn sides(&self, value: FloatValue<'ctx>) -> Option<(InstructionValue<'ctx>, [FloatValue<'ctx>; 2])> {
        let choice = value.as_instruction().filter(|from| from.get_opcode() == Op::Select)?;
        let sides = [llvm::float_operand(choice, 1)?, llvm::float_operand(choice, 2)?];
        (choice.get_parent() == Some(self.block)).then_some((choice, sides))
    }

    /// Whether a float is the best so far, one whose place is computed, or a choice of such. What a choice is made of has its
    /// place before it: the choice asks for both.
    fn are_known(&self, value: FloatValue<'ctx>, best: FloatValue<'ctx>, steps: u32) -> bool {
        value == best
            || match self.sides(value) {
                Some((choice, sides)) if steps > 0 => sides.into_iter().all(|side| {
                    let is_before = self.known.get(&side).is_none_or(|place| self.stands_before(*place, choice));
                    is_before && self.are_known(side, best, steps - 1)
                }),
                _ => self.known.contains_key(&value),
            }
    }

    fn stands_before(&self, one: InstructionValue<'ctx>, other: InstructionValue<'ctx>) -> bool {
        self.block.get_instructions().take_while(|at| *at != other).any(|at| at == one)
    }

    /// The place of a float, which [`Self::are_known`], behind it.
    fn write(
        &self,
        builder: &Builder<'ctx>,
        value: FloatValue<'ctx>,
        best: (FloatValue<'ctx>, IntValue<'ctx>),
    ) -> std::result::Result<IntValue<'ctx>, BuilderError> {
        if value == best.0 {
            return Ok(best.1);
        }
        let known = self.known.get(&value).map(|place| llvm::result(*place).into_int_value());
        let Some((choice, [then, other])) = self.sides(value) else { return Ok(known.expect("it is known")) };
        let (then, other) = (self.write(builder, then, best)?, self.write(builder, other, best)?);
        builder.position_before(&choice);
        let condition = llvm::int_operand(choice, 0).expect("a choice has a condition");
        let chosen = builder.build_select(condition, then, other, "")?.into_int_value();
        if let Some(place) = self.known.get(&value) {
            llvm::replace_uses(*place, chosen.into());
        }
        Ok(chosen)
    }
}

/// The float whose place in the total order an instruction computes.
fn float_of_place(from: InstructionValue<'_>) -> Option<FloatValue<'_>> {
    if from.get_opcode() != Op::Xor {
        return None;
    }
    let sides = (llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?);
    [sides, (sides.1, sides.0)].into_iter().find_map(|(low, bits)| {
        let low = shifted(low, Op::LShr, 1)?;
        let of_sign = shifted(low, Op::AShr, u64::from(bits.get_type().get_bit_width()) - 1)?;
        let cast = bits.as_instruction_value().filter(|cast| cast.get_opcode() == Op::BitCast && of_sign == bits)?;
        llvm::float_operand(cast, 0)
    })
}

/// What is shifted so by a constant.
fn shifted(value: IntValue<'_>, opcode: Op, by: u64) -> Option<IntValue<'_>> {
    let from = value.as_instruction_value().filter(|from| from.get_opcode() == opcode)?;
    (llvm::int_operand(from, 1)?.get_zero_extended_constant() == Some(by)).then(|| llvm::int_operand(from, 0)).flatten()
}

/// Computes a float's place in the total order (`f32::total_cmp`).
fn place<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    float: FloatValue<'ctx>,
) -> std::result::Result<IntValue<'ctx>, BuilderError> {
    let width = float.get_type().get_bit_width();
    let ty = if width == 64 { context.i64_type() } else { context.i32_type() };
    let bits = builder.build_bit_cast(float, ty.as_basic_type_enum(), "")?.into_int_value();
    let sign = builder.build_right_shift(bits, ty.const_int(u64::from(width) - 1, false), true, "")?;
    let low = builder.build_right_shift(sign, ty.const_int(1, false), false, "")?;
    builder.build_xor(low, bits, "")
}

/// What computes `%of`, the place of a float, for tests.
#[cfg(test)]
pub(super) fn place_text(of: &str, float: &str) -> String {
    format!(
        "%{of}.bits = bitcast float {float} to i32
        %{of}.sign = ashr i32 %{of}.bits, 31
        %{of}.low = lshr i32 %{of}.sign, 1
        %{of} = xor i32 %{of}.low, %{of}.bits\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loops::staged::after;

    /// The index of the least of `n` floats, after [`order`], with how the key of the best is computed, what is chosen in two
    /// rounds, and what is stored.
    fn ordered(best: &str, next: &str, stored: &str) -> String {
        let (x, y, less) =
            (place_text("x", "%x.float"), place_text("y", "%y.float"), place_text("less", "%less.float"));
        let text = format!(
            "define void @f(ptr %from, ptr %to, i64 %n, float %first) {{
            entry: br label %loop
            loop: %best = phi float [ %first, %entry ], [ %next, %loop ]
              %at = phi i64 [ 0, %entry ], [ %at.next, %loop ]
              %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
              %p = getelementptr float, ptr %from, i64 %i
              %x.float = load float, ptr %p
              {best}{x}
              %is = icmp sgt i32 %a, %x
              %less.float = select i1 %is, float %x.float, float %best
              %at.less = select i1 %is, i64 %i, i64 %at
              %i.more = add i64 %i, 1
              %q = getelementptr float, ptr %from, i64 %i.more
              %y.float = load float, ptr %q
              {less}{y}
              %is.more = icmp sgt i32 %less, %y
              %next = {next}
              %at.next = select i1 %is.more, i64 %i.more, i64 %at.less
              %i.next = add i64 %i, 2
              %done = icmp eq i64 %i.next, %n
              br i1 %done, label %end, label %loop
            end: store {stored}, ptr %to
              ret void
            }}"
        );
        after(&text, |context, module, machine| order(context, module, machine).unwrap())
    }

    const NEXT: &str = "select i1 %is.more, float %y.float, float %less.float";

    #[test]
    fn the_place_of_the_best_is_carried() {
        let ir = ordered(&place_text("a", "%best"), NEXT, "i64 %at.next");
        // Once before the loop, and of each new number in it; of the best nothing but that is left.
        assert_eq!(ir.matches("ashr").count(), 3, "{ir}");
        assert!(ir.contains("phi i32") && !ir.contains("phi float") && !ir.contains("select i1 %is, float"), "{ir}");
        assert!(ir.contains("select i1 %is, i32 %x, i32 %"), "{ir}");
        // Where it is asked for, the float is there as well.
        let ir = ordered(&place_text("a", "%best"), NEXT, "float %next");
        assert!(ir.matches("ashr").count() == 3 && ir.contains("phi float"), "{ir}");
    }

    #[test]
    fn others_are_computed_in_each_round() {
        for (best, next) in [
            // Another number, of which no place is known, and another key.
            (place_text("a", "%best"), "fadd float %y.float, %less.float"),
            (place_text("a", "%best"), "select i1 %is.more, float %first, float %less.float"),
            (place_text("a", "%best").replace("31", "30"), NEXT),
            (place_text("a", "%best").replace("lshr", "ashr"), NEXT),
        ] {
            let ir = ordered(&best, next, "i64 %at.next");
            assert!(!ir.contains("phi i32"), "{best}, {next}: {ir}");
        }
    }
}
