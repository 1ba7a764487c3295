//! Tells what a file to link with is, by its extension and its contents, and refuses what holds no code to link.

use std::fmt;
use std::path::{Path, PathBuf};

use object::LittleEndian;
use object::elf::{EM_CUDA, ET_REL, FileHeader64};
use object::read::archive::ArchiveFile;
use object::read::elf::{FileHeader as _, SectionHeader as _};

use crate::arch::Arch;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;

/// A file to link with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Where it is.
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
}

/// What a file to link with is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// CUDA C++ source.
    Cuda,
    /// PTX text.
    Ptx,
    /// A relocatable device object.
    Cubin {
        /// Its arch, as 90 for sm_90.
        sm: u32,
    },
    /// A host object with relocatable device code in it.
    Object,
    /// An archive of those.
    Archive,
    /// Device code for several archs.
    Fatbin,
    /// NVVM's bitcode, for link-time optimisation.
    LtoIr,
}

/// The extensions, for messages.
const EXTENSIONS: &str = ".cu, .ptx, .cubin, .o, .obj, .a, .fatbin, .ltoir";

/// First bytes of a fatbin.
const FATBIN: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();

/// First bytes of LTO-IR.
const LTO_IR: [u8; 4] = 0x7f4e_43ed_u32.to_le_bytes();

/// ptxas takes longer than anybody waits for a variable that is aligned to more: its cubins are padded, too.
const MOST_ALIGNED: u64 = 1 << 32;

const DC: &str = "compile it with `nvcc -dc` (relocatable device code)";

/// What the bytes of a file are, whatever its name.
enum Content {
    Cubin { sm: u32 },
    LinkedCubin,
    Object,
    WholeObject,
    HostObject,
    Archive,
    HostArchive,
    Fatbin,
    LtoIr,
    Text,
    Damaged(String),
    Unknown,
}

impl Input {
    /// Looks into the file.
    pub fn read(path: &Path) -> Result<Self, Diagnostic> {
        let refuse = |reason: &dyn fmt::Display| {
            Diagnostic::error(Code::LinkInput, format!("cannot link with {}: {reason}", path.display()))
        };
        let bytes = std::fs::read(path).map_err(|e| {
            refuse(&e)
                .help("paths in `[package.metadata.ptx]` are relative to the package, others to the current folder")
        })?;
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if bytes.is_empty() && extension != "cu" {
            return Err(refuse(&"it is empty").help("make it again; an interrupted build leaves such files behind"));
        }
        let content = Content::of(&bytes);
        let kind = match (extension, content) {
            ("cu", Content::Text) => Kind::Cuda,
            ("ptx", Content::Text) => Kind::Ptx,
            ("cubin" | "o" | "obj", Content::Cubin { sm }) => Kind::Cubin { sm },
            ("cubin" | "o" | "obj", Content::LinkedCubin) => {
                return Err(refuse(&"its code is linked already, and defines nothing for others").help(DC));
            }
            ("o" | "obj", Content::Object) => Kind::Object,
            ("o" | "obj", Content::WholeObject) => {
                return Err(
                    refuse(&"its device code was compiled as a whole program, and defines nothing for others").help(DC)
                );
            }
            ("o" | "obj", Content::HostObject) => {
                return Err(refuse(&"it has host code only")
                    .help(format!("if it comes from a `.cu` file, {DC}"))
                    .help(
                        "host code is linked into the host program: by `cargo::rustc-link-arg` in its build script",
                    ));
            }
            ("a", Content::Archive) => Kind::Archive,
            ("a", Content::HostArchive) => {
                return Err(refuse(&"none of its members has relocatable device code")
                    .help("compile its members with `nvcc -dc`")
                    .help(
                        "host code is linked into the host program: by `cargo::rustc-link-lib` in its build script",
                    ));
            }
            ("fatbin", Content::Fatbin) => Kind::Fatbin,
            ("ltoir", Content::LtoIr) => Kind::LtoIr,
            (_, Content::Damaged(reason)) => {
                return Err(refuse(&format!("it is damaged ({reason})")).help("make it again"));
            }
            ("cu" | "ptx" | "cubin" | "o" | "obj" | "a" | "fatbin" | "ltoir", content) => {
                return Err(refuse(&format!("its name ends in `.{extension}`, but it is {content}"))
                    .help(format!("name the file as what it is: {EXTENSIONS}")));
            }
            ("bc" | "ll" | "rlib" | "rs", _) => {
                return Err(refuse(&"Rust code and LLVM's are not linked here")
                    .help("make it a dependency of the crate: rustc gives it to this linker"));
            }
            _ => {
                return Err(refuse(&format!("`.{extension}` is not an extension of device code"))
                    .help(format!("what can be linked: {EXTENSIONS}")));
            }
        };
        Ok(Self { path: path.to_path_buf(), kind })
    }

