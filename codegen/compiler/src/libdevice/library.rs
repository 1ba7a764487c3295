//! Where the functions' bodies come from: NVIDIA's libdevice, or else the crate `libm` by way of the crate `ptx`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{self, Context, MemoryBuffer, Module, ParseError};
use crate::request::{Libdevice, Options};

/// The library that mathematical functions are taken from.
pub enum Library {
    /// libdevice.10.bc: the file, mapped.
    Libdevice {
        /// Where it is.
        path: PathBuf,
        /// LLVM bitcode, parsed for each module that needs it.
        bytes: MemoryBuffer<'static>,
    },
    /// The crate `libm`.
    Libm,
}

impl Library {
    /// What the options ask for.
    pub fn find(options: &Options) -> Result<Self> {
        match &options.libdevice {
            Libdevice::Off => Ok(Self::Libm),
            Libdevice::Path(path) => Self::read(path),
            Libdevice::Auto => match &options.tools.libdevice {
                Some(found) => Self::read(&found.path),
                None => Ok(Self::Libm),
            },
        }
    }

    /// Whether a file is a libdevice that this LLVM reads.
    pub fn check(path: &Path) -> Result<()> {
        llvm::install_fatal_handler();
        match Self::read(path)? {
            Self::Libdevice { path, bytes } => Bitcode::parse(&Context::create(), &path, bytes.as_slice()).map(|_| ()),
            Self::Libm => Ok(()),
        }
    }

    fn read(path: &Path) -> Result<Self> {
        let is_empty = std::fs::metadata(path).is_ok_and(|meta| meta.len() == 0);
        let bytes = MemoryBuffer::create_from_file(path).map_err(|error| bad(path, &error.to_string()))?;
        if is_empty
            || !(bytes.as_slice().starts_with(b"BC\xc0\xde") || bytes.as_slice().starts_with(b"\xde\xc0\x17\x0b"))
        {
            return Err(bad(path, if is_empty { "it is empty" } else { "it is not LLVM bitcode" }).into());
        }
        Ok(Self::Libdevice { path: path.to_path_buf(), bytes })
    }
}

/// libdevice's module with the names of its functions.
pub struct Bitcode<'ctx> {
    path: &'ctx Path,
    bytes: &'ctx [u8],
    module: Module<'ctx>,
    names: HashSet<String>,
}

impl<'ctx> Bitcode<'ctx> {
    /// Reads the headers.
    pub fn parse(context: &'ctx Context, path: &'ctx Path, bytes: &'ctx [u8]) -> Result<Self> {
        llvm::doing(Code::BadLibdevice, format!("cannot read {}", path.display()));
        let module = llvm::parse_lazily(context, bytes, "libdevice")
            .map_err(|ParseError(reason)| bad(path, &format!("LLVM says: {reason}")))?;
        let defined = llvm::functions(&module).filter(|function| !function.as_global_value().is_declaration());
        let names = defined.map(|function| function.get_name().to_string_lossy().into_owned()).collect::<HashSet<_>>();
        if !names.contains("__nv_sinf") {
            return Err(bad(path, "it does not define `__nv_sinf`").into());
        }
        // What crashes from here on reads the program, too.
        llvm::doing(Code::LlvmFailed, "cannot link the mathematical functions");
        Ok(Self { path, bytes, module, names })
    }

    /// Whether it defines a function.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Links what `destination` refers to, and what that refers to.
    pub fn link_into(self, destination: &Module<'ctx>, context: &'ctx Context) -> Result<()> {
        let Self { path, bytes, module, .. } = self;
        // Its own are older spellings of the same.
        llvm::set_target(&module);
        let linked = llvm::Library::new(module, |_| false).link_into(destination, context);
        llvm::doing(Code::LlvmFailed, "cannot compile the crates' bitcode");
        linked.map_err(|ParseError(reason)| match whole(bytes) {
            Err(ParseError(reason)) => bad(path, &format!("LLVM says: {reason}")).into(),
            Ok(()) => Diagnostic::error(Code::BrokenInput, "the crates' bitcode cannot be linked with libdevice")
                .note(format!("LLVM says: {reason}"))
                .note(format!("`{}` is a libdevice that is whole", path.display()))
                .help("build every crate again (`cargo clean`); if it stays so, please report it")
                .into(),
        })
    }
}

/// Whether all of a libdevice can be linked where nothing else is.
fn whole(bytes: &[u8]) -> std::result::Result<(), ParseError> {
    let context = Context::create();
    let empty = context.create_module("empty");
    let module = llvm::parse_lazily(&context, bytes, "libdevice")?;
    llvm::Library::new(module, |_| true).link_into(&empty, &context)
}

fn bad(path: &Path, reason: &str) -> Diagnostic {
    Diagnostic::error(Code::BadLibdevice, format!("cannot use `{}` as libdevice: {reason}", path.display()))
        .note(format!("this linker reads bitcode of LLVM {} and older", crate::version::LLVM_VERSION))
        .help("name the file nvvm/libdevice/libdevice.10.bc of a CUDA toolkit, or leave `--libdevice` out: `cargo ptx doctor` says which one is found")
        .help("`--libdevice=off` has the crate `libm` serve")
}
