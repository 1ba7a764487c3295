//! The program without its panics, for ptxas to say what these cost.
//!
//! ```text
//! before: bad:                                after: bad:
//!           call i1 @write(ptr %text, …)               call void @llvm.trap()
//!           call void @__ptx_rt_fail(ptr %text)        unreachable
//!           unreachable
//! ```

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{self, BuilderError, Context, InstructionOpcode, Module, TargetMachine};

use super::assign::trap;

/// What removes the rest of a panic, and changes little else: the module has been optimised.
const PASSES: &str = "function(simplifycfg,sroa,dse,adce,simplifycfg),globaldce";

/// A copy in which what leads to no return ends at once, as with `--panic=trap`; none if it is not wanted.
pub fn without<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    machine: &TargetMachine,
    is_wanted: bool,
) -> Result<Option<Module<'ctx>>> {
    if !is_wanted {
        return Ok(None);
    }
    let copy = llvm::copy_module(module);
    llvm::strip_debug_info(&copy);
    cut(context, &copy).map_err(|error| failed(&error.to_string()))?;
    llvm::run_passes(&copy, machine, PASSES).map_err(|error| failed(&error))?;
    Ok(Some(copy))
}

fn cut<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> std::result::Result<(), BuilderError> {
    let builder = context.create_builder();
    for function in llvm::functions(module).filter(|f| f.count_basic_blocks() > 0).collect::<Vec<_>>() {
        let returning = llvm::returning_blocks(function);
        // Not a function that panics, nor a kernel that goes on for ever.
        if function.get_first_basic_block().is_none_or(|entry| !returning.contains(&entry)) {
            continue;
        }
        for block in function.get_basic_block_iter().filter(|block| !returning.contains(block)) {
            let first = block.get_instructions().find(|i| i.get_opcode() != InstructionOpcode::Phi);
            if let Some(first) = first {
                builder.position_before(&first);
                builder.build_call(trap(module), &[], "")?;
            }
        }
    }
    Ok(())
}

fn failed(reason: &str) -> Diagnostic {
    Diagnostic::error(Code::LlvmFailed, format!("cannot leave out the panics of a program: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::{Arch, PtxVersion};
    use crate::request::OptLevel;

    #[test]
    fn panics_end_at_once_and_what_formats_them_goes() {
        let context = Context::create();
        let text = "
            define internal i1 @format(ptr %to) { store i8 7, ptr %to ret i1 true }
            define internal void @fails(ptr %to) noreturn { store i8 1, ptr %to unreachable }
            define void @for_ever() { br label %again again: br label %again }
            define ptx_kernel void @kernel(ptr %p) {
              %text = alloca [32 x i8]
              %value = load i32, ptr %p
              %bad = icmp eq i32 %value, 3
              br i1 %bad, label %panic, label %end
            panic:
              %shown = call i1 @format(ptr %text)
              br i1 %shown, label %fail, label %wait
            fail:
              call void @fails(ptr %text)
              unreachable
            wait:
              br label %wait
            end:
              ret void
            }";
        let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
        let machine = llvm::target_machine(Arch::portable(), PtxVersion { major: 7, minor: 8 }, OptLevel::O3).unwrap();
        let copy = without(&context, &module, &machine, true).unwrap().unwrap();
        let text = copy.print_to_string().to_string();
        assert!(text.contains("@llvm.trap()") && text.contains("@for_ever"), "{text}");
        assert!(!text.contains("@format") && !text.contains("@fails") && !text.contains("alloca"), "{text}");
        assert!(module.get_function("format").is_some(), "the program itself stays as it is");
    }
}
