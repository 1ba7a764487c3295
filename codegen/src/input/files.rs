//! From paths on the command line to pieces of bitcode, telling apart objects, rlibs and what is neither.

use std::fmt;
use std::path::{Path, PathBuf};

use object::read::archive::ArchiveFile;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::MemoryBuffer;

/// A mapped file; members borrow from it.
pub struct File {
    path: PathBuf,
    buffer: MemoryBuffer<'static>,
}

/// One piece of bitcode or textual IR.
pub struct Member<'a> {
    /// The file it is in.
    pub path: &'a Path,
    /// Its name if the file is an archive.
    pub name: Option<String>,
    /// Given as an object of its own, not as part of an archive.
    pub is_object: bool,
    /// Its contents.
    pub bytes: &'a [u8],
}

impl fmt::Display for Member<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        self.name.as_ref().map_or(Ok(()), |name| write!(f, "({name})"))
    }
}

/// Maps the files.
pub fn read(paths: &[PathBuf]) -> Result<Vec<File>> {
    let map = |path: &PathBuf| {
        let size = std::fs::metadata(path).map_err(|e| broken(&path.display(), &e))?.len();
        if size == 0 {
            return Err(broken(&path.display(), &"it is empty").into());
        }
        let buffer = MemoryBuffer::create_from_file(path).map_err(|e| broken(&path.display(), &e))?;
        Ok(File { path: path.clone(), buffer })
    };
    paths.iter().map(map).collect()
}

impl File {
    /// The bitcode in the file.
    pub fn members(&self) -> Result<Vec<Member<'_>>> {
        let bytes = self.buffer.as_slice();
        let object = Member { path: &self.path, name: None, is_object: true, bytes };
        match Format::of(bytes) {
            Format::Bitcode | Format::Ir => Ok(vec![object]),
            Format::Archive => self.archive_members(bytes),
            Format::Machine => Err(no_bitcode(&object).into()),
            Format::Unknown => Err(broken(&object, &"it is neither LLVM bitcode nor an archive of bitcode").into()),
        }
    }

    fn archive_members<'a>(&'a self, bytes: &'a [u8]) -> Result<Vec<Member<'a>>> {
        let path = self.path.display();
        let archive = ArchiveFile::parse(bytes).map_err(|e| broken(&path, &e))?;
        let mut members = Vec::new();
        for member in archive.members() {
            let member = member.map_err(|e| broken(&path, &e))?;
            let name = String::from_utf8_lossy(member.name()).into_owned();
            if is_rust_metadata(&name) {
                continue;
            }
            let bytes = member.data(bytes).map_err(|e| broken(&path, &format!("member {name}: {e}")))?;
            let member = Member { path: &self.path, name: Some(name), is_object: false, bytes };
            match Format::of(bytes) {
                Format::Bitcode | Format::Ir => members.push(member),
                Format::Machine => return Err(no_bitcode(&member).into()),
                Format::Archive | Format::Unknown => {
                    let reason = if bytes.is_empty() { "it is empty" } else { "it is not LLVM bitcode" };
                    return Err(broken(&member, &reason).into());
                }
            }
        }
        Ok(members)
    }
}

/// What rustc puts into an rlib besides objects.
fn is_rust_metadata(name: &str) -> bool {
    name.starts_with("lib.rmeta") || name == "rust.metadata.bin"
}

enum Format {
    Bitcode,
    Ir,
    Archive,
    Machine,
    Unknown,
}

impl Format {
    fn of(bytes: &[u8]) -> Self {
        match bytes {
            [b'B', b'C', 0xc0, 0xde, ..] | [0xde, 0xc0, 0x17, 0x0b, ..] => Self::Bitcode,
            [b'!', b'<', b'a', b'r', b'c', b'h', b'>', b'\n', ..] => Self::Archive,
            _ if bytes.starts_with(b"; ModuleID")
                || bytes.starts_with(b"target ")
                || bytes.starts_with(b"source_filename") =>
            {
                Self::Ir
            }
            _ if object::FileKind::parse(bytes).is_ok() => Self::Machine,
            _ => Self::Unknown,
        }
    }
}

pub(super) fn broken(what: &dyn fmt::Display, reason: &dyn fmt::Display) -> Diagnostic {
    Diagnostic::error(Code::BrokenInput, format!("cannot read {what}: {reason}"))
        .help("remove the file or run `cargo clean`, and build again")
}

fn no_bitcode(member: &Member<'_>) -> Diagnostic {
    Diagnostic::error(Code::NoBitcode, format!("{member} is machine code, not LLVM bitcode"))
        .note("only what rustc compiled for nvptx64-nvidia-cuda can become PTX")
        .help("leave out crates that bundle C code, or that were compiled for the host")
}
