//! Places of which all is known when the program is compiled, as the host finds them in the code: `ptx_abi::place`.

use ptx_abi::panic::FILE_LEN;
use ptx_abi::place::Place;

use super::constants;
use crate::hash;
use crate::llvm::{self, Context, GlobalValue, Module, PointerValue};

/// The name of a place, before a number that what it says has alone: groups of kernels are joined by names.
const NAME: &str = "__rust_ptx_place";

/// A static for the place that a `core::panic::Location` and a message's bytes say, as `message` encodes them; none if the
/// location is not known. Its fields lie as `ptx-device` asserts.
pub fn global<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    location: PointerValue<'ctx>,
    message: Option<&[u8]>,
) -> Option<GlobalValue<'ctx>> {
    let (file, line, column) = if location.is_null() {
        (Vec::new(), 0, 0)
    } else {
        let memory = llvm::constant_memory(llvm::global_of(location)?)?;
        let number = |at| memory.number(at, 4).map(|number| number as u32);
        (memory.slice(0)?.bytes()?.to_vec(), number(16)?, number(20)?)
    };
    let (text_word, template) = match message {
        Some([text_word, template @ .., _]) => (*text_word, Some(template)),
        _ => (0, None),
    };
    let file = &file[..file.len().min(FILE_LEN - 1)];
    let bytes =
        Place { file, line, column, text_word: text_word.into(), template }.bytes(|bytes| hash::stable([bytes]));
    let (name, value) = (format!("{NAME}_{:016x}", hash::stable([&bytes])), context.const_string(&bytes, false));
    let known = module.get_global(&name).filter(|known| known.get_initializer() == Some(value.into()));
    Some(known.unwrap_or_else(|| constants::add(module, &name, &value, 8)))
}
