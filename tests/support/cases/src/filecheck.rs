//! Matches patterns on text, as LLVM's FileCheck does; [`crate::checks`] reads them out of a case.
//!
//! - `CHECK: P` finds P after the previous match; `CHECK-NEXT: P` finds it on the next line; `CHECK-SAME: P` on the same.
//! - `CHECK-NOT: P` says that P does not stand between the matches around it.
//! - `CHECK-DAG: P`, several in a row, are found in any order, without overlap.
//! - `CHECK-COUNT-3: P` finds P three times.
//! - `CHECK-LABEL: P` cuts the text: what stands before it is matched before P, what stands after it, after. It forgets
//!   the variables.
//!
//! A pattern is plain text; runs of blanks match each other. `{{RE}}` matches a regular expression, `[[V:RE]]` also
//! names what it matched, and `[[V]]` is the same text again, in a later line.

use std::collections::BTreeMap;
use std::ops::Range;

use regex::Regex;

/// How a pattern is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// After the previous match.
    Plain,
    /// On the next line.
    Next,
    /// On the same line.
    Same,
    /// Not between the matches around it.
    Not,
    /// In any order with its neighbours of this kind.
    Dag,
    /// So many times, one after the other.
    Count(usize),
    /// Cuts the text.
    Label,
}

impl Kind {
    /// What stands after the prefix, as in `-NEXT`.
    pub fn parse(suffix: &str) -> Option<Self> {
        Some(match suffix {
            "" => Self::Plain,
            "-NEXT" => Self::Next,
            "-SAME" => Self::Same,
            "-NOT" => Self::Not,
            "-DAG" => Self::Dag,
            "-LABEL" => Self::Label,
            other => Self::Count(other.strip_prefix("-COUNT-")?.parse().ok().filter(|count| *count > 0)?),
        })
    }
}

/// What one `CHECK` line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// How it is found.
    pub kind: Kind,
    /// As written.
    pub text: String,
    /// Its line in the case, from 1.
    pub line: usize,
}

type Variables = BTreeMap<String, String>;

/// Whether the text is as the patterns say; the first that does not hold otherwise.
pub fn check(patterns: &[Pattern], text: &str) -> Result<(), String> {
    let text = blanks(text);
    let mut rest = &text[..];
    let mut sections = patterns.split(|pattern| pattern.kind == Kind::Label);
    // Every label bounds the section before it, so that a match cannot run into the next function.
    for label in patterns.iter().filter(|pattern| pattern.kind == Kind::Label) {
        let found = label.regex(&BTreeMap::new())?.find(rest).ok_or_else(|| label.missing(rest))?.range();
        check_section(sections.next().unwrap_or_default(), &rest[..found.start])?;
        rest = &rest[found.end..];
    }
    check_section(sections.next().unwrap_or_default(), rest)
}

fn check_section(patterns: &[Pattern], text: &str) -> Result<(), String> {
    let mut section = Section { text, at: 0, forbidden: Vec::new(), variables: Variables::new() };
    for group in patterns.chunk_by(|a, b| a.kind == Kind::Dag && b.kind == Kind::Dag) {
        match group[0].kind {
            Kind::Dag => section.in_any_order(group)?,
            Kind::Not => section.forbidden.push(&group[0]),
            Kind::Count(count) => (0..count).try_for_each(|_| section.next(&group[0]))?,
            _ => section.next(&group[0])?,
        }
    }
    section.none_before(text.len())
}

/// The text between two labels, and how far it is matched.
struct Section<'a> {
    text: &'a str,
    /// The end of the previous match.
    at: usize,
    /// What must not stand before the next match.
    forbidden: Vec<&'a Pattern>,
    variables: Variables,
}

impl<'a> Section<'a> {
    fn end_of_line(&self, from: usize) -> usize {
        self.text[from..].find('\n').map_or(self.text.len(), |end| from + end)
    }

