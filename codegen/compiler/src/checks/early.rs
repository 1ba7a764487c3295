//! Reads a thread's position before the first check.
//!
//! ```text
//! before: entry: br i1 (block and grid have one dimension), label %mine, label %panic
//!         mine:  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
//!                %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
//! after:  entry: %t = call i32 asm sideeffect "mov.u32 $0, %tid.x;", "=r"()
//!                %b = call i32 asm sideeffect "mov.u32 $0, %ctaid.x;", "=r"()
//!                br i1 (block and grid have one dimension), label %mine, label %panic
//! ```
//!
//! A kernel asks first whether it was launched as it wants, and its threads read their positions where that is so. Reading one
//! takes as long as a load of shared memory, and so does what the check looks at; ptxas moves nothing across the check, so a
//! thread waits for one after the other before it can load its element. Where checks are merged this does not matter, but a
//! kernel with barriers or shuffles between them has each by itself. LLVM's code generator would move an instruction back to
//! where it is used; it believes that the assembly has an effect, which keeps it from that.
//!
//! **Why it is right.** A position is the same wherever it is read, and reading it has no effect.

use super::chain::Check;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{self, BasicBlock, Builder, BuilderError, Context, FunctionValue, InstructionValue, Module};

/// Behind how many checks in turn.
const MOST_CHECKS: usize = 3;

/// Does so in every kernel.
pub fn read_early<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    let is_kernel = |function: &FunctionValue<'ctx>| function.get_call_conventions() == llvm::PTX_KERNEL;
    let builder = context.create_builder();
    for kernel in llvm::functions(module).filter(is_kernel) {
        let Some(entry) = kernel.get_first_basic_block() else { continue };
        let Some(end) = entry.get_terminator() else { continue };
        builder.position_before(&end);
        let is_read = |from: &InstructionValue<'ctx>| llvm::is_position(*from) && !llvm::is_only_assumed(*from);
        let reads: Vec<_> =
            behind_checks(entry).into_iter().flat_map(|block| block.get_instructions().filter(is_read)).collect();
        for read in reads {
            write(context, &builder, read).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot read a thread's position earlier: {error}"))
            })?;
        }
    }
    Ok(())
}

/// Reads the same register where the builder stands.
pub fn write<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    read: InstructionValue<'ctx>,
) -> std::result::Result<(), BuilderError> {
    let Some(register) = llvm::special_register(read) else { return Ok(()) };
    let ty = context.i32_type().fn_type(&[], false);
    let text = format!("mov.u32 $0, %{register};");
    let assembly = context.create_inline_asm(ty, text, "=r".to_owned(), true, false, None, false);
    let value = builder.build_indirect_call(ty, assembly, &[], "")?.try_as_basic_value().unwrap_basic();
    llvm::replace_uses(read, value);
    read.erase_from_basic_block();
    Ok(())
}

/// The blocks to which the first checks lead, each by itself.
fn behind_checks(entry: BasicBlock<'_>) -> Vec<BasicBlock<'_>> {
    let mut found = Vec::new();
    let mut block = entry;
    while let Some(check) = Check::of(block, true).filter(|_| found.len() < MOST_CHECKS) {
        if llvm::predecessors(check.inside) != [block] {
            break;
        }
        block = check.inside;
        found.push(block);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    fn read(convention: &str, middle: &str) -> String {
        let text = format!(
            "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
            declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
            declare void @llvm.assume(i1)
            declare void @panic() noreturn
            define {convention} void @f(ptr %to, i1 %fits, i1 %other) {{
            entry: br i1 %fits, label %mine, label %panic
            mine: %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
              store volatile i32 %t, ptr %to
              {middle}
            inner: %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
              store volatile i32 %b, ptr %to
              ret void
            end: ret void
            panic: call void @panic()
              unreachable
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        read_early(&context, &module).unwrap();
        module.verify().unwrap();
        let ir = module.get_function("f").unwrap().print_to_string().to_string();
        ir.split("br i1").next().unwrap_or_default().to_owned()
    }

    #[test]
    fn positions_are_read_before_the_checks() {
        let entry = read("ptx_kernel", "br i1 %other, label %inner, label %end");
        assert!(entry.contains("%tid.x;") && entry.contains("%ctaid.x;"), "{entry}");
    }

    #[test]
    fn others_are_read_where_they_are_needed() {
        // What only some threads come to.
        let entry = read("ptx_kernel", "br i1 %other, label %inner, label %more\n more: br label %inner");
        assert!(entry.contains("%tid.x;") && !entry.contains("%ctaid.x;"), "{entry}");
        assert!(!read("", "br i1 %other, label %inner, label %end").contains("tid.x"));
        let told = "%a = icmp ult i32 %u, 9\n call void @llvm.assume(i1 %a)";
        let told = format!("%u = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n {told}\n br label %inner");
        assert!(!read("ptx_kernel", &told).contains("ctaid.x"));
    }
}
