//! What ptxas says of PTX, in terms of kernels and Rust source lines.
//!
//! ```text
//! ptxas kernels.ptx, line 25; error   : Feature 'redux.f32' requires .target sm_100a or higher
//! ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register requirements.
//! ```

use super::resources::kernel_of_unknown_stack;
use super::trace::{Place, Traced};
use crate::abi::Table;
use crate::arch::Arch;
use crate::callers::demangled;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Level, Span};
use crate::ptx_text::{self, BEGIN_ASM, END_ASM, Kind};

/// The most errors that are explained one by one.
const MOST: usize = 8;

/// One line of ptxas's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    level: Level,
    line: Option<usize>,
    text: String,
}

impl Complaint {
    /// The errors and warnings in a log that say something to a user.
    pub fn read(log: &str) -> Vec<Self> {
        let is_said_anyway = |text: &str| {
            // True of every kernel that calls through a pointer, as each does whose panics format values: the table of
            // resources shows it.
            text.contains("aborted due to errors") || kernel_of_unknown_stack(text).is_some()
        };
        log.lines().filter_map(Self::of).filter(|complaint| !is_said_anyway(&complaint.text)).collect()
    }

    fn of(line: &str) -> Option<Self> {
        let (head, text) = line.strip_prefix("ptxas")?.split_once(" : ")?;
        let level = match head.rsplit([' ', ';']).find(|word| !word.is_empty())? {
            "error" | "fatal" => Level::Error,
            "warning" => Level::Warning,
            // "(C7508) Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register requirements."
            "info" if text.contains("Potential Performance Loss") => Level::Warning,
            _ => return None,
        };
        // "kernels.ptx, line 12; error"
        let line = head.split(", line ").nth(1).and_then(|rest| rest.split(';').next()?.trim().parse().ok());
        Some(Self { level, line, text: text.trim().to_string() })
    }

    /// Without a line, which is of another text than the one that is explained.
    pub fn without_line(self) -> Self {
        Self { line: None, ..self }
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.level == Level::Error
    }
}

/// What is needed to explain complaints.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The text that ptxas read.
    pub ptx: &'a str,
    /// The same text with what its lines came from.
    pub traced: Option<&'a Traced>,
    /// The GPU that ptxas compiled for; messages name it.
    pub arch: Arch,
    /// The kernels and exports, to tell which one a complaint is about.
    pub table: &'a Table,
}

