//! Types in the forms that NVIDIA's tools read.

use super::tree::Tree;

/// Makes base types without bytes, which are `()` and `!`, structures without members. compute-sanitizer, and the driver's
/// half of cuda-gdb at an exception, give up a unit with such a base type, and crash.
pub fn give_size(tree: &mut Tree) {
    for id in tree.all() {
        let entry = tree.entry_mut(id);
        if entry.tag == gimli::DW_TAG_base_type && entry.number(gimli::DW_AT_byte_size) == Some(0) {
            entry.tag = gimli::DW_TAG_structure_type;
            entry.attributes.retain(|(name, _)| *name != gimli::DW_AT_encoding);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::{Entry, Value};
    use super::*;

    #[test]
    fn base_types_have_bytes() {
        let mut tree = Tree::default();
        let base = |name: &str, size| {
            let attributes = vec![
                (gimli::DW_AT_name, Value::text(name)),
                (gimli::DW_AT_encoding, Value::data1(gimli::DW_ATE_unsigned.0)),
                (gimli::DW_AT_byte_size, Value::data1(size)),
            ];
            Entry::new(gimli::DW_TAG_base_type, attributes)
        };
        let unit = tree.add(None, Entry::new(gimli::DW_TAG_compile_unit, Vec::new()));
        tree.units.push(unit);
        let (nothing, byte) = (tree.add(Some(unit), base("()", 0)), tree.add(Some(unit), base("u8", 1)));
        give_size(&mut tree);
        assert_eq!(tree.entry(nothing).tag, gimli::DW_TAG_structure_type);
        assert_eq!(tree.entry(nothing).get(gimli::DW_AT_encoding), None);
        assert_eq!(tree.entry(byte).tag, gimli::DW_TAG_base_type);
    }
}
