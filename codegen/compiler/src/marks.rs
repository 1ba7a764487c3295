//! Marks: attributes of our own on LLVM's functions, by which one stage tells a later one what it found.
//!
//! They stand from the moment they are known until PTX is written, and copies of a function have them too.

use ptx_abi::float::Modes;

use crate::llvm::{AttributeLoc, Context, FunctionValue};

/// The floating-point modes of a function: the value has a letter for every mode that holds.
const MODES: &str = "ptx-float";

/// A function that came from libdevice.
const LIBDEVICE: &str = "ptx-libdevice";

/// A function that looks for the end of the stack when it begins.
const STACK_CHECK: &str = "ptx-stack-check";

/// What a place that panics and keeps its location alone calls, from the assignment of strategies until panics are lowered:
/// `void (ptr)`, and never back.
pub const AT_LOCATION: &str = "__rust_ptx_panic_at";

/// Begins the name of what a panic calls whose message the host makes, before the number of words: `void (ptr message, ptr
/// location, i64…)`, and never back.
pub const PANIC_WITH: &str = "__rust_ptx_panic_with_";

/// What the runtime calls at the end of a panic, where the host reads the record: until panics are lowered.
pub const PANIC_END: &str = "__rust_ptx_panic_end";

/// The modes of a function; nvcc's defaults where none were set.
pub fn modes_of(function: FunctionValue<'_>) -> Modes {
    match function.get_string_attribute(AttributeLoc::Function, MODES) {
        Some(attribute) => decode(&attribute.get_string_value().to_string_lossy()),
        None => Modes::DEFAULT,
    }
}

/// Whether modes were set.
pub fn has_modes(function: FunctionValue<'_>) -> bool {
    function.get_string_attribute(AttributeLoc::Function, MODES).is_some()
}

/// Gives a function modes.
pub fn set_modes(context: &Context, function: FunctionValue<'_>, modes: Modes) {
    function.remove_string_attribute(AttributeLoc::Function, MODES);
    let attribute = context.create_string_attribute(MODES, &encode(modes));
    function.add_attribute(AttributeLoc::Function, attribute);
}

/// As in the attribute, and in the names of copies.
pub fn encode(modes: Modes) -> String {
    let Modes { fmad, ftz, prec_div, prec_sqrt, fast_functions } = modes;
    [(fmad, 'm'), (ftz, 'z'), (prec_div, 'd'), (prec_sqrt, 's'), (fast_functions, 'f')]
        .into_iter()
        .filter_map(|(holds, letter)| holds.then_some(letter))
        .collect()
}

fn decode(letters: &str) -> Modes {
    let has = |letter| letters.contains(letter);
    Modes { fmad: has('m'), ftz: has('z'), prec_div: has('d'), prec_sqrt: has('s'), fast_functions: has('f') }
}

/// Marks a function as libdevice's.
pub fn set_of_libdevice(context: &Context, function: FunctionValue<'_>) {
    function.add_attribute(AttributeLoc::Function, context.create_string_attribute(LIBDEVICE, ""));
}

/// Whether a function, or what it is a copy of, came from libdevice: its divisions are not what nvcc's `--use_fast_math`
/// replaces, which are those that a user wrote.
pub fn is_of_libdevice(function: FunctionValue<'_>) -> bool {
    function.get_string_attribute(AttributeLoc::Function, LIBDEVICE).is_some()
}

/// Marks a function that looks for the end of the stack.
pub fn set_checks_stack(context: &Context, function: FunctionValue<'_>) {
    function.add_attribute(AttributeLoc::Function, context.create_string_attribute(STACK_CHECK, ""));
}

/// Whether it looks for the end of the stack.
pub fn checks_stack(function: FunctionValue<'_>) -> bool {
    function.get_string_attribute(AttributeLoc::Function, STACK_CHECK).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_keeps_its_modes() {
        let context = Context::create();
        let module = context.create_module("m");
        let function = module.add_function("f", context.void_type().fn_type(&[], false), None);
        assert_eq!(modes_of(function), Modes::DEFAULT);
        for modes in [Modes::FAST_MATH, Modes { fmad: false, ..Modes::DEFAULT }, Modes::DEFAULT] {
            set_modes(&context, function, modes);
            assert_eq!(modes_of(function), modes);
        }
    }
}
