//! "Did you mean": what was probably meant by a name that is not known, and lists that stay short.

use ptx_codegen::diagnostic::Diagnostic;

/// As many names as a list shows.
const SHOWN: usize = 8;

/// Says of a name that is not known which one is meant, or which there are.
pub fn among(diagnostic: Diagnostic, wanted: &str, known: &[&str]) -> Diagnostic {
    match nearest(wanted, known) {
        Some(name) => diagnostic.help(format!("did you mean `{name}`?")),
        None if known.is_empty() => diagnostic.note("it has none"),
        None => diagnostic.note(format!("it has {}", list(known))),
    }
}

/// The one that is most alike, if any is alike enough.
pub fn nearest<'a>(wanted: &str, known: &[&'a str]) -> Option<&'a str> {
    let plain = |name: &str| name.to_lowercase().replace('_', "-");
    let wanted = plain(wanted);
    let most = wanted.chars().count().div_ceil(3);
    let distance = |name: &str| strsim::damerau_levenshtein(&wanted, &plain(name));
    let near = known.iter().map(|name| (distance(name), *name)).min_by_key(|(distance, _)| *distance);
    near.filter(|(distance, _)| *distance <= most).map(|(_, name)| name)
}

/// As in `a`, `b` and 3 more.
pub fn list(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_is_meant() {
        let known = ["arch", "emit", "debug-level", "host-only"];
        for (wanted, expected) in [
            ("archs", Some("arch")),
            ("Arch", Some("arch")),
            ("host_only", Some("host-only")),
            ("debuglevel", Some("debug-level")),
            ("optimise", None),
        ] {
            assert_eq!(nearest(wanted, &known), expected, "{wanted}");
        }
    }

    #[test]
    fn long_lists_end() {
        assert_eq!(list(&["a", "b"]), "`a`, `b`");
        assert!(list(&["x"; 11]).ends_with("`x` and 3 more"));
    }
}
