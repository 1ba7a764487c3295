//! Which bytes of a value are filled and checked, and with what.
//!
//! Both languages compute a byte from a key and its index; `bool`, `char`, enums and function pointers get one of their
//! valid values, which is computed here. Padding is left out.

use crate::foreign::used;
use crate::model::{Body, Case, Scalar, Ty};
use crate::random::Random;

/// A part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// In bytes.
    pub at: u64,
    /// In bytes.
    pub len: u64,
    /// None if any bytes do.
    pub values: Option<Values>,
}

/// What a part may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// One of these numbers, as many bytes as the part has.
    OneOf(Vec<i128>),
    /// A `char`.
    Char,
    /// An address that is not null.
    Address,
}

/// The parts of a value of that type, neighbours merged.
pub fn leaves(case: &Case, ty: &Ty) -> Vec<Leaf> {
    let mut all = Vec::new();
    collect(case, ty, 0, &mut all);
    merge(all)
}

/// How many bytes of a value are checked.
pub fn checked(case: &Case, ty: &Ty) -> u64 {
    leaves(case, ty).iter().map(|leaf| leaf.len).sum()
}

fn collect(case: &Case, ty: &Ty, at: u64, all: &mut Vec<Leaf>) {
    let len = || case.layout(ty).size;
    let mut push = |values| all.push(Leaf { at, len: len(), values });
    match ty {
        Ty::Scalar(Scalar::Bool) => push(Some(Values::OneOf(vec![0, 1]))),
        Ty::Scalar(Scalar::Char) => push(Some(Values::Char)),
        Ty::Scalar(_) | Ty::Pointer { .. } => push(None),
        Ty::Function { .. } => push(Some(Values::Address)),
        Ty::Foreign(foreign) => {
            all.push(Leaf { at, len: used(foreign), values: None });
        }
        Ty::Array(element, _) => {
            let stride = case.layout(element).size;
            (0..len() / stride.max(1)).for_each(|index| collect(case, element, at + index * stride, all));
        }
        Ty::Named { def, args } => match &case.defs[*def].body {
            Body::Enum(_, values) => push(Some(Values::OneOf(values.clone()))),
            Body::Struct(_) => {
                for (field, offset) in case.record(*def, args).1 {
                    collect(case, &field, at + offset, all);
                }
            }
            Body::Union(_) => {
                // Every byte that some field has. Nobody reads the fields, so any bytes do.
                let (layout, fields) = case.record(*def, args);
                let mut inner = Vec::new();
                fields.iter().for_each(|(field, offset)| collect(case, field, *offset, &mut inner));
                let has = |byte: u64| inner.iter().any(|leaf| (leaf.at..leaf.at + leaf.len).contains(&byte));
                let bytes = (0..layout.size).filter(|byte| has(*byte));
                all.extend(bytes.map(|byte| Leaf { at: at + byte, len: 1, values: None }));
            }
        },
        // What they point to has parts of its own.
        Ty::Reference { .. } | Ty::Slice { .. } | Ty::Void | Ty::Param(_) => {}
    }
}

fn merge(all: Vec<Leaf>) -> Vec<Leaf> {
    let mut merged: Vec<Leaf> = Vec::new();
    for leaf in all {
        match merged.last_mut() {
            Some(last) if last.values.is_none() && leaf.values.is_none() && last.at + last.len == leaf.at => {
                last.len += leaf.len;
            }
            _ => merged.push(leaf),
        }
    }
    merged
}

/// The calls that fill (`put`) or check a value, in the syntax that both languages share: `place` is what stands for its
/// address, `first` what stands before it.
pub fn calls(case: &Case, ty: &Ty, key: u32, first: &str, place: &str, last: &str) -> String {
    let checks = !last.is_empty();
    let mut text = String::new();
    for leaf in leaves(case, ty) {
        let Leaf { at, len, values } = &leaf;
        text += &match values {
            None => {
                let name = if checks { "abi_check" } else { "abi_fill" };
                format!("        {name}({first}{place}, {at}, {len}, {key:#x}{last});\n")
            }
            Some(values) => {
                let name = if checks { "abi_expect" } else { "abi_put" };
                let value = value(values, *len, key, *at);
                format!("        {name}({first}{place}, {at}, {len}, {value:#x}{last});\n")
            }
        };
    }
    text
}

fn value(values: &Values, len: u64, key: u32, at: u64) -> u64 {
    let random = Random::of_item(u64::from(key), at).number();
    match values {
        Values::OneOf(values) => {
            let value = values[(random % values.len() as u64) as usize] as u64;
            if len >= 8 { value } else { value & ((1 << (len * 8)) - 1) }
        }
        // Below the surrogates.
        Values::Char => random % 0xd800,
        Values::Address => random | 1,
    }
}

/// Whose values they are, for [`key`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Arguments of `f`, which Rust checks.
    RustParam = 0,
    /// The result of `f` and what it wrote, which C++ checks.
    RustResult = 1,
    /// Arguments of `g`, which C++ checks.
    CxxParam = 2,
    /// The result of `g` and what it wrote, which Rust checks.
    CxxResult = 3,
}

/// All of them.
pub const ROLES: u32 = 4;

/// The number of the result where parameters are numbered.
pub const RESULT: u32 = 255;

/// What the bytes of a value are computed from.
pub fn key(case: &Case, role: Role, param: u32) -> u32 {
    let mixed = Random::of_item(u64::from(case.id) << 16 | u64::from(param) << 4, role as u64).number();
    mixed as u32
}

/// How many bytes each role checks in one case.
pub fn expected(case: &Case) -> [u64; ROLES as usize] {
    let mut params = 0;
    let mut written = case.result.as_ref().map_or(0, |ty| checked(case, ty));
    for param in &case.params {
        params += match param {
            Ty::Reference { to, .. } => checked(case, to),
            Ty::Slice { of, .. } => checked(case, of) * SLICE,
            other => checked(case, other),
        };
        written += match param {
            Ty::Reference { to, is_mut: true } => checked(case, to),
            Ty::Slice { of, is_mut: true } => checked(case, of) * SLICE,
            _ => 0,
        };
    }
    [params, written, params, written]
}

/// Elements of every slice that is passed.
pub const SLICE: u64 = 2;
