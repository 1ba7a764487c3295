//! Has debuggers find a kernel's parameters where the launch put them: in param space, as nvcc's.
//!
//! An entry's code is that of the shim which `#[kernel]` made; its parameters are pointers to copies, `__ptx_1: *const ()`.
//! They become the parameters that the user wrote: `p: Pair` at `k_param_1`, class 7. The kernel's own function, which the
//! entry calls, has copies of them that it may change, in local memory.

use super::names;
use super::symbols::{Class, Symbols};
use super::tree::{Block, Entry, Id, Tree, Value};
use crate::abi::Table;

/// Rewrites the parameters of every kernel of the table.
pub fn describe(tree: &mut Tree, symbols: &Symbols, table: &Table) {
    let functions: Vec<Id> = tree
        .all()
        .into_iter()
        .filter(|id| {
            tree.entry(*id).tag == gimli::DW_TAG_subprogram && tree.entry(*id).get(gimli::DW_AT_low_pc).is_some()
        })
        .collect();
    for &entry in &functions {
        let Some(symbol) = tree.entry(entry).symbol(gimli::DW_AT_low_pc).and_then(|label| symbols.kernels.get(label))
        else {
            continue;
        };
        let Some(known) = table.kernels.iter().find(|known| known.name == *symbol) else { continue };
        let function = functions.iter().copied().find(|id| {
            !tree.entry(*id).symbol(gimli::DW_AT_low_pc).is_some_and(|label| symbols.kernels.contains_key(label))
                && names::path(tree, *id).as_deref() == Some(known.path.as_str())
        });
        tree.entry_mut(entry).set(gimli::DW_AT_MIPS_linkage_name, Value::text(symbol.as_str()));
        let Some(function) = function else { continue };
        let written = parameters(tree, function);
        let mut placed = Vec::new();
        let mut first = 0;
        for (param, id) in known.params.iter().zip(&written) {
            let place = format!("{symbol}_param_{first}");
            first += param.ptx.len();
            let fits = param.ptx.len() == 1 || begins_with_a_pointer(tree, *id);
            if symbols.classes.get(&place) == Some(&Class::Parameter) && fits {
                placed.push(parameter(tree.entry(*id), place));
            }
        }
        let old = parameters(tree, entry);
        // One without bytes has no place, and the function no parameter.
        if written.len() != known.params.len() || placed.is_empty() {
            continue;
        }
        tree.entry_mut(entry).children.retain(|child| !old.contains(child));
        let rest = std::mem::take(&mut tree.entry_mut(entry).children);
        for parameter in placed {
            tree.add(Some(entry), parameter);
        }
        tree.entry_mut(entry).children.extend(rest);
    }
}

fn parameters(tree: &Tree, function: Id) -> Vec<Id> {
    let children = tree.entry(function).children.iter().copied();
    children.filter(|child| tree.entry(*child).tag == gimli::DW_TAG_formal_parameter).collect()
}

/// Whether a slice's type has its pointer first, as the two parameters in PTX.
fn begins_with_a_pointer(tree: &Tree, parameter: Id) -> bool {
    let Some(ty) = tree.entry(parameter).reference(gimli::DW_AT_type) else { return false };
    let mut ty = ty;
    // `DisjointSlice { ptr: NonNull<T> { pointer: *const T }, len, … }`
    loop {
        if tree.entry(ty).tag == gimli::DW_TAG_pointer_type {
            return true;
        }
        let first = tree.entry(ty).children.iter().copied().find(|child| {
            let entry = tree.entry(*child);
            let place = entry.block(gimli::DW_AT_data_member_location);
            let has_bytes = entry
                .reference(gimli::DW_AT_type)
                .is_some_and(|ty| tree.entry(ty).number(gimli::DW_AT_byte_size) != Some(0));
            entry.tag == gimli::DW_TAG_member && has_bytes && place.is_some_and(|place| place.bytes.last() == Some(&0))
        });
        match first.and_then(|first| tree.entry(first).reference(gimli::DW_AT_type)) {
            Some(inner) => ty = inner,
            None => return false,
        }
    }
}

/// The parameter as the function has it, at another place.
fn parameter(written: &Entry, place: String) -> Entry {
    let mut entry = Entry::new(gimli::DW_TAG_formal_parameter, written.attributes.clone());
    let mut bytes = vec![gimli::DW_OP_addr.0];
    bytes.extend([0; 8]);
    entry.set(gimli::DW_AT_location, Value::Block(Block { bytes, symbols: vec![(1, place)] }));
    entry
}
