//! Programs that come with the tests: they must end well on this GPU, and their own results are recorded.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::record::{Test, recorded};

/// The example that a new user compiles first: without a library for JSON, it says in words what it did.
const IN_WORDS: &str = "saxpy";

/// A test for every file in the folder; `how` is part of their names, as in `example at O0`.
pub fn tests(how: &'static str, folder: &Path) -> Vec<Test> {
    let mut programs: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    programs.sort();
    let run = |program: std::path::PathBuf| {
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        recorded(&format!("{how} {name}"), move |_| {
            let in_words = program.ends_with(IN_WORDS);
            let output = Command::new(&program)
                .args((!in_words).then_some("--json"))
                .output()
                .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{}\n{text}{}", output.status, String::from_utf8_lossy(&output.stderr));
            if in_words {
                let ran = text.lines().find(|line| line.starts_with("ran on "));
                return json!({ "example": IN_WORDS, "said": ran.unwrap_or_else(|| panic!("{text}")) });
            }
            let results: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            // It must have used the GPU that the other tests use.
            assert!(results["device"].is_string(), "{text}");
            results
        })
    };
    programs.into_iter().map(run).collect()
}