impl Subject<'_> {
    /// An error or warning of ours for each of ptxas's; several at one place are one.
    pub fn explain(&self, complaints: &[Complaint]) -> Vec<Diagnostic> {
        let mut explained: Vec<Diagnostic> = Vec::new();
        for complaint in complaints {
            let diagnostic = self.explain_one(complaint);
            let is_known = explained.iter().any(|known| {
                (&known.message, &known.spans) == (&diagnostic.message, &diagnostic.spans) && !known.spans.is_empty()
            });
            if !is_known {
                explained.push(diagnostic);
            }
        }
        let left_out = explained.len().saturating_sub(MOST);
        explained.truncate(MOST);
        if let Some(last) = explained.last_mut().filter(|_| left_out > 0) {
            last.notes.push(format!("ptxas has {left_out} more messages like these"));
        }
        explained
    }

    fn explain_one(&self, complaint: &Complaint) -> Diagnostic {
        let Complaint { level, line, text } = complaint;
        let noticed = line.or_else(|| self.line_with(quoted(text)?));
        let unfinished = noticed.filter(|_| text.starts_with("Parsing error")).and_then(|line| self.unfinished(line));
        let line = unfinished.or(noticed);
        let function = line.and_then(|line| function_at(self.ptx, line)).or_else(|| quoted(text).map(str::to_string));
        let kernel = self.table.kernels.iter().find(|kernel| Some(&kernel.name) == function.as_ref());
        let mut place = line.and_then(|line| self.traced?.at(line)).cloned();
        let described = self.table.kernels.iter().chain(&self.table.exports);
        if let Some(place) = place.as_mut()
            && described.into_iter().any(|described| Some(&described.name) == function.as_ref())
        {
            // The outermost call is that of the function in what the attribute made of it.
            place.calls.pop();
        }
        let place = place.as_ref();
        let is_own_ptx = place.is_some_and(|place| place.is_inline_ptx && !place.span.is_library());
        let (code, message) = match level {
            Level::Warning => return self.warning(text, kernel.map(|kernel| kernel.span.clone()), place),
            Level::Error if is_own_ptx && needed(text).is_some() => {
                (Code::InlinePtxUnsupported, format!("inline PTX that {} does not have: {text}", self.arch))
            }
            Level::Error if is_own_ptx => {
                (Code::InlinePtx, format!("inline PTX that ptxas rejects for {}: {text}", self.arch))
            }
            Level::Error => (Code::PtxasFailed, format!("ptxas rejected the PTX for {}: {text}", self.arch)),
        };
        let mut diagnostic = Diagnostic::error(code, message);
        diagnostic = match place {
            Some(place) => {
                at(diagnostic, place, if is_own_ptx { "in this inline PTX" } else { "the PTX came from here" })
            }
            None => diagnostic.at(kernel.map(|kernel| kernel.span.clone()), "in this kernel"),
        };
        if let Some(line) = line {
            let function =
                function.map_or("outside of all functions".into(), |name| format!("in `{}`", demangled(&name)));
            let text = self.ptx.lines().nth(line.saturating_sub(1)).unwrap_or_default().trim();
            diagnostic = diagnostic.note(format!("PTX line {line}, {function}: `{text}`"));
        }
        if unfinished.is_some() {
            diagnostic = diagnostic
                .note("ptxas noticed it after this inline PTX, which it had not read to an end")
                .help("end every instruction with `;`, and close every `{`, where `asm!` has `{{`, and every `/*`");
        }
        match (is_own_ptx, needed(text)) {
            (true, Some(Needed::Arch(arch))) => diagnostic
                .help(format!("compile for a GPU that has it: `--arch {arch}`, or `arch = [\"{arch}\"]` in `[package.metadata.ptx]`"))
                .help("optimised code for several GPUs can ask `ptx::arch()` first: it has nothing of what the answer leaves out"),
            (true, Some(Needed::Ptx(version))) => {
                diagnostic.help(format!("ask for a PTX ISA version that has it: `--ptx-version {version}`"))
            }
            (true, None) => diagnostic
                .help("correct the text of the `asm!` here: its syntax is that of NVIDIA's PTX ISA, with `{}` for operands"),
            (false, _) => diagnostic.help(
                "this is a bug of rust-ptx unless the program has inline PTX: please report it with the files that `--dump-dir` writes",
            ),
        }
    }

    /// The line of inline PTX that has that text: warnings often name no line.
    fn line_with(&self, text: &str) -> Option<usize> {
        let traced = self.traced?;
        let is_inline = |line: &usize| traced.at(*line).is_some_and(|place| place.is_inline_ptx);
        let mut lines = traced.ptx.lines().enumerate().filter(|(_, line)| line.contains(text)).map(|(at, _)| at + 1);
        lines.find(is_inline)
    }

    /// The last line of the program's own inline PTX that an error of syntax in a later line comes from: of text without
    /// a `;` at its end right before, or of braces that do not match anywhere before.
    fn unfinished(&self, noticed: usize) -> Option<usize> {
        let traced = self.traced?;
        let is_own = |line: usize| traced.at(line).is_some_and(|p| p.is_inline_ptx && !p.span.is_library());
        // The last line of code of the `asm!` at hand, if no `;` is there, and the same of the one that ended right before.
        let (mut open, mut open_before) = (None, None);
        let (mut depth, mut last, mut unbalanced) = (0, None, None);
        for (line, read) in (1..noticed).zip(ptx_text::lines(&traced.ptx)) {
            let code = read.code();
            match read.kind {
                Kind::Comment(BEGIN_ASM) => depth = 0,
                Kind::Comment(END_ASM) => {
                    unbalanced = if depth == 0 { unbalanced } else { last };
                    open_before = open.take().or(open_before);
                }
                Kind::Empty | Kind::Comment(_) => {}
                _ if is_own(line) => {
                    last = Some(line);
                    (open, open_before) = ((!code.ends_with([';', '{', '}', ':', '/'])).then_some(line), None);
                    depth += code.matches('{').count().cast_signed() - code.matches('}').count().cast_signed();
                }
                _ => (open, open_before) = (None, None),
            }
        }
        open_before.or(unbalanced.filter(|_| !is_own(noticed)))
    }

    fn warning(&self, text: &str, kernel: Option<Span>, place: Option<&Place>) -> Diagnostic {
        let diagnostic = Diagnostic::warning(Code::PtxasWarning, format!("ptxas warns for {}: {text}", self.arch));
        match place {
            Some(place) => at(diagnostic, place, "the PTX came from here"),
            None => diagnostic.at(kernel, "in this kernel"),
        }
        .help("it may be of no consequence: the code was assembled all the same")
    }
}

