//! Every code of our messages can come up, and a test shows that it does.
//!
//! A code is produced where `Code::NAME` stands outside of tests, and tested where its number stands in the expected
//! messages of a user-interface case, or in a runner's or unit test's code.

use std::path::Path;

/// A code as codegen/src/codes.rs declares it: `UndefinedSymbol = 6, "undefined symbol",`.
struct Code<'a> {
    name: &'a str,
    number: u16,
}

/// What is wrong with the codes that are declared in `codes`; `files` are all files by path, with their text.
pub fn check<'a>(codes: &str, files: impl Iterator<Item = (&'a Path, &'a str)> + Clone) -> Vec<String> {
    let codes = declared(codes);
    if codes.is_empty() {
        return vec!["no codes were found".into()];
    }
    let fault = |code: &Code<'_>| {
        let spelled = format!("PTX{:04}", code.number);
        let produced = files.clone().any(|(path, text)| is_produced(path, text, code.name));
        let tested = files.clone().any(|(path, text)| is_tested(path, text, &spelled));
        match (produced, tested) {
            (true, true) => None,
            (false, true) => Some(format!("{spelled} ({}) comes from nowhere", code.name)),
            (true, false) => Some(format!("no test names {spelled} ({})", code.name)),
            (false, false) => Some(format!("{spelled} ({}) comes from nowhere, and no test names it", code.name)),
        }
    };
    codes.iter().filter_map(fault).collect()
}

fn declared(codes: &str) -> Vec<Code<'_>> {
    let code = |line: &'_ str| {
        let (name, rest) = line.strip_prefix("    ")?.split_once(" = ")?;
        let (number, title) = rest.split_once(", ")?;
        let is_name = name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(char::is_alphanumeric);
        (is_name && title.starts_with('"')).then_some(())?;
        Some((name.len(), number.parse().ok()?))
    };
    codes.lines().filter_map(|line| code(line).map(|(len, number)| Code { name: &line[4..4 + len], number })).collect()
}

fn is_produced(path: &Path, text: &str, name: &str) -> bool {
    if !path.starts_with("codegen/src") || path.ends_with("codes.rs") || !is_rust(path) {
        return false;
    }
    let written = format!("Code::{name}");
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    without_tests(text).match_indices(&written).any(|(at, found)| ends(&text[at + found.len()..]))
}

fn is_tested(path: &Path, text: &str, spelled: &str) -> bool {
    let shown = ["error", "warning"].map(|level| format!("{level}[{spelled}]"));
    if path.starts_with("tests/suites/ui/cases") {
        let expected = path.extension().is_some_and(|extension| extension == "stderr");
        return expected && shown.iter().any(|shown| text.contains(shown));
    }
    let tests = if path.starts_with("tests") || path.starts_with("codegen/tests") {
        text
    } else if path.starts_with("codegen/src") {
        &text[without_tests(text).len()..]
    } else {
        return false;
    };
    is_rust(path) && tests.lines().any(|line| !line.trim_start().starts_with("//") && line.contains(spelled))
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

/// A file up to its unit tests.
fn without_tests(text: &str) -> &str {
    &text[..text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODES: &str = "codes! {\n    Usage = 1, \"bad option\",\n        \"Text = 7, of it.\";\n    Spill = 14, \"a spill\",\n        \"\";\n}\n";

    fn faults(files: &[(&str, &str)]) -> Vec<String> {
        check(CODES, files.iter().map(|(path, text)| (Path::new(*path), *text)))
    }

    #[test]
    fn a_code_is_produced_and_tested() {
        let source = ("codegen/src/a.rs", "error(Code::Usage, Code::Spill)\n#[cfg(test)]\nmod tests {\n\"PTX0014\"\n}");
        let case = ("tests/suites/ui/cases/fail/a.stderr", "error[PTX0001]: no");
        assert!(faults(&[source, case]).is_empty());
        assert_eq!(faults(&[source]), ["no test names PTX0001 (Usage)"]);
    }

    #[test]
    fn what_only_looks_like_it_does_not_count() {
        let files = [
            ("codegen/src/a.rs", "Code::UsageOf\n#[cfg(test)]\nmod tests {\nCode::Spill }"),
            ("codegen/src/codes.rs", "Code::Usage Code::Spill"),
            ("tests/a.rs", "// PTX0001\n\"PTX0014\""),
            ("tests/suites/ui/cases/fail/a.rs", "PTX0001"),
        ];
        let expected =
            ["PTX0001 (Usage) comes from nowhere, and no test names it", "PTX0014 (Spill) comes from nowhere"];
        assert_eq!(faults(&files), expected);
        assert_eq!(check("", std::iter::empty()), ["no codes were found"]);
    }
}
