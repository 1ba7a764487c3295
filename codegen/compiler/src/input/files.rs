//! From paths on the command line to pieces of bitcode, telling apart objects, rlibs and what is neither.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};

use object::read::archive::ArchiveFile;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::MemoryBuffer;
use crate::request::TARGET;

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
    /// The contents of the file, or of that part of the archive.
    pub bytes: &'a [u8],
    /// What it defines, where that is known without reading it, and nothing in it is kept unless referred to: of crates
    /// of the sysroot. Most programs need few of their units.
    pub defined: Option<BTreeSet<String>>,
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
        let object = Member { path: &self.path, name: None, is_object: true, bytes, defined: None };
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
        let mut index = self.is_of_sysroot().then(|| index(&archive)).flatten();
        let mut members = Vec::new();
        for member in archive.members() {
            let member = member.map_err(|e| broken(&path, &e))?;
            let name = String::from_utf8_lossy(member.name()).into_owned();
            if is_rust_metadata(&name) {
                continue;
            }
            let defined = index.as_mut().map(|index| index.remove(&member.file_range().0).unwrap_or_default());
            let bytes = member.data(bytes).map_err(|e| broken(&path, &format!("member {name}: {e}")))?;
            let member = Member { path: &self.path, name: Some(name), is_object: false, bytes, defined };
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

    /// Whether it is one of the crates that the target's sysroot has, which have neither kernels nor `#[used]` statics.
    fn is_of_sysroot(&self) -> bool {
        self.path.parent().is_some_and(|folder| folder.ends_with(Path::new("rustlib").join(TARGET).join("lib")))
    }
}

/// What each member defines, by the member's place in the file, as the archive's own index has it; none if it has none.
fn index(archive: &ArchiveFile<'_>) -> Option<HashMap<u64, BTreeSet<String>>> {
    let mut index: HashMap<u64, BTreeSet<String>> = HashMap::new();
    for symbol in archive.symbols().ok()?? {
        let symbol = symbol.ok()?;
        let member = archive.member(symbol.offset()).ok()?;
        let name = String::from_utf8_lossy(symbol.name()).into_owned();
        index.entry(member.file_range().0).or_default().insert(name);
    }
    // An index of nothing is that of a program that reads no bitcode.
    (!index.is_empty()).then_some(index)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// An archive of bitcode without contents, and its index, which says that member `n` defines the names at `n`.
    fn archive(defined: &[&[&str]]) -> Vec<u8> {
        let header = |name: &str, len: usize| format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{len:<10}`\n", 0, 0, 0, 644);
        let bitcode = b"BC\xc0\xde";
        let names: String = defined.iter().flat_map(|names| *names).map(|name| format!("{name}\0")).collect();
        let count: usize = defined.iter().map(|names| names.len()).sum();
        let index_len = (4 + 4 * count + names.len()).next_multiple_of(2);
        let member_len = header("", 0).len() + bitcode.len();
        let first = b"!<arch>\n".len() + header("/", index_len).len() + index_len;

        let mut index = (count as u32).to_be_bytes().to_vec();
        for (member, names) in defined.iter().enumerate() {
            names.iter().for_each(|_| index.extend(((first + member * member_len) as u32).to_be_bytes()));
        }
        index.extend(names.as_bytes());
        index.resize(index_len, 0);
        let mut bytes = [b"!<arch>\n", header("/", index_len).as_bytes(), &index].concat();
        for member in 0..defined.len() {
            bytes.extend(header(&format!("{member}.o/"), bitcode.len()).as_bytes());
            bytes.extend(bitcode);
        }
        bytes
    }

    #[test]
    fn the_index_of_the_sysroots_crates_is_believed() {
        let dir = tempfile::tempdir().unwrap();
        let sysroot = dir.path().join("lib/rustlib").join(TARGET).join("lib");
        std::fs::create_dir_all(&sysroot).unwrap();
        let defined = |path: PathBuf, bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let files = read(&[path]).unwrap();
            files[0].members().unwrap().into_iter().map(|member| member.defined).collect::<Vec<_>>()
        };
        let set = |names: &[&str]| Some(names.iter().map(ToString::to_string).collect::<BTreeSet<_>>());
        let bytes = archive(&[&["one", "two"], &[], &["three"]]);
        assert_eq!(defined(sysroot.join("libcore.rlib"), &bytes), [set(&["one", "two"]), set(&[]), set(&["three"])]);
        // Other crates may have kernels, which no index tells from other functions.
        assert_eq!(defined(dir.path().join("libkernels.rlib"), &bytes), [None, None, None]);
        let without = [&b"!<arch>\n"[..], &bytes[bytes.len() - 64..]].concat();
        assert_eq!(defined(sysroot.join("liballoc.rlib"), &without), [None]);
    }
}
