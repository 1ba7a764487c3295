//! The pieces of an encoded descriptor that the macros write ([`crate::Described`]).

use alloc::vec::Vec;

use crate::descriptor::{Kind, MAGIC, Mangling, VERSION};

/// What an encoded descriptor begins with; `None` if a name has over 65,535 bytes.
pub fn head(kind: Kind, mangling: Mangling, namespace: &str, name: &str) -> Option<Vec<u8>> {
    let start = [&MAGIC[..], &VERSION.to_le_bytes(), &[kind as u8, mangling as u8]].concat();
    Some([start, strings(&[namespace, name])?].concat())
}

/// What a parameter begins with, or a result, whose name is empty; `None` as above.
pub fn param(name: &str, rust_type: &str) -> Option<Vec<u8>> {
    strings(&[name, rust_type])
}

fn strings(texts: &[&str]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for text in texts {
        bytes.extend(u16::try_from(text.len()).ok()?.to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    Some(bytes)
}
