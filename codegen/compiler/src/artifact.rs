//! The contents of an output, before it is written.

use crate::arch::Arch;
use crate::request::Emit;

/// The contents of one output.
pub struct Artifact {
    /// What it is.
    pub kind: Emit,
    /// None for a fatbin and a header.
    pub arch: Option<Arch>,
    /// What goes into the file: text in UTF-8, or a binary.
    pub bytes: Vec<u8>,
}

impl Artifact {
    /// The file in an output folder, for a crate `name`.
    pub fn file_name(&self, name: &str) -> String {
        let extension = self.kind.extension();
        self.arch.map_or(format!("{name}.{extension}"), |arch| format!("{name}.{arch}.{extension}"))
    }
}
