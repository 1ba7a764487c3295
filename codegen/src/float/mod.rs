//! Floating-point modes: which function has which.
//!
//! A function's modes stand in an attribute of its own on the LLVM function, from the moment they are known until PTX is
//! written, so that every stage between can ask for them.

mod assign;
mod casts;
mod flush;
mod lower;
mod negate;
mod operations;
mod options;
mod separate;
mod sink;
mod stamp;

pub use assign::assign;
pub use lower::lower;
pub use options::{FloatSettings, VARIABLE, is_mode, names, with_two_dashes};
pub use ptx_abi::float::{Modes, Overrides};
pub use stamp::stamp;

use crate::llvm::{AttributeLoc, Context, FunctionValue};

/// The attribute's name. Its value has a letter for every mode that holds.
const ATTRIBUTE: &str = "ptx-float";

/// The modes of a function; nvcc's defaults where none were set.
pub fn modes_of(function: FunctionValue<'_>) -> Modes {
    match function.get_string_attribute(AttributeLoc::Function, ATTRIBUTE) {
        Some(attribute) => decode(&attribute.get_string_value().to_string_lossy()),
        None => Modes::DEFAULT,
    }
}

/// Whether modes were set.
fn has_modes(function: FunctionValue<'_>) -> bool {
    function.get_string_attribute(AttributeLoc::Function, ATTRIBUTE).is_some()
}

/// Gives a function modes.
pub fn set_modes(context: &Context, function: FunctionValue<'_>, modes: Modes) {
    function.remove_string_attribute(AttributeLoc::Function, ATTRIBUTE);
    let attribute = context.create_string_attribute(ATTRIBUTE, &encode(modes));
    function.add_attribute(AttributeLoc::Function, attribute);
}

fn encode(modes: Modes) -> String {
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
