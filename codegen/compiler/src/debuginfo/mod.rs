//! Debug information that ptxas takes and cuda-gdb shows (PTX Writer's Guide to Interoperability 12.8, chapter 5).
//!
//! Two halves. On the IR, before code generation, variables get places that DWARF 2 can name, and locations a number
//! under which the text half finds what LLVM does not write. On the PTX text, the entries that LLVM wrote are
//! read, completed and written again: LLVM describes them for readers of other targets.

mod enums;
mod frames;
mod kernels;
mod labels;
mod lines;
mod names;
mod scopes;
pub mod sections;
mod symbols;
mod tree;
mod types;
mod variables;

pub use self::lines::without_debug;
use self::sections::replace;
use self::symbols::Symbols;
use self::tree::Tree;
use crate::abi::Table;
use crate::arch::{Needs, PtxVersion};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{self, Module, Origin};
use crate::request::{DebugLevel, Options};

pub use enums::DISCRIMINANT;

/// What the text half must know of the module.
#[derive(Debug)]
pub struct Prepared {
    level: DebugLevel,
    origins: Vec<Origin>,
}

/// The level that the output can have: what was asked for, or what the code was compiled with (`-C debuginfo`).
pub fn level(module: &Module<'_>, asked: DebugLevel) -> DebugLevel {
    match asked {
        DebugLevel::Full if !llvm::has_full_debug_info(module) => DebugLevel::LineTables,
        asked => asked,
    }
}

/// Takes out what rustc wrote for messages.
pub fn leave_out(module: &Module<'_>) {
    llvm::strip_debug_info(module);
}

/// What the level needs of the PTX ISA version, where none was asked for.
pub fn needs(level: DebugLevel, options: &Options) -> Needs {
    let wanted = level == DebugLevel::LineTables && options.ptx_version.is_none();
    Needs { ptx: wanted.then_some(lines::INLINED_AT) }
}

/// The IR half: after all passes, before code generation.
pub fn prepare(module: &Module<'_>, level: DebugLevel) -> Result<Prepared> {
    let mut origins = Vec::new();
    match level {
        DebugLevel::None => {}
        DebugLevel::LineTables => origins = llvm::number_locations(module),
        DebugLevel::Full => {
            llvm::hide_constants(module);
            llvm::fill_scopes(module);
            llvm::join_jumps(module);
            scopes::join(module);
            llvm::mark_call_sites(module);
            llvm::join_fragments(module);
            llvm::make_references(module);
            frames::keep_callers(module).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot keep the callers of panics: {error}"))
            })?;
        }
    }
    Ok(Prepared { level, origins })
}

impl Prepared {
    /// The text half: PTX with LLVM's debug information to PTX with ours.
    pub fn rewrite(&self, ptx: String, table: &Table, version: PtxVersion) -> Result<String> {
        let written = match self.level {
            DebugLevel::None => return Ok(ptx),
            DebugLevel::LineTables => lines::write(&ptx, &self.origins, version),
            DebugLevel::Full => full(&ptx, table),
        };
        written.map_err(|what| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot read LLVM's debug information: {what}"))
                .help("this is a bug of rust-ptx: please report it; `--debug-level=none` does without")
                .into()
        })
    }
}

/// Level full; `Err` is what cannot be read.
fn full(ptx: &str, table: &Table) -> Result<String, String> {
    let (ptx, instead) = labels::steady(ptx);
    let sections = sections::parse(&ptx)?;
    let named = |name: &str| sections.iter().find(|section| section.name == name);
    let (Some(info), Some(abbreviations)) = (named(".debug_info"), named(".debug_abbrev")) else {
        return Ok(ptx);
    };
    let mut tree = Tree::read(info, abbreviations).map_err(|error| error.to_string())?;
    tree.join_units();
    types::give_size(&mut tree);
    let symbols = Symbols::of(&ptx);
    kernels::describe(&mut tree, &symbols, table);
    enums::flatten(&mut tree);
    variables::complete(&mut tree, &symbols);
    labels::end_scopes(&mut tree, &ptx, &instead);
    let written = tree.write();
    let names = names::write(&tree, &written);
    Ok(replace(&ptx, &sections, |section| match section.name.as_str() {
        ".debug_abbrev" => Some(written.abbreviations.clone()),
        ".debug_info" => Some(format!("{}{names}", written.info)),
        _ => None,
    }))
}
