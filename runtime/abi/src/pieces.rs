//! The piece of an encoded descriptor that the macros write ([`crate::Entry`]).

use alloc::string::String;
use alloc::vec::Vec;

use crate::descriptor::{Kind, MAGIC, Mangling, VERSION};

/// What the macro knows of a function.
#[derive(Clone, Copy, Debug)]
pub struct Own<'a> {
    /// Kernel or device function.
    pub kind: Kind,
    /// How `name` becomes a symbol.
    pub mangling: Mangling,
    /// The C++ namespace, as in `a::b`; empty at the top.
    pub namespace: &'a str,
    /// The function's name.
    pub name: &'a str,
    /// Whether it is an instance of a function template.
    pub has_template: bool,
    /// Whether it has launch bounds.
    pub has_bounds: bool,
    /// Name and type in the source of each parameter.
    pub params: &'a [(String, String)],
    /// The result's type in the source.
    pub result: Option<&'a str>,
}

impl Own<'_> {
    /// What an encoded descriptor begins with; `None` if a name or a list is over 65,535 long.
    pub fn encoded(&self) -> Option<Vec<u8>> {
        let mut bytes = [&MAGIC[..], &VERSION.to_le_bytes(), &[self.kind as u8, self.mangling as u8]].concat();
        bytes.extend([self.has_template, self.has_bounds, self.result.is_some()].map(u8::from));
        string(&mut bytes, self.namespace)?;
        string(&mut bytes, self.name)?;
        bytes.extend(u16::try_from(self.params.len()).ok()?.to_le_bytes());
        for (name, rust_type) in self.params {
            string(&mut bytes, name)?;
            string(&mut bytes, rust_type)?;
        }
        match self.result {
            None => Some(bytes),
            Some(rust_type) => string(&mut bytes, rust_type).map(|()| bytes),
        }
    }
}

fn string(bytes: &mut Vec<u8>, text: &str) -> Option<()> {
    bytes.extend(u16::try_from(text.len()).ok()?.to_le_bytes());
    bytes.extend(text.as_bytes());
    Some(())
}