    /// The error for a cubin that has code for none of the archs.
    pub fn fits_none(&self, archs: &[Arch]) -> Option<Diagnostic> {
        let Kind::Cubin { sm } = self.kind else { return None };
        if archs.iter().any(|arch| fits(sm, *arch)) {
            return None;
        }
        let asked: Vec<_> = archs.iter().map(ToString::to_string).collect();
        Some(
            Diagnostic::error(
                Code::LinkInput,
                format!("cannot link with {}: it is code for sm_{sm}, and the Rust code is compiled for {}", self.path.display(), asked.join(", ")),
            )
            .help(format!("compile it for that arch (`nvcc -dc -cubin -arch={}`), or give its `.cu` file or PTX, which fit every arch", asked[0]))
            .help(format!("or compile the Rust code for sm_{sm}: `--arch sm_{sm}`")),
        )
    }
}

/// Whether machine code for `sm` runs on the arch: the same major version, and no higher minor one (CUDA programming
/// guide, "Binary compatibility").
pub fn fits(sm: u32, arch: Arch) -> bool {
    sm / 10 == arch.number() / 10 && sm <= arch.number()
}

impl Content {
    fn of(bytes: &[u8]) -> Self {
        if bytes.starts_with(b"\x7fELF") {
            Self::of_elf(bytes).unwrap_or_else(|e| Self::Damaged(e.to_string()))
        } else if bytes.starts_with(b"!<arch>\n") || bytes.starts_with(b"!<thin>\n") {
            Self::of_archive(bytes).unwrap_or_else(|e| Self::Damaged(e.to_string()))
        } else if bytes.starts_with(&FATBIN) {
            Self::Fatbin
        } else if bytes.starts_with(&LTO_IR) {
            Self::LtoIr
        } else if !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok() {
            Self::Text
        } else {
            Self::Unknown
        }
    }

    fn of_elf(bytes: &[u8]) -> object::read::Result<Self> {
        let header = FileHeader64::<LittleEndian>::parse(bytes)?;
        let endian = header.endian()?;
        let sections = header.sections(endian, bytes)?;
        // A file that was cut short still has its header; nvlink takes it for one without code.
        for section in sections.iter() {
            section.data(endian, bytes)?;
            // Powers of two, or 0 (System V ABI, "Sections", `sh_addralign`); nvlink pads its output to what it finds here.
            let align = section.sh_addralign(endian);
            if align != 0 && (!align.is_power_of_two() || align > MOST_ALIGNED) {
                return Ok(Self::Damaged(format!("a section is aligned to {align} bytes")));
            }
        }
        if header.e_machine(endian) == EM_CUDA {
            // The arch stands in the second byte since CUDA 13, in the first before; EI_ABIVERSION tells (LLVM,
            // `BinaryFormat/ELF.h`, `EF_CUDA_SM_MASK`).
            let flags = header.e_flags(endian).0;
            let sm = if header.e_ident().abi_version >= 8 { flags >> 8 } else { flags } & 0xff;
            return Ok(if header.e_type(endian) == ET_REL { Self::Cubin { sm } } else { Self::LinkedCubin });
        }
        let has = |name: &[u8]| sections.iter().any(|section| sections.section_name(endian, section) == Ok(name));
        // The sections in which nvcc puts fatbins of relocatable code, and of code that it linked itself.
        Ok(match (has(b"__nv_relfatbin"), has(b".nv_fatbin")) {
            (true, _) => Self::Object,
            (false, true) => Self::WholeObject,
            (false, false) => Self::HostObject,
        })
    }

    fn of_archive(bytes: &[u8]) -> object::read::Result<Self> {
        let archive = ArchiveFile::parse(bytes)?;
        for member in archive.members() {
            // A copy, because members stand at any even address, and ELF's fields want more.
            let copy = member?.data(bytes)?.to_vec();
            if matches!(Self::of(&copy), Self::Object | Self::Cubin { .. }) {
                return Ok(Self::Archive);
            }
        }
        Ok(Self::HostArchive)
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cubin { .. } | Self::LinkedCubin => "a cubin",
            Self::Object | Self::WholeObject | Self::HostObject => "a host object",
            Self::Archive | Self::HostArchive => "an archive",
            Self::Fatbin => "a fatbin",
            Self::LtoIr => "LTO-IR",
            Self::Text => "text",
            Self::Damaged(_) | Self::Unknown => "something else",
        })
    }
}
