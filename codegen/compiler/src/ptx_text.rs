//! The one reader of PTX text: its lines with their places, and the words of what spans lines.
//!
//! PTX is free of form: white space only separates words, a `;` ends a statement (PTX ISA, "Syntax": "Source Format",
//! "Comments", "Statements"). LLVM and nvcc write one directive, label or instruction a line, and ptxas, `.loc` and
//! debuggers count lines; so [`lines`] reads PTX of that form, and any other text without failing. What may stand on
//! several lines, such as parameters and calls, is read as [`words`].
//!
//! What a line is, by the PTX ISA's names:
//!
//! | Line | [`Kind`] | Chapter |
//! |---|---|---|
//! | `.target sm_90, debug` | `Target` | "PTX Module Directives: .target" |
//! | `.visible .entry k(`, `.func  (.param .b32 r) f(` | `Function` | "Specifying Kernel Entry Points and Functions" |
//! | `$L__BB0_1:` | `Label` | "Syntax: Statements" |
//! | `.loc 1 7 13`, `.file 1 "/k.rs"` | `Loc`, `File` | "Debugging Directives" |
//! | `.section .debug_info` | `Section` | "Debugging Directives: .section" |
//! | `{`, `}` | `Open`, `Close` | "Syntax: Statements" |
//! | `// begin inline asm` | `Comment` | "Syntax: Comments" |
//! | all else | `Statement` | |

use std::ops::Range;

/// What LLVM writes before the text of an `asm!`.
pub const BEGIN_ASM: &str = "// begin inline asm";

/// What LLVM writes behind the text of an `asm!`.
pub const END_ASM: &str = "// end inline asm";

/// A line of PTX and what kind it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its bytes in the text, with its end. The lines of a text follow each other without gaps.
    pub range: Range<usize>,
    /// The line without its end.
    pub text: &'a str,
    /// Whether it is text of an `asm!`, which begins in any column; the comments around it are not.
    pub is_inline: bool,
    /// What it is.
    pub kind: Kind<'a>,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind<'a> {
    /// Nothing but white space.
    Empty,
    /// Nothing but a comment, which begins with `//`.
    Comment(&'a str),
    /// Where the code that follows came from. Numbers are as they are written.
    Loc {
        /// Number of the file.
        file: &'a str,
        /// Counted from 1; 0 where there is none.
        line: &'a str,
        /// In that line.
        column: &'a str,
    },
    /// A source file.
    File {
        /// As `.loc` names it.
        number: &'a str,
        /// Between the quotes.
        path: &'a str,
    },
    /// A label's name.
    Label(&'a str),
    /// The first line of a function's declaration or definition.
    Function(Function<'a>),
    /// The name of a section of debug information.
    Section(&'a str),
    /// `.target`, with the arch and the options.
    Target,
    /// `{` alone.
    Open,
    /// `}` alone.
    Close,
    /// An instruction, another directive, or a part of one.
    Statement,
}

/// What the first line of a function says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function<'a> {
    /// `.entry`, not `.func`.
    pub is_kernel: bool,
    /// The symbol; empty if it stands on another line.
    pub name: &'a str,
}

/// A function with its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition<'a> {
    /// What its first line says.
    pub function: Function<'a>,
    /// From its first line to the brace that ends it.
    pub text: &'a str,
    /// What stands between the braces.
    pub body: &'a str,
}

impl<'a> Line<'a> {
    /// The line without comment, and without white space around it.
    pub fn code(&self) -> &'a str {
        code(self.text)
    }

    /// Whether it ends a function: LLVM and nvcc write that brace in the first column.
    pub fn ends_function(&self) -> bool {
        self.kind == Kind::Close && !self.is_inline && self.text.starts_with('}')
    }
}

impl<'a> Kind<'a> {
    /// What a line is that stands alone.
    pub fn of(line: &'a str) -> Self {
        // Most lines are instructions.
        if let [b'a'..=b'z' | b'@', rest @ .., b';'] = line.as_bytes().trim_ascii_start()
            && !rest.contains(&b'/')
        {
            return Self::Statement;
        }
        let code = code(line);
        match code.as_bytes() {
            [] if line.trim_ascii().is_empty() => Self::Empty,
            [] => Self::Comment(line.trim_ascii()),
            b"{" => Self::Open,
            b"}" => Self::Close,
            [b'.', ..] => Self::of_directive(line, code),
            _ => code.strip_suffix(':').map_or(Self::Statement, Self::Label),
        }
    }

    fn of_directive(line: &'a str, code: &'a str) -> Self {
        let mut words = code.split_whitespace();
        match words.next() {
            Some(".target") => Self::Target,
            Some(".file") => file(line),
            Some(".loc") => match (words.next(), words.next(), words.next()) {
                (Some(file), Some(line), Some(column)) => {
                    Self::Loc { file, line, column: column.trim_end_matches(',') }
                }
                _ => Self::Statement,
            },
            _ => {
                if let Some(rest) = code.strip_prefix(".section") {
                    let mut words = rest.split(|c: char| c.is_whitespace() || c == '{');
                    Self::Section(words.find(|word| !word.is_empty()).unwrap_or_default())
                } else if let Some(label) = code.strip_suffix(':') {
                    Self::Label(label)
                } else {
                    Function::of(code).map_or(Self::Statement, Self::Function)
                }
            }
        }
    }
}

impl<'a> Function<'a> {
    /// Of `.visible .entry k(` or `.func  (.param .b32 result) f(`.
    fn of(code: &'a str) -> Option<Self> {
        let (at, word) = [".entry", ".func"].into_iter().find_map(|word| {
            let at = code.find(word)?;
            let is_end = code[at + word.len()..].starts_with(|c: char| c.is_whitespace() || c == '(');
            (is_end || code.len() == at + word.len()).then_some((at, word))
        })?;
        let rest = code[at + word.len()..].trim_start();
        // A result stands in parentheses before the name.
        let rest = if rest.starts_with('(') { rest.split_once(')').map_or("", |(_, rest)| rest) } else { rest };
        let name = rest.trim_start().split(|c: char| !is_symbol(c)).next().unwrap_or_default();
        Some(Self { is_kernel: word == ".entry", name })
    }
}

/// The lines of a text.
pub fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let (mut end, mut is_inline) = (0, false);
    text.split_inclusive('\n').map(move |whole| {
        let range = end..end + whole.len();
        end = range.end;
        let text = whole.strip_suffix('\n').map_or(whole, |text| text.strip_suffix('\r').unwrap_or(text));
        let kind = Kind::of(text);
        is_inline &= kind != Kind::Comment(END_ASM);
        let line = Line { range, text, is_inline, kind };
        is_inline |= kind == Kind::Comment(BEGIN_ASM);
        line
    })
}

