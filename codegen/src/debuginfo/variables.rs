//! Gives every variable what cuda-gdb needs to find it: a location that it can evaluate and the address class.
//!
//! LLVM leaves out the class where it believes an address to be generic, lists statics that are gone, and describes
//! variables that have no place anywhere. PTX Writer's Guide to Interoperability 12.8, §5.2: the class stands on every
//! variable and parameter.

use super::symbols::{Class, Symbols};
use super::tree::{Block, Entry, Id, Tree, Value};

/// Before: `x: DW_OP_addr anon`. After: `x: DW_OP_addr anon, class 5`; variables without a place are gone.
pub fn complete(tree: &mut Tree, symbols: &Symbols) {
    tree.remove(|tree, id| is_variable(tree.entry(id)) && is_nowhere(tree, id));
    for id in tree.all() {
        let entry = tree.entry_mut(id);
        match entry.tag {
            gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                let class = entry.block(gimli::DW_AT_location).and_then(|location| class(location, symbols));
                if let Some(class) = class {
                    entry.set(gimli::DW_AT_address_class, Value::data1(class as u8));
                }
            }
            // Rust's pointers are generic ones; rustc says 0, which means nothing to cuda-gdb.
            gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type => {
                let generic = Value::Number(gimli::DW_FORM_data4, Class::Generic as u64, None);
                entry.set(gimli::DW_AT_address_class, generic);
            }
            gimli::DW_TAG_compile_unit => {
                // rustc's `src/lib.rs/@/2y2wy0vsb1mb27dok9cw9j2ou` is no file.
                if let Some((file, _)) = entry.text(gimli::DW_AT_name).as_deref().and_then(|name| name.split_once("/@/")) {
                    let file = Value::text(file);
                    entry.set(gimli::DW_AT_name, file);
                }
            }
            _ => {}
        }
        // DWARF 5's; DWARF 2 has no such attributes.
        entry.attributes.retain(|(name, _)| !matches!(*name, gimli::DW_AT_alignment | gimli::DW_AT_noreturn));
    }
}

fn is_variable(entry: &Entry) -> bool {
    matches!(entry.tag, gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter)
}

/// Whether a variable of code that exists has no location: a static that was removed, a value that nothing needs, or one
/// without bytes.
fn is_nowhere(tree: &Tree, id: Id) -> bool {
    let entry = tree.entry(id);
    if [gimli::DW_AT_location, gimli::DW_AT_const_value].iter().any(|name| entry.get(*name).is_some()) {
        return false;
    }
    let mut above = entry.parent;
    while let Some(id) = above {
        let entry = tree.entry(id);
        match entry.tag {
            // The pattern of inlined functions, and declarations: they have no code.
            gimli::DW_TAG_subprogram => return entry.get(gimli::DW_AT_low_pc).is_some(),
            gimli::DW_TAG_inlined_subroutine => return true,
            gimli::DW_TAG_subroutine_type => return false,
            _ => above = entry.parent,
        }
    }
    true
}

/// The class of the place that a location names.
fn class(location: &Block, symbols: &Symbols) -> Option<Class> {
    match gimli::DwOp(*location.bytes.first()?) {
        gimli::DW_OP_addr => {
            let (_, symbol) = location.symbols.first()?;
            symbols.classes.get(symbol).copied()
        }
        gimli::DW_OP_regx => Some(Class::Register),
        _ => None,
    }
}
