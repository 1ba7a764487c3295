//! What is linked: pieces of code, their kinds, and how both linkers take them.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use crate::error::{Error, Result};

/// The kind of a piece of code to link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// PTX text.
    Ptx,
    /// A relocatable device object: `nvcc -dc -cubin`, `ptxas -c`.
    Cubin,
    /// Several relocatable device objects and PTX: `nvcc -dc -fatbin`.
    Fatbin,
    /// A host object with relocatable device code: `nvcc -dc`.
    Object,
    /// An archive of such host objects.
    Library,
    /// LTO-IR: `nvcc -dc -dlto -ltoir`. Only nvJitLink takes it.
    LtoIr,
}

/// One piece of code to link.
#[derive(Clone)]
pub struct LinkInput<'a> {
    /// The kind of code.
    pub kind: LinkKind,
    /// The contents; PTX has no NUL at its end.
    pub bytes: Cow<'a, [u8]>,
    /// The name that messages use.
    pub name: String,
}

impl LinkKind {
    /// The kind in words, for messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ptx => "PTX",
            Self::Cubin => "cubin",
            Self::Fatbin => "fatbin",
            Self::Object => "object",
            Self::Library => "library",
            Self::LtoIr => "LTO-IR",
        }
    }

    fn of_extension(path: &Path) -> Result<Self, String> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        Ok(match extension {
            "ptx" => Self::Ptx,
            "cubin" => Self::Cubin,
            "fatbin" => Self::Fatbin,
            "o" | "obj" => Self::Object,
            "a" | "lib" => Self::Library,
            "ltoir" => Self::LtoIr,
            "cu" => {
                return Err(
                    "CUDA C++ is not compiled at run time here: compile it with `nvcc -dc`, or name it when the \
                            kernels are built (`link = [\"…\"]`)"
                        .to_owned(),
                );
            }
            _ => return Err("what can be linked ends in .ptx, .cubin, .fatbin, .o, .obj, .a or .ltoir".to_owned()),
        })
    }
}

impl LinkInput<'static> {
    /// Reads a file; its extension says of which kind it is.
    pub(super) fn of_file(path: &Path) -> Result<Self> {
        let fail = |reason: String| Error::LinkInput { path: path.to_path_buf(), reason };
        let kind = LinkKind::of_extension(path).map_err(fail)?;
        let bytes = std::fs::read(path).map_err(|e| fail(e.to_string()))?;
        Ok(Self { kind, bytes: bytes.into(), name: path.display().to_string() })
    }
}

impl LinkInput<'_> {
    /// A copy that owns its contents.
    pub(super) fn owned(&self) -> LinkInput<'static> {
        LinkInput { kind: self.kind, bytes: self.bytes.to_vec().into(), name: self.name.clone() }
    }
}

impl fmt::Debug for LinkInput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {} bytes)", self.name, self.kind.name(), self.bytes.len())
    }
}

/// The text with a NUL at its end, as both linkers take PTX.
pub(super) fn with_nul(bytes: &[u8]) -> Vec<u8> {
    let mut text = bytes.to_vec();
    if text.last() != Some(&0) {
        text.push(0);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_their_extension() {
        let fails = |path: &str| LinkInput::of_file(Path::new(path)).unwrap_err().to_string();
        assert!(fails("a.cu").contains("nvcc -dc"));
        assert!(fails("a.so").contains(".ltoir"));
        assert!(fails("/nonexistent/a.ptx").contains("No such file"));
        assert_eq!(LinkKind::of_extension(Path::new("x/liba.a")), Ok(LinkKind::Library));
    }
}
