//! Whether a test passed, by how its launch ended and what its attributes say; in libtest's words.

use crate::image::{ShouldPanic, Test};
use crate::protocol::Ended;

/// Why the test failed, if it did.
pub fn judge(test: &Test, ended: &Ended) -> Result<(), String> {
    let panicked = |message: &str, place: &str| {
        let place = if place.is_empty() { String::new() } else { format!(" at {place}") };
        format!("panicked{place}:\n{message}")
    };
    match (ended, &test.should_panic) {
        (Ended::Lost(reason), _) => Err(reason.clone()),
        (Ended::Returned, ShouldPanic::No) | (Ended::Panicked { .. }, ShouldPanic::Yes) => Ok(()),
        (Ended::Returned, ShouldPanic::Yes | ShouldPanic::With(_)) => {
            let span = &test.span;
            Err(format!("test did not panic as expected at {}:{}:{}", span.file.display(), span.line, span.column))
        }
        (Ended::Panicked { message, place }, ShouldPanic::No) => Err(panicked(message, place)),
        (Ended::Panicked { message, .. }, ShouldPanic::With(expected)) if message.contains(expected) => Ok(()),
        (Ended::Panicked { message, place }, ShouldPanic::With(expected)) => Err(format!(
            "{}\nnote: panic did not contain expected string\n      panic message: {message:?}\n expected substring: {expected:?}",
            panicked(message, place)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Span;

    #[test]
    fn attributes_decide() {
        let span = Span { file: "src/lib.rs".into(), line: 3, column: 4 };
        let verdict = |should_panic, ended: &Ended| {
            let test =
                Test { name: "t".into(), span: span.clone(), ignored: false, ignore_message: None, should_panic };
            judge(&test, ended)
        };
        let panicked = Ended::Panicked { message: "boom".into(), place: "src/lib.rs:9:1".into() };
        assert_eq!(verdict(ShouldPanic::No, &Ended::Returned), Ok(()));
        assert_eq!(verdict(ShouldPanic::No, &panicked), Err("panicked at src/lib.rs:9:1:\nboom".into()));
        assert_eq!(verdict(ShouldPanic::Yes, &panicked), Ok(()));
        assert_eq!(verdict(ShouldPanic::With("oo".into()), &panicked), Ok(()));
        let other = verdict(ShouldPanic::With("bang".into()), &panicked).unwrap_err();
        assert!(other.contains("src/lib.rs:9:1") && other.contains("expected substring: \"bang\""), "{other}");
        let none = verdict(ShouldPanic::With("bang".into()), &Ended::Returned).unwrap_err();
        assert_eq!(none, "test did not panic as expected at src/lib.rs:3:4");
        assert!(verdict(ShouldPanic::Yes, &Ended::Lost("an invalid address".into())).is_err(), "that is no panic");
    }
}
