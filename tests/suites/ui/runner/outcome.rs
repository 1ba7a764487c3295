//! How a check of a case ends, in the terms of ui_test.

use std::path::Path;

use ptx_test_cases::filecheck;
use ui_test::{Error, Errored};

/// The patterns on the text; it fails with the first that does not hold.
pub fn compare(case: &Path, patterns: &[filecheck::Pattern], text: &str) -> Result<(), Errored> {
    filecheck::check(patterns, text).map_err(|what| failed("FileCheck", format!("{}: {what}", case.display())))
}

/// A file's text.
pub fn read(path: &Path) -> Result<String, Errored> {
    std::fs::read_to_string(path).map_err(|error| failed("output", format!("{}: {error}", path.display())))
}

/// A failure of `what`.
pub fn failed(what: &str, why: String) -> Errored {
    Errored { command: what.into(), errors: vec![Error::ConfigError(why)], stderr: vec![], stdout: vec![] }
}
