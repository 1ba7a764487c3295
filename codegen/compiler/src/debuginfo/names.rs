//! `.debug_pubnames`: the functions and statics of each unit, by their path (the guide's example has it, chapter 6).

use super::sections::Writer;
use super::tree::{Id, Tree, Written};

/// The whole section.
pub fn write(tree: &Tree, written: &Written) -> String {
    let mut out = Writer::new(".debug_pubnames");
    for &(offset, size, unit) in &written.units {
        let names: Vec<(usize, String)> = public(tree, unit)
            .into_iter()
            .filter_map(|id| Some((written.offsets.get(&id)? - offset, path(tree, id)?)))
            .collect();
        // Version, offset and size of the unit, the names each with an offset and a NUL, and a zero.
        let length = 2 + 4 + 4 + names.iter().map(|(_, name)| 4 + name.len() + 1).sum::<usize>() + 4;
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
        out.bytes(&number(length));
        out.bytes(&[2, 0]);
        out.symbol(".debug_info", offset as u64, 4);
        out.bytes(&number(size));
        for (offset, name) in names {
            out.bytes(&number(offset));
            out.bytes(name.as_bytes());
            out.bytes(&[0]);
        }
        out.bytes(&number(0));
    }
    out.finish()
}

/// Functions with code and statics with a place, below a unit and its namespaces and types.
fn public(tree: &Tree, unit: Id) -> Vec<Id> {
    let mut found = Vec::new();
    let mut pending = vec![unit];
    while let Some(id) = pending.pop() {
        for &child in &tree.entry(id).children {
            let entry = tree.entry(child);
            match entry.tag {
                gimli::DW_TAG_subprogram if entry.get(gimli::DW_AT_low_pc).is_some() => found.push(child),
                gimli::DW_TAG_variable if entry.get(gimli::DW_AT_location).is_some() => found.push(child),
                gimli::DW_TAG_namespace | gimli::DW_TAG_structure_type => pending.push(child),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// An entry's path, as in `krate::module::function`.
pub fn path(tree: &Tree, id: Id) -> Option<String> {
    // The definition of a declared method has no name of its own.
    let entry = tree.entry(id);
    let declared = entry.reference(gimli::DW_AT_specification).or(entry.reference(gimli::DW_AT_abstract_origin));
    let id = declared.unwrap_or(id);
    let mut parts = vec![tree.entry(id).text(gimli::DW_AT_name)?];
    let mut above = tree.entry(id).parent;
    while let Some(id) = above {
        parts.extend(tree.entry(id).text(gimli::DW_AT_name).filter(|_| tree.entry(id).parent.is_some()));
        above = tree.entry(id).parent;
    }
    parts.reverse();
    Some(parts.join("::"))
}
