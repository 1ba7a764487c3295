//! LTO-IR, which nvlink takes only inside host objects, and the library that nvlink compiles it with.

use std::path::{Path, PathBuf};
use std::process::Command;

use object::write::{Object, Relocation, Symbol, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationEncoding, RelocationFlags, RelocationKind, SectionKind,
    SymbolFlags, SymbolKind, SymbolScope,
};

use super::step::tool;
use crate::arch::Arch;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::files::no_scratch;
use crate::scratch::Folder;
use crate::tool::{Name, Tools};

/// Packs LTO-IR as nvcc does: a fatbin in a host object. nvlink 13.0 drops LTO-IR files and fatbins of LTO-IR silently
/// when the rest is machine code, as ours is.
pub fn object(source: &Path, folder: &Folder, index: usize, arch: Arch, tools: &Tools) -> Result<PathBuf> {
    let fatbinary = tool(tools, Name::Fatbinary, &format!("linking with {}", source.display()))?;
    let failed = |reason: String| {
        Diagnostic::error(Code::ToolFailed, format!("cannot pack {} for nvlink: {reason}", source.display()))
            .help("`cargo ptx doctor` shows which tools were found and whether their versions agree")
    };
    let fatbin = folder.path().join(format!("{index}.fatbin"));
    let sm = arch.name().trim_start_matches("sm_");
    let mut command = Command::new(&fatbinary);
    command
        .args(["-64", "--device-c", "--cmdline=--compile-only"])
        .arg(format!("--create={}", fatbin.display()))
        .arg(format!("--image3=kind=nvvm,sm={sm},file={}", source.display()));
    folder.confine(&mut command);
    let run = command.output().map_err(|e| failed(e.to_string()))?;
    if !run.status.success() {
        return Err(failed(String::from_utf8_lossy(&run.stderr).trim().to_string()).into());
    }
    let bytes = std::fs::read(&fatbin).map_err(|e| failed(e.to_string()))?;
    let file = folder.path().join(format!("{index}.o"));
    let object = wrap(&bytes).map_err(|e| failed(e.to_string()))?;
    std::fs::write(&file, object).map_err(|e| no_scratch(&file, &e))?;
    Ok(file)
}

/// A host object as nvcc's `-dc` makes it: the fatbin, and a record that points to it (`fatbinary_section.h`: magic
/// number, version, address, file name).
fn wrap(fatbin: &[u8]) -> object::write::Result<Vec<u8>> {
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let data = object.add_section(vec![], b"__nv_relfatbin".to_vec(), SectionKind::ReadOnlyData);
    object.append_section_data(data, fatbin, 8);
    let symbol = object.add_symbol(Symbol {
        name: b"fatbinData".to_vec(),
        value: 0,
        size: fatbin.len() as u64,
        kind: SymbolKind::Data,
        scope: SymbolScope::Compilation,
        weak: false,
        section: SymbolSection::Section(data),
        flags: SymbolFlags::None,
    });
    let segment = object.add_section(vec![], b".nvFatBinSegment".to_vec(), SectionKind::Data);
    let mut record = [0_u8; 24];
    record[..4].copy_from_slice(&0x4662_43b1_u32.to_le_bytes());
    record[4] = 1;
    object.append_section_data(segment, &record, 8);
    let flags =
        RelocationFlags::Generic { kind: RelocationKind::Absolute, encoding: RelocationEncoding::Generic, size: 64 };
    object.add_relocation(segment, Relocation { offset: 8, symbol, addend: 0, flags })?;
    object.write()
}

/// The folder that nvlink asks for: one with `lib64/libnvvm.so`. A toolkit has it; the wheels have the library elsewhere.
pub fn nvvm(nvlink: &Path, scratch: &Path) -> Result<PathBuf, String> {
    let root = nvlink.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    let toolkit = root.join("nvvm");
    if toolkit.join("lib64/libnvvm.so").exists() {
        return Ok(toolkit);
    }
    let libraries = ["lib", "lib64", "nvvm/lib"].into_iter().flat_map(|folder| {
        let entries = std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    });
    let is_nvvm = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("libnvvm.so"))
    };
    let library = libraries.into_iter().find(is_nvvm).ok_or("libnvvm.so was not found beside nvlink")?;
    let folder = scratch.join("nvvm/lib64");
    let link = folder.join("libnvvm.so");
    if !link.exists() {
        std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        std::os::unix::fs::symlink(library, link).map_err(|e| e.to_string())?;
    }
    Ok(scratch.join("nvvm"))
}
