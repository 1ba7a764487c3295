//! Atomic operations whose old value nobody looks at.
//!
//! ```text
//! before: %old = call i32 asm sideeffect "atom.relaxed.gpu.global.add.u32 $0, [$1], $2;", …      ; never used
//! after:         call void asm sideeffect "red.relaxed.gpu.global.add.u32 [$0], $1;", …
//! ```
//!
//! `red` sends the operand to the L2 cache and waits for nothing (PTX ISA, "red"). ptxas makes it of `atom` by itself, but not
//! where a kernel may end in a trap: a histogram took a third longer.

use crate::llvm::{
    self, BasicMetadataTypeEnum, BasicMetadataValueEnum, BasicValueEnum, Builder, BuilderError, Context,
    InstructionValue, Module,
};

/// The operations that `red` has.
const OPERATIONS: [&str; 8] = [".add.", ".inc.", ".dec.", ".min.", ".max.", ".and.", ".or.", ".xor."];

/// Writes every such operation in global memory, or at an unknown address, as `red`.
pub fn reduce<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<(), BuilderError> {
    let builder = context.create_builder();
    let calls = llvm::functions(module).flat_map(llvm::instructions);
    let unused = calls.filter_map(|call| Some((call, reduction(&llvm::inline_assembly(call)?)?)));
    for (call, text) in unused.filter(|(call, _)| llvm::uses(&llvm::result(*call)).is_empty()).collect::<Vec<_>>() {
        write(context, &builder, call, text)?;
    }
    Ok(())
}

/// What does the same without the old value, if there is such an instruction. It has no `.acquire`: without a value there is
/// nothing to acquire by.
fn reduction(text: &str) -> Option<String> {
    let (instruction, operands) = text.strip_prefix("atom.")?.split_once(' ')?;
    let is_one = OPERATIONS.iter().any(|operation| instruction.contains(operation));
    let orders = ["relaxed.", "release."].iter().any(|order| instruction.starts_with(order));
    (is_one && orders && operands == "$0, [$1], $2;" && !instruction.contains(".shared"))
        .then(|| format!("red.{instruction} [$0], $1;"))
}

fn write<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    call: InstructionValue<'ctx>,
    text: String,
) -> Result<(), BuilderError> {
    let operands: Vec<BasicValueEnum<'ctx>> = llvm::value_operands(call).map(|(_, operand)| operand).take(2).collect();
    let types: Vec<BasicMetadataTypeEnum<'ctx>> = operands.iter().map(|operand| operand.get_type().into()).collect();
    let constraints = llvm::inline_constraints(call);
    let Some((_, constraints)) = constraints.as_deref().and_then(|all| all.split_once(',')) else { return Ok(()) };
    let ty = context.void_type().fn_type(&types, false);
    builder.position_before(&call);
    let callee = context.create_inline_asm(ty, text, constraints.into(), true, false, None, false);
    let operands: Vec<BasicMetadataValueEnum<'ctx>> = operands.into_iter().map(Into::into).collect();
    builder.build_indirect_call(ty, callee, &operands, "")?;
    call.erase_from_basic_block();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::reduction;

    #[test]
    fn what_needs_no_old_value_is_known() {
        for (atom, red) in [
            ("relaxed.gpu.global.add.u32", Some("red.relaxed.gpu.global.add.u32 [$0], $1;")),
            ("release.sys.max.s64", Some("red.release.sys.max.s64 [$0], $1;")),
            ("relaxed.gpu.global.add.noftz.f16x2", Some("red.relaxed.gpu.global.add.noftz.f16x2 [$0], $1;")),
            // `red` acquires nothing, exchanges nothing, and gains nothing in shared memory.
            ("acq_rel.gpu.global.add.u32", None),
            ("relaxed.gpu.global.exch.b32", None),
            ("relaxed.cta.shared.add.u32", None),
        ] {
            assert_eq!(reduction(&format!("atom.{atom} $0, [$1], $2;")).as_deref(), red, "{atom}");
        }
        assert_eq!(reduction("atom.relaxed.gpu.global.cas.b32 $0, [$1], $2, $3;"), None);
    }
}
