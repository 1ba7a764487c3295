//! Makes Rust's enums plain structures, which every reader of DWARF 2 shows.
//!
//! rustc describes them with variant parts (DWARF 3). gdb resolves those by reading the discriminant as soon as it sees
//! a value's address, without the address class, and that read goes to the host's memory: in cuda-gdb every enum, and
//! every structure that holds one, is `<error: Cannot access memory at address 0xfffdb8>`. So the discriminant and all
//! variants become members at their offsets. The discriminant's type lists the variants' names, so that
//! it shows which of the members counts:
//!
//! ```text
//! Shape {{variant}: Rect, Circle: Circle {__0: 2}, Rect: Rect {w: 2, h: 3}, Empty: Empty}
//! ```
//!
//! An enum with a niche has no enumerator for the variant that holds a value: whatever is not listed is that one.

use super::tree::{Entry, Id, Tree, Value};

/// Name of the member that holds the discriminant, and of its type; no identifier of Rust's.
pub const DISCRIMINANT: &str = "{variant}";

/// Rewrites every type with a variant part.
pub fn flatten(tree: &mut Tree) {
    for part in tree.all() {
        if tree.entry(part).tag != gimli::DW_TAG_variant_part {
            continue;
        }
        let Some(owner) = tree.entry(part).parent else { continue };
        let discriminant = tree.entry(part).reference(gimli::DW_AT_discr);
        let variants: Vec<Id> = with_tag(tree, part, gimli::DW_TAG_variant);
        let mut members = Vec::new();
        if let Some(discriminant) = discriminant {
            let ty = enumeration(tree, owner, discriminant, &variants);
            let entry = tree.entry_mut(discriminant);
            entry.attributes.retain(|(name, _)| *name != gimli::DW_AT_artificial);
            entry.attributes.insert(0, (gimli::DW_AT_name, Value::text(DISCRIMINANT)));
            if let Some(ty) = ty {
                entry.set(gimli::DW_AT_type, Value::Entry(ty));
            }
            members.push(discriminant);
        }
        for variant in variants {
            members.extend(with_tag(tree, variant, gimli::DW_TAG_member));
        }
        for member in &members {
            tree.entry_mut(*member).parent = Some(owner);
        }
        let children = &mut tree.entry_mut(owner).children;
        let at = children.iter().position(|child| *child == part).unwrap_or_default();
        children.splice(at..=at, members);
    }
}

fn with_tag(tree: &Tree, id: Id, tag: gimli::DwTag) -> Vec<Id> {
    tree.entry(id).children.iter().copied().filter(|child| tree.entry(*child).tag == tag).collect()
}

/// The type of the discriminant: as wide as it was, with the names of the variants.
fn enumeration(tree: &mut Tree, owner: Id, discriminant: Id, variants: &[Id]) -> Option<Id> {
    let underlying = tree.entry(discriminant).reference(gimli::DW_AT_type)?;
    let size = tree.entry(underlying).get(gimli::DW_AT_byte_size)?.clone();
    // Values of 128 bits stand in no DWARF constant.
    if size.number()? > 8 {
        return None;
    }
    let signed = tree.entry(underlying).number(gimli::DW_AT_encoding) == Some(gimli::DW_ATE_signed.0.into());
    let named: Vec<(Vec<u8>, Value)> = variants
        .iter()
        .filter_map(|variant| {
            let value = tree.entry(*variant).get(gimli::DW_AT_discr_value)?;
            let value = match value {
                Value::Number(form, number, None) if signed => Value::Signed(extended(*form, *number)),
                Value::Number(_, number, None) => Value::Number(gimli::DW_FORM_udata, *number, None),
                other => other.clone(),
            };
            let member = *with_tag(tree, *variant, gimli::DW_TAG_member).first()?;
            match tree.entry(member).get(gimli::DW_AT_name)? {
                Value::String(name) => Some((name.clone(), value)),
                _ => None,
            }
        })
        .collect();
    let ty = Entry::new(
        gimli::DW_TAG_enumeration_type,
        vec![
            (gimli::DW_AT_type, Value::Entry(underlying)),
            (gimli::DW_AT_name, Value::text(DISCRIMINANT)),
            (gimli::DW_AT_byte_size, size),
        ],
    );
    let ty = tree.add(Some(owner), ty);
    for (name, value) in named {
        let attributes = vec![(gimli::DW_AT_name, Value::String(name)), (gimli::DW_AT_const_value, value)];
        tree.add(Some(ty), Entry::new(gimli::DW_TAG_enumerator, attributes));
    }
    Some(ty)
}

/// A number of a form of fixed width, by its sign.
fn extended(form: gimli::DwForm, number: u64) -> i64 {
    match form {
        gimli::DW_FORM_data1 => i64::from(number as u8 as i8),
        gimli::DW_FORM_data2 => i64::from(number as u16 as i16),
        gimli::DW_FORM_data4 => i64::from(number as u32 as i32),
        _ => number.cast_signed(),
    }
}
