//! Places of which all is known when the program is compiled, as the host finds them in the code: `ptx_abi::place`.

use ptx_abi::panic::FILE_LEN;
use ptx_abi::place::Place;

use super::constants;
use super::record::Known;
use crate::hash;
use crate::llvm::{self, Context, GlobalValue, Module, PointerValue};

/// The name of a place, before its number.
const NAME: &str = "__rust_ptx_place";

/// A static for the place that a `core::panic::Location` and a message's bytes say, as `message` encodes them; none if the
/// location is not known. Its fields lie as `ptx-device` asserts.
///
/// Places that are compiled together have different numbers. Others have so in all likelihood; the host names both places of a
/// number.
pub fn global<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    location: PointerValue<'ctx>,
    message: Option<&[u8]>,
    beside: u32,
) -> Option<(Known, GlobalValue<'ctx>)> {
    let (file, line, column) = if location.is_null() {
        (Vec::new(), 0, 0)
    } else {
        let memory = llvm::constant_memory(llvm::global_of(location)?)?;
        let number = |at| memory.number(at, 4).map(|number| number as u32);
        (memory.slice(0)?.bytes()?.to_vec(), number(16)?, number(20)?)
    };
    let (text, template) = match message {
        Some([text, template @ .., _]) => ((*text).into(), Some(template)),
        _ => (0, None),
    };
    let place = Place { file: &file[..file.len().min(FILE_LEN - 1)], line, column, beside, template };
    let rest = place.bytes(0);
    // Another one as often as the number is another place's.
    (0..).find_map(|tries: u32| {
        let number = hash::stable([&rest[..], &tries.to_le_bytes()]) as u32;
        let bytes = place.bytes(number);
        let (name, value) = (format!("{NAME}_{number:08x}"), context.const_string(&bytes, false));
        let global = match module.get_global(&name) {
            None => constants::add(module, &name, &value, 8),
            Some(known) if known.get_initializer() == Some(value.into()) => known,
            Some(_) => return None,
        };
        Some((Known { number, beside, text }, global))
    })
}
