//! Gives every variable what cuda-gdb needs to find it: a location that it can evaluate and the address class.
//!
//! LLVM leaves out the class where it believes an address to be generic, lists statics that are gone, and describes
//! variables that have no place anywhere. PTX Writer's Guide to Interoperability 12.8, §5.2: the class stands on every
//! variable and parameter.

use super::symbols::{Class, Symbols};
use super::tree::{Block, Entry, Id, Tree, Value, uleb};
use gimli::{EndianSlice, LittleEndian, Reader};

/// Before: `x: DW_OP_addr anon`. After: `x: DW_OP_addr anon, class 5`; variables without a place are gone.
pub fn complete(tree: &mut Tree, symbols: &Symbols) {
    tree.remove(|tree, id| is_variable(tree.entry(id)) && (is_nowhere(tree, id) || is_replaced(tree, id)));
    for id in tree.all() {
        simplify(tree.entry_mut(id));
    }
    tree.remove(|tree, id| is_variable(tree.entry(id)) && is_scattered(tree.entry(id)));
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
                if let Some((file, _)) =
                    entry.text(gimli::DW_AT_name).as_deref().and_then(|name| name.split_once("/@/"))
                {
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

/// Whether a variable's place lies behind pointers, which cuda-gdb would read from the host's memory, and the IR half made
/// a reference of the same name.
fn is_replaced(tree: &Tree, id: Id) -> bool {
    let entry = tree.entry(id);
    let Some(parent) = entry.parent.filter(|_| entry.block(gimli::DW_AT_location).is_some_and(is_indirect)) else {
        return false;
    };
    let name = full_name(tree, id);
    name.is_some()
        && tree.entry(parent).children.iter().any(|other| {
            *other != id
                && is_variable(tree.entry(*other))
                && full_name(tree, *other) == name
                && tree.entry(*other).block(gimli::DW_AT_location).is_some_and(|place| !is_indirect(place))
        })
}

/// The name, also of an instance.
fn full_name(tree: &Tree, id: Id) -> Option<String> {
    let entry = tree.entry(id);
    let origin = || full_name(tree, entry.reference(gimli::DW_AT_abstract_origin)?);
    entry.text(gimli::DW_AT_name).or_else(origin)
}

type Operation<'a> = gimli::Operation<EndianSlice<'a, LittleEndian>>;

/// The operations of a location; `None` if it has other ones than LLVM writes for variables on the stack.
fn operations(location: &Block) -> Option<Vec<Operation<'_>>> {
    use gimli::Operation::{Address, Deref, Piece, PlusConstant};
    let encoding = gimli::Encoding { address_size: 8, format: gimli::Format::Dwarf32, version: 2 };
    let mut operations = gimli::Expression(EndianSlice::new(&location.bytes, LittleEndian)).operations(encoding);
    let mut found = Vec::new();
    while let Some(operation) = operations.next().ok()? {
        match operation {
            Address { .. } | Deref { .. } | Piece { .. } | PlusConstant { .. } => found.push(operation),
            _ => return None,
        }
    }
    Some(found)
}

/// Whether a location is one of PTX's registers: its number is the name in ASCII, more than gimli takes for a register.
fn is_register(location: &Block) -> bool {
    let mut bytes = EndianSlice::new(&location.bytes, LittleEndian);
    bytes.read_u8().is_ok_and(|first| gimli::DwOp(first) == gimli::DW_OP_regx)
        && gimli::leb128::read::skip(&mut bytes).is_ok()
        && bytes.is_empty()
}

/// Whether a variable is in several places, or in one that only a register leads to. Its parts are those of another variable,
/// into which it was inlined, and cannot be brought together.
fn is_scattered(entry: &Entry) -> bool {
    let Some(location) = entry.block(gimli::DW_AT_location) else { return false };
    let parts = |operation: &Operation<'_>| {
        matches!(operation, gimli::Operation::Deref { .. } | gimli::Operation::Piece { .. })
    };
    !is_register(location) && operations(location).is_none_or(|operations| operations.iter().any(parts))
}

fn is_indirect(location: &Block) -> bool {
    let indirect = |operation: &Operation<'_>| matches!(operation, gimli::Operation::Deref { .. });
    // Registers that hold the address: `DW_OP_bregx` and its kin are among what is not known.
    !is_register(location) && operations(location).is_none_or(|operations| operations.iter().any(indirect))
}

/// Pieces that lie one after the other are one place, and sums of offsets one offset: ptxas and cuda-gdb want one address.
fn simplify(entry: &mut Entry) {
    let Some(location) = entry.block(gimli::DW_AT_location) else { return };
    let Some(found) = operations(location) else { return };
    let symbols: Vec<&String> = location.symbols.iter().map(|(_, symbol)| symbol).collect();
    let (mut offset, mut first, mut expected) = (0, None, None);
    for operation in found {
        match operation {
            gimli::Operation::Address { .. } => offset = 0,
            gimli::Operation::PlusConstant { value } => offset += value,
            gimli::Operation::Piece { size_in_bits, .. } if expected.is_none_or(|expected| expected == offset) => {
                first = first.or(Some(offset));
                expected = Some(offset + size_in_bits / 8);
            }
            _ => return,
        }
    }
    let Some(symbol) = symbols.first() else { return };
    if symbols.iter().all(|other| other == symbol) && (first.is_some() || symbols.len() == 1) {
        let mut bytes = vec![gimli::DW_OP_addr.0];
        bytes.extend([0; 8]);
        let offset = first.unwrap_or(offset);
        if offset > 0 {
            bytes.push(gimli::DW_OP_plus_uconst.0);
            bytes.extend(uleb(offset));
        }
        let place = Value::Block(Block { bytes, symbols: vec![(1, (*symbol).clone())] });
        entry.set(gimli::DW_AT_location, place);
    }
}

/// Whether a variable of code that exists has no location: a static that was removed, a value that nothing needs, or one
/// without bytes. Parameters without a name cannot be asked for.
fn is_nowhere(tree: &Tree, id: Id) -> bool {
    let entry = tree.entry(id);
    // A list of locations is none that ptxas keeps.
    let has_place = entry.block(gimli::DW_AT_location).is_some() || entry.get(gimli::DW_AT_const_value).is_some();
    if has_place && full_name(tree, id).is_some() {
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
    if is_register(location) {
        return Some(Class::Register);
    }
    match operations(location)?.first()? {
        gimli::Operation::Address { .. } => symbols.classes.get(&location.symbols.first()?.1).copied(),
        _ => None,
    }
}
