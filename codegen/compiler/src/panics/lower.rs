//! Writes the panics that keep their place alone as PTX, and defines the record.
//!
//! ```text
//! before: a:  call void @__rust_ptx_panic_at(ptr @first)
//!             unreachable
//!         b:  call void @__rust_ptx_panic_at(ptr @second)
//!             unreachable
//! after:  a:  br label %panic
//!         b:  br label %panic
//!         panic:  %location = phi ptr [ @first, %a ], [ @second, %b ]
//!                 call void asm sideeffect "…trap;…", "l"(ptr %location)
//!                 unreachable
//! ```
//!
//! One place a function and no call: a call costs a kernel at least 24 registers, whatever is called. At the level 0 it stays
//! a call, which a debugger shows with the frames above it.

use std::mem::offset_of;

use ptx_abi::panic::{DRAFT_SYMBOL, PLACE, Record, SYMBOL};

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, AddressSpace, BasicBlock, BasicTypeEnum, BasicValueEnum, Builder, BuilderError, Context, FunctionValue,
    GlobalValue, InstructionOpcode, InstructionValue, Linkage, Module, PointerValue, Use,
};
use crate::marks::AT_LOCATION;
use crate::request::OptLevel;

/// Fills the host's `ptx_abi::panic::Record` and traps; `$0` is the address of a `core::panic::Location`, whose fields lie as
/// `ptx-device` asserts: file, its length, line, column.
///
/// Few registers are its whole art. ptxas reads all special registers at once and keeps them, unrolls what counts, and moves
/// loads up; so each value is exchanged into the record, which held zero, and what comes next depends on that. The file's
/// name ends in NUL, and stays in the record's first page: its start is found by the mask.
fn assembly() -> String {
    let mut text = format!(
        "{{ .reg .pred %q; .reg .b64 %b, %f; .reg .b32 %v;\n\
         ld.volatile.global.u64 %b, [{SYMBOL}];\n\
         setp.eq.s64 %q, %b, 0;\n@%q bra TRAP;\n\
         mov.u32 %v, 1;\natom.global.sys.exch.b32 %v, [%b], %v;\nsetp.ne.s32 %q, %v, 0;\n@%q bra WAIT;\n"
    );
    let exchange = |at| format!("atom.global.sys.exch.b32 %v, [%b+{at}], %v;\nsetp.ne.s32 %q, %v, 0;\n@%q bra TRAP;\n");
    text += &format!(
        "mov.b64 %f, $0;\n\
         ld.volatile.u32 %v, [%f+16];\n{}\
         ld.volatile.u32 %v, [%f+20];\n{}\
         ld.volatile.u64 %f, [%f];\n\
         NAME:\nld.volatile.u8 %v, [%f];\nsetp.eq.u32 %q, %v, 0;\n@%q bra IDS;\n\
         st.volatile.global.u8 [%b+{}], %v;\nmembar.cta;\nadd.s64 %f, %f, 1;\nadd.s64 %b, %b, 1;\nbra NAME;\n\
         IDS:\nand.b64 %b, %b, -4096;\n",
        exchange(offset_of!(Record, line)),
        exchange(offset_of!(Record, column)),
        offset_of!(Record, file),
    );
    for (register, field) in [("ctaid", offset_of!(Record, block)), ("tid", offset_of!(Record, thread))] {
        for (index, axis) in ["x", "y", "z"].iter().enumerate() {
            text += &format!("mov.u32 %v, %{register}.{axis};\n{}", exchange(field + 4 * index));
        }
    }
    text += &format!(
        "membar.sys;\nmov.u32 %v, {PLACE};\nst.volatile.global.u32 [%b+{}], %v;\nmembar.sys;\n\
         TRAP:\ntrap;\n\
         WAIT:\nnanosleep.u32 1000;\nbra WAIT;\n}}",
        offset_of!(Record, ready),
    );
    text
}

