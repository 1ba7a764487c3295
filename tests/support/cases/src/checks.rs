//! The `// CHECK` lines of a case: which text, how and in which revisions; and those that would never be looked at.
//!
//! `// CHECK: P` is matched on what the case emits, `// SASS: P` on the machine code, `// DWARF: P` on the debug
//! information, `// LINES: P` on the line table. After the prefix may stand a kind (`-NEXT`, see [`crate::filecheck`]) and
//! revisions in parentheses: `SASS-NOT(fast): P` counts in the revision `fast` alone. `// FAST-NOT: P` is
//! `// CHECK-NOT(fast): P`.

use regex::Regex;

use crate::filecheck::{Kind, Pattern};

/// What a pattern is matched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// PTX, or what `//@ emit` says.
    Main,
    /// The machine code, by nvdisasm.
    Sass,
    /// The debug information of the cubin.
    Dwarf,
    /// The line table of the cubin.
    Lines,
}

/// What stands before the colon, and which text that chooses.
pub const PREFIXES: [(&str, Text); 4] =
    [("CHECK", Text::Main), ("SASS", Text::Sass), ("DWARF", Text::Dwarf), ("LINES", Text::Lines)];

/// Words before a colon that begin comments and are no prefixes.
const WORDS: [&str; 2] = ["SAFETY", "NOTE"];

/// All `CHECK` lines of a case.
#[derive(Debug, Default)]
pub struct Checks {
    checks: Vec<Check>,
}

#[derive(Debug)]
struct Check {
    text: Text,
    /// All if there are none.
    revisions: Vec<String>,
    pattern: Pattern,
}

impl Checks {
    /// Reads a case; an error for a line that looks like a check and is none.
    pub fn parse(source: &str, revisions: &[String]) -> Result<Self, String> {
        let syntax =
            Regex::new(r"^\s*// ([A-Z][A-Z0-9_]*)((?:-[A-Z0-9]+)*)(?:\(([^)]*)\))?:(.*)$").expect("a constant");
        let names = PREFIXES.map(|(name, _)| name).join("|");
        let lookalike =
            format!(r"(?i)//[/!]*\s*(?:{names})(?:[-_][\w-]*)?\s*(?:\([^)]*\)?)?\s*:|//[/!]*\s*(?-i:CHECK)\b");
        let lookalike = Regex::new(&lookalike).expect("a constant");
        let mut checks = Vec::new();
        for (index, text) in source.lines().enumerate() {
            let line = index + 1;
            let Some(parts) = syntax.captures(text) else {
                match lookalike.is_match(text) {
                    true => {
                        return Err(format!(
                            "line {line}: a check is a line `// CHECK[-KIND][(REVISION, …)]: PATTERN` of its own"
                        ));
                    }
                    false => continue,
                }
            };
            let (prefix, suffix) = (&parts[1], &parts[2]);
            let list: Vec<String> = parts
                .get(3)
                .map_or(vec![], |list| list.as_str().split(',').map(|name| name.trim().to_string()).collect());
            let known = PREFIXES.iter().find(|(name, _)| *name == prefix).map(|(_, text)| (*text, list.clone()));
            let of_revision = || {
                let revision = revisions.iter().find(|revision| revision.to_uppercase() == prefix)?;
                list.is_empty().then(|| (Text::Main, vec![revision.clone()]))
            };
            let Some((text, list)) = known.or_else(of_revision) else {
                match WORDS.contains(&prefix) && suffix.is_empty() {
                    true => continue,
                    false => return Err(format!("line {line}: nothing is checked by the prefix {prefix}{suffix}")),
                }
            };
            let kind = Kind::parse(suffix).ok_or(format!("line {line}: there is no directive {prefix}{suffix}"))?;
            if let Some(unknown) = list.iter().find(|name| !revisions.contains(name)) {
                return Err(format!("line {line}: there is no revision `{unknown}`"));
            }
            let pattern = parts[4].trim();
            if pattern.is_empty() {
                return Err(format!("line {line}: the pattern is missing"));
            }
            checks.push(Check { text, revisions: list, pattern: Pattern { kind, text: pattern.into(), line } });
        }
        Ok(Self { checks })
    }

    /// The patterns for a text in a revision.
    pub fn of(&self, text: Text, revision: &str) -> Vec<Pattern> {
        let in_force = |check: &&Check| {
            check.text == text && (check.revisions.is_empty() || check.revisions.iter().any(|name| name == revision))
        };
        self.checks.iter().filter(in_force).map(|check| check.pattern.clone()).collect()
    }

    /// Whether nothing is checked in the revision.
    pub fn is_empty(&self, revision: &str) -> bool {
        PREFIXES.iter().all(|(_, text)| self.of(*text, revision).is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(case: &str) -> Result<Checks, String> {
        Checks::parse(case, &["x".into(), "sm_90".into()])
    }

    #[test]
    fn texts_and_revisions_are_told_apart() {
        let checks =
            parse("// CHECK: a\n    // SASS-NOT(x): b\n// SM_90-NEXT: c\n// DWARF-COUNT-2: d\n// CHECK(x, sm_90): e");
        let checks = checks.unwrap();
        let found = |text, revision| -> Vec<_> { checks.of(text, revision).into_iter().map(|p| p.text).collect() };
        assert_eq!(found(Text::Main, "x"), ["a", "e"]);
        assert_eq!(found(Text::Main, "sm_90"), ["a", "c", "e"]);
        assert_eq!((found(Text::Sass, "x"), found(Text::Sass, "sm_90")), (vec!["b".to_string()], vec![]));
        assert_eq!(checks.of(Text::Dwarf, "x")[0].kind, Kind::Count(2));
        assert!(checks.of(Text::Lines, "x").is_empty() && !checks.is_empty("x"));
        assert!(parse("// SASS(x): a").unwrap().is_empty("sm_90"));
    }

    #[test]
    fn lines_that_would_never_be_looked_at_are_errors() {
        let bad = [
            ("// CHECK-FOO: a", "no directive"),
            ("// CHECK-COUNT-x: a", "a check is a line"),
            ("// CHECK-NEXT-NOT: a", "no directive"),
            ("// CHECK a", "a check is a line"),
            ("//CHECK: a", "a check is a line"),
            ("/// CHECK: a", "a check is a line"),
            ("// Check-not: a", "a check is a line"),
            ("// CHECK (x): a", "a check is a line"),
            ("// CHECK_NEXT: a", "nothing is checked"),
            ("let a = 1; // CHECK: a", "a check is a line"),
            ("// CHECK(y): a", "no revision `y`"),
            ("// CHECK:", "pattern is missing"),
            ("// SM_91: a", "nothing is checked by the prefix SM_91"),
            ("// CHEK-NOT: a", "nothing is checked by the prefix CHEK-NOT"),
            ("// SAS: a", "nothing is checked"),
            ("// X(x): a", "nothing is checked"),
            ("// SAFETY-NOT: a", "nothing is checked"),
        ];
        for (case, what) in bad {
            let error = parse(case).expect_err(case);
            assert!(error.contains(what) && error.contains("line 1"), "{case}: {error}");
        }
        let prose = "// SAFETY: it is.\n// Checked: no. See https://a.b\n// The SASS says so: x\n/// Lines up to 4";
        assert!(parse(prose).unwrap().is_empty("x"));
    }
}
