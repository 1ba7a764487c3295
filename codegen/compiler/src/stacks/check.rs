//! Writes the checks.
//!
//! ```text
//! before: define i32 @f(i32 %n) {
//!           %slot = alloca [4 x i32]
//!           …
//! after:  define i32 @f(i32 %n) "ptx-stack-check" {
//!           %slot = alloca [4 x i32]
//!           %pointer = call i64 asm sideeffect "stacksave.u64 $0;", "=l"()
//!           %least = load i64, ptr addrspace(4) @__ptx_stack
//!           %low = icmp ult i64 %pointer, %least
//!           br i1 %low, label %overflow, label %body
//!         overflow:  ; panics with the function's name, and the stack's size
//!         body:      …
//! ```
//!
//! `stacksave` (PTX ISA, "Stack Manipulation Instructions") is a copy of a register. The frame is already allocated when it
//! runs, and nothing was stored in it but registers of the caller.

use std::mem::offset_of;

use ptx_abi::panic::Operand;
use ptx_abi::stack::{Bounds, SYMBOL};

use super::calls::Calls;
use super::limits::MOST_BYTES;
use crate::arch::{Needs, PtxVersion};
use crate::callers;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, AddressSpace, BuilderError, Context, FunctionValue, GlobalValue, InstructionOpcode, IntPredicate, IntValue,
    Linkage, Module,
};
use crate::marks;
use crate::panics::{self, Part};
use crate::request::Panics;

/// PTX ISA, "Stack Manipulation Instructions: stacksave".
const STACKSAVE: PtxVersion = PtxVersion { major: 7, minor: 3 };

/// Has one function of every circle of calls look for the stack's end; refuses frames that no device has room for. Returns
/// what the checks need.
pub fn check<'ctx>(context: &'ctx Context, module: &Module<'ctx>, panics: &Panics, has_lines: bool) -> Result<Needs> {
    refuse(module)?;
    let checked = Calls::of(module, |_| false).entered_again();
    if checked.is_empty() {
        return Ok(Needs::default());
    }
    refuse_without_lines(module, has_lines)?;
    let functions: Vec<FunctionValue<'ctx>> =
        llvm::functions(module).filter(|function| function.count_basic_blocks() > 0).collect();
    let bounds = declare(context, module);
    for number in checked {
        marks::set_checks_stack(context, functions[number]);
        write(context, module, functions[number], bounds, panics).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot write a check of the stack: {error}"))
        })?;
    }
    define(context, bounds, read(module).reserve_of_variables());
    Ok(Needs { ptx: Some(STACKSAVE) })
}

/// Refuses circles of calls where lines were left out: what a check says has a line.
pub fn refuse_without_lines(module: &Module<'_>, has_lines: bool) -> Result<()> {
    if has_lines || Calls::of(module, |_| false).entered_again().is_empty() {
        return Ok(());
    }
    Err(Diagnostic::error(Code::Stack, "a check of the stack has a line, and lines were left out").into())
}

/// The calls of a module whose checks are written.
pub fn read(module: &Module<'_>) -> Calls {
    Calls::of(module, marks::checks_stack)
}

/// The error for functions whose own variables are too large.
fn refuse(module: &Module<'_>) -> Result<()> {
    let too_large = llvm::functions(module).filter_map(|function| {
        let slots = llvm::instructions(function).filter(|i| i.get_opcode() == InstructionOpcode::Alloca);
        let bytes: u64 = slots.filter_map(llvm::allocated_bytes).sum();
        (bytes > MOST_BYTES).then(|| {
            let name = callers::demangled(&function.get_name().to_string_lossy());
            Diagnostic::error(Code::Stack, format!("the variables of `{name}` take {bytes} bytes of stack a thread"))
                .at(llvm::definition(function), "this function, with what was inlined into it")
                .note(format!("CUDA allows {MOST_BYTES} bytes"))
                .help("keep large arrays in memory that the host allocates, or in shared memory")
        })
    });
    let problems: Vec<Diagnostic> = too_large.collect();
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

fn declare<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> GlobalValue<'ctx> {
    let words = u32::try_from(size_of::<Bounds>() / 8).expect("three words");
    let ty = context.i64_type().array_type(words);
    module
        .get_global(SYMBOL)
        .unwrap_or_else(|| module.add_global(ty, Some(AddressSpace::from(llvm::CONSTANT_SPACE)), SYMBOL))
}

/// Other modules may have it too; the host writes it.
fn define<'ctx>(context: &'ctx Context, bounds: GlobalValue<'ctx>, reserve: u64) {
    let word = |number| context.i64_type().const_int(number, false);
    bounds.set_initializer(&context.i64_type().const_array(&[word(0), word(0), word(reserve)]));
    bounds.set_alignment(8);
    bounds.set_linkage(Linkage::WeakAny);
    llvm::set_externally_initialized(bounds);
}

