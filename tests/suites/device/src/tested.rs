//! `cargo ptx test` on a crate whose tests pass, fail, panic, print, never end and lose the context.

use std::path::Path;
use std::time::Duration;

use ptx_test_runner::{Options, Runner, Tests};

use crate::record::{Test, test};

/// What becomes of each test of `tests/kernels/tested`: parts of the reason why it fails, or none where it passes.
const EXPECTED: [(&str, &[&str]); 12] = [
    ("tests::allocates", &[]),
    ("tests::does_not_panic", &["test did not panic as expected at", "lib.rs:"]),
    ("tests::fails", &["panicked at", "lib.rs:", "assertion `left == right` failed: twice 1\n  left: 2\n right: 3"]),
    ("tests::loses_the_context", &["CUDA_ERROR_ILLEGAL_ADDRESS"]),
    ("tests::never_ends", &["no end after 2 s"]),
    ("tests::panics_as_it_should", &[]),
    ("tests::panics_with_another_text", &["3 is not even", "expected substring: \"is not odd\""]),
    ("tests::panics_with_the_right_text", &[]),
    ("tests::passes", &[]),
    ("tests::returns_an_error", &["the test returned `Err(ParseIntError { kind: InvalidDigit })`"]),
    ("tests::returns_ok", &[]),
    ("tests::works_after_that", &[]),
];

/// A test for each way in which the crate was compiled.
pub fn tests(folder: &Path) -> Vec<Test> {
    ["dev", "release"]
        .map(|profile| {
            let image = folder.join(profile);
            test(&format!("cargo ptx test: {profile}"), move |_| run(&image))
        })
        .into()
}

fn run(image: &Path) {
    let tests = Tests::read(image).unwrap_or_else(|error| panic!("{error}"));
    let options = Options { deadline: Duration::from_secs(2), share: 4, ..Options::default() };
    let mut runner = Runner::new(tests.clone(), options);
    let ignored: Vec<_> = tests.tests.iter().filter(|test| test.ignored).map(|test| test.name.as_str()).collect();
    assert_eq!(ignored, ["tests::is_ignored"]);
    assert_eq!(tests.tests.len(), EXPECTED.len() + ignored.len());
    for (name, parts) in EXPECTED {
        let index = tests.tests.iter().position(|test| test.name == name).unwrap_or_else(|| panic!("no {name}"));
        let outcome = runner.run(index);
        match &outcome.result {
            Ok(()) => assert!(parts.is_empty(), "{name} passed"),
            Err(reason) => {
                assert!(!parts.is_empty() && parts.iter().all(|part| reason.contains(part)), "{name}: {reason}");
            }
        }
        let printed = if name == "tests::fails" { "x is 1\n" } else { "" };
        assert_eq!(outcome.output, printed, "{name}");
    }
}