/// The functions that have a body. It begins with `{` alone on a line; declarations end with a `;`.
pub fn definitions(text: &str) -> impl Iterator<Item = Definition<'_>> {
    let mut open: Option<(Function<'_>, usize, Option<usize>)> = None;
    lines(text).filter_map(move |line| {
        match (line.kind, &mut open) {
            (Kind::Function(function), _) => open = Some((function, line.range.start, None)),
            (Kind::Open, Some((_, _, body @ None))) => *body = Some(line.range.end),
            (_, Some((function, start, Some(body)))) if line.ends_function() => {
                let (start, end) = (*start, line.range.start + 1);
                let found =
                    Definition { function: *function, text: &text[start..end], body: &text[*body..line.range.start] };
                open = None;
                return Some(found);
            }
            _ => {}
        }
        open.take_if(|(_, _, body)| body.is_none() && line.code().ends_with(';'));
        None
    })
}

/// The numbers and paths of all `.file`s.
pub fn files(text: &str) -> impl Iterator<Item = (&str, &str)> {
    lines(text).filter_map(|line| match line.kind {
        Kind::File { number, path } => Some((number, path)),
        _ => None,
    })
}

/// The words of a text: names, numbers, registers with their guards and each sign alone; comments and strings left out.
pub fn words(text: &str) -> Words<'_> {
    Words { rest: text }
}

/// Which bytes stand in words beside others.
const OF_WORDS: [bool; 256] = {
    let mut of_words = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        let letter = byte as u8;
        of_words[byte] =
            letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'$' | b'.' | b'%' | b'-' | b'@' | b'!');
        byte += 1;
    }
    of_words
};

/// See [`words`].
#[derive(Clone, Debug)]
pub struct Words<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            self.rest = self.rest.trim_ascii_start();
            if !self.rest.as_bytes().first()?.is_ascii_graphic() {
                self.rest = self.rest.trim_start();
            }
            let (end, length) = match self.rest.as_bytes() {
                [b'/', b'/', ..] => (self.rest.find('\n'), 1),
                [b'/', b'*', ..] => (self.rest[2..].find("*/").map(|at| at + 2), 2),
                [b'"', ..] => (self.rest[1..].find('"').map(|at| at + 1), 1),
                _ => break,
            };
            self.rest = end.map_or("", |end| &self.rest[end + length..]);
        }
        let letters = self.rest.bytes().take_while(|byte| OF_WORDS[usize::from(*byte)]).count();
        let end = if letters > 0 { letters } else { self.rest.chars().next()?.len_utf8() };
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(word)
    }
}

/// A symbol as LLVM writes it: names in PTX have no dots (`NVPTXAssignValidGlobalNames.cpp`).
pub fn symbol(name: &str) -> String {
    name.replace(['.', '@'], "_$_")
}

/// Whether names have such characters (PTX ISA, "Syntax: Identifiers").
fn is_symbol(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$')
}

fn code(line: &str) -> &str {
    // To look for one character takes a tenth of what two of them take, and few lines have any.
    let mut slashes = line.match_indices('/').map(|(at, _)| at);
    let end = slashes.find(|at| line[at + 1..].starts_with('/')).unwrap_or(line.len());
    line[..end].trim_ascii()
}

/// A path may contain `//`.
fn file(line: &str) -> Kind<'_> {
    let rest = line.trim().strip_prefix(".file").unwrap_or_default().trim_start();
    let (number, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let path = rest.split_once('"').map_or("", |(_, rest)| rest.rsplit_once('"').map_or(rest, |(path, _)| path));
    Kind::File { number, path }
}

#[cfg(test)]
mod tests;
