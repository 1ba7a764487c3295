//! What the user is told: one shape for errors and warnings, rendered as rustc renders its own, or as JSON.

use std::fmt;
use std::path::{Path, PathBuf};

use annotate_snippets::{AnnotationKind, Group, Level as SnippetLevel, Renderer, Snippet};
use serde::{Deserialize, Serialize};

use crate::codes::Code;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Output is produced.
    Warning,
    /// No output is produced.
    Error,
}

/// A place in a Rust source file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// As the compiler knows it: absolute, or relative to the package or workspace.
    pub file: PathBuf,
    /// From 1.
    pub line: u32,
    /// From 1; 0 where it is not known.
    pub column: u32,
}

impl Span {
    /// Whether it is in `core`, `alloc` or the crate `ptx`: then a user wants to see the call.
    pub fn is_library(&self) -> bool {
        let path = self.file.to_string_lossy().replace('\\', "/");
        ["/library/core/", "/library/alloc/", "runtime/device/src/", "/ptx-device-"]
            .iter()
            .any(|part| path.contains(part))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)?;
        if self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        Ok(())
    }
}

/// One message: what went wrong, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Error or warning.
    pub level: Level,
    /// For `cargo ptx explain`.
    pub code: Code,
    /// What went wrong, in one line.
    pub message: String,
    /// Places in Rust source with what to say of each; the first is the main one.
    pub spans: Vec<(Span, String)>,
    /// Facts that help to understand it.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// The title and explanation of a code, or the error that there is none.
    pub fn explain(code: &str) -> Result<String> {
        Ok(Code::find(code).map(Code::explain).ok_or_else(|| {
            Self::error(Code::Usage, format!("there is no message `{code}`"))
                .help("`cargo ptx explain` lists all codes")
        })?)
    }

    /// An error with nothing but a message.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self { level: Level::Error, code, message: message.into(), spans: vec![], notes: vec![], help: vec![] }
    }

    /// A warning with nothing but a message.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self { level: Level::Warning, ..Self::error(code, message) }
    }

    /// Adds a place.
    #[must_use]
    pub fn at(mut self, span: Option<Span>, label: impl Into<String>) -> Self {
        self.spans.extend(span.map(|span| (span, label.into())));
        self
    }

    /// Adds the calls through which the program comes to the first place.
    #[must_use]
    pub fn at_calls(mut self, calls: impl IntoIterator<Item = (Span, String)>) -> Self {
        self.spans.extend(calls);
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Text in rustc's shape; source lines are shown where the file can be read, below `base` if it is relative.
    pub fn render(&self, base: &Path, color: bool) -> String {
        let level = match self.level {
            Level::Warning => SnippetLevel::WARNING,
            Level::Error => SnippetLevel::ERROR,
        };
        let code = self.code.to_string();
        let files = self.files(base);
        let mut group = Group::with_title(level.primary_title(&self.message).id(&code));
        for File { path, text, spans } in &files {
            let text = text.as_deref().unwrap_or_default();
            let mut snippet = Snippet::source(text).path(path);
            let mut is_shown = false;
            for &(index, (span, label)) in spans {
                let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
                if let Some(range) = byte_range(text, span) {
                    snippet = snippet.annotation(kind.span(range).label(label.as_str()));
                    is_shown = true;
                    continue;
                }
                let mut origin = annotate_snippets::Origin::path(path).line(span.line as usize);
                if span.column > 0 {
                    origin = origin.char_column(span.column as usize);
                }
                group = group.element(origin);
            }
            if is_shown {
                group = group.element(snippet);
            }
        }
        for note in &self.notes {
            group = group.element(SnippetLevel::NOTE.message(note));
        }
        for help in &self.help {
            group = group.element(SnippetLevel::HELP.message(help));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }

    /// The files of all places, in order, with their text where it can be read.
    fn files(&self, base: &Path) -> Vec<File<'_>> {
        let mut files: Vec<File<'_>> = Vec::new();
        for place in self.spans.iter().enumerate() {
            let path = place.1.0.file.display().to_string();
            match files.iter_mut().find(|file| file.path == path) {
                Some(file) => file.spans.push(place),
                None => {
                    let text = std::fs::read_to_string(base.join(&path)).ok();
                    files.push(File { path, text, spans: vec![place] });
                }
            }
        }
        files
    }
}

/// A source file, and what is said of it.
struct File<'a> {
    path: String,
    text: Option<String>,
    spans: Vec<(usize, &'a (Span, String))>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Path::new(""), false))
    }
}

/// From the span's column, or the line's first word, to the end of the word there.
fn byte_range(text: &str, span: &Span) -> Option<std::ops::Range<usize>> {
    let line_start = text.split_inclusive('\n').take((span.line as usize).checked_sub(1)?).map(str::len).sum::<usize>();
    let line = text.get(line_start..)?.lines().next()?;
    let column = match span.column {
        0 => line.len() - line.trim_start().len(),
        column => line.char_indices().nth(column as usize - 1).map_or(line.len(), |(at, _)| at),
    };
    let rest = &line[column..];
    // TOML's words may have `-` in them.
    let is_toml = span.file.extension().is_some_and(|extension| extension == "toml");
    let is_in_word = |c: char| c.is_alphanumeric() || c == '_' || is_toml && c == '-';
    let word = if rest.starts_with('-') { 0 } else { rest.find(|c| !is_in_word(c)).unwrap_or(rest.len()) };
    let start = line_start + column;
    // What is no word is a character, of as many bytes as it has.
    Some(start..start + word.max(rest.chars().next().map_or(0, char::len_utf8)))
}

/// Why nothing was produced: at least one error, and the warnings that came before it.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{}", .diagnostics.iter().map(|d| d.render(.source_base, false)).collect::<Vec<_>>().join("\n\n"))]
pub struct Failure {
    /// In the order they were found.
    pub diagnostics: Vec<Diagnostic>,
    /// What relative paths in them are relative to; empty for the current folder.
    pub source_base: PathBuf,
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        vec![diagnostic].into()
    }
}

impl From<Vec<Diagnostic>> for Failure {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics, source_base: PathBuf::new() }
    }
}

/// The result of a stage.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_word_or_a_character() {
        let range = |text, line, column| byte_range(text, &Span { file: PathBuf::new(), line, column });
        assert_eq!(range("a\n  word!\n", 2, 0), Some(4..8));
        assert_eq!(range("a\n  word!\n", 2, 7), Some(8..9));
        assert_eq!(range("größe = 1", 1, 1), Some(0..7));
        // One that is no word and has three bytes; beyond the end there is none.
        assert_eq!(range("\u{fffd}-only", 1, 1), Some(0..3));
        assert_eq!(range("a", 1, 5), Some(1..1));
        assert_eq!(range("a", 9, 1), None);
        assert_eq!(range("max-registers = 1", 1, 1), Some(0..3));
        let key = Span { file: "Cargo.toml".into(), line: 1, column: 1 };
        assert_eq!(byte_range("max-registers = 1", &key), Some(0..13));
        let (message, scratch) = ("a key", tempfile::tempdir().unwrap());
        let file = scratch.path().join("Cargo.toml");
        std::fs::write(&file, "\u{fffd}-only = 1\n").unwrap();
        let text =
            Diagnostic::error(Code::Usage, message).at(Some(Span { file, line: 1, column: 1 }), "here").to_string();
        assert!(text.contains("\u{fffd}-only = 1") && text.contains("^ here"), "{text}");
    }
}
