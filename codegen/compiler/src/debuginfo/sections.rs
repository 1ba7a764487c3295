//! PTX's `.section { … }` text as bytes with symbols in them, and back.
//!
//! PTX ISA, "Debugging Directives: .section": a section holds lines of `.b8`, `.b16`, `.b32` and `.b64` with numbers or
//! labels, and labels of its own.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use crate::ptx_text::{self, Kind, Line};

/// A DWARF section as it is written in PTX.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// As in `.debug_info`.
    pub name: String,
    /// Where it stands in the text, from `.section` to the closing brace.
    pub range: Range<usize>,
    /// Its contents; of a symbol, what is added to it.
    pub bytes: Vec<u8>,
    /// The symbols by offset.
    pub symbols: BTreeMap<usize, String>,
    /// Its own labels by offset.
    pub labels: BTreeMap<usize, String>,
}

/// Every section of a PTX text; `Err` is the line that is no line of a section.
pub fn parse(ptx: &str) -> Result<Vec<Section>, String> {
    let mut sections = Vec::new();
    let mut open: Option<Section> = None;
    for line in ptx_text::lines(ptx) {
        match (&mut open, line.kind) {
            (None, Kind::Section(name)) => {
                open = Some(Section { name: name.into(), range: line.range.clone(), ..Section::default() });
                // `.section .debug_macinfo { }` stands on one line.
                if line.code().ends_with('}') {
                    sections.extend(open.take());
                }
            }
            (None, _) => {}
            (Some(section), Kind::Close) => {
                section.range.end = line.range.end;
                sections.extend(open.take());
            }
            (Some(section), _) => section.line(&line).ok_or_else(|| line.text.trim().to_string())?,
        }
    }
    match open {
        Some(section) => Err(format!("section `{}` has no end", section.name)),
        None => Ok(sections),
    }
}

impl Section {
    fn line(&mut self, line: &Line<'_>) -> Option<()> {
        match line.kind {
            Kind::Empty | Kind::Comment(_) | Kind::Open => return Some(()),
            Kind::Label(label) => {
                self.labels.insert(self.bytes.len(), label.into());
                return Some(());
            }
            _ => {}
        }
        let (ty, values) = line.code().split_once(char::is_whitespace)?;
        let width = match ty {
            ".b8" => 1,
            ".b16" => 2,
            ".b32" => 4,
            ".b64" => 8,
            _ => return None,
        };
        values.split(',').try_for_each(|value| self.value(value.trim(), width))
    }

    fn value(&mut self, text: &str, width: usize) -> Option<()> {
        let number = match text.parse::<i128>() {
            Ok(number) => number,
            Err(_) if text.starts_with("0x") => i128::from_str_radix(&text[2..], 16).ok()?,
            Err(_) => {
                let (symbol, added) = text.split_once('+').unwrap_or((text, "0"));
                self.symbols.insert(self.bytes.len(), symbol.trim().into());
                added.trim().parse().ok()?
            }
        };
        // Negative numbers stand for their two's complement.
        self.bytes.extend_from_slice(&number.to_le_bytes()[..width]);
        Some(())
    }
}

/// Writes the lines of a section.
#[derive(Debug, Default)]
pub struct Writer {
    text: String,
    /// Bytes of the `.b8` line that is not ended yet.
    pending: Vec<u8>,
    /// How many bytes were written.
    pub len: usize,
}

/// Bytes a line: few enough to read, and the text stays a fraction of LLVM's, which writes one.
const BYTES: usize = 16;

impl Writer {
    /// Begins a section.
    pub fn new(name: &str) -> Self {
        Self { text: format!("\t.section\t{name}\n\t{{\n"), ..Self::default() }
    }

    /// Appends numbers as they are; they become lines of `.b8`.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.len += bytes.len();
        for byte in bytes {
            self.pending.push(*byte);
            if self.pending.len() == BYTES {
                self.flush();
            }
        }
    }

    /// A symbol of 4 or 8 bytes, and what is added to it.
    pub fn symbol(&mut self, symbol: &str, added: u64, width: usize) {
        self.flush();
        self.len += width;
        let plus = if added == 0 { String::new() } else { format!("+{added}") };
        let _ = writeln!(self.text, ".b{} {symbol}{plus}", width * 8);
    }

    /// Puts a label here, for other sections to refer to.
    pub fn label(&mut self, label: &str) {
        self.flush();
        let _ = writeln!(self.text, "{label}:");
    }

    /// The whole section.
    pub fn finish(mut self) -> String {
        self.flush();
        self.text + "\t}\n"
    }

    fn flush(&mut self) {
        if !self.pending.is_empty() {
            let numbers: Vec<_> = self.pending.drain(..).map(|byte| byte.to_string()).collect();
            let _ = writeln!(self.text, ".b8 {}", numbers.join(","));
        }
    }
}

/// The text with other sections.
pub fn replace(ptx: &str, sections: &[Section], by: impl Fn(&Section) -> Option<String>) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_read_and_written() {
        let text = "ret;\n}\n\t.section\t.debug_info\n\t{\n.b32 7172\n.b8 2, 0\n.b32 .debug_abbrev\nl:\n.b64 .debug_info+546\n.b8 -1\n\t}\n\t.section\t.debug_macinfo\t{\t}\n";
        let sections = parse(text).unwrap();
        assert_eq!(sections.len(), 2);
        let info = &sections[0];
        assert_eq!(info.name, ".debug_info");
        assert_eq!(&text[info.range.clone()][..9], "\t.section");
        assert_eq!(info.bytes, [4, 28, 0, 0, 2, 0, 0, 0, 0, 0, 34, 2, 0, 0, 0, 0, 0, 0, 255]);
        assert_eq!(info.symbols[&6], ".debug_abbrev");
        assert_eq!(info.symbols[&10], ".debug_info");
        assert_eq!(info.labels[&10], "l");
        assert_eq!(sections[1].name, ".debug_macinfo");

        let mut writer = Writer::new(".debug_info");
        writer.bytes(&info.bytes[..6]);
        writer.symbol(".debug_abbrev", 0, 4);
        writer.label("l");
        writer.symbol(".debug_info", 546, 8);
        writer.bytes(&[255]);
        assert_eq!(writer.len, info.bytes.len());
        let again = parse(&writer.finish()).unwrap();
        assert_eq!((&again[0].bytes, &again[0].symbols, &again[0].labels), (&info.bytes, &info.symbols, &info.labels));
    }

    #[test]
    fn what_is_no_line_of_a_section_is_named() {
        assert_eq!(parse("\t.section\t.debug_info\n\t{\n.quad 3\n\t}\n").unwrap_err(), ".quad 3");
        assert!(parse("\t.section\t.debug_info\n\t{\n").unwrap_err().contains("no end"));
    }
}
