//! Where each line of PTX came from, for messages: also where the output has no debug information.
//!
//! The module as it was before its debug information was limited is emitted once more, with line tables, which are
//! then read and left out. Unless there is something to explain that costs a copy of the module's bitcode.

use std::fmt;
use std::path::PathBuf;
use std::rc::Rc;

use crate::arch::Arch;
use crate::codes::Code;
use crate::debuginfo::sections::{self, replace};
use crate::debuginfo::without_debug;
use crate::diagnostic::{Diagnostic, Result, Span};
use crate::emit;
use crate::llvm::{self, Call, Context, MemoryBuffer, Origin, ParseError, TargetMachine};
use crate::ptx_text::{self, Kind};
use crate::request::DebugLevel;

/// Something that PTX was made from.
pub trait Trace: fmt::Debug {
    /// The PTX once more.
    fn trace(&self) -> Result<Traced>;
}

/// A module with all its debug information.
#[derive(Debug)]
pub struct Traceable {
    /// As it is emitted otherwise.
    pub bitcode: MemoryBuffer<'static>,
    /// The same as for the output.
    pub machine: Rc<TargetMachine>,
    /// For messages.
    pub arch: Arch,
}

/// PTX without debug information, and what its lines came from.
#[derive(Debug, Default)]
pub struct Traced {
    /// The text, without `.loc`, `.file` and debug sections.
    pub ptx: String,
    places: Vec<Option<Place>>,
}

/// Where a line of PTX came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// In Rust.
    pub span: Span,
    /// The calls that were inlined, from the innermost outwards.
    pub calls: Vec<Call>,
    /// Whether it is inline PTX; the program's own unless `span` is in a library.
    pub is_inline_ptx: bool,
}

impl Trace for Traceable {
    fn trace(&self) -> Result<Traced> {
        let context = Context::create();
        let module = llvm::read_bitcode(&context, self.bitcode.as_slice(), "traced")
            .map_err(|ParseError(error)| Diagnostic::error(Code::LlvmFailed, error))?;
        emit::limit_debug_info(&module, &self.machine, DebugLevel::LineTables)?;
        let origins = llvm::number_locations(&module);
        let ptx = emit::emit(&module, &self.machine, self.arch)?;
        // Debug information that cannot be read explains nothing.
        Ok(read(&ptx, &origins).unwrap_or_default())
    }
}

impl Traced {
    /// What a line, counted from 1, came from.
    pub fn at(&self, line: usize) -> Option<&Place> {
        self.places.get(line.checked_sub(1)?)?.as_ref()
    }
}

/// Reads lines of LLVM's with the number of an [`Origin`] as column.
fn read(ptx: &str, origins: &[Origin]) -> Result<Traced, String> {
    let sections = sections::parse(ptx)?;
    let ptx = replace(ptx, &sections, |_| Some(String::new()));
    let files: Vec<(&str, PathBuf)> = ptx_text::files(&ptx).map(|(number, path)| (number, path.into())).collect();
    let mut traced = Traced::default();
    let mut place: Option<Place> = None;
    for line in ptx_text::lines(&ptx) {
        match line.kind {
            Kind::Loc { file, line: row, column: number } => {
                let origin = number.parse::<usize>().ok().and_then(|number| origins.get(number));
                let file = files.iter().find(|(number, _)| *number == file).map(|(_, path)| path.clone());
                place = match (file, row.parse::<u32>(), origin) {
                    (Some(file), Ok(line @ 1..), Some(origin)) => Some(Place {
                        span: Span { file, line, column: origin.column },
                        calls: origin.calls.clone(),
                        is_inline_ptx: false,
                    }),
                    _ => None,
                };
                continue;
            }
            Kind::File { .. } => continue,
            // A new function begins without a line.
            _ if line.ends_function() => place = None,
            _ => {}
        }
        traced.ptx.push_str(without_debug(&line));
        traced.ptx.push('\n');
        traced.places.push(place.clone().map(|place| Place { is_inline_ptx: line.is_inline, ..place }));
    }
    Ok(traced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_left_out_and_remembered() {
        let call = Call { callee: "f".into(), file: "/k.rs".into(), line: 7, column: 5 };
        let origins = [Origin::default(), Origin { column: 9, calls: vec![call.clone()] }];
        let ptx = ".target sm_80, debug\n{\n\t.loc\t1 3 1                  // lib.rs:3:1\n\t// begin inline asm\n\tfoo;\n\t// end inline asm\n\tret;\n}\n{\n\tret;\n}\n\t.file\t1 \"/lib.rs\"\n\t.section\t.debug_info\n\t{\n.b8 1\n\t}\n";
        let traced = read(ptx, &origins).unwrap();
        assert_eq!(
            traced.ptx.trim_end(),
            ".target sm_80\n{\n\t// begin inline asm\n\tfoo;\n\t// end inline asm\n\tret;\n}\n{\n\tret;\n}"
        );
        let foo = traced.at(4).unwrap();
        assert_eq!((foo.span.to_string().as_str(), foo.is_inline_ptx), ("/lib.rs:3:9", true));
        assert_eq!(foo.calls, [call]);
        assert!(!traced.at(6).unwrap().is_inline_ptx);
        assert!(traced.at(9).is_none() && traced.at(0).is_none() && traced.at(99).is_none());
    }
}
