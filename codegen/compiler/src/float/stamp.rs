//! Writes a function's modes onto its instructions, which keep them wherever they are inlined.
//!
//! ```text
//! before: %s = fadd float %a, %b            (modes: fmad, ftz, prec-div = false)
//!         %q = fdiv float %s, %c
//! after:  %s = fadd contract float %a, %b   (function: "denormal-fp-math-f32"="preserve-sign,preserve-sign")
//!         %q = fdiv contract afn float %s, %c
//! ```
//!
//! `contract` says that the operation may be fused, `afn` that it may be approximated. LLVM itself does not act on either
//! before [`super::lower`] has turned them into what nvcc writes.

use super::operations::{DENORMAL, Operation, is_affected, operation};
use super::{flush, lower, separate};
use crate::diagnostic::Result;
use crate::llvm::{self, AttributeLoc, Context, FloatFlags, FunctionValue, Module};
use crate::marks::{has_modes, is_of_libdevice, modes_of};

/// Stamps every function.
pub fn stamp<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    let functions = || llvm::functions(module).filter(|f| f.count_basic_blocks() > 0);
    let flushing = functions().any(|function| modes_of(function).ftz);
    for function in functions() {
        let modes = modes_of(function);
        let mut affected = has_modes(function);
        for instruction in llvm::instructions(function).filter(|i| is_affected(*i)).collect::<Vec<_>>() {
            affected = true;
            if llvm::has_float_flags(instruction) {
                let approximate = match operation(instruction) {
                    Some(Operation::Divide) => !modes.prec_div,
                    Some(Operation::SquareRoot) => !modes.prec_sqrt,
                    None => false,
                };
                llvm::set_float_flags(instruction, FloatFlags { contract: modes.fmad, approximate });
            }
            if modes.ftz {
                flush::compare(context, instruction).map_err(lower::failed)?;
            }
        }
        if flushing {
            set_denormals(context, function, modes.ftz, affected);
        }
        // Those that libdevice itself writes stay divisions, of which `prec-div` makes `div.full`; so has nvcc it.
        if modes.fast_functions && !modes.prec_div && !is_of_libdevice(function) {
            lower::divide_fast(context, module, function)?;
        }
    }
    Ok(separate::hide(context, module).map_err(lower::failed)?)
}

/// LLVM inlines one function into another only where both treat subnormal numbers alike, or where the callee does not
/// say: one that computes nothing, nor calls what does.
fn set_denormals(context: &Context, function: FunctionValue<'_>, ftz: bool, affected: bool) {
    let value = match (ftz, affected) {
        (true, true) => "preserve-sign,preserve-sign",
        (false, true) => "ieee,ieee",
        (_, false) => "dynamic,dynamic",
    };
    function.remove_string_attribute(AttributeLoc::Function, DENORMAL);
    function.add_attribute(AttributeLoc::Function, context.create_string_attribute(DENORMAL, value));
}
