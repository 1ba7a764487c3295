//! Matches `// CHECK` lines on text, as LLVM's FileCheck does.
//!
//! - `CHECK: P` finds P after the previous match; `CHECK-NEXT: P` finds it on the next line; `CHECK-SAME: P` on the same.
//! - `CHECK-NOT: P` says that P does not stand between the matches around it.
//! - `CHECK-LABEL: P` cuts the text: what stands before it is matched before P, what stands after it, after. It forgets
//!   the variables.
//!
//! A pattern is plain text; runs of blanks match each other. `{{RE}}` matches a regular expression, `[[V:RE]]` also
//! names what it matched, and `[[V]]` is the same text again, in a later line. After the directive may stand revisions
//! in parentheses: `CHECK-NOT(sm_90): P` counts in that revision alone.

use std::collections::BTreeMap;

use regex::Regex;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Next,
    Same,
    Not,
    Label,
}

/// One `CHECK` line.
#[derive(Debug)]
pub struct Directive {
    kind: Kind,
    pattern: String,
    /// Its line in the case, from 1.
    line: usize,
}

/// The directives of a case for one revision; an error for one that is not known.
pub fn directives(source: &str, revision: &str) -> Result<Vec<Directive>, String> {
    let syntax = Regex::new(r"^\s*// CHECK(-[A-Z]+)?(?:\(([^)]*)\))?:(.*)$").expect("a constant");
    let mut found = Vec::new();
    for (index, text) in source.lines().enumerate() {
        let line = index + 1;
        let Some(parts) = syntax.captures(text) else {
            match text.trim_start().starts_with("// CHECK") {
                true => return Err(format!("line {line}: a directive is `// CHECK[-KIND][(REVISION, …)]: PATTERN`")),
                false => continue,
            }
        };
        let kind = match parts.get(1).map_or("", |kind| kind.as_str()) {
            "" => Kind::Plain,
            "-NEXT" => Kind::Next,
            "-SAME" => Kind::Same,
            "-NOT" => Kind::Not,
            "-LABEL" => Kind::Label,
            other => return Err(format!("line {line}: there is no directive CHECK{other}")),
        };
        if parts.get(2).is_none_or(|list| list.as_str().split(',').any(|name| name.trim() == revision)) {
            found.push(Directive { kind, pattern: blanks(parts[3].trim()), line });
        }
    }
    Ok(found)
}

/// Whether the text is as the directives say; the first that does not hold otherwise.
pub fn check(directives: &[Directive], text: &str) -> Result<(), String> {
    let text = blanks(text);
    let mut rest = &text[..];
    let mut sections = directives.split(|directive| directive.kind == Kind::Label);
    let labels: Vec<_> = directives.iter().filter(|directive| directive.kind == Kind::Label).collect();
    // Every label bounds the section before it, so that a match cannot run into the next function.
    for label in labels {
        let found = label.regex(&BTreeMap::new())?.find(rest).ok_or_else(|| label.missing(rest))?.range();
        check_section(sections.next().unwrap_or_default(), &rest[..found.start])?;
        rest = &rest[found.end..];
    }
    check_section(sections.next().unwrap_or_default(), rest)
}

fn check_section(directives: &[Directive], text: &str) -> Result<(), String> {
    let mut variables = BTreeMap::new();
    let mut at = 0;
    let mut forbidden: Vec<&Directive> = Vec::new();
    let none_between = |forbidden: &mut Vec<&Directive>, text: &str, variables: &BTreeMap<_, _>| {
        forbidden.drain(..).try_for_each(|not| match not.regex(variables)?.find(text) {
            None => Ok(()),
            Some(found) => Err(format!("line {}: `{}` is there: `{}`", not.line, not.pattern, found.as_str())),
        })
    };
    for directive in directives {
        if directive.kind == Kind::Not {
            forbidden.push(directive);
            continue;
        }
        let regex = directive.regex(&variables)?;
        // The line on which it must begin.
        let end_of_line = |from: usize| text[from..].find('\n').map_or(text.len(), |end| from + end);
        let (from, to) = match directive.kind {
            Kind::Next => {
                let start = (end_of_line(at) + 1).min(text.len());
                (start, end_of_line(start))
            }
            Kind::Same => (at, end_of_line(at)),
            _ => (at, text.len()),
        };
        let captures = regex.captures_at(&text[..to], from).ok_or_else(|| directive.missing(&text[from..]))?;
        let whole = captures.get(0).expect("group 0 is the match");
        none_between(&mut forbidden, &text[at..whole.start()], &variables)?;
        for name in regex.capture_names().flatten() {
            variables.insert(name.to_string(), captures[name].to_string());
        }
        at = whole.end();
    }
    none_between(&mut forbidden, &text[at..], &variables)
}

impl Directive {
    fn regex(&self, variables: &BTreeMap<String, String>) -> Result<Regex, String> {
        let bad = |what: String| format!("line {}: {what}", self.line);
        let mut regex = String::new();
        let mut rest = &self.pattern[..];
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
        Regex::new(&regex).map_err(|error| bad(error.to_string()))
    }

    fn missing(&self, text: &str) -> String {
        let start: String = text.lines().take(30).map(|line| format!("    {line}\n")).collect();
        format!("line {}: `{}` is not found from here on:\n{start}", self.line, self.pattern)
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

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "entry a(\n  p0\n)\n ld %r1, [p0];\n st %r1;\nentry b()\n ret;\n";

    fn holds(case: &str) -> Result<(), String> {
        check(&directives(case, "")?, TEXT)
    }

    #[test]
    fn patterns_match_in_order() {
        holds("// CHECK: ld [[R:%r\\d+]], [{{p.}}];\n// CHECK-NEXT: st [[R]];\n// CHECK: entry b").unwrap();
        holds("// CHECK: ld\n// CHECK-SAME: p0").unwrap();
        assert!(holds("// CHECK: st\n// CHECK: ld").unwrap_err().contains("line 2"));
        assert!(holds("// CHECK: entry a\n// CHECK-NEXT: ld").is_err());
        assert!(holds("// CHECK: ld\n// CHECK-SAME: ret").is_err());
        assert!(holds("// CHECK: ld [[R:%r\\d]]\n// CHECK: [[S]]").unwrap_err().contains("no value"));
    }

    #[test]
    fn what_must_not_be_there_is_found() {
        holds("// CHECK-NOT: st\n// CHECK: ld\n// CHECK: st\n// CHECK-NOT: st").unwrap();
        assert!(holds("// CHECK: entry a\n// CHECK-NOT: ld\n// CHECK: ret").is_err());
        assert!(holds("// CHECK-NOT: ret").is_err());
    }

    #[test]
    fn labels_bound_what_is_searched() {
        holds("// CHECK-LABEL: entry a\n// CHECK: st\n// CHECK-LABEL: entry b\n// CHECK-NOT: st").unwrap();
        assert!(holds("// CHECK-LABEL: entry a\n// CHECK: ret\n// CHECK-LABEL: entry b").is_err());
    }

    #[test]
    fn revisions_and_mistakes() {
        let case = "// CHECK(x, y): nowhere\n// CHECK: ret";
        check(&directives(case, "z").unwrap(), TEXT).unwrap();
        assert!(check(&directives(case, "y").unwrap(), TEXT).is_err());
        assert!(directives("// CHECK-FOO: a", "").is_err());
        assert!(directives("// CHECK a", "").is_err());
    }
}
