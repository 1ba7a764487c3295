//! The contents of an output, before it is written.

use crate::arch::Arch;
use crate::request::Emit;

/// The contents of one output.
pub struct Artifact {
    /// What it is.
    pub kind: Emit,
    /// None for a fatbin and a header.
    pub arch: Option<Arch>,
    /// The number of a [`Emit::CubinParts`], from 1.
    pub part: Option<usize>,
    /// What goes into the file: text in UTF-8, or a binary.
    pub bytes: Vec<u8>,
}

impl Artifact {
    /// The file in an output folder, for a crate `name`.
    pub fn file_name(&self, name: &str) -> String {
        let arch = self.arch.map_or(String::new(), |arch| format!("{arch}."));
        let part = self.part.map_or(String::new(), |part| format!("{part}."));
        format!("{name}.{arch}{part}{}", self.kind.extension())
    }
}
