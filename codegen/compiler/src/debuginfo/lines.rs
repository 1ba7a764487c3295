//! Line tables of optimised code: `.loc` directives with the calls that were inlined, and nothing else.
//!
//! PTX ISA, "Debugging Directives: .loc": `.loc file line column, function_name label, inlined_at file line column`, since
//! PTX ISA 7.2. The place that `inlined_at` names must have a `.loc` of its own before. LLVM 22 writes no `inlined_at`.
//!
//! Before, with the number of an [`Origin`] as column: `.loc 2 97 31`. After, of `thread.rs:97:9` inlined into
//! `lib.rs:7:13`:
//!
//! ```text
//! .loc 1 7 13
//! .loc 2 97 9, function_name $L__info_string0+24, inlined_at 1 7 13
//! ```

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::sections::{self, Writer, replace};
use crate::arch::PtxVersion;
use crate::llvm::Origin;
use crate::ptx_text::{self, Kind};

/// The first PTX ISA version that has `inlined_at`.
pub const INLINED_AT: PtxVersion = PtxVersion { major: 7, minor: 2 };

/// The label of the names in `.debug_str`.
const NAMES: &str = "$L__info_string0";

/// Writes lines and inlined calls, and leaves out all other debug information. `Err` is what cannot be read.
pub fn write(ptx: &str, origins: &[Origin], version: PtxVersion) -> Result<String, String> {
    let sections = sections::parse(ptx)?;
    let ptx = replace(ptx, &sections, |_| Some(String::new()));
    let mut files = Files::of(&ptx);
    let mut names = Names::default();
    let mut text = String::with_capacity(ptx.len());
    let mut last = String::new();
    for line in ptx_text::lines(&ptx) {
        if let Kind::Loc { file, line: row, column: number } = line.kind {
            let origin =
                number.parse::<usize>().ok().and_then(|number| origins.get(number)).cloned().unwrap_or_default();
            let mut lines = String::new();
            let calls = if version >= INLINED_AT { &origin.calls[..] } else { &[] };
            // Outermost first; each call's place in its caller is where the next one is inlined.
            let mut at = String::new();
            for (index, call) in calls.iter().enumerate().rev() {
                let place = format!("{} {} {}", files.number(&call.file), call.line, call.column);
                let _ = writeln!(lines, "\t.loc\t{place}{at}");
                at = format!(", function_name {}, inlined_at {place}", names.label(&calls[index].callee));
            }
            let _ = writeln!(lines, "\t.loc\t{file} {row} {}{at}", origin.column);
            if lines != last {
                text.push_str(&lines);
                last = lines;
            }
            continue;
        }
        // Labels for the debug information that is left out: ptxas would begin a block at each.
        let is_ours = |label: &str| label.starts_with("$L__tmp") || label.starts_with("$L__func_");
        if matches!(line.kind, Kind::Label(label) if !line.is_inline && is_ours(label)) {
            continue;
        }
        // A new function begins without a line.
        if line.ends_function() {
            last.clear();
        }
        let _ = writeln!(text, "{}", without_debug(&line));
    }
    for (file, number) in files.new {
        let _ = writeln!(text, "\t.file\t{number} \"{}\"", file.display());
    }
    if !names.bytes.is_empty() {
        let mut out = Writer::new(".debug_str");
        out.label(NAMES);
        out.bytes(&names.bytes);
        text.push_str(&out.finish());
    }
    Ok(text)
}

/// The line, of `.target` without `debug`, which only stands where there are sections.
pub fn without_debug<'a>(line: &ptx_text::Line<'a>) -> &'a str {
    if line.kind == Kind::Target { line.text.trim_end_matches(", debug") } else { line.text }
}

/// `.file` directives.
struct Files {
    known: BTreeMap<PathBuf, u32>,
    new: Vec<(PathBuf, u32)>,
}

impl Files {
    fn of(ptx: &str) -> Self {
        let files = ptx_text::files(ptx);
        let known = files.filter_map(|(number, path)| Some((PathBuf::from(path), number.parse().ok()?)));
        Self { known: known.collect(), new: Vec::new() }
    }

    fn number(&mut self, path: &Path) -> u32 {
        if let Some(number) = self.known.get(path) {
            return *number;
        }
        let number = self.known.values().max().map_or(1, |last| last + 1);
        self.known.insert(path.into(), number);
        self.new.push((path.into(), number));
        number
    }
}

/// Names of functions, each once.
#[derive(Default)]
struct Names {
    offsets: BTreeMap<String, usize>,
    bytes: Vec<u8>,
}

impl Names {
    /// Where the name of a symbol stands, readable: NVIDIA's tools know no Rust names.
    fn label(&mut self, symbol: &str) -> String {
        let name = format!("{:#}", rustc_demangle::demangle(symbol));
        let offset = *self.offsets.entry(name).or_insert_with_key(|name| {
            let offset = self.bytes.len();
            self.bytes.extend(name.bytes().chain([0]));
            offset
        });
        if offset == 0 { NAMES.into() } else { format!("{NAMES}+{offset}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::Call;

    #[test]
    fn inlined_calls_are_named_outermost_first() {
        let call =
            |callee: &str, file: &str, line, column| Call { callee: callee.into(), file: file.into(), line, column };
        let origins = [
            Origin::default(),
            Origin { column: 9, calls: vec![call("leaf", "/mid.rs", 3, 5), call("mid", "/k.rs", 7, 2)] },
            Origin { column: 4, calls: vec![] },
        ];
        let ptx = ".version 7.8\n.target sm_90, debug\n{\n$L__func_begin0:\n$L__tmp3:\n\t.loc\t2 97 1\n\tret;\n\t.loc\t1 8 2                           // k.rs:8\n\tret;\n}\n\t.file\t1 \"/k.rs\"\n\t.file\t2 \"/leaf.rs\"\n\t.section\t.debug_info\n\t{\n.b8 1\n\t}\n";
        let version = PtxVersion { major: 7, minor: 8 };
        let expected = ".version 7.8\n.target sm_90\n{\n\t.loc\t1 7 2\n\t.loc\t3 3 5, function_name $L__info_string0, inlined_at 1 7 2\n\t.loc\t2 97 9, function_name $L__info_string0+4, inlined_at 3 3 5\n\tret;\n\t.loc\t1 8 4\n\tret;\n}\n\t.file\t1 \"/k.rs\"\n\t.file\t2 \"/leaf.rs\"\n\t.file\t3 \"/mid.rs\"\n\t.section\t.debug_str\n\t{\n$L__info_string0:\n.b8 109,105,100,0,108,101,97,102,0\n\t}\n";
        assert_eq!(write(ptx, &origins, version).unwrap(), expected);
        let old = write(ptx, &origins, PtxVersion { major: 7, minor: 1 }).unwrap();
        assert!(old.contains("\t.loc\t2 97 9\n") && !old.contains("inlined_at"), "{old}");
    }
}
