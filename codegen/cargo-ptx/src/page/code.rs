//! PTX and machine code, line by line, each with the source lines that it came from.

use std::collections::HashMap;

use ptx_codegen::ptx_text::{self, Kind};

/// A place in the source: number of the file, line.
pub type Place = (usize, u32);

/// A line of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// As it is shown.
    pub text: String,
    /// Where it came from, the innermost inlined function first; nothing where that is not known.
    pub places: Vec<Place>,
}

/// Source files by path, numbered as they come.
#[derive(Debug, Default)]
pub struct Files {
    /// In order of their numbers.
    pub paths: Vec<String>,
}

impl Files {
    /// By which lines name it; a new path gets the next one.
    pub fn number(&mut self, path: &str) -> usize {
        let known = self.paths.iter().position(|known| known == path);
        known.unwrap_or_else(|| {
            self.paths.push(path.to_string());
            self.paths.len() - 1
        })
    }
}

/// A function of a PTX file, without its `.loc`s. `text` is a part of `whole`, which names the files.
pub fn ptx(text: &str, whole: &str, files: &mut Files) -> Vec<Line> {
    let mut numbers = HashMap::new();
    for line in ptx_text::lines(whole) {
        if let Kind::File { number, path } = line.kind {
            numbers.insert(number.to_string(), files.number(path));
        }
    }
    // PTX ISA, "Debugging Directives: .loc": the place of a call stands before what was inlined there, as a `.loc` of its own.
    let mut callers: HashMap<[&str; 3], Option<[&str; 3]>> = HashMap::new();
    let mut places = Vec::new();
    let mut lines = Vec::new();
    for line in ptx_text::lines(text) {
        if let Kind::Loc { file, line: number, column } = line.kind {
            let place = [file, number, column.trim_end_matches(',')];
            let caller = line.text.split_once("inlined_at ").and_then(|(_, place)| {
                let mut words = place.split_whitespace();
                Some([words.next()?, words.next()?, words.next()?])
            });
            callers.insert(place, caller);
            let chain = std::iter::successors(Some(place), |place| callers.get(place).copied().flatten());
            // A place that is its own caller would never end.
            let chain = chain.take(MOST_CALLS);
            places = chain.filter_map(|[file, line, _]| Some((*numbers.get(file)?, line.parse().ok()?))).collect();
            places.retain(|(_, line)| *line > 0);
            continue;
        }
        let has_code = matches!(line.kind, Kind::Statement) && line.code().ends_with(';');
        let is_declaration = line.code().starts_with('.');
        let places = if has_code && !is_declaration { places.clone() } else { vec![] };
        lines.push(Line { text: line.text.replace('\t', "    "), places });
    }
    lines
}

/// More functions are not inlined into each other.
const MOST_CALLS: usize = 64;

/// A section of what `nvdisasm --print-line-info-inline` printed: instructions and labels.
pub fn sass(section: &str, files: &mut Files) -> Vec<Line> {
    let mut places: Vec<Place> = Vec::new();
    let mut is_new = true;
    let mut lines = Vec::new();
    for line in section.lines() {
        let trimmed = line.trim();
        if let Some(place) = trimmed.strip_prefix("//## File \"") {
            if is_new {
                places.clear();
            }
            is_new = false;
            let parts = place
                .split_once("\", line ")
                .and_then(|(path, rest)| Some((path, rest.split_whitespace().next()?.parse().ok()?)));
            places.extend(parts.map(|(path, line)| (files.number(path), line)));
        } else if let Some((address, code)) = trimmed.strip_prefix("/*").and_then(|rest| rest.split_once("*/")) {
            is_new = true;
            let text = format!("{address}  {}", code.trim().trim_end_matches(';').trim_end());
            lines.push(Line { text, places: places.clone() });
        } else if trimmed.starts_with(".L_") && trimmed.ends_with(':') {
            lines.push(Line { text: trimmed.to_string(), places: vec![] });
        }
    }
    lines
}

/// The instruction of a line of [`sass`]: `LDG` of `0d00  @!P0 LDG.E.SYS R0, [R4]`; none of a label.
pub fn opcode(line: &str) -> Option<&str> {
    let (_, code) = line.split_once("  ")?;
    let mut words = code.split_whitespace().skip_while(|word| word.starts_with('@') || *word == "{");
    Some(words.next()?.split('.').next()?.trim_end_matches(';'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptx_has_the_lines_of_all_that_was_inlined() {
        let function = ".visible .entry k(\n\t.param .u64 a\n)\n{\n\t.reg .b32 \t%r<2>;\n\t.loc\t1 8 1\n\tld.param.b64 %rd1, [a];\n\
                        \t.loc\t1 10 13, function_name $L, inlined_at 1 8 1\n\
                        \t.loc\t2 51 9, function_name $L+6, inlined_at 1 10 13\n\tmov.u32 \t%r1, %tid.x;\n$L__BB0_1:\n\tret;\n}\n";
        let whole = format!("{function}\t.file\t1 \"/p/src/lib.rs\"\n\t.file\t2 \"/d/index.rs\"\n");
        let mut files = Files::default();
        let lines = ptx(function, &whole, &mut files);
        assert_eq!(files.paths, ["/p/src/lib.rs", "/d/index.rs"]);
        let of = |part: &str| {
            let line = lines.iter().find(|line| line.text.contains(part)).expect("the line is there");
            line.places.clone()
        };
        assert_eq!(of("ld.param"), [(0, 8)]);
        assert_eq!(of("mov.u32"), [(1, 51), (0, 10), (0, 8)]);
        assert!(of(".reg").is_empty() && of("$L__BB0_1").is_empty());
        assert!(!lines.iter().any(|line| line.text.contains(".loc")));
    }

    #[test]
    fn machine_code_has_its_lines() {
        let section = "\t.section\t.text.k\nk:\n.text.k:\n\t//## File \"/p/src/lib.rs\", line 8\n\
                       \x20       /*0000*/                   IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;\n\
                       \t//## File \"/d/index.rs\", line 51 inlined at \"/p/src/lib.rs\", line 10\n\
                       \t//## File \"/p/src/lib.rs\", line 10\n\
                       \x20       /*0010*/              @!P0 BRA `(.L_x_1) ;\n.L_x_1:\n        /*0020*/  { EXIT; }\n";
        let mut files = Files::default();
        let lines = sass(section, &mut files);
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        let expected =
            ["0000  IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]", "0010  @!P0 BRA `(.L_x_1)", ".L_x_1:", "0020  { EXIT; }"];
        assert_eq!(texts, expected);
        assert_eq!(lines[1].places, [(1, 51), (0, 10)]);
        assert_eq!((lines[2].places.len(), lines[3].places.len()), (0, 2));
        let opcodes: Vec<_> = texts.iter().map(|text| opcode(text)).collect();
        assert_eq!(opcodes, [Some("IMAD"), Some("BRA"), None, Some("EXIT")]);
    }
}