    fn next(&mut self, pattern: &Pattern) -> Result<(), String> {
        // The line on which it must stand.
        let (from, to) = match pattern.kind {
            Kind::Next => {
                let start = (self.end_of_line(self.at) + 1).min(self.text.len());
                (start, self.end_of_line(start))
            }
            Kind::Same => (self.at, self.end_of_line(self.at)),
            _ => (self.at, self.text.len()),
        };
        let found = self.find(pattern, from, to)?;
        self.none_before(found.start)?;
        self.at = found.end;
        Ok(())
    }

    fn in_any_order(&mut self, patterns: &[Pattern]) -> Result<(), String> {
        let mut taken: Vec<Range<usize>> = Vec::new();
        for pattern in patterns {
            let mut from = self.at;
            let found = loop {
                let found = self.find(pattern, from, self.text.len())?;
                match taken.iter().find(|other| found.start < other.end && other.start < found.end) {
                    None => break found,
                    Some(other) => from = other.end,
                }
            };
            taken.push(found);
        }
        self.none_before(taken.iter().map(|found| found.start).min().unwrap_or(self.at))?;
        self.at = taken.iter().map(|found| found.end).max().unwrap_or(self.at);
        Ok(())
    }

    fn find(&mut self, pattern: &Pattern, from: usize, to: usize) -> Result<Range<usize>, String> {
        let regex = pattern.regex(&self.variables)?;
        let captures = regex.captures_at(&self.text[..to], from);
        let captures = captures.ok_or_else(|| pattern.missing(&self.text[from..]))?;
        for name in regex.capture_names().flatten() {
            self.variables.insert(name.to_string(), captures[name].to_string());
        }
        Ok(captures.get(0).expect("group 0 is the match").range())
    }

    /// What is forbidden does not stand between the previous match and `end`.
    fn none_before(&mut self, end: usize) -> Result<(), String> {
        let text = &self.text[self.at..end];
        self.forbidden.drain(..).try_for_each(|not| match not.regex(&self.variables)?.find(text) {
            None => Ok(()),
            Some(found) => Err(format!("line {}: `{}` is there: `{}`", not.line, not.text, found.as_str())),
        })
    }
}

impl Pattern {
    fn regex(&self, variables: &Variables) -> Result<Regex, String> {
        let bad = |what: String| format!("line {}: {what}", self.line);
        let pattern = blanks(&self.text);
        let mut regex = String::new();
        let mut rest = &pattern[..];
        while let Some(at) = [rest.find("{{"), rest.find("[[")].into_iter().flatten().min() {
            regex += &regex::escape(&rest[..at]);
            let (close, is_variable) = if rest[at..].starts_with("{{") { ("}}", false) } else { ("]]", true) };
            let end = rest[at..].find(close).ok_or_else(|| bad(format!("`{close}` is missing")))? + at;
            let inner = &rest[at + 2..end];
            regex += &match (is_variable, inner.split_once(':')) {
                (false, _) => format!("(?:{inner})"),
                (true, Some((name, pattern))) => format!("(?P<{name}>{pattern})"),
                (true, None) => {
                    regex::escape(variables.get(inner).ok_or_else(|| bad(format!("`{inner}` has no value yet")))?)
                }
            };
            rest = &rest[end + 2..];
        }
        regex += &regex::escape(rest);
        let regex = Regex::new(&regex).map_err(|error| bad(error.to_string()))?;
        if regex.is_match("") {
            return Err(bad(format!("`{}` is found in any text: nothing is checked", self.text)));
        }
        Ok(regex)
    }

    fn missing(&self, text: &str) -> String {
        let start: String = text.lines().take(30).map(|line| format!("    {line}\n")).collect();
        format!("line {}: `{}` is not found from here on:\n{start}", self.line, self.text)
    }
}

/// Every run of blanks and tabs becomes one blank.
fn blanks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ' ' | '\t' if out.ends_with(' ') => {}
            ' ' | '\t' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