fn write<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    function: FunctionValue<'ctx>,
    bounds: GlobalValue<'ctx>,
    panics: &Panics,
) -> Result<(), BuilderError> {
    let Some(body) = function.get_first_basic_block() else { return Ok(()) };
    let check = context.prepend_basic_block(body, "check");
    let overflow = context.append_basic_block(function, "overflow");
    let builder = context.create_builder();
    builder.position_at_end(check);
    // Slots have fixed places only in the first block.
    for slot in body.get_instructions().filter(|i| i.get_opcode() == InstructionOpcode::Alloca).collect::<Vec<_>>() {
        slot.remove_from_basic_block();
        builder.insert_instruction(&slot, None);
    }
    let word = context.i64_type();
    let load = |offset: usize, name: &str| -> Result<IntValue<'ctx>, BuilderError> {
        let offset = word.const_int(offset as u64, false);
        let at = llvm::build_byte_offset(context, &builder, bounds.as_pointer_value(), offset)?;
        Ok(builder.build_load(word, at, name)?.into_int_value())
    };
    llvm::set_location_of_definition(context, &builder, function);
    let ty = word.fn_type(&[], false);
    let assembly = context.create_inline_asm(ty, "stacksave.u64 $0;".into(), "=l".into(), true, false, None, false);
    let pointer = builder.build_indirect_call(ty, assembly, &[], "pointer")?.try_as_basic_value().unwrap_basic();
    let least = load(offset_of!(Bounds, least), "least")?;
    let low = builder.build_int_compare(IntPredicate::ULT, pointer.into_int_value(), least, "low")?;
    builder.build_conditional_branch(low, overflow, body)?;

    builder.position_at_end(overflow);
    llvm::set_location_of_definition(context, &builder, function);
    let size = load(offset_of!(Bounds, size), "size")?;
    let name = callers::demangled(&function.get_name().to_string_lossy());
    let text = [
        Part::Text(format!("stack overflow in `{name}`: every thread has ")),
        Part::Operand(Operand::Unsigned),
        Part::Text(
            " bytes of stack. Allow more with Device::set_stack_size (cuCtxSetLimit, CU_LIMIT_STACK_SIZE)".into(),
        ),
    ];
    let strategy = panics.of(llvm::crate_of_function(function).as_deref());
    panics::write(context, module, &builder, strategy, &text, &[size], llvm::definition(function))?;
    builder.build_unreachable()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::AnyValue;

    const TEXT: &str = "
        define internal i32 @down(i32 %n) {
          %slot = alloca [4 x i32]
          %end = icmp eq i32 %n, 0
          br i1 %end, label %done, label %more
        more:
          %less = sub i32 %n, 1
          %r = call i32 @down(i32 %less)
          ret i32 %r
        done:
          call void @leaf(ptr %slot)
          ret i32 0
        }
        define internal void @leaf(ptr %p) { ret void }
        define ptx_kernel void @kernel(i32 %n) {
          %r = call i32 @down(i32 %n)
          ret void
        }";

    fn checked(text: &str, body: impl FnOnce(&Module<'_>, Needs)) {
        let context = Context::create();
        let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
        let needs = check(&context, &module, &Panics::default(), true).unwrap();
        module.verify().unwrap();
        body(&module, needs);
    }

    #[test]
    fn a_function_that_calls_itself_looks_for_the_end() {
        checked(TEXT, |module, needs| {
            assert_eq!(needs.ptx, Some(STACKSAVE));
            let down = module.get_function("down").unwrap().print_to_string().to_string();
            let place = |part: &str| down.find(part).unwrap_or_else(|| panic!("no {part} in {down}"));
            assert!(place("alloca") < place("stacksave") && place("stacksave") < place("%end = icmp"), "{down}");
            assert!(down.contains("ptx_panic_with_1"), "{down}");
            for name in ["leaf", "kernel"] {
                let ir = module.get_function(name).unwrap().print_to_string().to_string();
                assert!(!ir.contains("stacksave"), "{ir}");
            }
        });
    }

    #[test]
    fn without_a_circle_nothing_changes() {
        let text = TEXT.replace("call i32 @down(i32 %less)", "add i32 %less, 1");
        checked(&text, |module, needs| {
            assert!(needs.ptx.is_none() && module.get_global(SYMBOL).is_none());
        });
    }

    #[test]
    fn a_frame_that_no_device_has_room_for_is_an_error() {
        let context = Context::create();
        let text = TEXT.replace("[4 x i32]", "[200000 x i32]");
        let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
        let error = check(&context, &module, &Panics::default(), true).unwrap_err().to_string();
        assert!(error.contains("PTX0048") && error.contains("`down` take 800000 bytes"), "{error}");
    }
}
