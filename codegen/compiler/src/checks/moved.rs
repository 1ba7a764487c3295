//! What can be computed earlier, and stays where it was moved to.
//!
//! A position, and arithmetic of numbers that are known before, is the same wherever it is computed, and computing it has no
//! effect. LLVM's code generator would move it back to where it is used; it believes that the assembly has an effect, which
//! keeps it from that, and ptxas sees a copy.

use std::collections::HashSet;

use crate::llvm::{
    self, BasicBlock, BasicType, BasicValueEnum, Builder, BuilderError, Context, InstructionOpcode, InstructionValue,
    Use,
};
use crate::loops::Graph;

/// Values that are computed earlier.
const MOST_VALUES: usize = 24;

/// What keeps an address and a condition where they are.
const KEEP: [&str; 2] = ["mov.b64 $0, $1;", "mov.pred $0, $1;"];

/// Where values are to be computed.
pub struct Early<'a, 'ctx> {
    pub graph: &'a Graph<'ctx>,
    /// In this block.
    pub before: BasicBlock<'ctx>,
    /// And before these of it.
    pub late: HashSet<InstructionValue<'ctx>>,
}

impl<'ctx> Early<'_, 'ctx> {
    /// Whether a value can be computed there; adds what must be computed for it, each behind its operands.
    fn can_be(&self, value: BasicValueEnum<'ctx>, found: &mut Vec<InstructionValue<'ctx>>) -> bool {
        let Some(from) = llvm::instruction_of(value) else { return true };
        let is_above = |block| self.graph.is_reached_by_way_of(self.before, block);
        if found.contains(&from) || !self.late.contains(&from) && from.get_parent().is_some_and(is_above) {
            return true;
        }
        let is_early = found.len() < MOST_VALUES
            && (llvm::is_position(from) || is_fixed(from))
            && llvm::value_operands(from).all(|(_, operand)| self.can_be(operand, found));
        if is_early {
            found.push(from);
        }
        is_early
    }

    /// Adds what must be computed for a value, if it can be computed there.
    pub fn add(&self, value: Option<BasicValueEnum<'ctx>>, found: &mut Vec<InstructionValue<'ctx>>) {
        let known = found.len();
        if !value.is_some_and(|value| self.can_be(value, found)) {
            found.truncate(known);
        }
    }
}

/// What a block's end asks for, if it is a condition.
pub fn condition(block: BasicBlock<'_>) -> Option<BasicValueEnum<'_>> {
    block.get_terminator().filter(|end| llvm::branch_targets(*end).is_some())?.get_operand(0)?.value()
}

/// Whether a value does not depend on where it is computed. What is frozen is moved, and not computed twice.
pub fn is_fixed(from: InstructionValue<'_>) -> bool {
    llvm::is_pure(from) || llvm::is_promised_pure(from) || from.get_opcode() == InstructionOpcode::Freeze
}

/// Has a condition or an address be computed where the builder stands, for these.
pub fn keep_for<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    value: BasicValueEnum<'ctx>,
    users: Vec<InstructionValue<'ctx>>,
) -> Result<(), BuilderError> {
    if !users.is_empty() {
        let kept = keep(context, builder, value)?;
        users.into_iter().for_each(|user| replace_in(context, user, value, kept));
    }
    Ok(())
}

/// A condition or an address that is computed where the builder stands.
pub fn keep<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    value: BasicValueEnum<'ctx>,
) -> Result<BasicValueEnum<'ctx>, BuilderError> {
    let (text, constraints) = match value {
        BasicValueEnum::PointerValue(_) => (KEEP[0], "=l,l"),
        _ => (KEEP[1], "=b,b"),
    };
    let ty = value.get_type().fn_type(&[value.get_type().into()], false);
    let assembly = context.create_inline_asm(ty, text.to_owned(), constraints.to_owned(), true, false, None, false);
    Ok(builder.build_indirect_call(ty, assembly, &[value.into()], "")?.try_as_basic_value().unwrap_basic())
}

/// Whether an instruction is what [`keep`] writes.
pub fn is_kept(from: InstructionValue<'_>) -> bool {
    llvm::inline_assembly(from).is_some_and(|text| KEEP.contains(&&*text))
}

/// Those instructions of a kind that use a value.
pub fn users<'ctx>(
    value: BasicValueEnum<'ctx>,
    is_one: impl Fn(InstructionValue<'ctx>) -> bool,
) -> Vec<InstructionValue<'ctx>> {
    let user = |user| match user {
        Use::Instruction(user) => Some(user),
        Use::Global(_) => None,
    };
    llvm::uses(&value).into_iter().filter_map(user).filter(|user| is_one(*user)).collect()
}

/// Has an instruction use another value, which is the same.
pub fn replace_in<'ctx>(
    context: &'ctx Context,
    user: InstructionValue<'ctx>,
    value: BasicValueEnum<'ctx>,
    by: BasicValueEnum<'ctx>,
) {
    // LLVM no longer sees of what the address is, and would not load by the way for what nobody writes.
    if let Some(kernel) = user.get_parent().and_then(BasicBlock::get_parent)
        && value.is_pointer_value()
    {
        for (load, address) in loads(user, value) {
            if llvm::is_of_shared_reference(kernel, address) {
                let kind = context.get_kind_id("invariant.load");
                load.set_metadata(context.metadata_node(&[]), kind).expect("a load may have it");
            }
        }
    }
    let places: Vec<_> = llvm::value_operands(user).filter(|(_, operand)| *operand == value).collect();
    for (place, _) in places {
        user.set_operand(place, by);
    }
}

/// The plain loads from an address, or from what a user of it computes of it, and from where each loads.
fn loads<'ctx>(
    user: InstructionValue<'ctx>,
    address: BasicValueEnum<'ctx>,
) -> Vec<(InstructionValue<'ctx>, BasicValueEnum<'ctx>)> {
    let (mut found, mut seen, mut pending) = (Vec::new(), HashSet::from([user]), vec![(user, address)]);
    while let Some((user, address)) = pending.pop() {
        if llvm::is_plain_load(user) {
            found.push((user, address));
        } else if matches!(user.get_opcode(), InstructionOpcode::GetElementPtr | InstructionOpcode::Phi) {
            let value = llvm::result(user);
            let next = users(value, |_| true).into_iter().filter(|next| seen.insert(*next));
            pending.extend(next.map(|next| (next, value)));
        }
    }
    found
}