/// Lowers calls of [`AT_LOCATION`], and defines the globals that panics refer to.
pub fn lower<'ctx>(context: &'ctx Context, module: &Module<'ctx>, level: OptLevel) -> Result<()> {
    let failed = |error: BuilderError| Diagnostic::error(Code::LlvmFailed, format!("cannot write a panic: {error}"));
    if let Some(function) = module.get_function(AT_LOCATION) {
        if level != OptLevel::O0 {
            join(context, function).map_err(failed)?;
        }
        // Inline PTX is no use that LLVM sees.
        let address = module.get_global(SYMBOL).unwrap_or_else(|| module.add_global(context.i64_type(), None, SYMBOL));
        define(address, context.i64_type().into());
        if llvm::uses(&function).is_empty() {
            // SAFETY: nothing uses it, and this is its only handle.
            unsafe { llvm::delete_function(function) };
        } else {
            body(context, function).map_err(failed)?;
        }
    }
    let words = u32::try_from(size_of::<Record>() / 8).expect("two pages");
    for (name, ty) in [(SYMBOL, context.i64_type().into()), (DRAFT_SYMBOL, context.i64_type().array_type(words).into())]
    {
        if let Some(global) = module.get_global(name).filter(|global| !llvm::uses(global).is_empty()) {
            define(global, ty);
        }
    }
    Ok(())
}

/// Makes a declaration a definition of zeros, which other modules may have too.
fn define<'ctx>(global: GlobalValue<'ctx>, ty: BasicTypeEnum<'ctx>) {
    if global.is_declaration() {
        let declared = BasicTypeEnum::try_from(global.get_value_type()).unwrap_or(ty);
        global.set_initializer(&declared.const_zero());
        global.set_alignment(if ty.is_array_type() { align_of::<Record>() as u32 } else { 8 });
        global.set_linkage(Linkage::WeakAny);
    }
}

/// Gives every function with panics one block for them.
fn join<'ctx>(context: &'ctx Context, panic: FunctionValue<'ctx>) -> Result<(), BuilderError> {
    let calls: Vec<InstructionValue<'ctx>> = llvm::uses(&panic)
        .into_iter()
        .filter_map(|user| match user {
            Use::Instruction(call) => Some(call),
            Use::Global(_) => None,
        })
        .filter(|call| llvm::called_function(*call) == Some(panic) && ends_block(*call))
        .collect();
    let mut functions: Vec<(FunctionValue<'ctx>, Vec<InstructionValue<'ctx>>)> = Vec::new();
    for call in calls {
        let Some(function) = call.get_parent().and_then(BasicBlock::get_parent) else { continue };
        match functions.iter_mut().find(|(known, _)| *known == function) {
            Some((_, calls)) => calls.push(call),
            None => functions.push((function, vec![call])),
        }
    }
    let builder = context.create_builder();
    for (function, calls) in functions {
        let last = context.append_basic_block(function, "panic");
        let mut incoming = Vec::new();
        for call in calls {
            let (Some(block), Some(location)) = (call.get_parent(), location(call)) else { continue };
            if let Some(end) = block.get_terminator() {
                end.erase_from_basic_block();
            }
            call.erase_from_basic_block();
            builder.position_at_end(block);
            builder.build_unconditional_branch(last)?;
            incoming.push((location, block));
        }
        builder.position_at_end(last);
        let phi = builder.build_phi(context.ptr_type(AddressSpace::default()), "location")?;
        for (location, block) in &incoming {
            phi.add_incoming(&[(location, *block)]);
        }
        write(context, &builder, phi.as_basic_value().into_pointer_value())?;
    }
    Ok(())
}

/// Whether nothing but the end of the block follows; rustc and LLVM leave it so after what does not come back.
fn ends_block(call: InstructionValue<'_>) -> bool {
    call.get_next_instruction().is_some_and(|next| next.get_opcode() == InstructionOpcode::Unreachable)
}

fn location(call: InstructionValue<'_>) -> Option<PointerValue<'_>> {
    match call.get_operand(0)?.value()? {
        BasicValueEnum::PointerValue(location) => Some(location),
        _ => None,
    }
}

/// A function of its own, for calls that stay.
fn body<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<(), BuilderError> {
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, ""));
    let location = function.get_first_param().expect("it has one").into_pointer_value();
    write(context, &builder, location)?;
    function.set_linkage(Linkage::Internal);
    Ok(())
}

fn write<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    location: PointerValue<'ctx>,
) -> Result<(), BuilderError> {
    let ty = context.void_type().fn_type(&[location.get_type().into()], false);
    let assembly = context.create_inline_asm(ty, assembly(), "l,~{memory}".into(), true, false, None, false);
    builder.build_indirect_call(ty, assembly, &[location.into()], "")?;
    builder.build_unreachable()?;
    Ok(())
}