/// Adds the program's own line and the calls around it.
fn at(mut diagnostic: Diagnostic, place: &Place, label: &str) -> Diagnostic {
    let calls = place.calls.iter().map(|call| Span { file: call.file.clone(), line: call.line, column: call.column });
    let spans: Vec<Span> = std::iter::once(place.span.clone()).chain(calls).collect();
    let mut own = spans.iter().filter(|span| !span.is_library()).peekable();
    if own.peek().is_none() {
        return diagnostic.at(Some(place.span.clone()), label);
    }
    for (index, span) in own.enumerate().take(4) {
        diagnostic = diagnostic.at(Some(span.clone()), if index == 0 { label } else { "called here" });
    }
    diagnostic
}

/// What the complaint says is needed.
#[derive(Debug, PartialEq, Eq)]
enum Needed<'a> {
    Arch(&'a str),
    Ptx(&'a str),
}

fn needed(text: &str) -> Option<Needed<'_>> {
    let word_after = |phrase: &str| {
        let rest = text.split_once(phrase)?.1;
        rest.split([' ', ',', ';', '\'']).next().filter(|word| !word.is_empty())
    };
    word_after("requires .target ")
        .filter(|name| name.starts_with("sm_"))
        .map(Needed::Arch)
        .or_else(|| word_after("requires PTX ISA .version ").map(Needed::Ptx))
}

/// The first name in quotes.
fn quoted(text: &str) -> Option<&str> {
    text.split('\'').nth(1)
}

/// The function that a line of PTX, counted from 1, belongs to.
fn function_at(ptx: &str, line: usize) -> Option<String> {
    let mut function = None;
    for line in ptx_text::lines(ptx).take(line) {
        match line.kind {
            Kind::Function(begun) => function = Some(begun.name.to_string()),
            _ if line.ends_function() => function = None,
            _ => {}
        }
    }
    function
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_of_ptxas_13_is_read() {
        let log = "\
ptxas info    : 0 bytes gmem
ptxas kernels.ptx, line 9; error   : Not a name of any known instruction: 'bad'
ptxas kernels.ptx, line 12; fatal   : Parsing error near '%': syntax error
ptxas warning : Stack size for entry function 'k' cannot be statically determined
ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register requirements.
ptxas fatal   : Ptx assembly aborted due to errors
stray text
";
        let complaints = Complaint::read(log);
        let levels: Vec<_> = complaints.iter().map(|complaint| (complaint.level, complaint.line)).collect();
        assert_eq!(
            levels,
            [(Level::Error, Some(9)), (Level::Error, Some(12)), (Level::Warning, None)],
            "no stack sizes, which are not known where there are calls through pointers"
        );
        assert_eq!(complaints[0].text, "Not a name of any known instruction: 'bad'");
        assert_eq!(quoted(&complaints[2].text), Some("setmaxnreg"));
    }

    #[test]
    fn what_is_needed_is_named() {
        for (text, expected) in [
            ("Feature 'redux.f32' requires .target sm_100a or higher", Some(Needed::Arch("sm_100a"))),
            ("Feature 'x' requires PTX ISA .version 8.6 or later", Some(Needed::Ptx("8.6"))),
            ("Arguments mismatch for instruction 'add'", None),
            ("Instruction 'shfl' without '.sync' is not supported on .target sm_70 and higher", None),
        ] {
            assert_eq!(needed(text), expected, "{text}");
        }
    }

    #[test]
    fn a_line_belongs_to_a_function() {
        let ptx = ".func (.param .b32 r) helper(\n)\n{\n}\n.visible .func f()\n{\n}\n.visible .entry k(\n)\n{\n\tbad;\n}\nx\n";
        for (line, expected) in
            [(1, Some("helper")), (3, Some("helper")), (4, None), (6, Some("f")), (11, Some("k")), (13, None)]
        {
            assert_eq!(function_at(ptx, line).as_deref(), expected, "line {line}");
        }
        // Text of an `asm!` may begin in the first column.
        let ptx = ".entry k()\n{\n\t// begin inline asm\n\t{\nnop;\n}\n\t// end inline asm\n\tbad;\n}\n";
        assert_eq!(function_at(ptx, 8).as_deref(), Some("k"), "it used to be outside of all functions");
    }
}
