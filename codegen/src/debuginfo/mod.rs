//! Debug information that ptxas takes and cuda-gdb shows (PTX Writer's Guide to Interoperability 12.8, chapter 5).
//!
//! Two halves. On the IR, before code generation, variables get places that DWARF 2 can name. On the PTX text, the
//! entries that LLVM wrote are read, completed and written again: LLVM describes them for readers of other targets.

mod enums;
mod kernels;
mod names;
mod sections;
mod symbols;
mod tree;
mod variables;

use self::sections::Section;
use self::symbols::Symbols;
use self::tree::Tree;
use crate::abi::Table;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};

pub use enums::DISCRIMINANT;

/// The text half at level full: PTX with LLVM's debug information to PTX with ours.
pub fn rewrite(ptx: &str, table: &Table) -> Result<String> {
    let failed = |what: String| {
        Diagnostic::error(Code::LlvmFailed, format!("cannot read LLVM's debug information: {what}"))
            .help("this is a bug of rust-ptx: please report it; `--debug-level=line-tables` does without")
    };
    let sections = sections::parse(ptx).map_err(|line| failed(format!("`{line}`")))?;
    let named = |name: &str| sections.iter().find(|section| section.name == name);
    let (Some(info), Some(abbreviations)) = (named(".debug_info"), named(".debug_abbrev")) else {
        return Ok(ptx.into());
    };
    let mut tree = Tree::read(info, abbreviations).map_err(|error| failed(error.to_string()))?;
    let symbols = Symbols::of(ptx);
    kernels::describe(&mut tree, &symbols, table);
    enums::flatten(&mut tree);
    variables::complete(&mut tree, &symbols);
    let written = tree.write();
    let names = names::write(&tree, &written);
    Ok(replace(ptx, &sections, |section| match section.name.as_str() {
        ".debug_abbrev" => Some(written.abbreviations.clone()),
        ".debug_info" => Some(format!("{}{names}", written.info)),
        _ => None,
    }))
}

/// The text with other sections.
fn replace(ptx: &str, sections: &[Section], by: impl Fn(&Section) -> Option<String>) -> String {
    let mut text = String::with_capacity(ptx.len());
    let mut at = 0;
    for section in sections {
        if let Some(new) = by(section) {
            text.push_str(&ptx[at..section.range.start]);
            text.push_str(&new);
            at = section.range.end;
        }
    }
    text.push_str(&ptx[at..]);
    text
}
