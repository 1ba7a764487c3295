//! Programs that come with the tests: they must end well on this GPU.

use std::path::Path;
use std::process::Command;

use crate::record::{Test, test};

/// A test for every file in the folder.
pub fn tests(folder: &Path) -> Vec<Test> {
    let mut programs: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    programs.sort();
    let run = |program: std::path::PathBuf| {
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        test(&format!("example {name}"), move |_| {
            let output =
                Command::new(&program).output().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
            let text =
                format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(output.status.success(), "{}\n{text}", output.status);
            // It must have used the GPU that the other tests use.
            assert!(!text.to_lowercase().contains("no cuda device"), "{text}");
        })
    };
    programs.into_iter().map(run).collect()
}
